// SPDX-License-Identifier: GPL-2.0-only
/* backend up, drain, down, and the wait for the last flow. */
#include <pty.h>

#include "test_cli_fake.h"

#define BACKEND(pool, name, address, state)                              \
	"{\"pool\": \"" pool "\", \"name\": \"" name "\", \"address\": \"" \
	address "\", \"state\": \"" state "\"}"
#define BACKENDS(state)                                                     \
	FAKE_OK("{\"backends\": [" BACKEND("web", "web-0", "10.1.0.10", "up") \
		", " BACKEND("web", "web-1", "2001:db8::11", state) "]}")
#define VIP(address, pool) \
	"{\"address\": \"" address "\", \"pool\": \"" pool "\"}"
#define VIPS                                                         \
	FAKE_OK("{\"vips\": [" VIP("203.0.113.1:80/tcp", "web") ", " \
		VIP("203.0.113.2:80/tcp", "web") ", "                \
		VIP("203.0.113.3:80/tcp", "other") "]}")
#define SOME(address, flows) \
	"{\"address\": \"" address "\", \"flows\": " flows ", \"closed\": 0}"
/* The third VIP has another pool, so its flows are none of ours. */
#define FLOWS(first, second)                                         \
	FAKE_OK("{\"flows\": 99, \"vips\": ["                        \
		SOME("203.0.113.1:80/tcp", first) ", "               \
		SOME("203.0.113.2:80/tcp", second) ", "              \
		SOME("203.0.113.3:80/tcp", "7") "]}")
#define DONE FAKE_OK("{}")

#define LOOKED DONE, BACKENDS("drain"), VIPS
#define SEEN   BACKENDS("drain"), VIPS

static struct outcome drain(const char *line, const char *const *replies,
			    size_t n, json_t **requests)
{
	_cleanup_fake_ struct fake f = {};
	struct outcome o;

	drain_ask_ms = 1;
	fake_start_replies(&f, FAKE_GREETING, replies, n);
	o = fairlead("%s --socket %s", line, f.path);
	if (requests)
		*requests = fake_requests(&f);
	return o;
}

static void assert_request(const json_t *requests, size_t i, const char *text)
{
	const json_t *request = json_array_get(requests, i);
	json_auto_t *expected = json_loads(text, 0, NULL);

	json_object_set_new(expected, "id", json_integer(1));
	if (!json_equal(request, expected))
		fail_msg("request %zu is %s", i, json_dumps(request, 0));
}

static void each_state_is_a_command(void **state)
{
	static const struct {
		const char *line, *request;
	} rows[] = {
		{ "backend drain T B",
		  "{\"verb\": \"backend.set\", \"args\": {\"target\": \"T\", "
		  "\"address\": \"B\", \"options\": {\"state\": \"drain\"}}}" },
		{ "backend up T B",
		  "{\"verb\": \"backend.set\", \"args\": {\"target\": \"T\", "
		  "\"address\": \"B\", \"options\": {\"state\": \"up\"}}}" },
		{ "backend down T B",
		  "{\"verb\": \"backend.set\", \"args\": {\"target\": \"T\", "
		  "\"address\": \"B\", \"options\": {\"state\": \"down\"}}}" },
	};
	static const char *const replies[] = { DONE };

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		json_auto_t *requests = NULL;
		_cleanup_outcome_ struct outcome o =
			drain(rows[i].line, replies, 1, &requests);

		assert_int_equal(o.status, EXIT_OK);
		assert_string_equal(o.out, "");
		assert_string_equal(o.err, "");
		assert_int_equal(json_array_size(requests), 1);
		assert_request(requests, 0, rows[i].request);
	}
}

