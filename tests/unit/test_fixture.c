// SPDX-License-Identifier: GPL-2.0-only
/* Files of cases: what they say, and how mistakes in them are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/fixture.h"
#include "abi.h"
#include "drop_reasons.h"

#define N(rows) (sizeof(rows) / sizeof((rows)[0]))
#define IN "    in: udp 10.0.0.1:1 > 10.0.0.2:2\n"
#define CASE "cases:\n  - name: x\n"

static const char config[] = "interface: eth0\n"
			     "vips:\n"
			     "  - address: 203.0.113.10:443/tcp\n"
			     "    backends:\n"
			     "      - address: 10.1.0.11\n"
			     "        name: web-1\n"
			     "      - address: 10.1.0.12\n";

static int parse(const char *text, struct fixture **f, struct err *err)
{
	return fixture_parse(text, strlen(text), "c.yaml", f, err);
}

static void everything_a_case_can_say_is_read(void **state)
{
	static const char text[] =
		"mtu: 1400\n"
		"cases:\n"
		"  - name: one\n"
		"    in: udp 10.0.0.1:1 > 10.0.0.2:2\n"
		"    verdict: drop\n"
		"    reason: no_service\n"
		"    counters: {drop no_service: 1, passed: 0,\n"
		"      vip 203.0.113.10:443/tcp new_flows: 2, backend web-1 bytes: 3,\n"
		"      vip 203.0.113.10:443/tcp quic_unknown: 4}\n"
		"  - name: two\n"
		"    steps:\n"
		"      - in: {hex: 00 11 22 33 44 55 66 77 88 99 aa bb cc dd}\n"
		"        verdict: pass\n"
		"        out: same\n"
		"      - in: {pcap: a.pcap, frame: 7}\n"
		"        verdict: tx\n"
		"        backend: [web-1, 10.1.0.12]\n"
		"        outer: {src: 10.1.0.2, ttl: 0x40}\n"
		"        out: {pcap: b.pcap, frame: 8}\n";
	_cleanup_fixture_ struct fixture *f = NULL;
	_cleanup_cfg_ struct cfg *cfg = NULL;
	const struct fixture_step *s;
	struct err err = { 0 };

	(void)state;
	if (parse(text, &f, &err))
		fail_msg("%s", err.text);
	assert_int_equal(f->mtu, 1400);
	assert_int_equal(f->n_cases, 2);
	assert_string_equal(f->cases[0].name, "one");
	assert_int_equal(f->cases[0].pos.line, 3);
	assert_int_equal(f->cases[0].n_steps, 1);

	s = &f->cases[0].steps[0];
	assert_int_equal(s->verdict, FIXTURE_DROP);
	assert_int_equal(s->reason, DROP_REASON_NO_SERVICE);
	assert_int_equal(s->in.bytes.size, 42);
	assert_int_equal(s->n_counters, 5);
	assert_int_equal(s->counters[0].kind, COUNTER_DROP);
	assert_int_equal(s->counters[0].delta, 1);
	assert_int_equal(s->counters[1].kind, COUNTER_TOTAL);
	assert_int_equal(s->counters[2].kind, COUNTER_VIP);
	assert_int_equal(s->counters[2].member, 2);
	assert_int_equal(s->counters[3].kind, COUNTER_BACKEND);
	assert_int_equal(s->counters[3].member, 1);
	assert_string_equal(s->counters[3].backend, "web-1");
	assert_int_equal(s->counters[4].member,
			 offsetof(struct vip_counters, quic_unknown) / sizeof(__u64));

	assert_int_equal(f->cases[1].n_steps, 2);
	s = f->cases[1].steps;
	assert_int_equal(s[0].in.bytes.size, 14);
	assert_int_equal(s[0].out.kind, FRAME_SAME);
	assert_string_equal(s[1].in.pcap, "a.pcap");
	assert_int_equal(s[1].in.index, 7);
	assert_int_equal(s[1].n_backends, 2);
	assert_string_equal(s[1].backends[1].name, "10.1.0.12");
	assert_string_equal(s[1].outer[1].key, "ttl");
	assert_string_equal(s[1].outer[1].value, "64");
	assert_int_equal(s[1].out.kind, FRAME_PCAP);

	assert_int_equal(cfg_parse_yaml(config, strlen(config), "f", &cfg, &err), 0);
	if (fixture_check(f, cfg, &err))
		fail_msg("%s", err.text);
}

static void backends_are_known_by_any_form_of_their_address(void **state)
{
	struct cfg_backend backend = { .name = "web-1" };

	(void)state;
	assert_int_equal(addr_parse("2001:db8::12", "it", &backend.addr, NULL), 0);
	assert_true(fixture_is_backend(&backend, "web-1"));
	assert_true(fixture_is_backend(&backend, "2001:db8::12"));
	assert_true(fixture_is_backend(&backend, "2001:DB8:0:0::0012"));
	assert_false(fixture_is_backend(&backend, "2001:db8::13"));
	assert_false(fixture_is_backend(&backend, "web-10"));
}

static void the_mtu_is_that_of_ethernet_unless_said(void **state)
{
	_cleanup_fixture_ struct fixture *f = NULL;

	(void)state;
	assert_int_equal(parse(CASE IN "    verdict: tx\n", &f, NULL), 0);
	assert_int_equal(f->mtu, 1500);
}

/* A file that is refused, and a part of the sentence. */
struct mistake {
	const char *text, *sentence;
};

