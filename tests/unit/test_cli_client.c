// SPDX-License-Identifier: GPL-2.0-only
/* The control protocol from the client's side, and every way it can fail. */
#include "test_cli_fake.h"

static int ask(const struct client_address *address, char *code, struct err *err)
{
	_cleanup_client_ struct client *client = NULL;
	json_auto_t *result = NULL;
	int r = client_open(address, &client, err);

	if (r < 0)
		return r;

	return client_call(client, "show.status", json_object(), &result, code,
			   err);
}

static int ask_fake(const struct fake *f, int connect_ms, int reply_ms,
		    char *code, struct err *err)
{
	struct client_address address = { .path = f->path,
					  .instance = "main",
					  .connect_timeout_ms = connect_ms,
					  .reply_timeout_ms = reply_ms };

	return ask(&address, code, err);
}

#define PATIENT_MS   30000
#define IMPATIENT_MS 50

static void a_request_and_its_reply_are_one_line_each(void **state)
{
	_cleanup_fake_ struct fake f = {};
	json_auto_t *request = NULL, *expected = NULL;
	char code[CLIENT_CODE_MAX];

	(void)state;
	fake_start(&f, FAKE_GREETING, FAKE_OK("{}"));
	assert_int_equal(ask_fake(&f, PATIENT_MS, PATIENT_MS, code, NULL), 0);
	request = fake_request(&f);
	expected = json_pack("{s:i, s:s, s:{}}", "id", 1, "verb", "show.status",
			     "args");
	assert_true(json_equal(request, expected));
}

static void no_socket_means_that_the_daemon_does_not_run(void **state)
{
	struct client_address address = { .path = "/nonexistent/sock",
					  .instance = "two",
					  .connect_timeout_ms = PATIENT_MS };
	struct err err = {};

	(void)state;
	assert_int_equal(ask(&address, NULL, &err), -ENOTCONN);
	assert_string_equal(err.text,
			    "fairleadd (instance 'two') is not running: no one "
			    "answers at '/nonexistent/sock'");
}

static void a_socket_that_nobody_listens_at_means_the_same(void **state)
{
	_cleanup_fake_ struct fake f = {};
	char code[CLIENT_CODE_MAX];
	struct err err = {};

	(void)state;
	fake_start(&f, FAKE_GREETING, FAKE_OK("{}"));
	kill(f.pid, SIGKILL);
	fake_wait(&f);
	assert_int_equal(ask_fake(&f, PATIENT_MS, PATIENT_MS, code, &err),
			 -ENOTCONN);
	assert_contains(err.text, "is not running");
}

static void a_path_too_long_for_a_socket_is_refused(void **state)
{
	char path[200];
	struct client_address address = { .path = path, .instance = "main" };
	struct err err = {};

	(void)state;
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(ask(&address, NULL, &err), -ENAMETOOLONG);
	assert_contains(err.text, "at most 107 bytes");
}

static void a_daemon_that_does_not_greet_is_given_up(void **state)
{
	_cleanup_fake_ struct fake f = {};
	char code[CLIENT_CODE_MAX];
	struct err err = {};

	(void)state;
	fake_start(&f, NULL, NULL);
	assert_int_equal(ask_fake(&f, IMPATIENT_MS, PATIENT_MS, code, &err),
			 -ENOTCONN);
	assert_contains(err.text, "does not answer at");
	assert_contains(err.text, "waited 0.0 s");
}

static void a_daemon_that_does_not_reply_is_given_up(void **state)
{
	_cleanup_fake_ struct fake f = {};
	char code[CLIENT_CODE_MAX];
	struct err err = {};

	(void)state;
	fake_start(&f, FAKE_GREETING, NULL);
	assert_int_equal(ask_fake(&f, PATIENT_MS, IMPATIENT_MS, code, &err),
			 -ENOTCONN);
	assert_contains(err.text, "does not answer at");
}