static void wrong_words_change_nothing(void **state)
{
	static const struct misuse rows[] = {
		{ "backend drain", "'backend drain': TARGET is missing" },
		{ "backend drain --wait T", "'backend drain': BACKEND is missing" },
		{ "backend drain T B C", "'backend drain' does not take the word 'C'" },
		{ "backend drain T B C D E F", "does not take the word 'C'" },
		{ "backend drain T B --timeout 5", "'--timeout' is of --wait: use both" },
		{ "backend drain T B --wait --timeout", "needs a value: --timeout SECONDS" },
		{ "backend drain T B --wait --timeout 0", "--timeout" },
		{ "backend drain T B --wait --timeout 5s", "--timeout" },
		{ "backend drain T B --wait --timeout 604801", "--timeout" },
		{ "backend drain T B --wait --wait", "'--wait' stands twice" },
		{ "backend drain T B --wait=1", "'--wait' takes no value" },
		{ "backend drain T B --frob", "expected --wait or --timeout" },
		{ "backend drain T B --dry-run", "has no option --dry-run" },
		{ "backend d T B", "it may mean del, drain or down" },
		{ "backend up T", "'backend up': BACKEND is missing" },
		{ "backend down T B --wait", "unknown option '--wait'" },
	};

	(void)state;
	expect_misuses(rows, N(rows));
}

static void waiting_ends_when_no_flow_of_the_pool_is_left(void **state)
{
	static const char *const replies[] = { LOOKED, FLOWS("2", "1"),
					       FLOWS("1", "0"), FLOWS("1", "0"),
					       FLOWS("0", "0"), SEEN };
	json_auto_t *requests = NULL;
	_cleanup_outcome_ struct outcome o = drain("backend drain web web-1 --wait",
						   replies, N(replies), &requests);

	(void)state;
	assert_int_equal(o.status, EXIT_OK);
	assert_string_equal(
		o.err, "fairlead: 3 flows left on backend 'web-1' of 'web'\n"
		       "fairlead: 1 flow left on backend 'web-1' of 'web'\n"
		       "fairlead: no flow left on backend 'web-1' of 'web'\n");
	assert_contains(o.out, "flows     0\nwaited_s  0.");
	assert_int_equal(json_array_size(requests), N(replies));
	assert_request(requests, 1, "{\"verb\": \"backend.show\", \"args\": "
				    "{\"target\": \"web\"}}");
	assert_request(requests, 2, "{\"verb\": \"vip.show\", \"args\": {}}");
	for (size_t i = 3; i < 7; i++)
		assert_request(requests, i,
			       "{\"verb\": \"show.flows\", \"args\": {\"backend\": "
			       "\"2001:db8::11\", \"limit\": 0}}");
}

static void a_backend_is_found_by_either_of_its_names(void **state)
{
	static const char *const lines[] = {
		"backend drain web web-1 --wait",
		"backend drain --wait web 2001:db8::11",
		"backend drain web --wait 2001:DB8:0::0011",
		"backend drain --timeout=9 web 2001:db8::11 --wait",
	};
	static const char *const replies[] = { LOOKED, FLOWS("0", "0"), SEEN };

	(void)state;
	for (size_t i = 0; i < N(lines); i++) {
		json_auto_t *requests = NULL;
		_cleanup_outcome_ struct outcome o =
			drain(lines[i], replies, N(replies), &requests);

		assert_int_equal(o.status, EXIT_OK);
		assert_request(requests, 3,
			       "{\"verb\": \"show.flows\", \"args\": {\"backend\": "
			       "\"2001:db8::11\", \"limit\": 0}}");
	}
}

static void progress_and_end_are_json_where_answers_are(void **state)
{
	static const char *const replies[] = { LOOKED, FLOWS("2", "0"),
					       FLOWS("0", "0"), SEEN };
	_cleanup_outcome_ struct outcome o = drain("-j backend drain web web-1 --wait",
						   replies, N(replies), NULL);
	json_auto_t *end = json_loads(o.out, 0, NULL);

	(void)state;
	assert_string_equal(o.err, "{\"progress\":{\"flows\":2}}\n"
				   "{\"progress\":{\"flows\":0}}\n");
	assert_int_equal(json_integer_value(json_object_get(end, "flows")), 0);
	assert_true(json_is_real(json_object_get(end, "waited_s")));
}

