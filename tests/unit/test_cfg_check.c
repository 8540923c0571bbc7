// SPDX-License-Identifier: GPL-2.0-only
/* The keys of a check: what they become, how they are written, what is refused. */
#include "cfg_testing.h"

#include <errno.h>

#define IF "interface: eth0\n"
/* "type" is at 4:7, and what follows behind it. */
#define POOL(check) IF "pools:\n  w:\n    check:\n      " check "\n"
#define INLINE(keys) IF "pools:\n  w:\n    check: {" keys "}\n"

static const struct cfg_pool *pool_of(const struct cfg *cfg)
{
	return cfg_find_pool(cfg, "w");
}

static void every_key_of_an_https_check_is_read(void **state)
{
	_cleanup_cfg_ struct cfg *cfg = must_parse(INLINE(
		"via: direct, interval: 500ms, fast_interval: 150ms, timeout: 250ms, jitter: 0, "
		"rise: 1, fall: 100, port: 8443, path: '/a?b=%20', host: 'www.example.com:8443', method: HEAD, "
		"status: 200-399, tls_verify: true, sni: sni.example.com, ca_file: /ca, "
		"cert_file: /cert, key_file: '/k ey', weight_header: X-Weight, type: https"));
	const struct check *check = &pool_of(cfg)->check;

	(void)state;
	assert_int_equal(check->kind, CHECK_HTTPS);
	assert_int_equal(check->via, CHECK_VIA_DIRECT);
	assert_int_equal(check->interval, 500);
	assert_int_equal(check->fast_interval, 150);
	assert_int_equal(check->timeout, 250);
	assert_int_equal(check->jitter, 0);
	assert_int_equal(check->rise, 1);
	assert_int_equal(check->fall, 100);
	assert_int_equal(check->port, 8443);
	assert_string_equal(check->path, "/a?b=%20");
	assert_string_equal(check->host, "www.example.com:8443");
	assert_string_equal(check->method, "HEAD");
	assert_int_equal(check->status_min, 200);
	assert_int_equal(check->status_max, 399);
	assert_true(check->tls_verify);
	assert_string_equal(check->sni, "sni.example.com");
	assert_string_equal(check->ca_file, "/ca");
	assert_string_equal(check->cert_file, "/cert");
	assert_string_equal(check->key_file, "/k ey");
	assert_string_equal(check->weight_header, "X-Weight");
}

static void keys_of_the_other_types_are_read(void **state)
{
	_cleanup_cfg_ struct cfg *http = must_parse(
		INLINE("type: http, body: 'all well', weight_json: load.weight, status: 204"));
	_cleanup_cfg_ struct cfg *udp = must_parse(
		INLINE("type: udp, port: 53, send: \"a\\r\\n\\x01\", receive: b"));
	_cleanup_cfg_ struct cfg *exec = must_parse(
		"check_exec: true\n"
		INLINE("type: exec, command: [/bin/sh, -c, 'exit 0', '']"));

	(void)state;
	assert_string_equal(pool_of(http)->check.body, "all well");
	assert_string_equal(pool_of(http)->check.weight_json, "load.weight");
	assert_int_equal(pool_of(http)->check.status_min, 204);
	assert_int_equal(pool_of(http)->check.status_max, 204);
	assert_string_equal(pool_of(udp)->check.send, "a\r\n\x01");
	assert_string_equal(pool_of(udp)->check.receive, "b");
	assert_int_equal(pool_of(exec)->check.n_args, 4);
	assert_string_equal(pool_of(exec)->check.args[0], "/bin/sh");
	assert_string_equal(pool_of(exec)->check.args[2], "exit 0");
	assert_string_equal(pool_of(exec)->check.args[3], "");
}

