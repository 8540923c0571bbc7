// SPDX-License-Identifier: GPL-2.0-only
/* What a pool says of the health of its backends, and of VIPs and checks together. */
#include "cfg_edit_testing.h"

#define IF "interface: eth0\n"
#define KEY "hash_key: 000102030405060708090a0b0c0d0e0f\n"
#define POOL(keys) IF "pools: {w: {" keys "}}\n"

static void every_key_of_a_pool_is_read(void **state)
{
	_cleanup_cfg_ struct cfg *cfg = must_parse(
		POOL("initial: up, initial_timeout: 1500ms, slow_start: 2m, "
		     "damping: {half_life: 1m, reuse: 1500, suppress: 16000}, "
		     "panic_threshold: 100, quorum: 1000000000, quorum_hysteresis: 7, "
		     "drain_timeout: 24h"));
	const struct cfg_pool *pool = cfg->pools;

	(void)state;
	assert_true(pool->initial_up);
	assert_int_equal(pool->initial_timeout, 1500);
	assert_int_equal(pool->slow_start, 120000);
	assert_int_equal(pool->damping_suppress, 16000);
	assert_int_equal(pool->damping_reuse, 1500);
	assert_int_equal(pool->damping_half_life, 60000);
	assert_int_equal(pool->panic_threshold, 100);
	assert_int_equal(pool->quorum, 1000000000);
	assert_int_equal(pool->quorum_hysteresis, 7);
	assert_int_equal(pool->drain_timeout, 86400);
}

static void keys_of_the_file_are_read(void **state)
{
	_cleanup_cfg_ struct cfg *cfg = must_parse(
		IF "publish_interval: 0\ncheck_exec: true\ncheck_user: _Fair.lead-2\n");

	(void)state;
	assert_int_equal(cfg->publish_interval, 0);
	assert_true(cfg->check_exec);
	assert_string_equal(cfg->check_user, "_Fair.lead-2");
}

static void what_is_not_said_has_its_default(void **state)
{
	_cleanup_cfg_ struct cfg *cfg = must_parse(POOL(""));
	const struct cfg_pool *pool = cfg->pools;

	(void)state;
	assert_int_equal(cfg->publish_interval, 100);
	assert_false(cfg->check_exec);
	assert_string_equal(cfg->check_user, "nobody");
	assert_int_equal(pool->check.kind, CHECK_NONE);
	assert_false(pool->initial_up);
	assert_int_equal(pool->initial_timeout, 30000);
	assert_int_equal(pool->slow_start, 0);
	assert_int_equal(pool->damping_suppress, 0);
	assert_int_equal(pool->panic_threshold, 0);
	assert_int_equal(pool->quorum, 0);
	assert_int_equal(pool->quorum_hysteresis, 0);
	assert_int_equal(pool->drain_timeout, 0);
}

static void a_saved_file_says_what_was_said(void **state)
{
	static const char yaml[] = IF "publish_interval: 1s\n"
				      "check_exec: true\n"
				      "check_user: probe\n"
				      "vips:\n"
				      "- address: 203.0.113.1:80/tcp\n"
				      "  on_down: keep\n"
				      "  check:\n"
				      "    type: tcp\n"
				      "  initial: up\n"
				      "  initial_timeout: 0s\n"
				      "  slow_start: 90s\n"
				      "  damping:\n"
				      "    suppress: 3000\n"
				      "    reuse: 1\n"
				      "    half_life: 1h\n"
				      "  panic_threshold: 1\n"
				      "  quorum: 2\n"
				      "  quorum_hysteresis: 1\n"
				      "  drain_timeout: 10m\n";
	_cleanup_cfg_ struct cfg *cfg = must_parse(yaml), *copy = NULL, *again = NULL;
	_cleanup_free_ char *text = must_dump(cfg);

	(void)state;
	assert_string_equal(text, yaml);
	again = must_parse(text);
	assert_same_cfg(cfg, again);
	assert_int_equal(cfg_clone(cfg, &copy, NULL), 0);
	assert_same_cfg(cfg, copy);
}