/* It never gets to none; the time ends it, however long that really takes. */
static void a_timeout_says_how_many_are_left_with_a_status_of_its_own(void **state)
{
	static const char *const replies[] = { LOOKED, FLOWS("2", "1"),
					       FLOWS("2", "0") };
	_cleanup_fake_ struct fake f = {};
	_cleanup_outcome_ struct outcome o = {};
	json_auto_t *requests = NULL;

	(void)state;
	drain_ask_ms = 600000;
	fake_start_replies(&f, FAKE_GREETING, replies, N(replies));
	o = fairlead("backend drain web web-1 --wait --timeout 1 --socket %s", f.path);
	assert_int_equal(o.status, 75);
	assert_contains(o.err, "fairlead: 2 flows left on backend 'web-1' of 'web' "
			       "after 1 s; it goes on draining\n");
	assert_string_equal(o.out, "");
	requests = fake_requests(&f);
	assert_int_equal(json_array_size(requests), N(replies));
}

static void a_refused_drain_is_not_waited_for(void **state)
{
	static const char *const replies[] = {
		"{\"id\": 1, \"ok\": false, \"error\": {\"code\": \"not_found\", "
		"\"message\": \"no such backend\"}}\n"
	};
	_cleanup_outcome_ struct outcome o =
		drain("backend drain web web-1 --wait", replies, 1, NULL);

	(void)state;
	assert_int_equal(o.status, EXIT_REFUSED);
	assert_string_equal(o.err, "fairlead: no such backend\n");
}

/* A reload may: then zero flows say nothing, and waiting may have no end. */
static void a_drain_that_is_taken_back_is_noticed(void **state)
{
	static const char *const at_once[] = { DONE, BACKENDS("up") };
	static const char *const at_zero[] = { LOOKED, FLOWS("1", "0"),
					       FLOWS("0", "0"), BACKENDS("up") };
	static const char *const later[] = {
		LOOKED,		 FLOWS("1", "0"), FLOWS("1", "0"), FLOWS("1", "0"),
		FLOWS("1", "0"), FLOWS("1", "0"), FLOWS("1", "0"), FLOWS("1", "0"),
		FLOWS("1", "0"), FLOWS("1", "0"), FLOWS("1", "0"), BACKENDS("up"),
	};
	static const struct {
		const char *const *replies;
		size_t n;
	} rows[] = { { at_once, N(at_once) },
		     { at_zero, N(at_zero) },
		     { later, N(later) } };

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		_cleanup_outcome_ struct outcome o =
			drain("backend drain web web-1 --wait", rows[i].replies,
			      rows[i].n, NULL);

		assert_int_equal(o.status, EXIT_REFUSED);
		assert_contains(o.err, "backend 'web-1' of 'web' is 'up' again: "
				       "somebody or a reload took the drain back\n");
		assert_string_equal(o.out, "");
	}
}

static void a_backend_that_is_removed_meanwhile_is_noticed(void **state)
{
	static const char *const replies[] = {
		LOOKED, FLOWS("0", "0"), FAKE_OK("{\"backends\": []}")
	};
	_cleanup_outcome_ struct outcome o = drain("backend drain web web-1 --wait",
						   replies, N(replies), NULL);

	(void)state;
	assert_int_equal(o.status, EXIT_REFUSED);
	assert_contains(o.err, "'web-1' of 'web' is gone from the configuration");
}

static void down_is_drained_enough(void **state)
{
	static const char *const replies[] = { DONE, BACKENDS("down"), VIPS,
					       FLOWS("0", "0"), BACKENDS("down"),
					       VIPS };
	_cleanup_outcome_ struct outcome o = drain("backend drain web web-1 --wait",
						   replies, N(replies), NULL);

	(void)state;
	assert_int_equal(o.status, EXIT_OK);
}

