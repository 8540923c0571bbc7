// SPDX-License-Identifier: GPL-2.0-only
/* Whole commands: what goes to the daemon, what is printed, how they end. */
#include "test_cli_fake.h"

#define VIP                                                                   \
	"{\"address\": \"203.0.113.10:443/tcp\", \"pool\": \"web\", "         \
	"\"encap\": \"ipip\", \"algorithm\": \"maglev\", "                \
	"\"table_size\": 65537, "                                           \
	"\"digest\": \"0123456789abcdef\", \"backends\": 3, \"packets\": 7, " \
	"\"bytes\": 8, \"new_flows\": 9, \"drops\": 0, "                        \
	"\"hash\": \"source\", \"unremembered\": 5, \"quic_unknown\": 6, " \
	"\"backends_up\": 2, \"panic\": false, \"quorum_lost\": true}"
#define BACKEND(state, problem)                                              \
	"{\"pool\": null, \"name\": \"web-1\", \"address\": \"10.1.0.11\", " \
	"\"weight\": 2, \"encap\": \"ipip\", \"state\": " state              \
	", \"next_hop\": null, \"problem\": " problem ", \"slots\": 4, "     \
	"\"packets\": 0, \"bytes\": 0, \"new_flows\": 0, "               \
	"\"effective\": \"down\", \"why\": \"check\", \"share\": 0, "  \
	"\"health\": \"down\", \"health_s\": 61, \"health_reason\": "    \
	"\"connect: timed out\", \"penalty\": 12.5, \"via\": \"vip\", " \
	"\"check_problem\": null, \"vip\": null, \"vips\": null}"
/* One that no pool lists any more. */
#define LEFT                                                                 \
	"{\"pool\": null, \"name\": \"10.1.0.9\", \"address\": \"10.1.0.9\", " \
	"\"weight\": 0, \"encap\": \"ipip\", \"state\": \"draining\", "   \
	"\"next_hop\": null, \"problem\": null, \"slots\": 0, "           \
	"\"packets\": 0, \"bytes\": 0, \"new_flows\": 0}"
#define STATUS                                                          \
	"{\"version\": \"0.1.0\", \"instance\": \"main\", \"pid\": 1, " \
	"\"uptime_s\": 2, \"config_file\": \"/etc/fairlead.yaml\", "    \
	"\"unsaved_changes\": false, \"interface\": \"eth0\", "         \
	"\"attach\": \"native\", \"conntrack\": \"sets\", "            \
	"\"flows_per_cpu\": 3, \"cpus\": 2, \"flow_memory_mib\": 1.5, "  \
	"\"vips\": 1, \"pools\": 1, \"tables\": 1, \"backends\": 3, " \
	"\"backends_draining\": 0, \"backends_unresolved\": 0, "        \
	"\"checked_backends\": 3, \"checks\": 2, \"checker_pid\": 7, " \
	"\"checker_restarts\": 1, \"check_results\": 40, "            \
	"\"state_changes\": 5, "                                      \
	"\"changes_applied\": 1, \"changes_failed\": 0, "                \
	"\"map_writes\": 9, \"last_plan_ms\": 0.25, "                   \
	"\"last_build_ms\": 1.5, \"last_commit_ms\": 12.0, "            \
	"\"last_error\": null}"
#define COUNTERS                                                             \
	"{\"passed\": 1, \"sent_tx\": 2, \"sent_redirect\": 3, \"drops\": [" \
	"{\"reason\": \"fragment\", \"packets\": 0, \"bytes\": 0}, "         \
	"{\"reason\": \"too_big\", \"packets\": 4, \"bytes\": 6000}], "      \
	"\"events\": [{\"event\": \"backend_up\", \"count\": 0}, "           \
	"{\"event\": \"backend_down\", \"count\": 2}], "                     \
	"\"probes\": [{\"probes\": \"sent\", \"packets\": 9}], "             \
	"\"vips\": [], \"backends\": []}"

#define PREVIEW(change, percent)                                           \
	"{\"address\": \"192.0.2.1:80/tcp\", \"change\": \"" change    \
	"\", \"slots\": 65537, \"moved\": 1638, \"moved_percent\": " percent \
	", \"flows\": 10, \"flows_on_moved\": 1}"

#define REFUSAL(code)                                              \
	"{\"id\": 1, \"ok\": false, \"error\": {\"code\": \"" code \
	"\", \"message\": \"because\"}}\n"

