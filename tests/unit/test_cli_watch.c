// SPDX-License-Identifier: GPL-2.0-only
/* watch: a stream from a daemon that may say anything and go at any time. */
#include "test_cli_fake.h"

#define TIME(second) "2026-11-30T11:00:" second ".000Z"
#define MEMBERS(seq, second, rest) \
	"{\"seq\": " seq ", \"time\": \"" TIME(second) "\", " rest "}"
#define EVENT(seq, second, rest) \
	"{\"event\": " MEMBERS(seq, second, rest) "}\n"
#define DOWN                                                      \
	"\"event\": \"backend_down\", \"pool\": \"web\", "        \
	"\"backend\": \"web-1\", \"address\": \"10.1.0.11\", "    \
	"\"share\": 0, \"reason\": \"connect: Connection refused\""
#define UP(share)                                                 \
	"\"event\": \"backend_up\", \"pool\": \"web\", "          \
	"\"backend\": \"web-1\", \"address\": \"10.1.0.11\", "    \
	"\"share\": " share ", \"reason\": \"check\""
#define SHARE                                                     \
	"\"event\": \"backend_share\", \"pool\": \"web\", "       \
	"\"backend\": \"10.1.0.12\", \"address\": \"10.1.0.12\", " \
	"\"share\": 100"
#define OF_VIP                                                    \
	"\"event\": \"backend_down\", \"pool\": \"web\", "        \
	"\"vip\": \"203.0.113.10:80/tcp\", \"backend\": \"web-1\", " \
	"\"address\": \"10.1.0.11\", \"share\": 0, \"reason\": \"x\""
#define QUORUM "\"event\": \"quorum_lost\", \"pool\": \"web\", \"reason\": \"1 of 3\""
#define DIED "\"event\": \"checker_died\", \"reason\": \"signal 9\""
#define BARE "\"event\": \"later_kind\""

#define DOWN_TEXT(second)                                            \
	TIME(second) "  backend_down     web-1 (10.1.0.11) of web: " \
		     "connect: Connection refused\n"
#define GONE "closed the connection"

static struct outcome watch_fake(const char *line, const char *events)
{
	_cleanup_fake_ struct fake f = {};
	_cleanup_free_ char *reply = NULL;

	assert_true(asprintf(&reply, "%s%s", FAKE_OK("{}"), events) > 0);
	fake_start(&f, FAKE_GREETING, reply);
	return fairlead("%s --socket %s", line, f.path);
}

static void each_event_is_a_line(void **state)
{
	static const char all[] =
		EVENT("1", "01", DOWN) EVENT("2", "02", SHARE)
		EVENT("3", "03", QUORUM) EVENT("4", "04", DIED)
		EVENT("5", "05", BARE) EVENT("6", "06", UP("10"))
		EVENT("7", "07", UP("100")) EVENT("8", "08", OF_VIP);
	_cleanup_outcome_ struct outcome o = watch_fake("watch", all);

	(void)state;
	assert_string_equal(o.out,
			    DOWN_TEXT("01")
			    TIME("02") "  backend_share    10.1.0.12 of web, 100 %\n"
			    TIME("03") "  quorum_lost      web: 1 of 3\n"
			    TIME("04") "  checker_died     signal 9\n"
			    TIME("05") "  later_kind\n"
			    TIME("06") "  backend_up       web-1 (10.1.0.11) of web, "
				       "10 %: check\n"
			    TIME("07") "  backend_up       web-1 (10.1.0.11) of web: "
				       "check\n"
			    TIME("08") "  backend_down     web-1 (10.1.0.11) of web for "
				       "203.0.113.10:80/tcp: x\n");
}

static void each_event_is_an_object_with_every_key_in_json(void **state)
{
	_cleanup_outcome_ struct outcome o =
		watch_fake("-j watch", EVENT("1", "01", DOWN) EVENT("2", "02", SHARE));

	(void)state;
	assert_string_equal(
		o.out,
		"{\"seq\":1,\"time\":\"" TIME("01") "\","
		"\"event\":\"backend_down\",\"pool\":\"web\","
		"\"backend\":\"web-1\",\"address\":\"10.1.0.11\",\"vip\":null,\"share\":0,"
		"\"reason\":\"connect: Connection refused\"}\n"
		"{\"seq\":2,\"time\":\"" TIME("02") "\","
		"\"event\":\"backend_share\",\"pool\":\"web\","
		"\"backend\":\"10.1.0.12\",\"address\":\"10.1.0.12\",\"vip\":null,\"share\":100,"
		"\"reason\":null}\n");
}