static void a_daemon_that_goes_leaves_the_drain_unknown(void **state)
{
	static const char *const never[] = { DONE };
	static const char *const middle[] = { LOOKED, FLOWS("1", "0"),
					      "{\"id\": 1, \"ok\":" };
	static const struct {
		const char *const *replies;
		size_t n;
	} rows[] = { { never, N(never) }, { middle, N(middle) } };

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		_cleanup_outcome_ struct outcome o =
			drain("backend drain web web-1 --wait", rows[i].replies,
			      rows[i].n, NULL);

		assert_int_equal(o.status, EXIT_UNAVAILABLE);
		assert_contains(o.err, "warning: backend 'web-1' of 'web' was set "
				       "to drain; whether it still does is not known\n");
	}
}

static void answers_that_are_none_end_the_wait(void **state)
{
	static const struct {
		const char *backends, *vips, *flows, *why;
	} rows[] = {
		{ "garbage\n", "", "", "not a JSON object" },
		{ FAKE_OK("{}"), "", "", "'backends' is missing" },
		{ FAKE_OK("{\"backends\": {}}"), "", "", "'backends' is not a list" },
		{ FAKE_OK("{\"backends\": [{}]}"), "", "",
		  "backends[0]: 'pool' is missing" },
		{ FAKE_OK("{\"backends\": [7]}"), "", "", "backends[0]: 'pool' is missing" },
		{ FAKE_OK("{\"backends\": [{\"pool\": null, \"name\": \"web-1\", "
			  "\"address\": \"10.1.0.11\", \"state\": \"drain\"}]}"),
		  "", "", "backends[0]: 'pool' is null" },
		{ BACKENDS("drain"), FAKE_OK("{\"vips\": [{\"address\": 1}]}"), "",
		  "vips[0]: 'address' is not a string" },
		{ BACKENDS("drain"), VIPS, FAKE_OK("{\"flows\": 0}"), "'vips' is missing" },
		{ BACKENDS("drain"), VIPS, FLOWS("\"0\"", "0"), "'flows' is not an integer" },
		{ BACKENDS("drain"), VIPS, FLOWS("null", "0"), "'flows' is null" },
		{ BACKENDS("drain"), VIPS, FLOWS("-1", "0"), "are no counts of flows" },
		{ BACKENDS("drain"), VIPS,
		  FLOWS("9223372036854775807", "9223372036854775807"),
		  "are no counts of flows" },
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		const char *const replies[] = { DONE, rows[i].backends,
						rows[i].vips, rows[i].flows };
		_cleanup_outcome_ struct outcome o = drain(
			"backend drain web web-1 --wait", replies, N(replies), NULL);

		assert_int_equal(o.status, EXIT_PROTOCOL);
		assert_contains(o.err, rows[i].why);
		assert_string_equal(o.out, "");
	}
}

/* The signal comes while it waits to ask again. */
static void a_signal_ends_the_wait_and_not_the_drain(void **state)
{
	static const int signals[] = { SIGINT, SIGTERM };
	static const char *const replies[] = { LOOKED, FLOWS("2", "0") };

	(void)state;
	for (size_t i = 0; i < N(signals); i++) {
		_cleanup_fake_ struct fake f = { .last_signal = signals[i] };
		_cleanup_outcome_ struct outcome o = {};
		struct sigaction after;

		drain_ask_ms = 600000;
		fake_start_replies(&f, FAKE_GREETING, replies, N(replies));
		o = fairlead("backend drain web web-1 --wait --socket %s", f.path);
		assert_int_equal(o.status, 130);
		assert_contains(o.err, " left on backend 'web-1' of 'web'; it goes on "
				       "draining until 'fairlead backend up'\n");
		assert_string_equal(o.out, "");
		sigaction(signals[i], NULL, &after);
		assert_ptr_equal(after.sa_handler, SIG_DFL);
	}
}