/* As if check_init() had made it, whatever was the default of another type. */
static void what_is_not_said_is_the_default_of_the_type(void **state)
{
	static const char *const types[] = {
		[CHECK_TCP] = "type: tcp",   [CHECK_HTTP] = "type: http",
		[CHECK_HTTPS] = "type: https", [CHECK_ICMP] = "type: icmp",
	};

	(void)state;
	for (size_t kind = CHECK_NONE + 1; kind < ARRAY_SIZE(types); kind++) {
		struct check defaults;
		_cleanup_cfg_ struct cfg *cfg = NULL, *brief = NULL;
		char yaml[256];

		if (!types[kind])
			continue;
		snprintf(yaml, sizeof(yaml), INLINE("%s"), types[kind]);
		cfg = must_parse(yaml);
		snprintf(yaml, sizeof(yaml), IF "pools: {w: {check: %s}}\n",
			 check_kind_name(kind));
		brief = must_parse(yaml);
		assert_int_equal(check_init(&defaults, kind), 0);
		assert_int_equal(check_compare(&pool_of(cfg)->check, &defaults), 0);
		assert_int_equal(check_compare(&pool_of(brief)->check, &defaults), 0);
		assert_int_equal(pool_of(cfg)->check.rise, 2);
		assert_int_equal(pool_of(cfg)->check.fall, 3);
		check_clear(&defaults);
	}
}

static void a_short_interval_shortens_times_that_are_not_given(void **state)
{
	_cleanup_cfg_ struct cfg *cfg = must_parse(INLINE("type: tcp, interval: 200ms"));
	_cleanup_free_ char *yaml = must_dump(cfg);

	(void)state;
	assert_int_equal(pool_of(cfg)->check.timeout, 200);
	assert_int_equal(pool_of(cfg)->check.fast_interval, 200);
	assert_null(strstr(yaml, "timeout"));
	assert_null(strstr(yaml, "fast_interval"));
}

static void a_saved_check_says_what_was_said(void **state)
{
	static const char *const checks[] = {
		"type: tcp\n",
		"type: tcp\n      interval: 100ms\n      port: 1\n      send: \"a\\nb \"\n"
		"      receive: \"\\xE9\\x80\"\n",
		"type: http\n      via: vip\n      vips: first\n      interval: 90s\n"
		"      fast_interval: 90s\n      timeout: 10ms\n"
		"      jitter: 50\n      rise: 100\n      fall: 1\n      path: /x\n"
		"      host: a-b.c_d\n      method: HEAD\n      status: \"100-599\"\n"
		"      weight_header: X-W\n",
		"type: http\n      status: 204\n      body: \"yes\"\n      weight_json: a.b\n",
		"type: https\n      host: '[2001:db8::1]:8443'\n      tls_verify: false\n",
		"type: https\n      sni: x\n      ca_file: /a\n"
		"      cert_file: /b\n      key_file: /c\n",
		"type: udp\n      port: 53\n      send: \" \"\n",
		"type: icmp\n      rise: 1\n",
		"type: exec\n      port: 3306\n      command:\n      - /bin/x y\n"
		"      - -v\n      - \"\"\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
		_cleanup_cfg_ struct cfg *cfg = NULL, *copy = NULL, *again = NULL;
		_cleanup_free_ char *written = NULL;
		char yaml[512];

		snprintf(yaml, sizeof(yaml), IF "check_exec: true\npools:\n  w:\n    check:\n"
						"      %s", checks[i]);
		cfg = must_parse(yaml);
		written = must_dump(cfg);
		assert_string_equal(written, yaml);
		again = must_parse(written);
		assert_same_cfg(cfg, again);
		assert_int_equal(cfg_clone(cfg, &copy, NULL), 0);
		assert_same_cfg(cfg, copy);
	}
}

/* What is said as the default goes without saying. */
static void defaults_are_not_written(void **state)
{
	_cleanup_cfg_ struct cfg *cfg = must_parse(INLINE(
		"type: http, via: auto, vips: each, interval: 5, fast_interval: 1s, timeout: 2s, "
		"jitter: 10, rise: 2, fall: 3, path: /, method: GET, status: 200-299"));
	_cleanup_free_ char *yaml = must_dump(cfg);

	(void)state;
	assert_string_equal(yaml, IF "pools:\n  w:\n    check:\n      type: http\n");
}