static void each_event_is_a_record_in_the_other_forms(void **state)
{
	_cleanup_outcome_ struct outcome o =
		watch_fake("-o watch", EVENT("1", "01", DIED) EVENT("2", "02", DIED));
	_cleanup_outcome_ struct outcome pretty =
		watch_fake("-p watch", EVENT("1", "01", DIED));
	json_auto_t *object = json_loads(pretty.out, 0, NULL);

	(void)state;
	assert_string_equal(o.out,
			    "seq 1 time " TIME("01") " event checker_died pool - "
			    "backend - address - vip - share - reason \"signal 9\"\n"
			    "seq 2 time " TIME("02") " event checker_died pool - "
			    "backend - address - vip - share - reason \"signal 9\"\n");
	assert_int_equal(json_object_size(object), N(event_fields));
}

static void a_daemon_that_goes_is_status_69_and_a_sentence(void **state)
{
	_cleanup_outcome_ struct outcome o =
		watch_fake("watch", EVENT("1", "01", DOWN));
	_cleanup_outcome_ struct outcome json =
		watch_fake("-j watch", EVENT("1", "01", DOWN));
	json_auto_t *error = json_loads(json.err, 0, NULL);

	(void)state;
	assert_int_equal(o.status, 69);
	assert_string_equal(o.out, DOWN_TEXT("01"));
	assert_contains(o.err, "fairleadd (instance 'main') closed the connection at");
	assert_contains(o.err, ": it has ended, or this reader is too slow\n");
	assert_int_equal(json.status, 69);
	assert_non_null(json_object_get(error, "error"));
}

static void what_is_asked_for_is_the_words(void **state)
{
	static const struct {
		const char *line, *args;
	} rows[] = {
		{ "watch", "{}" },
		{ "wat --since 12", "{\"since\": 12}" },
		{ "watch --since=1", "{\"since\": 1}" },
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		_cleanup_fake_ struct fake f = {};
		json_auto_t *request = NULL, *args = json_loads(rows[i].args, 0, NULL);
		_cleanup_outcome_ struct outcome o = {};

		fake_start(&f, FAKE_GREETING, FAKE_OK("{}"));
		o = fairlead("%s --socket %s", rows[i].line, f.path);
		assert_int_equal(o.status, EXIT_UNAVAILABLE);
		request = fake_request(&f);
		assert_string_equal(
			json_string_value(json_object_get(request, "verb")), "watch");
		assert_true(json_equal(json_object_get(request, "args"), args));
	}
}

static void wrong_words_are_refused(void **state)
{
	static const struct misuse rows[] = {
		{ "watch now", "'watch' does not take the word 'now'" },
		{ "watch --frob", "unknown option '--frob': expected --since or --reconnect" },
		{ "watch --since", "option '--since' needs a value: --since SEQ" },
		{ "watch --since 0", "--since" },
		{ "watch --since -1", "--since" },
		{ "watch --since 99999999999999999999", "--since" },
		{ "watch --since 1 --since 2", "option '--since' stands twice" },
		{ "watch --reconnect=1", "option '--reconnect' takes no value" },
		{ "watch --all", "'watch' has no option --all" },
		{ "watch --dry-run", "'watch' has no option --dry-run" },
	};

	(void)state;
	expect_misuses(rows, N(rows));
}

static void what_is_no_event_ends_it_after_those_that_were(void **state)
{
	static const struct {
		const char *line, *why;
	} rows[] = {
		{ "\n", "not a JSON object" },
		{ "[]\n", "not a JSON object" },
		{ "{\"event\": {\"seq\": 2}, \"event\": {}}\n", "not a JSON object" },
		{ "{\"event\"\n", "not a JSON object" },
		{ "\xff\xfe{}\n", "not a JSON object" },
		{ "{}\n", "'event' is missing" },
		{ "{\"event\": 7}\n", "'event' is not an object" },
		{ "{\"event\": {}}\n", "'seq' is missing" },
		{ EVENT("\"2\"", "02", DOWN), "'seq' is not an integer" },
		{ EVENT("null", "02", DOWN), "'seq' is not a number from 1 on" },
		{ EVENT("0", "02", DOWN), "'seq' is not a number from 1 on" },
		{ EVENT("-5", "02", DOWN), "'seq' is not a number from 1 on" },
		{ EVENT("9223372036854775807", "02", DOWN), "from 1 on" },
		{ EVENT("9223372036854775808", "02", DOWN), "not a JSON object" },
		{ EVENT("2", "02", "\"event\": null"), "'time' or 'event' is null" },
		{ EVENT("2", "02", "\"event\": {}"), "'event' is not a string" },
		{ EVENT("2", "02", "\"event\": \"x\", \"share\": \"1\""),
		  "'share' is not an integer" },
		{ EVENT("2", "02", "\"event\": \"x\", \"reason\": []"),
		  "'reason' is not a string" },
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		_cleanup_free_ char *events = NULL;
		_cleanup_outcome_ struct outcome o = {};

		assert_true(asprintf(&events, "%s%s", EVENT("1", "01", DOWN),
				     rows[i].line) > 0);
		o = watch_fake("watch", events);
		assert_int_equal(o.status, EXIT_PROTOCOL);
		assert_contains(o.err, rows[i].why);
		assert_string_equal(o.out, DOWN_TEXT("01"));
	}
}