static void a_daemon_that_hangs_up_is_said_to_have(void **state)
{
	static const struct {
		const char *greeting, *reply;
	} rows[] = {
		{ "", "" },
		{ FAKE_GREETING, "" },
		{ FAKE_GREETING, "{\"id\": 1, \"ok\"" },
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		_cleanup_fake_ struct fake f = {};
		char code[CLIENT_CODE_MAX];
		struct err err = {};

		fake_start(&f, rows[i].greeting, rows[i].reply);
		assert_int_equal(ask_fake(&f, PATIENT_MS, PATIENT_MS, code, &err),
				 -ENOTCONN);
		assert_contains(err.text, "closed the connection");
	}
}

static void another_version_of_the_protocol_is_refused(void **state)
{
	_cleanup_fake_ struct fake f = {};
	char code[CLIENT_CODE_MAX];
	struct err err = {};

	(void)state;
	fake_start(&f, "{\"fairlead\": 2, \"version\": \"9.9\"}\n", NULL);
	assert_int_equal(ask_fake(&f, PATIENT_MS, PATIENT_MS, code, &err),
			 -EPROTO);
	assert_contains(err.text, "fairleadd 9.9 at");
	assert_contains(err.text, "speaks protocol 2");
	assert_contains(err.text, "speaks only 1");
}

static void what_is_not_the_protocol_is_not_understood(void **state)
{
	static const struct {
		const char *greeting, *reply, *why;
	} rows[] = {
		{ "SSH-2.0\r\n", NULL, "not a JSON object" },
		{ "[]\n", NULL, "not a JSON object" },
		{ "{}\n", NULL, "does not greet" },
		{ "{\"fairlead\": \"1\"}\n", NULL, "does not greet" },
		{ FAKE_GREETING, "\n", "not a JSON object" },
		{ FAKE_GREETING, "{\"ok\": true, \"ok\": true}\n",
		  "not a JSON object" },
		{ FAKE_GREETING, "{}\n", "does not say 'ok'" },
		{ FAKE_GREETING, "{\"id\": 1, \"ok\": 1}\n", "does not say 'ok'" },
		{ FAKE_GREETING, "{\"id\": 1, \"ok\": true}\n",
		  "has no 'result'" },
		{ FAKE_GREETING, FAKE_OK("[]"), "has no 'result'" },
		{ FAKE_GREETING, "{\"id\": 2, \"ok\": true, \"result\": {}}\n",
		  "to another request" },
		{ FAKE_GREETING, "{\"id\": 1, \"ok\": false}\n",
		  "no 'code' and 'message'" },
		{ FAKE_GREETING, "{\"id\": 1, \"ok\": false, \"error\": \"no\"}\n",
		  "no 'code' and 'message'" },
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		_cleanup_fake_ struct fake f = {};
		char code[CLIENT_CODE_MAX];
		struct err err = {};

		fake_start(&f, rows[i].greeting, rows[i].reply);
		assert_int_equal(ask_fake(&f, PATIENT_MS, PATIENT_MS, code, &err),
				 -EPROTO);
		assert_contains(err.text, rows[i].why);
	}
}

static void a_refusal_keeps_its_code_and_sentence(void **state)
{
	_cleanup_fake_ struct fake f = {};
	char code[CLIENT_CODE_MAX];
	struct err err = {};

	(void)state;
	fake_start(&f, FAKE_GREETING,
		   "{\"id\": 1, \"ok\": false, \"error\": {\"code\": "
		   "\"not_found\", \"message\": \"no such thing\"}}\n");
	assert_int_equal(ask_fake(&f, PATIENT_MS, PATIENT_MS, code, &err),
			 -EREMOTEIO);
	assert_string_equal(code, "not_found");
	assert_string_equal(err.text, "no such thing");
}

static void a_code_longer_than_any_is_cut(void **state)
{
	_cleanup_fake_ struct fake f = {};
	char code[CLIENT_CODE_MAX];

	(void)state;
	fake_start(&f, FAKE_GREETING,
		   "{\"ok\": false, \"error\": {\"code\": "
		   "\"0123456789012345678901234567890123456789\", "
		   "\"message\": \"m\"}}\n");
	assert_int_equal(ask_fake(&f, PATIENT_MS, PATIENT_MS, code, NULL),
			 -EREMOTEIO);
	assert_string_equal(code, "0123456789012345678901234567890");
}