static void requests_are_what_was_typed(void **state)
{
	static const struct {
		const char *line, *reply, *verb, *args;
	} rows[] = {
		{ "vip add V encap gue gue_p 6080", FAKE_OK("{}"), "vip.add",
		  "{\"vip\": \"V\", \"options\": {\"encap\": \"gue\", "
		  "\"gue_port\": \"6080\"}}" },
		{ "vip add V", FAKE_OK("{}"), "vip.add",
		  "{\"vip\": \"V\", \"options\": {}}" },
		{ "vi se V po web", FAKE_OK("{}"), "vip.set",
		  "{\"vip\": \"V\", \"options\": {\"pool\": \"web\"}}" },
		{ "vip del V", FAKE_OK("{}"), "vip.del", "{\"vip\": \"V\"}" },
		{ "backend add T A weight 2", FAKE_OK("{}"), "backend.add",
		  "{\"target\": \"T\", \"address\": \"A\", \"options\": "
		  "{\"weight\": \"2\"}}" },
		{ "backend set T A name n", FAKE_OK("{}"), "backend.set",
		  "{\"target\": \"T\", \"address\": \"A\", \"options\": "
		  "{\"name\": \"n\"}}" },
		{ "backend del T A", FAKE_OK("{}"), "backend.del",
		  "{\"target\": \"T\", \"address\": \"A\"}" },
		{ "vip show", FAKE_OK("{\"vips\": []}"), "vip.show", "{}" },
		{ "vip show V", FAKE_OK("{\"vips\": []}"), "vip.show",
		  "{\"vip\": \"V\"}" },
		{ "backend show T", FAKE_OK("{\"backends\": []}"),
		  "backend.show", "{\"target\": \"T\"}" },
		{ "show status", FAKE_OK(STATUS), "show.status", "{}" },
		{ "show counters", FAKE_OK(COUNTERS), "show.counters", "{}" },
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		_cleanup_fake_ struct fake f = {};
		json_auto_t *request = NULL, *args = NULL;
		_cleanup_outcome_ struct outcome o = {};

		fake_start(&f, FAKE_GREETING, rows[i].reply);
		o = fairlead("%s --socket %s", rows[i].line, f.path);
		assert_string_equal(o.err, "");
		assert_int_equal(o.status, EXIT_OK);
		request = fake_request(&f);
		args = json_loads(rows[i].args, 0, NULL);
		assert_string_equal(
			json_string_value(json_object_get(request, "verb")),
			rows[i].verb);
		assert_true(json_equal(json_object_get(request, "args"), args));
	}
}

static void a_change_that_worked_is_silent_and_an_object_in_json(void **state)
{
	_cleanup_fake_ struct fake f = {}, g = {};
	_cleanup_outcome_ struct outcome text = {}, json = {};

	(void)state;
	fake_start(&f, FAKE_GREETING, FAKE_OK("{}"));
	text = fairlead("vip del V --socket %s", f.path);
	assert_int_equal(text.status, EXIT_OK);
	assert_string_equal(text.out, "");

	fake_start(&g, FAKE_GREETING, FAKE_OK("{}"));
	json = fairlead("-j vip del V --socket %s", g.path);
	assert_int_equal(json.status, EXIT_OK);
	assert_string_equal(json.out, "{}\n");
}

static struct outcome answer(const char *line, const char *reply)
{
	_cleanup_fake_ struct fake f = {};

	fake_start(&f, FAKE_GREETING, reply);
	return fairlead("%s --socket %s", line, f.path);
}