static void values_are_refused_with_what_is_allowed(void **state)
{
	static const struct row rows[] = {
		{ POOL("initial: unknown"),
		  "2:22: pool 'w': initial 'unknown' is not known; allowed: down, up" },
		{ POOL("initial_timeout: 99ms"),
		  "2:30: pool 'w': initial_timeout '99ms' is out of range; allowed: 0, or 100ms "
		  "to 24h" },
		{ POOL("initial_timeout: never"),
		  "2:30: pool 'w': initial_timeout 'never' is no time; allowed: 0, or 100ms to "
		  "24h, as 500ms, 5s, 2m or 1h" },
		{ POOL("slow_start: 2h"),
		  "2:25: pool 'w': slow_start '2h' is out of range; allowed: 0, or 1s to 1h" },
		{ POOL("damping: none"),
		  "2:22: pool 'w': damping is a single value; allowed: a mapping with the keys "
		  "suppress, reuse, half_life" },
		{ POOL("damping: {suppress: 2000, half_life: 1m}"),
		  "2:22: pool 'w': key 'reuse' is missing in damping; required: suppress, "
		  "reuse, half_life" },
		{ POOL("damping: {suppress: 16001}"),
		  "2:33: pool 'w': suppress '16001' is out of range; allowed: 1 to 16000" },
		{ POOL("damping: {reuse: 0}"),
		  "2:30: pool 'w': reuse '0' is out of range; allowed: 1 to 16000" },
		{ POOL("damping: {half_life: 0}"),
		  "2:34: pool 'w': half_life '0' is out of range; allowed: 1s to 1h" },
		{ POOL("damping: {suppress: 2000, reuse: 2000, half_life: 1m}"),
		  "2:9: pool 'w': damping has reuse 2000, which is not below suppress, 2000; "
		  "allowed: 1 to 1999" },
		{ POOL("panic_threshold: 101"),
		  "2:30: pool 'w': panic_threshold '101' is out of range; allowed: 0 to 100" },
		{ POOL("quorum: 1000000001"),
		  "2:21: pool 'w': quorum '1000000001' is out of range; allowed: 0 to "
		  "1000000000" },
		{ POOL("quorum_hysteresis: -1"),
		  "2:32: pool 'w': quorum_hysteresis '-1' is not a number; allowed: 0 to "
		  "1000000000" },
		{ POOL("drain_timeout: 1500ms"),
		  "2:28: pool 'w': drain_timeout '1500ms' is no whole number of seconds; "
		  "allowed: 0, or 1s to 24h" },
		{ IF "publish_interval: 11s\n",
		  "2:19: publish_interval '11s' is out of range; allowed: 0, or 10ms to 10s" },
		{ IF "check_exec: yes\n",
		  "2:13: check_exec 'yes' is not known; allowed: false, true" },
		{ IF "check_user: root\n",
		  "2:13: check_user 'root' would give checks the rights of root; allowed: the "
		  "name of a user other than root, 1 to 32 letters, digits, . _ -" },
		{ IF "check_user: '0'\n",
		  "2:13: check_user '0' is no name of a user; allowed: the name of a user other "
		  "than root, 1 to 32 letters, digits, . _ -" },
		{ IF "check_user: abcdefghijabcdefghijabcdefghijabc\n",
		  "2:13: check_user 'abcdefghijabcdefghijabcdefghijabc' is too long; allowed: "
		  "the name of a user other than root, 1 to 32 letters, digits, . _ -" },
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

#define POOLED(check, vips) IF "pools: {w: {check: " check "}}\nvips:\n" vips
#define WITH_POOL(vip) "- {address: '" vip "', pool: w}\n"
#define OWNED(vip, check) IF "vips:\n- {address: '" vip "', check: " check "}\n"

static void a_check_needs_a_port_that_its_vips_have(void **state)
{
	static const struct row rows[] = {
		{ POOLED("tcp", WITH_POOL("203.0.113.1:any/tcp")),
		  "2:20: pool 'w': check has no port, and vip '203.0.113.1:any/tcp' is for more "
		  "than one; required: 'port' in check" },
		{ POOLED("{type: http}", WITH_POOL("203.0.113.1:80-81/tcp")),
		  "2:20: pool 'w': check has no port, and vip '203.0.113.1:80-81/tcp' is for "
		  "more than one; required: 'port' in check" },
		{ POOLED("https", WITH_POOL("203.0.113.1:80/tcp") WITH_POOL("203.0.113.2:80/tcp")
				WITH_POOL("203.0.113.3:443/tcp")),
		  "2:20: pool 'w': check has no port, and vips '203.0.113.2:80/tcp' and "
		  "'203.0.113.3:443/tcp' have different ones; required: 'port' in check" },
		{ OWNED("203.0.113.1:any/any", "{type: udp, send: a}"),
		  "3:43: vip '203.0.113.1:any/any': check has no port, and vip "
		  "'203.0.113.1:any/any' is for more than one; required: 'port' in check" },
		{ POOLED("{type: tcp, via: vip}", WITH_POOL("203.0.113.0/24:80/tcp")),
		  "2:20: pool 'w': check goes via vip, and vip '203.0.113.0/24:80/tcp' is a "
		  "prefix; allowed: via auto or direct" },
	};
	static const char *const right[] = {
		POOLED("tcp", WITH_POOL("203.0.113.1:80/tcp") WITH_POOL("203.0.113.2:80/udp")),
		POOLED("tcp", WITH_POOL("203.0.113.1:80-80/tcp")),
		POOLED("tcp", WITH_POOL("203.0.113.0/24:80/tcp")),
		POOL("check: tcp"),
		POOLED("{type: tcp, port: 80}", WITH_POOL("203.0.113.1:any/any")
						WITH_POOL("203.0.113.2:81/udp")),
		POOLED("{type: tcp, via: vip, port: 80}", WITH_POOL("203.0.113.1:any/any")),
		POOLED("icmp", WITH_POOL("203.0.113.1:any/any")),
		"check_exec: true\n"
		POOLED("{type: exec, command: [/x]}", WITH_POOL("203.0.113.1:any/any")),
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
	for (size_t i = 0; i < ARRAY_SIZE(right); i++) {
		_cleanup_cfg_ struct cfg *cfg = must_parse(right[i]);

		assert_int_not_equal(cfg->pools[0].check.kind, CHECK_NONE);
	}
}

static void note_warning(void *last, const char *text)
{
	strcpy(last, text);
}

/* The last of them, of a file without other faults. */
static void assert_warns(const char *pool, const char *expected)
{
	_cleanup_cfg_ struct cfg *cfg = NULL;
	char yaml[512], last[512] = "";

	snprintf(yaml, sizeof(yaml),
		 IF KEY "pools: {w: {backends: [{address: 10.0.0.1, weight: 3}, {address: "
		 "10.0.0.2}], %s}}\n", pool);
	cfg = must_parse(yaml);
	cfg_warnings(cfg, note_warning, last);
	assert_string_equal(last, expected);
}

static void what_is_not_used_or_never_comes_true_is_warned_of(void **state)
{
	(void)state;
	assert_warns("initial: up", "pool 'w': initial is not used, as there is no check");
	assert_warns("initial_timeout: 1s",
		     "pool 'w': initial_timeout is not used, as there is no check");
	assert_warns("slow_start: 1s", "pool 'w': slow_start is not used, as there is no check");
	assert_warns("damping: {suppress: 2, reuse: 1, half_life: 1s}",
		     "pool 'w': damping is not used, as there is no check");
	assert_warns("check: icmp, initial: up, slow_start: 1s, panic_threshold: 50", "");
	assert_warns("panic_threshold: 50, drain_timeout: 1s", "");
	assert_warns("quorum: 4", "");
	assert_warns("quorum: 5", "pool 'w': quorum 5 is more than the weight of all backends, "
				  "4: the pool never has it");
	assert_warns("quorum: 3, quorum_hysteresis: 1", "");
	assert_warns("quorum: 3, quorum_hysteresis: 2",
		     "pool 'w': quorum and quorum_hysteresis are more than the weight of all "
		     "backends, 4: a quorum that is lost never comes back");
	assert_warns("quorum_hysteresis: 1",
		     "pool 'w': quorum_hysteresis is not used, as there is no quorum");
}

static void must_apply(struct cfg *cfg, const struct edit *edit)
{
	struct err err = { 0 };

	if (apply(cfg, edit, &err) || cfg_check(cfg, &err))
		fail_msg("%s", err.text);
}

static void commands_change_the_health_of_a_pool_of_ones_own(void **state)
{
	static const struct edit edits[] = {
		{ VIP_SET, OWN, NULL, { { "check", "http" }, { "on_down", "keep" } } },
		{ VIP_SET, OWN, NULL,
		  { { "damping", "3000:1500:1m" }, { "initial", "up" },
		    { "initial_timeout", "0" }, { "slow_start", "30s" } } },
		{ VIP_SET, OWN, NULL,
		  { { "panic_threshold", "50" }, { "quorum", "2" },
		    { "quorum_hysteresis", "1" }, { "drain_timeout", "5m" } } },
		{ VIP_ADD, NEW, NULL, { { "check", "icmp" }, { "damping", "none" } } },
	};
	_cleanup_cfg_ struct cfg *cfg = must_parse(base);
	const struct cfg_pool *pool;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(edits); i++)
		must_apply(cfg, &edits[i]);
	assert_int_equal(cfg_find_pool(cfg, NEW)->check.kind, CHECK_ICMP);
	pool = cfg_find_pool(cfg, OWN);
	assert_int_equal(pool->check.kind, CHECK_HTTP);
	assert_int_equal(pool->damping_suppress, 3000);
	assert_int_equal(pool->damping_reuse, 1500);
	assert_int_equal(pool->damping_half_life, 60000);
	assert_true(pool->initial_up);
	assert_int_equal(pool->initial_timeout, 0);
	assert_int_equal(pool->slow_start, 30000);
	assert_int_equal(pool->panic_threshold, 50);
	assert_int_equal(pool->quorum, 2);
	assert_int_equal(pool->quorum_hysteresis, 1);
	assert_int_equal(pool->drain_timeout, 300);
	assert_int_equal(pool->n_backends, 1);

	must_apply(cfg, &(struct edit){ VIP_SET, OWN, NULL,
					{ { "damping", "none" }, { "check", "none" } } });
	assert_int_equal(cfg_find_pool(cfg, OWN)->check.kind, CHECK_NONE);
	assert_int_equal(cfg_find_pool(cfg, OWN)->damping_suppress, 0);
	must_apply(cfg, &(struct edit){ VIP_DEL, OWN, NULL, { { 0 } } });
}

/* A check of the file stays as it is while other keys change, and when they do not. */
static void commands_leave_a_check_that_they_do_not_name(void **state)
{
	static const char yaml[] =
		IF "pools: {p: {check: {type: http, path: /shared}}}\n"
		   "vips:\n- address: " OWN "\n  check: {type: http, path: /own}\n";
	static const struct edit bad[] = {
		{ VIP_SET, OWN, NULL, { { "check", "icmp" }, { "quorum", "x" } } },
		{ VIP_SET, OWN, NULL, { { "check", "icmp" }, { "pool", "p" } } },
		{ VIP_SET, OWN, NULL, { { "check", "udp" } } },
		{ VIP_ADD, NEW, NULL, { { "check", "icmp" }, { "pool", "p" } } },
	};
	_cleanup_cfg_ struct cfg *cfg = must_parse(yaml);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_cfg_ struct cfg *draft = NULL;

		assert_int_equal(cfg_clone(cfg, &draft, NULL), 0);
		assert_int_equal(apply(draft, &bad[i], NULL), -EINVAL);
	}
	must_apply(cfg, &(struct edit){ VIP_SET, OWN, NULL, { { "quorum", "1" } } });
	assert_string_equal(cfg_find_pool(cfg, OWN)->check.path, "/own");
	must_apply(cfg, &(struct edit){ VIP_SET, OWN, NULL, { { "pool", "p" } } });
	assert_string_equal(cfg->pools[0].check.path, "/shared");
	assert_int_equal(cfg->n_pools, 1);
}

static void bad_options_are_refused_with_what_is_allowed(void **state)
{
	static const struct {
		const char *key, *value, *sentence;
	} rows[] = {
		{ "check", "udp",
		  "vip '" OWN "': check 'udp' is not known; allowed: none, tcp, http, https, "
		  "icmp" },
		{ "on_down", "drop",
		  "vip '" OWN "': on_down 'drop' is not known; allowed: rehash, keep" },
		{ "damping", "3000:1500",
		  "vip '" OWN "': damping is '3000:1500'; allowed: SUPPRESS:REUSE:HALF_LIFE, "
		  "or none" },
		{ "damping", "3000:1500:1m:9",
		  "vip '" OWN "': damping is '3000:1500:1m:9'; allowed: "
		  "SUPPRESS:REUSE:HALF_LIFE, or none" },
		{ "damping", "3000::1m",
		  "vip '" OWN "': reuse '' is not a number; allowed: 1 to 16000" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct edit edit = { VIP_SET, OWN, NULL, { { rows[i].key, rows[i].value } } };
		_cleanup_cfg_ struct cfg *cfg = must_parse(base), *same = must_parse(base);
		struct err err = { 0 };

		assert_int_equal(apply(cfg, &edit, &err), -EINVAL);
		assert_string_equal(err.text, rows[i].sentence);
		assert_same_cfg(cfg, same);
	}
}

/* The daemon checks the edited configuration: then it is refused. */
/* n_backends of them at each of n_vips VIPs. */
static char *many(const char *check, unsigned int n_vips, unsigned int n_backends)
{
	char *yaml = malloc((n_vips + n_backends) * 64 + 512), *at = yaml;

	at += sprintf(at, IF "pools: {w: {check: %s, backends: [", check);
	for (unsigned int i = 0; i < n_backends; i++)
		at += sprintf(at, "{address: 10.%u.%u.%u},", i / 62500, i / 250 % 250,
			      i % 250 + 1);
	at += sprintf(at, "]}}\nvips:\n");
	for (unsigned int i = 0; i < n_vips; i++)
		at += sprintf(at, "- {address: '203.0.%u.%u:80/tcp', pool: w}\n", i / 250,
			      i % 250 + 1);
	return yaml;
}

/* Each VIP times each backend; what marks of probes have room for is the limit. */
static void more_checks_than_there_is_room_for_are_refused(void **state)
{
	static const struct {
		const char *check, *sentence;
		unsigned int n_vips, n_backends;
	} rows[] = {
		{ "http", NULL, 512, 512 },
		{ "http",
		  "t.yaml:2:20: pool 'w': check is made at 513 VIPs for each of 512 backends, "
		  "and with it there are 262656 checks to VIPs; allowed: 262144, or 'vips: "
		  "first' in check", 513, 512 },
		{ "{type: http, vips: first}", NULL, 513, 512 },
		{ "{type: http, via: direct}", NULL, 513, 512 },
		{ "none", NULL, 513, 512 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *yaml =
			many(rows[i].check, rows[i].n_vips, rows[i].n_backends);
		_cleanup_cfg_ struct cfg *cfg = NULL;
		struct err err = { 0 };

		cfg_parse_yaml(yaml, strlen(yaml), "t.yaml", &cfg, &err);
		assert_string_equal(err.text, rows[i].sentence ?: "");
		assert_int_equal(cfg == NULL, rows[i].sentence != NULL);
	}
}

static void a_vip_with_another_port_does_not_join_a_pool_whose_check_has_none(void **state)
{
	_cleanup_cfg_ struct cfg *cfg = must_parse(
		POOLED("tcp", WITH_POOL("203.0.113.1:80/tcp")));
	struct edit edit = { VIP_ADD, "203.0.113.1:81/tcp", NULL, { { "pool", "w" } } };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(apply(cfg, &edit, NULL), 0);
	assert_int_equal(cfg_check(cfg, &err), -EINVAL);
	assert_string_equal(err.text,
			    "t.yaml:2:20: pool 'w': check has no port, and vips "
			    "'203.0.113.1:80/tcp' and '203.0.113.1:81/tcp' have different "
			    "ones; required: 'port' in check");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_of_a_pool_is_read),
		cmocka_unit_test(keys_of_the_file_are_read),
		cmocka_unit_test(what_is_not_said_has_its_default),
		cmocka_unit_test(a_saved_file_says_what_was_said),
		cmocka_unit_test(values_are_refused_with_what_is_allowed),
		cmocka_unit_test(a_check_needs_a_port_that_its_vips_have),
		cmocka_unit_test(what_is_not_used_or_never_comes_true_is_warned_of),
		cmocka_unit_test(commands_change_the_health_of_a_pool_of_ones_own),
		cmocka_unit_test(commands_leave_a_check_that_they_do_not_name),
		cmocka_unit_test(bad_options_are_refused_with_what_is_allowed),
		cmocka_unit_test(more_checks_than_there_is_room_for_are_refused),
		cmocka_unit_test(
			a_vip_with_another_port_does_not_join_a_pool_whose_check_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
