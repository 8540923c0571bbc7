// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check_testing.h"
#include "core/cleanup.h"

static void full_probe(struct probe *probe)
{
	*probe = (struct probe){ .id = UINT32_MAX, .port = 65535, .mark = UINT32_MAX };
	full_check(&probe->check);
	assert_int_equal(addr_parse("2001:db8::10", "address", &probe->addr, NULL), 0);
	assert_int_equal(addr_parse("10.1.0.11", "address", &probe->backend, NULL), 0);
}

/* What was written, read again. Frees the line. */
static void read_back(char *line, enum check_wire_op op, struct check_message *out)
{
	struct err err = { 0 };
	int rc = check_wire_parse(line, strlen(line), out, &err);

	if (rc)
		fail_msg("%s: %s", line, err.text);
	assert_null(strchr(line, '\n'));
	assert_int_equal(out->op, op);
	free(line);
}

static void probes_come_back_as_they_were(void **state)
{
	struct check_message message;
	struct probe probe;
	char *line = NULL;

	(void)state;
	full_probe(&probe);
	assert_int_equal(check_wire_add(&probe, &line, NULL), 0);
	read_back(line, CHECK_ADD, &message);
	assert_int_equal(message.probe.id, probe.id);
	assert_int_equal(message.probe.port, probe.port);
	assert_int_equal(message.probe.mark, probe.mark);
	assert_int_equal(addr_compare(&message.probe.addr, &probe.addr), 0);
	assert_int_equal(addr_compare(&message.probe.backend, &probe.backend), 0);
	assert_int_equal(check_compare(&message.probe.check, &probe.check), 0);
	assert_int_equal(message.probe.check.rise, probe.check.rise);
	assert_int_equal(message.probe.check.fall, probe.check.fall);
	check_clear(&message.probe.check);
	check_clear(&probe.check);
}

/* Also those that check_init() makes, of every kind that is ever sent. */
static void defaults_of_each_kind_come_back(void **state)
{
	struct check_message message;
	struct probe probe;
	char *line = NULL;

	(void)state;
	for (int kind = CHECK_TCP; kind < CHECK__MAX; kind++) {
		full_probe(&probe);
		check_clear(&probe.check);
		assert_int_equal(check_init(&probe.check, kind), 0);
		if (kind == CHECK_EXEC)
			probe.check.args[probe.check.n_args++] = strdup("/bin/true");
		assert_int_equal(check_wire_add(&probe, &line, NULL), 0);
		read_back(line, CHECK_ADD, &message);
		assert_int_equal(check_compare(&message.probe.check, &probe.check), 0);
		check_clear(&message.probe.check);
		check_clear(&probe.check);
	}
}

static void numbers_come_back(void **state)
{
	static const uint32_t numbers[] = { 0, 1, INT32_MAX, UINT32_MAX };
	struct check_message message;
	char *line = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		assert_int_equal(check_wire_del(numbers[i], &line, NULL), 0);
		read_back(line, CHECK_DEL, &message);
		assert_int_equal(message.id, numbers[i]);
		assert_int_equal(check_wire_ping(numbers[i], &line, NULL), 0);
		read_back(line, CHECK_PING, &message);
		assert_int_equal(message.seq, numbers[i]);
		assert_int_equal(check_wire_pong(numbers[i], &line, NULL), 0);
		read_back(line, CHECK_PONG, &message);
		assert_int_equal(message.seq, numbers[i]);
	}
}

static void result_comes_back(const struct probe_result *result)
{
	struct check_message message;
	char *line = NULL;

	assert_int_equal(check_wire_result(result, &line, NULL), 0);
	read_back(line, CHECK_RESULT, &message);
	assert_int_equal(message.result.id, result->id);
	assert_int_equal(message.result.ok, result->ok);
	assert_int_equal(message.result.ms, result->ms);
	assert_int_equal(message.result.weight, result->weight);
	assert_int_equal(message.result.agent, result->agent);
	assert_int_equal(message.result.agent_unclear, result->agent_unclear);
	assert_string_equal(message.result.reason, result->reason);
}

static void results_come_back(void **state)
{
	struct probe_result result = { .id = 7, .ok = true, .weight = -1 };

	(void)state;
	result_comes_back(&result);
	memset(result.reason, '"', sizeof(result.reason) - 1);
	result.id = result.ms = UINT32_MAX;
	result.ok = false;
	result.weight = 0;
	for (result.agent = 0; result.agent < AGENT__MAX; result.agent++)
		result_comes_back(&result);
	result.agent = AGENT_SILENT;
	result.weight = 100;
	result_comes_back(&result);
	result.weight = -1;
	result.agent_unclear = true;
	result_comes_back(&result);
}