static void a_line_longer_than_64_MiB_is_refused(void **state)
{
	_cleanup_fake_ struct fake f = {};
	_cleanup_free_ char *line = malloc(CLIENT_LINE_MAX + 2);
	char code[CLIENT_CODE_MAX];
	struct err err = {};

	(void)state;
	assert_non_null(line);
	memset(line, ' ', CLIENT_LINE_MAX + 1);
	line[CLIENT_LINE_MAX + 1] = '\0';
	fake_start(&f, FAKE_GREETING, line);
	assert_int_equal(ask_fake(&f, PATIENT_MS, PATIENT_MS, code, &err),
			 -EPROTO);
	assert_contains(err.text, "longer than 64 MiB");
}

/*
 * As somebody whom the mode of the socket keeps out, root or not: in a child,
 * which tells what happened by its exit status.
 */
static int ask_as_nobody(const struct client_address *address)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		char code[CLIENT_CODE_MAX];

		if (geteuid() == 0 && setuid(65534) < 0)
			_exit(255);
		_exit(-ask(address, code, NULL));
	}
	waitpid(pid, &status, 0);
	assert_true(WIFEXITED(status));
	return -WEXITSTATUS(status);
}

static void a_socket_that_refuses_us_is_told_apart(void **state)
{
	_cleanup_fake_ struct fake f = {};
	struct client_address address = { .path = f.path,
					  .instance = "main",
					  .connect_timeout_ms = PATIENT_MS };

	(void)state;
	fake_start(&f, FAKE_GREETING, FAKE_OK("{}"));
	chmod(f.dir, 0755);
	chmod(f.path, 0000);
	assert_int_equal(ask_as_nobody(&address), -EACCES);
}

static void reading_falls_back_to_the_read_only_socket(void **state)
{
	_cleanup_fake_ struct fake full = {}, read_only = {};
	struct client_address address = { .path = full.path,
					  .read_only_path = read_only.path,
					  .instance = "main",
					  .connect_timeout_ms = PATIENT_MS,
					  .reply_timeout_ms = PATIENT_MS };

	(void)state;
	fake_start(&full, FAKE_GREETING, FAKE_OK("{}"));
	fake_start(&read_only, FAKE_GREETING, FAKE_OK("{}"));
	chmod(full.dir, 0755);
	chmod(full.path, 0000);
	chmod(read_only.dir, 0755);
	chmod(read_only.path, 0666);
	assert_int_equal(ask_as_nobody(&address), 0);
}

static void permission_stays_the_reason_when_the_fallback_is_away(void **state)
{
	_cleanup_fake_ struct fake f = {};
	struct client_address address = { .path = f.path,
					  .read_only_path = "/nonexistent/sock",
					  .instance = "main",
					  .connect_timeout_ms = PATIENT_MS };

	(void)state;
	fake_start(&f, FAKE_GREETING, FAKE_OK("{}"));
	chmod(f.dir, 0755);
	chmod(f.path, 0000);
	assert_int_equal(ask_as_nobody(&address), -EACCES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_and_its_reply_are_one_line_each),
		cmocka_unit_test(no_socket_means_that_the_daemon_does_not_run),
		cmocka_unit_test(a_socket_that_nobody_listens_at_means_the_same),
		cmocka_unit_test(a_path_too_long_for_a_socket_is_refused),
		cmocka_unit_test(a_daemon_that_does_not_greet_is_given_up),
		cmocka_unit_test(a_daemon_that_does_not_reply_is_given_up),
		cmocka_unit_test(a_daemon_that_hangs_up_is_said_to_have),
		cmocka_unit_test(another_version_of_the_protocol_is_refused),
		cmocka_unit_test(what_is_not_the_protocol_is_not_understood),
		cmocka_unit_test(a_refusal_keeps_its_code_and_sentence),
		cmocka_unit_test(a_code_longer_than_any_is_cut),
		cmocka_unit_test(a_line_longer_than_64_MiB_is_refused),
		cmocka_unit_test(a_socket_that_refuses_us_is_told_apart),
		cmocka_unit_test(reading_falls_back_to_the_read_only_socket),
		cmocka_unit_test(
			permission_stays_the_reason_when_the_fallback_is_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