static void on_a_terminal_progress_is_one_line(void **state)
{
	static const char *const replies[] = { LOOKED, FLOWS("12", "0"),
					       FLOWS("1", "0"), FLOWS("0", "0"),
					       SEEN };
	char *argv[] = { (char *)"fairlead", (char *)"backend", (char *)"drain",
			 (char *)"web", (char *)"web-1", (char *)"--wait",
			 (char *)"--socket", NULL, NULL };
	struct winsize size = { .ws_row = 24, .ws_col = 60 };
	_cleanup_fake_ struct fake f = {};
	_cleanup_free_ char *out_text = NULL;
	size_t out_size;
	FILE *out = open_memstream(&out_text, &out_size), *err;
	char seen[1024] = "";
	int terminal, screen;

	(void)state;
	drain_ask_ms = 1;
	assert_int_equal(openpty(&screen, &terminal, NULL, NULL, &size), 0);
	err = fdopen(terminal, "w");
	fake_start_replies(&f, FAKE_GREETING, replies, N(replies));
	argv[7] = f.path;
	assert_int_equal(cli_main(8, argv, out, err), 0);
	fflush(err);
	for (size_t n = 0; !strchr(seen, '\n'); n += strlen(seen + n))
		assert_true(read(screen, seen + n, sizeof(seen) - 1 - n) > 0);
	fclose(err);
	fclose(out);
	close(screen);
	assert_string_equal(
		seen,
		"\rfairlead: 12 flows left on backend 'web-1' of 'web'        "
		"\rfairlead: 1 flow left on backend 'web-1' of 'web'          "
		"\rfairlead: no flow left on backend 'web-1' of 'web'         "
		"\r\n");
}

/* They are remembered for four minutes, in which nothing comes any more. */
static void closed_flows_are_not_waited_for(void **state)
{
	static const char *const replies[] = {
		LOOKED,
		FAKE_OK("{\"flows\": 5, \"vips\": [{\"address\": \"203.0.113.1:80/tcp\", "
			"\"flows\": 5, \"closed\": 4}]}"),
		FAKE_OK("{\"flows\": 5, \"vips\": [{\"address\": \"203.0.113.1:80/tcp\", "
			"\"flows\": 5, \"closed\": 5}]}"),
		SEEN,
	};
	_cleanup_outcome_ struct outcome o = drain("--json backend drain web web-1 --wait",
						   replies, N(replies), NULL);

	(void)state;
	assert_int_equal(o.status, EXIT_OK);
	assert_string_equal(o.err, "{\"progress\":{\"flows\":1}}\n"
				   "{\"progress\":{\"flows\":0}}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(closed_flows_are_not_waited_for),
		cmocka_unit_test(each_state_is_a_command),
		cmocka_unit_test(wrong_words_change_nothing),
		cmocka_unit_test(waiting_ends_when_no_flow_of_the_pool_is_left),
		cmocka_unit_test(a_backend_is_found_by_either_of_its_names),
		cmocka_unit_test(progress_and_end_are_json_where_answers_are),
		cmocka_unit_test(
			a_timeout_says_how_many_are_left_with_a_status_of_its_own),
		cmocka_unit_test(a_refused_drain_is_not_waited_for),
		cmocka_unit_test(a_drain_that_is_taken_back_is_noticed),
		cmocka_unit_test(a_backend_that_is_removed_meanwhile_is_noticed),
		cmocka_unit_test(down_is_drained_enough),
		cmocka_unit_test(a_daemon_that_goes_leaves_the_drain_unknown),
		cmocka_unit_test(answers_that_are_none_end_the_wait),
		cmocka_unit_test(a_signal_ends_the_wait_and_not_the_drain),
		cmocka_unit_test(on_a_terminal_progress_is_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