static const struct {
	const char *line, *reply, *out;
} printed[] = {
	{ "-o vip show", FAKE_OK("{\"vips\": [" VIP "]}"),
	  "address 203.0.113.10:443/tcp pool web encap ipip "
	  "algorithm maglev table_size 65537 digest 0123456789abcdef backends 3 "
	  "packets 7 bytes 8 new_flows 9 drops 0 hash source "
	  "unremembered 5 quic_unknown 6 backends_up 2 panic false "
	  "quorum_lost true\n" },
	{ "vip show", FAKE_OK("{\"vips\": []}"), "" },
	{ "-j vip show", FAKE_OK("{\"vips\": [], \"later\": 1}"),
	  "{\"vips\":[]}\n" },
	{ "-o backend show",
	  FAKE_OK("{\"backends\": [" BACKEND("\"draining\"",
					     "\"no route\"") "]}"),
	  "pool - name web-1 address 10.1.0.11 weight 2 encap ipip "
	  "state draining slots 4 packets 0 bytes 0 new_flows 0 "
	  "effective down share 0 health down health_s 61 penalty 12.500 "
	  "via vip vip - next_hop - problem \"no route\" why check "
	  "health_reason \"connect: timed out\" check_problem -\n" },
	{ "-o backend show", FAKE_OK("{\"backends\": [" LEFT "]}"),
	  "pool - name 10.1.0.9 address 10.1.0.9 weight 0 encap ipip "
	  "state draining slots 0 packets 0 bytes 0 new_flows 0 "
	  "effective - share - health - health_s - penalty - via - vip - "
	  "next_hop - problem - why - health_reason - check_problem -\n" },
	{ "show counters", FAKE_OK(COUNTERS),
	  "passed         1\n"
	  "sent_tx        2\n"
	  "sent_redirect  3\n"
	  "\n"
	  "drops\n"
	  "reason   packets  bytes\n"
	  "too_big        4   6000\n"
	  "\n"
	  "events\n"
	  "event         count\n"
	  "backend_down      2\n"
	  "\n"
	  "probes\n"
	  "probes  packets\n"
	  "sent          9\n" },
	{ "-o show counters --all", FAKE_OK(COUNTERS),
	  "passed 1 sent_tx 2 sent_redirect 3\n"
	  "reason fragment packets 0 bytes 0\n"
	  "reason too_big packets 4 bytes 6000\n"
	  "event backend_up count 0\n"
	  "event backend_down count 2\n"
	  "probes sent packets 9\n" },
	{ "show counters -j", FAKE_OK(COUNTERS),
	  "{\"passed\":1,\"sent_tx\":2,\"sent_redirect\":3,\"drops\":["
	  "{\"reason\":\"fragment\",\"packets\":0,\"bytes\":0},"
	  "{\"reason\":\"too_big\",\"packets\":4,\"bytes\":6000}],"
	  "\"events\":[{\"event\":\"backend_up\",\"count\":0},"
	  "{\"event\":\"backend_down\",\"count\":2}],"
	  "\"probes\":[{\"probes\":\"sent\",\"packets\":9}],"
	  "\"vips\":[],\"backends\":[]}\n" },
	{ "-o show status", FAKE_OK(STATUS),
	  "version 0.1.0 instance main pid 1 uptime_s 2 "
	  "config_file /etc/fairlead.yaml unsaved_changes false "
	  "interface eth0 attach native conntrack sets flows_per_cpu 3 "
	  "cpus 2 flow_memory_mib 1.500 vips 1 "
	  "pools 1 tables 1 backends 3 backends_draining 0 "
	  "backends_unresolved 0 checked_backends 3 checks 2 "
	  "checker_pid 7 checker_restarts 1 check_results 40 "
	  "state_changes 5 changes_applied 1 changes_failed 0 "
	  "map_writes 9 last_plan_ms 0.250 last_build_ms 1.500 "
	  "last_commit_ms 12.000 last_error -\n" },
	{ "apply /dev/null",
	  FAKE_OK("{\"changes\": {\"vips\": 1, \"note\": \"x\", "
		  "\"more\": [1, 2]}}"),
	  "vips  1\n"
	  "note  x\n"
	  "more  [1,2]\n" },
	{ "apply --dry-run /dev/null",
	  FAKE_OK("{\"changes\": {\"vips_added\": 1}, \"vips\": ["
		  PREVIEW("unchanged", "0") ", " PREVIEW("changed", "2.5")
		  "]}"),
	  "changes\n"
	  "vips_added  1\n"
	  "\n"
	  "vips\n"
	  "address           change   slots  moved  moved_percent  flows  "
	  "flows_on_moved\n"
	  "192.0.2.1:80/tcp  changed  65537   1638          2.500     10  "
	  "             1\n" },
};

static void answers_are_printed_as_asked_for(void **state)
{
	(void)state;
	for (size_t i = 0; i < N(printed); i++) {
		_cleanup_outcome_ struct outcome o =
			answer(printed[i].line, printed[i].reply);

		assert_string_equal(o.err, "");
		assert_string_equal(o.out, printed[i].out);
		assert_int_equal(o.status, EXIT_OK);
	}
}