static void a_clone_owns_its_check(void **state)
{
	_cleanup_cfg_ struct cfg *cfg = must_parse(INLINE("type: http, path: /x")), *copy;
	_cleanup_cfg_ struct cfg *again = must_parse(INLINE("type: http, path: /x"));

	(void)state;
	assert_int_equal(cfg_clone(cfg, &copy, NULL), 0);
	copy->pools[0].check.path[1] = 'y';
	assert_same_cfg(cfg, again);
}

#define TYPES "tcp, http, https, udp, icmp, exec"
#define CHECK_KEYS                                                                 \
	"type, via, vips, interval, fast_interval, timeout, jitter, rise, fall, port, path, "     \
	"host, method, status, body, tls_verify, sni, ca_file, cert_file, key_file, "    \
	"weight_header, weight_json, send, receive, command"
#define TCP_KEYS \
	"type, via, vips, interval, fast_interval, timeout, jitter, rise, fall, port, send, receive"

static void checks_of_the_wrong_shape_are_refused(void **state)
{
	static const struct row rows[] = {
		{ INLINE("interval: 5s"),
		  "4:12: pool 'w': check has no type; allowed: 'type: tcp', http, https, udp, "
		  "icmp or exec" },
		{ INLINE("typ: tcp"),
		  "4:13: pool 'w': key 'typ' is not known in check; allowed: " CHECK_KEYS },
		{ IF "pools: {w: {check: [tcp]}}\n",
		  "2:20: pool 'w': check is a list; allowed: a mapping with the keys "
		  CHECK_KEYS },
		{ IF "pools: {w: {check: }}\n",
		  "2:20: pool 'w': check is empty; allowed: a single value" },
		{ IF "pools: {w: {check: ping}}\n",
		  "2:20: pool 'w': check 'ping' is not known; allowed: none, tcp, http, https, "
		  "icmp" },
		{ IF "pools: {w: {check: exec}}\n",
		  "2:20: pool 'w': check 'exec' is not known; allowed: none, tcp, http, https, "
		  "icmp" },
		{ INLINE("type: none"),
		  "4:19: pool 'w': type 'none' is not known; allowed: " TYPES },
		{ INLINE("type: tcp, port: 1, port: 2"),
		  "4:33: pool 'w': key 'port' is already on line 4; allowed: each key once" },
		{ INLINE("type: exec, command: /bin/true"),
		  "4:34: pool 'w': command is a single value; allowed: a list, [] for none" },
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

static void keys_that_the_type_does_not_use_are_refused(void **state)
{
	static const struct row rows[] = {
		{ POOL("type: tcp\n      path: /x"),
		  "6:7: pool 'w': key 'path' is not used by checks of type tcp; allowed: "
		  TCP_KEYS },
		/* whichever stands first */
		{ POOL("path: /x\n      type: tcp"),
		  "5:7: pool 'w': key 'path' is not used by checks of type tcp; allowed: "
		  TCP_KEYS },
		{ POOL("type: http\n      sni: x"),
		  "6:7: pool 'w': key 'sni' is not used by checks of type http; allowed: type, "
		  "via, vips, interval, fast_interval, timeout, jitter, rise, fall, port, path, host, "
		  "method, status, body, weight_header, weight_json" },
		{ POOL("type: udp\n      status: 200"),
		  "6:7: pool 'w': key 'status' is not used by checks of type udp; allowed: "
		  TCP_KEYS },
		{ POOL("type: icmp\n      port: 7"),
		  "6:7: pool 'w': key 'port' is not used by checks of type icmp; allowed: "
		  "type, via, interval, fast_interval, timeout, jitter, rise, fall" },
		{ POOL("type: exec\n      via: direct"),
		  "6:7: pool 'w': key 'via' is not used by checks of type exec; allowed: "
		  "type, interval, fast_interval, timeout, jitter, rise, fall, port, command" },
		{ POOL("type: http\n      command: [/x]"),
		  "6:7: pool 'w': key 'command' is not used by checks of type http; allowed: "
		  "type, via, vips, interval, fast_interval, timeout, jitter, rise, fall, port, path, "
		  "host, method, status, body, weight_header, weight_json" },
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

static void numbers_and_words_are_refused_with_what_is_allowed(void **state)
{
	static const struct row rows[] = {
		{ INLINE("type: TCP"),
		  "4:19: pool 'w': type 'TCP' is not known; allowed: " TYPES },
		{ INLINE("via: tunnel"),
		  "4:18: pool 'w': via 'tunnel' is not known; allowed: auto, vip, direct" },
		{ INLINE("vips: all"),
		  "4:19: pool 'w': vips 'all' is not known; allowed: each, first" },
		{ INLINE("interval: 99ms"),
		  "4:23: pool 'w': interval '99ms' is out of range; allowed: 100ms to 1h" },
		{ INLINE("interval: fast"),
		  "4:23: pool 'w': interval 'fast' is no time; allowed: 100ms to 1h, as 500ms, "
		  "5s, 2m or 1h" },
		{ INLINE("timeout: 9ms"),
		  "4:22: pool 'w': timeout '9ms' is out of range; allowed: 10ms to 1m" },
		{ INLINE("timeout: 61"),
		  "4:22: pool 'w': timeout '61' is out of range; allowed: 10ms to 1m" },
		{ INLINE("type: tcp, timeout: 6s"),
		  "4:24: pool 'w': timeout 6s is longer than interval 5s; allowed: at most the "
		  "interval" },
		{ INLINE("fast_interval: 99ms"),
		  "4:28: pool 'w': fast_interval '99ms' is out of range; allowed: 100ms to 1h" },
		{ INLINE("type: tcp, fast_interval: 6s"),
		  "4:24: pool 'w': fast_interval 6s is longer than interval 5s; allowed: at most "
		  "the interval" },
		{ INLINE("jitter: 51"),
		  "4:21: pool 'w': jitter '51' is out of range; allowed: 0 to 50" },
		{ INLINE("jitter: 10%"),
		  "4:21: pool 'w': jitter '10%' is not a number; allowed: 0 to 50" },
		{ INLINE("rise: 0"),
		  "4:19: pool 'w': rise '0' is out of range; allowed: 1 to 100" },
		{ INLINE("fall: 101"),
		  "4:19: pool 'w': fall '101' is out of range; allowed: 1 to 100" },
		{ INLINE("port: 0"),
		  "4:19: pool 'w': port '0' is out of range; allowed: 1 to 65535" },
		{ INLINE("method: POST"),
		  "4:21: pool 'w': method 'POST' is not known; allowed: GET, HEAD" },
		{ INLINE("status: 99"),
		  "4:21: pool 'w': status '99' is no status of HTTP; allowed: 100 to 599, or a "
		  "range as 200-299" },
		{ INLINE("status: 300-200"),
		  "4:21: pool 'w': status '300-200' is no status of HTTP; allowed: 100 to 599, "
		  "or a range as 200-299" },
		{ INLINE("status: 200-"),
		  "4:21: pool 'w': status '200-' is no status of HTTP; allowed: 100 to 599, or "
		  "a range as 200-299" },
		{ INLINE("status: 2xx"),
		  "4:21: pool 'w': status '2xx' is no status of HTTP; allowed: 100 to 599, or a "
		  "range as 200-299" },
		{ INLINE("tls_verify: yes"),
		  "4:25: pool 'w': tls_verify 'yes' is not known; allowed: false, true" },
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

/* Nothing that could end a line of a request, or be looked up. */
static void texts_are_refused_with_what_is_allowed(void **state)
{
#define PATHS "allowed: /, then up to 4094 printable ASCII characters other than # and blank"
#define NAMES "allowed: 1 to 253 letters, digits, . - _"
#define HOSTS NAMES " : [ ]"
#define FILES "allowed: an absolute path without control characters"
	static const struct row rows[] = {
		{ INLINE("path: health"),
		  "4:19: pool 'w': path 'health' does not begin with /; " PATHS },
		{ INLINE("path: ''"), "4:19: pool 'w': path '' is empty; " PATHS },
		{ INLINE("path: '/a b'"),
		  "4:19: pool 'w': path '/a b' has another character; " PATHS },
		{ INLINE("path: \"/a\\r\\nHost: b\""),
		  "4:19: pool 'w': path '/a\\x0d\\x0aHost: b' has another character; " PATHS },
		{ INLINE("path: '/a#b'"),
		  "4:19: pool 'w': path '/a#b' has another character; " PATHS },
		{ INLINE("path: '/\xc3\xa9'"),
		  "4:19: pool 'w': path '/\\xc3\\xa9' has another character; " PATHS },
		{ INLINE("host: \"a\\r\\nb: c\""),
		  "4:19: pool 'w': host 'a\\x0d\\x0ab: c' has another character; " HOSTS },
		{ INLINE("host: 'http://a'"),
		  "4:19: pool 'w': host 'http://a' has another character; " HOSTS },
		{ INLINE("sni: 'a:443'"),
		  "4:18: pool 'w': sni 'a:443' has another character; " NAMES },
		{ INLINE("weight_header: 'X:'"),
		  "4:28: pool 'w': weight_header 'X:' has another character; allowed: the name "
		  "of a header, 1 to 127 characters" },
		{ INLINE("weight_json: a..b"),
		  "4:26: pool 'w': weight_json 'a..b' has an empty name; allowed: names of JSON "
		  "fields with dots between, as load.weight" },
		{ INLINE("weight_json: 'a b'"),
		  "4:26: pool 'w': weight_json 'a b' has another character; allowed: names of "
		  "JSON fields with dots between, as load.weight" },
		{ INLINE("ca_file: ca.pem"),
		  "4:22: pool 'w': ca_file 'ca.pem' does not begin with /; " FILES },
		{ INLINE("key_file: \"/a\\n\""),
		  "4:23: pool 'w': key_file '/a\\x0a' has another character; " FILES },
		{ INLINE("body: ''"),
		  "4:19: pool 'w': body '' is empty; allowed: 1 to 4095 bytes" },
		{ INLINE("send: \"a\\0\""),
		  "4:19: pool 'w': send contains a NUL byte; allowed: text" },
		{ INLINE("type: exec, command: [sh, -c]"),
		  "4:35: pool 'w': command 'sh' does not begin with /; " FILES },
		{ INLINE("type: exec, command: ['']"),
		  "4:35: pool 'w': command '' is empty; " FILES },
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

static void what_does_not_go_together_is_refused(void **state)
{
	static const struct row rows[] = {
		{ INLINE("type: udp, port: 53"),
		  "4:13: pool 'w': check has type udp and no 'send', so no answer would come; "
		  "required: what to send" },
		{ INLINE("type: exec"),
		  "4:13: pool 'w': check has type exec and no 'command'; required: a list, the "
		  "path first" },
		{ INLINE("type: exec, command: []"),
		  "4:13: pool 'w': check has type exec and no 'command'; required: a list, the "
		  "path first" },
		{ INLINE("type: http, method: HEAD, body: x"),
		  "4:39: pool 'w': body is not used, as method is HEAD; allowed: body with GET" },
		{ INLINE("type: http, method: HEAD, weight_json: x"),
		  "4:39: pool 'w': weight_json is not used, as method is HEAD; allowed: "
		  "weight_header, or GET" },
		{ INLINE("type: http, weight_header: X, weight_json: x"),
		  "4:43: pool 'w': weight_json and weight_header are both given; allowed: one "
		  "of them" },
		{ INLINE("type: https, tls_verify: false, ca_file: /x"),
		  "4:45: pool 'w': ca_file is not used, as tls_verify is false; allowed: "
		  "ca_file with 'tls_verify: true'" },
		{ INLINE("type: https, key_file: /x"),
		  "4:26: pool 'w': key_file is not used without cert_file; allowed: both, or "
		  "cert_file with the key in it" },
		{ INLINE("type: exec, command: [/x]"),
		  "4:12: pool 'w': check has type exec, which runs commands; required: "
		  "'check_exec: true' at the top of the file" },
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

/* `n` bytes of text between the two. Caller frees. */
static char *with_bytes(const char *before, size_t n, const char *after)
{
	size_t at = strlen(before);
	char *text = malloc(at + n + strlen(after) + 1);

	assert_non_null(text);
	memcpy(text, before, at);
	memset(text + at, 'x', n);
	strcpy(text + at + n, after);
	return text;
}

#define LONG_PATH IF "pools:\n  w:\n    check: {type: http, path: /"
#define LONG_COMMAND \
	"check_exec: true\n" IF "pools:\n  w:\n    check: {type: exec, command: [/x, y, "

static void texts_are_bounded(void **state)
{
	_cleanup_free_ char *longest = with_bytes(LONG_PATH, 4094, "}\n");
	_cleanup_free_ char *longer = with_bytes(LONG_PATH, 4095, "}\n");
	_cleanup_cfg_ struct cfg *cfg = must_parse(longest);
	struct err err = { 0 };

	(void)state;
	assert_int_equal(cfg_parse_yaml(longer, strlen(longer), "t.yaml", &cfg, &err), -EINVAL);
	assert_non_null(strstr(err.text, "...' is too long; allowed: /, then up to 4094"));
}

static void all_texts_together_are_bounded(void **state)
{
	_cleanup_free_ char *half = with_bytes(LONG_COMMAND, 4092, ", ");
	/* Each word counts one more: 3 + 2 + 4093 + 4094 = 8192. */
	_cleanup_free_ char *most = with_bytes(half, 4093, "]}\n");
	_cleanup_free_ char *more = with_bytes(half, 4094, "]}\n");
	_cleanup_cfg_ struct cfg *cfg = must_parse(most);
	struct err err = { 0 };

	(void)state;
	assert_int_equal(cfg_parse_yaml(more, strlen(more), "t.yaml", &cfg, &err), -EINVAL);
	assert_string_equal(err.text, "t.yaml:5:13: pool 'w': the texts of check have 8193 "
				      "bytes; allowed: 8192 together");
}

static void a_command_has_so_many_words(void **state)
{
	char yaml[512] = "check_exec: true\n" IF
			 "pools: {w: {check: {type: exec, command: [/x";
	_cleanup_cfg_ struct cfg *cfg = NULL;
	size_t end = strlen(yaml);
	struct err err = { 0 };

	(void)state;
	for (int i = 1; i < CHECK_ARGS_MAX; i++)
		strcat(yaml, ", a");
	end = strlen(yaml);
	strcat(yaml, "]}}}\n");
	cfg = must_parse(yaml);
	assert_int_equal(pool_of(cfg)->check.n_args, CHECK_ARGS_MAX);
	strcpy(yaml + end, ", a]}}}\n");
	assert_int_equal(cfg_parse_yaml(yaml, strlen(yaml), "t.yaml", &cfg, &err), -EINVAL);
	assert_non_null(strstr(err.text, "command has too many words; allowed: 32"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_of_an_https_check_is_read),
		cmocka_unit_test(keys_of_the_other_types_are_read),
		cmocka_unit_test(what_is_not_said_is_the_default_of_the_type),
		cmocka_unit_test(a_short_interval_shortens_times_that_are_not_given),
		cmocka_unit_test(a_saved_check_says_what_was_said),
		cmocka_unit_test(defaults_are_not_written),
		cmocka_unit_test(a_clone_owns_its_check),
		cmocka_unit_test(checks_of_the_wrong_shape_are_refused),
		cmocka_unit_test(keys_that_the_type_does_not_use_are_refused),
		cmocka_unit_test(numbers_and_words_are_refused_with_what_is_allowed),
		cmocka_unit_test(texts_are_refused_with_what_is_allowed),
		cmocka_unit_test(what_does_not_go_together_is_refused),
		cmocka_unit_test(texts_are_bounded),
		cmocka_unit_test(all_texts_together_are_bounded),
		cmocka_unit_test(a_command_has_so_many_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