static void a_line_that_never_ends_is_refused(void **state)
{
	_cleanup_free_ char *line = malloc(CLIENT_LINE_MAX + 2);
	_cleanup_outcome_ struct outcome o = {};

	(void)state;
	assert_non_null(line);
	memset(line, ' ', CLIENT_LINE_MAX + 1);
	line[CLIENT_LINE_MAX + 1] = '\0';
	o = watch_fake("watch", line);
	assert_int_equal(o.status, EXIT_PROTOCOL);
	assert_contains(o.err, "longer than 64 MiB");
	assert_string_equal(o.out, "");
}

static void half_an_event_is_none(void **state)
{
	_cleanup_outcome_ struct outcome o =
		watch_fake("watch", EVENT("1", "01", DOWN) "{\"event\": {\"seq\": 2");

	(void)state;
	assert_int_equal(o.status, EXIT_UNAVAILABLE);
	assert_contains(o.err, GONE);
	assert_string_equal(o.out, DOWN_TEXT("01"));
}

static void nothing_in_an_event_reaches_the_terminal_as_control(void **state)
{
	_cleanup_outcome_ struct outcome o = watch_fake(
		"watch", EVENT("1", "01", "\"event\": \"x\", \"reason\": "
					  "\"\\u001b[2J\\n\\u009b1m\""));

	(void)state;
	assert_string_equal(
		o.out, TIME("01") "  x                "
				  "\\x1b[2J\\x0a\\xc2\\x9b1m\n");
}

static void a_daemon_that_does_not_know_it_is_a_refusal(void **state)
{
	_cleanup_fake_ struct fake f = {};
	_cleanup_outcome_ struct outcome o = {};

	(void)state;
	fake_start(&f, FAKE_GREETING,
		   "{\"id\": 1, \"ok\": false, \"error\": {\"code\": \"usage\", "
		   "\"message\": \"verbs are so and so\"}}\n");
	o = fairlead("watch --reconnect --socket %s", f.path);
	assert_int_equal(o.status, EXIT_REFUSED);
	assert_contains(o.err, "verbs are so and so");
}

static void events_that_are_no_longer_kept_are_said_to_be(void **state)
{
	static const struct {
		const char *line, *events, *err;
	} rows[] = {
		{ "watch --since 3", EVENT("9", "01", DOWN),
		  "warning: events 3 to 8 are no longer kept\n" },
		{ "watch --since 8", EVENT("9", "01", DOWN),
		  "warning: event 8 is no longer kept\n" },
		{ "watch", EVENT("3", "01", DOWN) EVENT("7", "02", DOWN),
		  "warning: events 4 to 6 are no longer kept\n" },
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		_cleanup_outcome_ struct outcome o =
			watch_fake(rows[i].line, rows[i].events);

		assert_contains(o.err, rows[i].err);
	}
}

static void nothing_is_warned_of_when_none_is_missing(void **state)
{
	static const struct {
		const char *line, *events;
	} rows[] = {
		{ "watch --since 3", EVENT("3", "01", DOWN) EVENT("4", "01", DOWN) },
		{ "watch --since 300", EVENT("3", "01", DOWN) },
		{ "watch", EVENT("77", "01", DOWN) },
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		_cleanup_outcome_ struct outcome o =
			watch_fake(rows[i].line, rows[i].events);

		assert_null(strstr(o.err, "kept"));
	}
}

/* The last connection ends with what is no event, so that the command ends. */
static struct outcome watch_twice(const char *line, const char *first,
				  const char *second, json_t **args)
{
	_cleanup_fake_ struct fake f = {};
	_cleanup_free_ char *one = NULL, *two = NULL;
	const char *replies[2];
	struct outcome o;
	json_auto_t *request = NULL;

	assert_true(asprintf(&one, "%s%s", FAKE_OK("{}"), first) > 0);
	assert_true(asprintf(&two, "%s%sthe end\n", FAKE_OK("{}"), second) > 0);
	replies[0] = one;
	replies[1] = two;
	watch_retry_ms = 1;
	fake_start_replies(&f, FAKE_GREETING, replies, 2);
	o = fairlead("%s --socket %s", line, f.path);
	request = fake_request(&f);
	*args = json_incref(json_object_get(request, "args"));
	return o;
}