static void every_field_of_the_protocol_comes_through_json(void **state)
{
	static const struct {
		const char *line, *result;
	} rows[] = {
		{ "-j vip show", "{\"vips\": [" VIP "]}" },
		{ "-p backend show",
		  "{\"backends\": [" BACKEND("\"active\"", "null") "]}" },
		{ "-j show status", STATUS },
		{ "-p show counters", COUNTERS },
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		_cleanup_free_ char *reply = NULL;
		_cleanup_outcome_ struct outcome o = {};
		json_auto_t *got = NULL, *expected = NULL;

		assert_true(asprintf(&reply, FAKE_OK("%s"), rows[i].result) > 0);
		o = answer(rows[i].line, reply);
		got = json_loads(o.out, 0, NULL);
		expected = json_loads(rows[i].result, 0, NULL);
		assert_non_null(expected);
		assert_true(json_equal(got, expected));
	}
}

static void an_answer_with_holes_is_an_error_and_prints_nothing(void **state)
{
	static const struct {
		const char *line, *reply, *why;
	} rows[] = {
		{ "vip show", FAKE_OK("{}"), "'vips' is missing" },
		{ "vip show", FAKE_OK("{\"vips\": 1}"), "'vips' is not a list" },
		{ "vip show", FAKE_OK("{\"vips\": [" VIP ", {}]}"),
		  "vips[1]: 'address' is missing" },
		{ "vip show", FAKE_OK("{\"vips\": [null]}"),
		  "vips[0]: 'address' is missing" },
		{ "backend show",
		  FAKE_OK("{\"backends\": [" BACKEND("7", "null") "]}"),
		  "backends[0]: 'state' is not a string" },
		{ "-j backend show", FAKE_OK("{\"backends\": [{}]}"),
		  "backends[0]: 'pool' is missing" },
		{ "show status", FAKE_OK("{}"), "'version' is missing" },
		{ "-o show counters", FAKE_OK("{\"passed\": \"1\"}"),
		  "'passed' is not an integer" },
		{ "-j show counters",
		  FAKE_OK("{\"passed\": 1, \"sent_tx\": 2, "
			  "\"sent_redirect\": 3, \"drops\": [{}]}"),
		  "drops[0]: 'reason' is missing" },
		{ "apply /dev/null", FAKE_OK("{}"), "'changes' is missing" },
		{ "save", FAKE_OK("{\"yaml\": \"\"}"), "'file' is missing" },
		{ "save", FAKE_OK("{\"yaml\": 1, \"file\": \"/x\"}"),
		  "'yaml' is not a string" },
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		_cleanup_outcome_ struct outcome o =
			answer(rows[i].line, rows[i].reply);

		assert_int_equal(o.status, EXIT_PROTOCOL);
		assert_contains(o.err, rows[i].why);
		assert_contains(o.err, "fairleadd (instance 'main')");
		assert_string_equal(o.out, "");
	}
}

static void exit_statuses_tell_refusals_apart(void **state)
{
	static const struct {
		const char *reply;
		int status;
	} rows[] = {
		{ REFUSAL("invalid"), EXIT_REFUSED },
		{ REFUSAL("exists"), EXIT_REFUSED },
		{ REFUSAL("not_found"), EXIT_REFUSED },
		{ REFUSAL("busy"), EXIT_REFUSED },
		{ REFUSAL("failed"), EXIT_REFUSED },
		{ REFUSAL("usage"), EXIT_REFUSED },
		{ REFUSAL("denied"), EXIT_NOPERM },
		{ "garbage\n", EXIT_PROTOCOL },
		{ "", EXIT_UNAVAILABLE },
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		_cleanup_outcome_ struct outcome o =
			answer("vip del V", rows[i].reply);

		assert_int_equal(o.status, rows[i].status);
		assert_string_equal(o.out, "");
		assert_ptr_equal(strstr(o.err, "fairlead: "), o.err);
	}
}