static void a_probe_that_fits_no_line_is_refused(void **state)
{
	static char text[CHECK_TEXT_MAX + 1];
	struct err err = { 0 };
	struct probe probe;
	char *line = NULL;

	(void)state;
	full_probe(&probe);
	memset(text, 'x', sizeof(text) - 1);
	for (int i = probe.check.n_args; i < CHECK_ARGS_MAX; i++)
		probe.check.args[i] = strdup(text);
	probe.check.n_args = CHECK_ARGS_MAX;
	assert_int_equal(check_wire_add(&probe, &line, &err), -E2BIG);
	assert_non_null(strstr(err.text, "too long; allowed: up to 65536"));
	assert_null(line);
	check_clear(&probe.check);
}

static void text_that_is_not_utf8_is_refused(void **state)
{
	struct probe_result result = { .reason = "\xff" };
	struct err err = { 0 };
	struct probe probe;
	char *line = NULL;

	(void)state;
	full_probe(&probe);
	probe.check.send[0] = '\xff';
	assert_int_equal(check_wire_add(&probe, &line, &err), -EINVAL);
	assert_string_equal(err.text, "send is not text in UTF-8");
	assert_int_equal(check_wire_result(&result, &line, &err), -EINVAL);
	assert_null(line);
	check_clear(&probe.check);
}

/* Whoever wrote the line: a reason goes to logs and terminals. */
static void a_reason_comes_as_one_printable_line(void **state)
{
	struct check_message message;

	(void)state;
	read_back(strdup("{\"op\":\"result\",\"id\":1,\"ok\":true,\"ms\":1,"
			 "\"reason\":\"a\\u001b[2J\\nb\\u00e9 \"}"),
		  CHECK_RESULT, &message);
	assert_string_equal(message.result.reason, "a?[2J?b??");
}

/* Before it is sent: the other side would end the connection. */
static void a_check_that_makes_no_sense_is_not_written(void **state)
{
	struct err err = { 0 };
	struct probe probe;
	char *line = NULL;

	(void)state;
	full_probe(&probe);
	probe.check.path[0] = ' ';
	assert_int_equal(check_wire_add(&probe, &line, &err), -EINVAL);
	assert_non_null(strstr(err.text, "path ' health' has a character"));
	check_clear(&probe.check);
	assert_int_equal(check_init(&probe.check, CHECK_NONE), 0);
	assert_int_equal(check_wire_add(&probe, &line, &err), -EINVAL);
	assert_string_equal(err.text, "kind 'none' is unknown");
	assert_null(line);
}

/* The line is refused with a sentence that has the words. */
static void refused(const char *line, const char *words)
{
	struct check_message message;
	struct err err = { 0 };
	int rc = check_wire_parse(line, strlen(line), &message, &err);

	if (rc != -EINVAL || err.code != -EINVAL || !strstr(err.text, words))
		fail_msg("%s: %d, '%s' lacks '%s'", line, rc, err.text, words);
}

static void what_is_no_message_is_refused(void **state)
{
	(void)state;
	refused("", "not JSON");
	refused("nonsense", "not JSON");
	refused("{\"op\":\"ping\",\"seq\":1", "not JSON");
	refused("{\"op\":\"ping\",\"seq\":1}}", "not JSON");
	refused("{\"op\":\"ping\",\"seq\":1,\"seq\":2}", "duplicate");
	refused("{\"op\":\"ping\\u0000\",\"seq\":1}", "not JSON");
	refused("[]", "not a JSON object");
	refused("{}", "op is missing");
	refused("{\"op\":1}", "op is not a string");
	refused("{\"op\":\"stop\"}", "op 'stop' is unknown");
}

static void bad_numbers_are_refused(void **state)
{
	(void)state;
	refused("{\"op\":\"ping\"}", "seq is missing");
	refused("{\"op\":\"ping\",\"id\":1}", "key 'id' is unknown");
	refused("{\"op\":\"pong\",\"seq\":-1}", "seq is not a whole number");
	refused("{\"op\":\"pong\",\"seq\":4294967296}", "of 0 to 4294967295");
	refused("{\"op\":\"pong\",\"seq\":1.5}", "seq is not a whole number");
	refused("{\"op\":\"del\",\"id\":\"1\"}", "id is not a whole number");
	refused("{\"op\":\"del\",\"id\":null}", "id is not a whole number");
	refused("{\"op\":\"del\"}", "id is missing");
	refused("{\"op\":\"del\",\"id\":1,\"x\":2}", "key 'x' is unknown");
}