static void a_daemon_that_comes_back_goes_on_where_it_was(void **state)
{
	/* The same daemon has number 1 and 2 still; a new one has its own. */
	static const struct {
		const char *first, *second, *out;
	} rows[] = {
		{ EVENT("1", "01", DOWN) EVENT("2", "02", DOWN),
		  EVENT("1", "01", DOWN) EVENT("2", "02", DOWN) EVENT("3", "03", DOWN),
		  DOWN_TEXT("01") DOWN_TEXT("02") DOWN_TEXT("03") },
		{ EVENT("7", "01", DOWN), EVENT("1", "02", DOWN),
		  DOWN_TEXT("01") DOWN_TEXT("02") },
		{ EVENT("1", "01", DOWN), EVENT("1", "02", DOWN),
		  DOWN_TEXT("01") DOWN_TEXT("02") },
		{ EVENT("1", "01", DOWN), EVENT("2", "01", DOWN),
		  DOWN_TEXT("01") DOWN_TEXT("01") },
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		json_auto_t *args = NULL;
		_cleanup_outcome_ struct outcome o =
			watch_twice("watch --reconnect", rows[i].first,
				    rows[i].second, &args);

		assert_string_equal(o.out, rows[i].out);
		assert_int_equal(o.status, EXIT_PROTOCOL);
		assert_int_equal(json_integer_value(json_object_get(args, "since")), 1);
		assert_contains(o.err, "is too slow; waiting for it\n");
		assert_contains(o.err, "fairleadd (instance 'main') answers again\n");
	}
}

/* Whoever watches from now on wants nothing of before, also later. */
static void a_daemon_that_comes_back_does_not_tell_the_past(void **state)
{
	json_auto_t *args = NULL;
	_cleanup_outcome_ struct outcome o = watch_twice(
		"watch --reconnect", "",
		"{\"event\": {\"seq\": 1, \"time\": \"2001-01-01T00:00:00.000Z\", " DOWN
		"}}\n{\"event\": {\"seq\": 2, \"time\": \"9999-01-01T00:00:00.000Z\", " DIED
		"}}\n",
		&args);

	(void)state;
	assert_string_equal(o.out,
			    "9999-01-01T00:00:00.000Z  checker_died     signal 9\n");
}

static void a_reader_that_goes_away_ends_it_at_once_and_well(void **state)
{
	char *argv[] = { (char *)"fairlead", (char *)"watch", (char *)"--socket",
			 NULL, NULL };
	_cleanup_fake_ struct fake f = { .holds = true };
	_cleanup_free_ char *err_text = NULL;
	size_t size;
	int ends[2];
	FILE *out, *err = open_memstream(&err_text, &size);

	(void)state;
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	out = fdopen(ends[1], "w");
	fake_start(&f, FAKE_GREETING, FAKE_OK("{}"));
	argv[3] = f.path;
	assert_int_equal(cli_main(4, argv, out, err), 0);
	fclose(out);
	fclose(err);
	assert_string_equal(err_text, "");
}

static void a_signal_ends_it_well(void **state)
{
	static const int signals[] = { SIGINT, SIGTERM };

	(void)state;
	for (size_t i = 0; i < N(signals); i++) {
		_cleanup_fake_ struct fake f = { .holds = true,
						 .signal = signals[i] };
		_cleanup_outcome_ struct outcome o = {};
		struct sigaction after;

		fake_start(&f, FAKE_GREETING,
			   FAKE_OK("{}") EVENT("1", "01", DOWN));
		o = fairlead("watch --reconnect --socket %s", f.path);
		assert_int_equal(o.status, 0);
		assert_string_equal(o.err, "");
		sigaction(signals[i], NULL, &after);
		assert_ptr_equal(after.sa_handler, SIG_DFL);
	}
}

/* A shell does so for what it puts in the background. */
static void a_signal_that_was_ignored_from_the_start_stays_so(void **state)
{
	_cleanup_fake_ struct fake f = { .signal = SIGINT };
	_cleanup_outcome_ struct outcome o = {};

	(void)state;
	signal(SIGINT, SIG_IGN);
	fake_start(&f, FAKE_GREETING, FAKE_OK("{}"));
	o = fairlead("watch --socket %s", f.path);
	signal(SIGINT, SIG_DFL);
	assert_int_equal(o.status, EXIT_UNAVAILABLE);
}