static void expect_mistakes(const struct mistake *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		_cleanup_fixture_ struct fixture *f = NULL;
		struct err err = { 0 };

		if (!parse(rows[i].text, &f, &err))
			fail_msg("taken: %s", rows[i].text);
		assert_null(f);
		if (!strstr(err.text, rows[i].sentence))
			fail_msg("%s: %s", rows[i].text, err.text);
	}
}

static void mistakes_in_the_file_are_told_with_line_and_column(void **state)
{
	static const struct mistake rows[] = {
		{ "", "c.yaml:1:1: the file is empty; required: 'cases'" },
		{ "cases: []\n", "c.yaml:1:1: the file has no case" },
		{ "case: []\n", "c.yaml:1:1: key 'case' is not known in the file; allowed: mtu, cases" },
		{ "mtu: 100\n", "c.yaml:1:6: mtu '100' is out of range; allowed: 576 to 65535" },
		{ "cases:\n  - x\n", "c.yaml:2:5: a case is a single value; allowed: a mapping" },
		{ "cases:\n  - in: x\n", "c.yaml:2:9: protocol 'x' is not known" },
		{ "cases:\n  -" IN "      verdict: tx\n", "c.yaml:2:8: a case has no name" },
		{ "cases:\n  - name: ''\n", "c.yaml:2:11: name has 0 characters" },
		{ "cases:\n  - name: 'a # b'\n", "c.yaml:2:11: name 'a # b' has a control character or '#'" },
	};

	(void)state;
	expect_mistakes(rows, N(rows));
}

static void mistakes_in_verdicts_are_told_with_line_and_column(void **state)
{
	static const struct mistake rows[] = {
		{ CASE, "c.yaml:2:5: case 'x': it has no packet; required: 'in'" },
		{ CASE IN, "c.yaml:2:5: case 'x': it has no verdict" },
		{ CASE IN "    verdict: send\n",
		  "c.yaml:4:14: case 'x': verdict 'send' is not known; allowed: pass, tx, redirect, drop" },
		{ CASE IN "    verdict: tx\n    reason: no_service\n",
		  "c.yaml:2:5: case 'x': it has a reason and verdict 'tx'" },
		{ CASE IN "    verdict: drop\n    reason: nix\n",
		  "c.yaml:5:13: case 'x': reason 'nix' is not known; allowed: ip_malformed," },
		{ CASE IN "    verdict: drop\n    backend: a\n",
		  "c.yaml:2:5: case 'x': its verdict is drop, so no packet leaves" },
		{ CASE IN "    verdict: tx\n    backend: []\n",
		  "c.yaml:5:14: case 'x': backend is an empty list" },
	};

	(void)state;
	expect_mistakes(rows, N(rows));
}