static void usage_errors_go_to_stderr_with_status_64(void **state)
{
	static const struct {
		const char *line, *err;
	} rows[] = {
		{ "", "Usage: fairlead [OPTIONS] COMMAND" },
		{ "frob",
		  "unknown command 'frob': expected vip, backend, show" },
		{ "b show", "'b': it may mean backend or backend-setup" },
		{ "vip", "'vip' needs a command: add, set, del or show" },
		{ "vip frob", "expected add, set, del or show" },
		{ "vip frob --help", "expected add, set, del or show" },
		{ "help frob", "unknown command 'frob'" },
		{ "--frob vip show", "unknown option '--frob'" },
		{ "vip --frob show", "unknown option '--frob'" },
		{ "vip show --frob", "unknown option '--frob'" },
		{ "vip show --frob", "expected --json, --pretty, --oneline, "
				     "--all, --dry-run, --instance, --socket, --help or --version" },
		{ "backend add V B weight -1", "unknown option '-1': expected --json" },
		{ "backend add V B --weight 3",
		  "'--weight' has no dashes in 'backend add': weight NUMBER" },
		{ "vip del V -a", "'vip del' has no option --all" },
		{ "flow flush --vip V --dry-run", "'flow flush' has no option --dry-run" },
		{ "flow flush --vip V -a", "'flow flush' has no option --all" },
		{ "show flows -n", "'show flows' has no option --dry-run" },
		{ "table plan -n", "'table plan' has no option --dry-run" },
		{ "backend-setup -n", "'backend-setup' has no option --dry-run" },
		{ "vip add", "Try: fairlead vip add --help" },
		{ "vip set V", "Try: fairlead vip set --help" },
		{ "apply", "'apply': FILE is missing" },
		{ "--socket", "option '--socket' needs a value" },
		{ "help --frob", "unknown option '--frob'" },
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		_cleanup_outcome_ struct outcome o = fairlead("%s", rows[i].line);

		assert_int_equal(o.status, 64);
		assert_string_equal(o.out, "");
		assert_contains(o.err, rows[i].err);
	}
}

static void no_daemon_is_status_69(void **state)
{
	_cleanup_outcome_ struct outcome o =
		fairlead("show status --socket /nonexistent/s");
	_cleanup_outcome_ struct outcome other =
		fairlead("vip del V --instance surely-not-there");

	(void)state;
	assert_int_equal(o.status, 69);
	assert_string_equal(o.err,
			    "fairlead: fairleadd (instance 'main') is not "
			    "running: no one answers at '/nonexistent/s'\n");
	assert_int_equal(other.status, 69);
	assert_contains(other.err,
			"'/run/fairlead/surely-not-there/fairlead.sock'");
}

static void errors_are_json_where_answers_are(void **state)
{
	static const struct {
		const char *line, *code;
		int status;
	} rows[] = {
		{ "-j vip del V --socket /nonexistent/s", "unavailable", 69 },
		{ "vip frob -p", "usage", 64 },
		{ "--frob -j", "usage", 64 },
		{ "check /nonexistent -j", "invalid", 1 },
		{ "apply /nonexistent -j", "failed", 1 },
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		_cleanup_outcome_ struct outcome o = fairlead("%s", rows[i].line);
		json_auto_t *object = json_loads(o.err, 0, NULL);
		json_t *error = json_object_get(object, "error");

		assert_int_equal(o.status, rows[i].status);
		assert_string_equal(
			json_string_value(json_object_get(error, "code")),
			rows[i].code);
		assert_true(json_is_string(json_object_get(error, "message")));
		assert_string_equal(o.out, "");
	}
}

static void words_that_are_not_text_do_no_harm(void **state)
{
	_cleanup_outcome_ struct outcome text = fairlead("\033[2J");
	_cleanup_outcome_ struct outcome json = fairlead("-j \xff");
	json_auto_t *object = json_loads(json.err, 0, NULL);

	(void)state;
	assert_contains(text.err, "'\\x1b[2J'");
	assert_null(strchr(text.err, '\033'));
	assert_non_null(object);
}

static void help_that_was_asked_for_goes_to_stdout_with_status_0(void **state)
{
	static const char *const lines[] = { "--help",	   "-h",
					     "help",	   "-j --help",
					     "vip --help", "help backend" };

	(void)state;
	for (size_t i = 0; i < N(lines); i++) {
		_cleanup_outcome_ struct outcome o = fairlead("%s", lines[i]);

		assert_int_equal(o.status, EXIT_OK);
		assert_ptr_equal(strstr(o.out, "Usage: fairlead "), o.out);
		assert_string_equal(o.err, "");
	}
}

static void every_verb_explains_itself(void **state)
{
	(void)state;
	for (const struct verb *v = verbs; v->object; v++) {
		char name[VERB_NAME_MAX];
		_cleanup_outcome_ struct outcome o =
			fairlead("%s --help", verb_name(v, name));

		assert_int_equal(o.status, EXIT_OK);
		assert_contains(o.out, name);
		assert_contains(o.out, v->help);
		for (const struct verb_option *p = v->options; p && p->key; p++)
			assert_contains(o.out, p->help);
	}
}