static void bad_results_are_refused(void **state)
{
	(void)state;
	refused("{\"op\":\"result\"}", "id is missing");
	refused("{\"op\":\"result\",\"id\":1}", "ok is missing");
	refused("{\"op\":\"result\",\"id\":1,\"ok\":1,\"reason\":\"\"}",
		"ok is not true or false");
	refused("{\"op\":\"result\",\"id\":1,\"ok\":true}", "reason is missing");
	refused("{\"op\":\"result\",\"id\":1,\"ok\":true,\"reason\":\"\",\"weight\":101}",
		"weight is not a whole number of 0 to 100");
	refused("{\"op\":\"result\",\"id\":1,\"ok\":true,\"reason\":\"\",\"agent\":\"off\"}",
		"agent 'off' is unknown");
	refused("{\"op\":\"result\",\"id\":1,\"ok\":true,\"reason\":\"\",\"why\":\"\"}",
		"key 'why' is unknown");
}

static void a_reason_that_is_too_long_is_refused(void **state)
{
	char line[512];

	(void)state;
	snprintf(line, sizeof(line),
		 "{\"op\":\"result\",\"id\":1,\"ok\":true,\"reason\":\"%0160d\"}", 0);
	refused(line, "reason has 160 bytes; allowed: up to 159");
}

/* An "add" whose outer members, and whose check's, are those. */
static void refused_add(const char *outer, const char *check, const char *words)
{
	_cleanup_free_ char *line = NULL;

	assert_true(asprintf(&line, "{\"op\":\"add\",%s,\"check\":{%s}}", outer, check) > 0);
	refused(line, words);
}

#define OUTER "\"id\":1,\"addr\":\"192.0.2.1\",\"port\":80,\"backend\":\"192.0.2.1\""
#define CHECK(kind) \
	"\"kind\":\"" kind "\",\"via\":\"direct\",\"interval\":1000,\"timeout\":500,\"rise\":1,\"fall\":1"

static void bad_probes_are_refused(void **state)
{
	(void)state;
	refused("{\"op\":\"add\",\"id\":1}", "addr is missing");
	refused("{\"op\":\"add\"," OUTER "}", "check is missing");
	refused("{\"op\":\"add\"," OUTER ",\"check\":7}", "check is not an object");
	refused_add("\"id\":1,\"addr\":\"localhost\",\"backend\":\"192.0.2.1\"", CHECK("icmp"),
		    "addr 'localhost' is not an IP address");
	refused_add("\"id\":1,\"addr\":\"224.0.0.1\",\"backend\":\"192.0.2.1\"", CHECK("icmp"),
		    "multicast");
	refused_add("\"id\":1,\"addr\":\"192.0.2.1\"", CHECK("icmp"), "backend is missing");
	refused_add("\"id\":1,\"addr\":\"192.0.2.1\",\"backend\":\"192.0.2.1\"", CHECK("tcp"),
		    "port is missing");
	refused_add(OUTER ",\"mark\":-1", CHECK("tcp"), "mark is not a whole number");
	refused_add(OUTER ",\"colour\":1", CHECK("tcp"), "key 'colour' is unknown");
	refused_add("\"addr\":\"192.0.2.1\",\"backend\":\"192.0.2.1\"", CHECK("icmp"),
		    "id is missing");
}

static void bad_checks_are_refused(void **state)
{
	(void)state;
	refused_add(OUTER, "\"via\":\"vip\"", "kind is missing");
	refused_add(OUTER, "\"kind\":\"none\",\"via\":\"vip\"", "kind 'none' is unknown");
	refused_add(OUTER, "\"kind\":\"tcp\",\"via\":\"luck\"", "via 'luck' is unknown");
	refused_add(OUTER, "\"kind\":\"tcp\",\"via\":\"vip\"", "interval or timeout");
	refused_add(OUTER, "\"kind\":\"tcp\",\"via\":\"vip\",\"interval\":9",
		    "interval is not a whole number of 10 to 86400000");
	refused_add(OUTER, "\"kind\":\"tcp\",\"via\":\"vip\",\"interval\":10,\"timeout\":1",
		    "rise or fall");
	refused_add(OUTER, CHECK("tcp") ",\"jitter\":101", "jitter is not a whole number");
	refused_add(OUTER, CHECK("tcp") ",\"tls_verify\":1", "tls_verify is not true or false");
	refused_add(OUTER, CHECK("tcp") ",\"send\":1", "send is not a string");
	refused_add(OUTER, CHECK("tcp") ",\"color\":1", "key 'color' is unknown");
	refused_add(OUTER, CHECK("tcp") ",\"args\":\"x\"", "args is no array");
	refused_add(OUTER, CHECK("tcp") ",\"args\":[1]", "args is no array");
	refused_add(OUTER, CHECK("exec"), "no command");
	refused_add(OUTER, CHECK("exec") ",\"args\":[]", "no command");
	refused_add(OUTER, CHECK("exec") ",\"args\":[\"sh\"]", "'sh' is not an absolute path");
}