static void mistakes_in_headers_and_counters_are_told_with_line_and_column(void **state)
{
	static const struct mistake rows[] = {
		{ CASE IN "    verdict: tx\n    outer: {tl: 1}\n",
		  "c.yaml:5:13: case 'x': key 'tl' is not known in outer; allowed: src, dst," },
		{ CASE IN "    verdict: tx\n    outer: {ttl: x}\n",
		  "c.yaml:5:18: case 'x': 'ttl' 'x' is not a number" },
		{ CASE IN "    verdict: tx\n    outer: {ttl: 1, ttl: 1}\n",
		  "c.yaml:5:21: case 'x': key 'ttl' stands twice" },
		{ CASE IN "    verdict: tx\n    outer: {tos: 256}\n",
		  "c.yaml:5:18: case 'x': 'tos' '256' is out of range; allowed: 0 to 255" },
		{ CASE IN "    verdict: tx\n    outer: {df: 0x2}\n",
		  "c.yaml:5:17: case 'x': 'df' '0x2' is out of range; allowed: 0 to 1" },
		{ CASE IN "    verdict: tx\n    outer: {protocol: 300}\n",
		  "c.yaml:5:23: case 'x': 'protocol' '300' is out of range; allowed: 0 to 255" },
		{ CASE IN "    verdict: tx\n    outer: 1\n",
		  "c.yaml:5:12: case 'x': outer is a single value; allowed: a mapping" },
		{ CASE IN "    verdict: tx\n    counters: {sent: 1}\n",
		  "c.yaml:5:16: case 'x': counter 'sent' is not known; allowed: passed," },
		{ CASE IN "    verdict: tx\n    counters: {passed: 1, passed: 2}\n",
		  "c.yaml:5:27: case 'x': counter 'passed' stands twice" },
		{ CASE IN "    verdict: tx\n    counters: {drop nix: 1}\n", "counter 'drop nix' is not known" },
		{ CASE IN "    verdict: tx\n    counters: {vip 1.2.3.4 packets: 1}\n", "c.yaml:5:16: " },
		{ CASE IN "    verdict: tx\n    counters: {backend b drops: 1}\n", "c.yaml:5:16: " },
		{ CASE IN "    verdict: tx\n    counters: {backend: 1}\n", "c.yaml:5:16: " },
		{ CASE IN "    verdict: tx\n    counters: {\"a\\nb\": }\n",
		  "c.yaml:5:24: case 'x': the counter's growth is empty" },
		{ CASE IN "    verdict: tx\n    outer: {\"a\\nb\": }\n",
		  "c.yaml:5:13: case 'x': key 'a\\x0ab' is not known in outer" },
		{ CASE IN "    verdict: tx\n    counters: {passed: -1}\n",
		  "c.yaml:5:24: case 'x': the counter's growth '-1' is not a number" },
	};

	(void)state;
	expect_mistakes(rows, N(rows));
}