static void version_is_a_document(void **state)
{
	_cleanup_outcome_ struct outcome option = fairlead("-jV");
	_cleanup_outcome_ struct outcome command = fairlead("version -j");

	(void)state;
	assert_string_equal(option.out,
			    "{\"program\":\"fairlead\",\"version\":"
			    "\"" FAIRLEAD_VERSION "\",\"protocol\":1}\n");
	assert_string_equal(command.out, option.out);
}

static void backend_setup_gets_the_options_that_are_its_own(void **state)
{
	_cleanup_outcome_ struct outcome o =
		fairlead("-j backend-setup --interface eth0 10.0.0.1");

	(void)state;
	assert_int_equal(o.status, EXIT_OK);
	assert_int_equal(setup_argc, 3);
	assert_string_equal(o.out, "{}\n");
}

static void a_long_answer_comes_through_whole(void **state)
{
	enum { VIPS = 20000 };
	json_auto_t *reply = json_object();
	json_t *result = json_object(), *list = json_array();
	_cleanup_free_ char *line = NULL, *text = NULL;
	_cleanup_outcome_ struct outcome o = {};
	json_auto_t *vip = json_loads(VIP, 0, NULL);
	size_t lines = 0;

	(void)state;
	for (int i = 0; i < VIPS; i++)
		json_array_append(list, vip);
	json_object_set_new(result, "vips", list);
	json_object_set_new(reply, "result", result);
	json_object_set_new(reply, "ok", json_true());
	json_object_set_new(reply, "id", json_integer(1));
	text = json_dumps(reply, 0);
	assert_true(asprintf(&line, "%s\n", text) > 0);
	o = answer("-o vip show", line);
	assert_int_equal(o.status, EXIT_OK);
	for (const char *c = o.out; *c; c++)
		lines += *c == '\n';
	assert_int_equal(lines, VIPS);
}

static void a_reader_that_went_away_is_no_error(void **state)
{
	char *const lines[][3] = { { (char *)"fairlead", (char *)"--help" },
				   { (char *)"fairlead", (char *)"version" },
				   { (char *)"fairlead", (char *)"-jV" } };

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < N(lines); i++) {
		_cleanup_free_ char *err_text = NULL;
		size_t size;
		int ends[2];
		FILE *out, *err = open_memstream(&err_text, &size);

		assert_int_equal(pipe(ends), 0);
		close(ends[0]);
		out = fdopen(ends[1], "w");
		assert_int_equal(cli_main(2, (char **)lines[i], out, err), 0);
		fclose(out);
		fclose(err);
		assert_string_equal(err_text, "");
	}
	signal(SIGPIPE, SIG_DFL);
}

static void output_that_cannot_be_written_is_an_error(void **state)
{
	char *argv[] = { (char *)"fairlead", (char *)"version", NULL };
	_cleanup_free_ char *err_text = NULL;
	size_t size;
	FILE *out = fopen("/dev/full", "w");
	FILE *err = open_memstream(&err_text, &size);

	(void)state;
	assert_int_equal(cli_main(2, argv, out, err), EXIT_REFUSED);
	fclose(out);
	fclose(err);
	assert_contains(err_text, "No space left");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_are_what_was_typed),
		cmocka_unit_test(
			a_change_that_worked_is_silent_and_an_object_in_json),
		cmocka_unit_test(answers_are_printed_as_asked_for),
		cmocka_unit_test(every_field_of_the_protocol_comes_through_json),
		cmocka_unit_test(
			an_answer_with_holes_is_an_error_and_prints_nothing),
		cmocka_unit_test(exit_statuses_tell_refusals_apart),
		cmocka_unit_test(usage_errors_go_to_stderr_with_status_64),
		cmocka_unit_test(no_daemon_is_status_69),
		cmocka_unit_test(errors_are_json_where_answers_are),
		cmocka_unit_test(words_that_are_not_text_do_no_harm),
		cmocka_unit_test(
			help_that_was_asked_for_goes_to_stdout_with_status_0),
		cmocka_unit_test(every_verb_explains_itself),
		cmocka_unit_test(version_is_a_document),
		cmocka_unit_test(backend_setup_gets_the_options_that_are_its_own),
		cmocka_unit_test(a_long_answer_comes_through_whole),
		cmocka_unit_test(a_reader_that_went_away_is_no_error),
		cmocka_unit_test(output_that_cannot_be_written_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