#define HTTP CHECK("http") ",\"status_min\":200,\"status_max\":299"

static void bad_http_checks_are_refused(void **state)
{
	(void)state;
	refused_add(OUTER, CHECK("http"), "no range of 100 to 599");
	refused_add(OUTER, CHECK("http") ",\"status_min\":300,\"status_max\":200",
		    "no range of 100 to 599");
	refused_add(OUTER, CHECK("http") ",\"status_min\":99", "status_min is not");
	refused_add(OUTER, HTTP ",\"path\":\"x\"", "does not begin with '/'");
	refused_add(OUTER, HTTP ",\"path\":\"/ HTTP/1.1\\r\\nX:\"", "not allowed there");
	refused_add(OUTER, HTTP ",\"path\":\"/\xc3\xa9\"", "not allowed there");
	refused_add(OUTER, HTTP ",\"path\":\"\"", "path is empty");
	refused_add(OUTER, HTTP ",\"host\":\"a\\r\\nX: y\"", "not allowed there");
	refused_add(OUTER, HTTP ",\"host\":\"user@host\"", "not allowed there");
	refused_add(OUTER, HTTP ",\"sni\":\"a/b\"", "not allowed there");
	refused_add(OUTER, HTTP ",\"method\":\"POST\"", "'POST' is unknown; allowed: GET, HEAD");
	refused_add(OUTER, HTTP ",\"weight_header\":\"X Weight\"", "not allowed there");
}

static void strings_are_bounded(void **state)
{
	char check[CHECK_TEXT_MAX + 512];

	(void)state;
	snprintf(check, sizeof(check), CHECK("tcp") ",\"send\":\"%04097d\"", 0);
	refused_add(OUTER, check, "send has 4097 bytes; allowed: up to 4096");
}

static void arguments_are_bounded(void **state)
{
	char check[1024] = CHECK("exec") ",\"args\":[\"/x\"";

	(void)state;
	for (int i = 0; i < CHECK_ARGS_MAX; i++)
		strcat(check, ",\"y\"");
	strcat(check, "]");
	refused_add(OUTER, check, "up to 32 strings");
}

static void lines_are_bounded(void **state)
{
	static char line[CHECK_WIRE_LINE_MAX + 2];
	struct check_message message;
	struct err err = { 0 };

	(void)state;
	memset(line, ' ', sizeof(line) - 1);
	memcpy(line, "{\"op\":\"ping\",\"seq\":1}", 21);
	assert_int_equal(check_wire_parse(line, CHECK_WIRE_LINE_MAX, &message, &err), 0);
	assert_int_equal(check_wire_parse(line, CHECK_WIRE_LINE_MAX + 1, &message, &err),
			 -EINVAL);
	assert_non_null(strstr(err.text, "allowed: up to 65536"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(probes_come_back_as_they_were),
		cmocka_unit_test(defaults_of_each_kind_come_back),
		cmocka_unit_test(numbers_come_back),
		cmocka_unit_test(results_come_back),
		cmocka_unit_test(a_probe_that_fits_no_line_is_refused),
		cmocka_unit_test(text_that_is_not_utf8_is_refused),
		cmocka_unit_test(a_reason_comes_as_one_printable_line),
		cmocka_unit_test(a_check_that_makes_no_sense_is_not_written),
		cmocka_unit_test(what_is_no_message_is_refused),
		cmocka_unit_test(bad_numbers_are_refused),
		cmocka_unit_test(bad_results_are_refused),
		cmocka_unit_test(a_reason_that_is_too_long_is_refused),
		cmocka_unit_test(bad_probes_are_refused),
		cmocka_unit_test(bad_checks_are_refused),
		cmocka_unit_test(bad_http_checks_are_refused),
		cmocka_unit_test(strings_are_bounded),
		cmocka_unit_test(arguments_are_bounded),
		cmocka_unit_test(lines_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