static void mistakes_in_frames_and_steps_are_told_with_line_and_column(void **state)
{
	static const struct mistake rows[] = {
		{ CASE IN IN, "c.yaml:4:5: case 'x': key 'in' is already on line 3" },
		{ CASE "    in: {hex: 00}\n", "c.yaml:3:15: case 'x': the frame has 1 byte; allowed: 14 to" },
		{ CASE "    in: {hex: 0x}\n", "c.yaml:3:15: case 'x': it has no pair of hexadecimal digits" },
		{ CASE "    in: {}\n", "c.yaml:3:9: case 'x': it is no packet" },
		{ CASE "    in: {pcap: a}\n", "c.yaml:3:9: case 'x': it is no packet" },
		{ CASE "    in: {pcap: a, frame: 0}\n", "c.yaml:3:26: case 'x': frame '0' is out of range" },
		{ CASE "    in: same\n", "c.yaml:3:9: case 'x': protocol 'same' is not known" },
		{ CASE "    in: \"tcp 1.2.3.4:5 > 1.2.3.4:6 x\"\n",
		  "c.yaml:3:36: case 'x': key 'x' is not known; allowed: flags" },
		{ CASE "    in: tcp 1.2.3.4:5 > 1.2.3.4:6 x\n", "c.yaml:3:35: case 'x': key 'x'" },
		{ CASE "    steps: []\n", "c.yaml:3:13: case 'x': steps is an empty list" },
		{ CASE "    verdict: tx\n    steps:\n      - in: udp 1.1.1.1:1 > 1.1.1.1:1\n"
		       "        verdict: tx\n",
		  "c.yaml:3:5: case 'x': key 'verdict' stands beside 'steps'" },
		{ CASE "    steps:\n      - verdict: tx\n", "c.yaml:4:9: case 'x': it has no packet" },
		{ CASE IN "    verdict: tx\n---\nx: 1\n", "a second document starts here" },
		{ CASE "    in: &a b\n", "c.yaml:3:9: case 'x': anchor 'a' is not supported" },
		{ CASE "\tin: x\n", "c.yaml:3:1: " },
	};

	(void)state;
	expect_mistakes(rows, N(rows));
}

static void what_the_configuration_lacks_is_told_with_its_place(void **state)
{
	static const struct mistake rows[] = {
		{ CASE IN "    verdict: tx\n    backend: [web-1, web-2]\n",
		  "c.yaml:5:22: backend 'web-2' is not in the configuration; allowed: a name or an address of 10.1.0.12, web-1" },
		{ CASE IN "    verdict: tx\n    counters: {backend web-2 packets: 1}\n",
		  "c.yaml:5:16: backend 'web-2' is not in the configuration" },
		{ CASE IN "    verdict: tx\n    counters: {vip 203.0.113.10:80/tcp packets: 1}\n",
		  "c.yaml:5:16: vip '203.0.113.10:80/tcp' is not in the configuration; allowed: 203.0.113.10:443/tcp" },
	};
	_cleanup_cfg_ struct cfg *cfg = NULL;

	(void)state;
	assert_int_equal(cfg_parse_yaml(config, strlen(config), "f", &cfg, NULL), 0);
	for (size_t i = 0; i < N(rows); i++) {
		_cleanup_fixture_ struct fixture *f = NULL;
		struct err err = { 0 };

		if (parse(rows[i].text, &f, &err))
			fail_msg("%s", err.text);
		assert_int_equal(fixture_check(f, cfg, &err), -22);
		if (!strstr(err.text, rows[i].sentence))
			fail_msg("%s: %s", rows[i].text, err.text);
	}
}

static void every_drop_reason_is_a_word(void **state)
{
	(void)state;
#define X(id, name, label, help)                                                   \
	{                                                                          \
		_cleanup_fixture_ struct fixture *f = NULL;                        \
		assert_int_equal(parse(CASE IN "    verdict: drop\n    reason: " label "\n", \
				       &f, NULL),                                  \
				 0);                                               \
		assert_int_equal(f->cases[0].steps[0].reason, id);                 \
	}
	DROP_REASONS(X)
#undef X
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_a_case_can_say_is_read),
		cmocka_unit_test(backends_are_known_by_any_form_of_their_address),
		cmocka_unit_test(the_mtu_is_that_of_ethernet_unless_said),
		cmocka_unit_test(mistakes_in_the_file_are_told_with_line_and_column),
		cmocka_unit_test(mistakes_in_verdicts_are_told_with_line_and_column),
		cmocka_unit_test(mistakes_in_headers_and_counters_are_told_with_line_and_column),
		cmocka_unit_test(mistakes_in_frames_and_steps_are_told_with_line_and_column),
		cmocka_unit_test(what_the_configuration_lacks_is_told_with_its_place),
		cmocka_unit_test(every_drop_reason_is_a_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