static void a_signal_ends_the_wait_for_a_daemon_that_is_away(void **state)
{
	_cleanup_fake_ struct fake f = { .signal = SIGINT };
	_cleanup_outcome_ struct outcome o = {};

	(void)state;
	watch_retry_ms = 1;
	fake_start(&f, FAKE_GREETING, FAKE_OK("{}"));
	o = fairlead("watch --reconnect --socket %s", f.path);
	assert_int_equal(o.status, 0);
}

/* In a process of its own, so that what it prints can be read while it runs. */
static void an_event_is_out_before_the_next_one_comes(void **state)
{
	char *argv[] = { (char *)"fairlead", (char *)"watch", (char *)"--socket",
			 NULL, NULL };
	_cleanup_fake_ struct fake f = { .holds = true };
	char line[256];
	int ends[2], status;
	FILE *in;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	fake_start(&f, FAKE_GREETING, FAKE_OK("{}") EVENT("1", "01", DOWN));
	argv[3] = f.path;
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		alarm(FAKE_LIFE_S);
		close(ends[0]);
		_exit(cli_main(4, argv, fdopen(ends[1], "w"), stderr));
	}
	close(ends[1]);
	in = fdopen(ends[0], "r");
	assert_non_null(fgets(line, sizeof(line), in));
	assert_string_equal(line, DOWN_TEXT("01"));
	kill(pid, SIGTERM);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	fclose(in);
}

/* Of a client that waits long for a reply, and then hardly for an event. */
static int next_of(const struct fake *f, json_t **line, struct err *err)
{
	struct client_address address = { .path = f->path,
					  .instance = "main",
					  .connect_timeout_ms = 30000,
					  .reply_timeout_ms = 30000 };
	_cleanup_client_ struct client *client = NULL;
	json_auto_t *result = NULL;
	char code[CLIENT_CODE_MAX];

	assert_int_equal(client_open(&address, &client, err), 0);
	assert_int_equal(
		client_call(client, "watch", json_object(), &result, code, err), 0);
	address.reply_timeout_ms = 50;
	return client_next(client, line, err);
}

static void silence_lasts_as_long_as_it_likes(void **state)
{
	_cleanup_fake_ struct fake f = { .late_ms = 300,
					 .late = EVENT("1", "01", DOWN) };
	json_auto_t *line = NULL;

	(void)state;
	fake_start(&f, FAKE_GREETING, FAKE_OK("{}"));
	assert_int_equal(next_of(&f, &line, NULL), 0);
	assert_non_null(json_object_get(line, "event"));
}

static void a_line_that_has_begun_must_end(void **state)
{
	_cleanup_fake_ struct fake f = { .holds = true };
	json_auto_t *line = NULL;
	struct err err = {};

	(void)state;
	fake_start(&f, FAKE_GREETING, FAKE_OK("{}") "{\"event\":");
	assert_int_equal(next_of(&f, &line, &err), -ENOTCONN);
	assert_contains(err.text, "does not answer");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_event_is_a_line),
		cmocka_unit_test(each_event_is_an_object_with_every_key_in_json),
		cmocka_unit_test(each_event_is_a_record_in_the_other_forms),
		cmocka_unit_test(a_daemon_that_goes_is_status_69_and_a_sentence),
		cmocka_unit_test(what_is_asked_for_is_the_words),
		cmocka_unit_test(wrong_words_are_refused),
		cmocka_unit_test(what_is_no_event_ends_it_after_those_that_were),
		cmocka_unit_test(a_line_that_never_ends_is_refused),
		cmocka_unit_test(half_an_event_is_none),
		cmocka_unit_test(nothing_in_an_event_reaches_the_terminal_as_control),
		cmocka_unit_test(a_daemon_that_does_not_know_it_is_a_refusal),
		cmocka_unit_test(events_that_are_no_longer_kept_are_said_to_be),
		cmocka_unit_test(nothing_is_warned_of_when_none_is_missing),
		cmocka_unit_test(a_daemon_that_comes_back_goes_on_where_it_was),
		cmocka_unit_test(a_daemon_that_comes_back_does_not_tell_the_past),
		cmocka_unit_test(a_reader_that_goes_away_ends_it_at_once_and_well),
		cmocka_unit_test(a_signal_ends_it_well),
		cmocka_unit_test(a_signal_that_was_ignored_from_the_start_stays_so),
		cmocka_unit_test(a_signal_ends_the_wait_for_a_daemon_that_is_away),
		cmocka_unit_test(an_event_is_out_before_the_next_one_comes),
		cmocka_unit_test(silence_lasts_as_long_as_it_likes),
		cmocka_unit_test(a_line_that_has_begun_must_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
