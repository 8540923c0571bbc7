// SPDX-License-Identifier: GPL-2.0-only
/* Options of VIPs: from text to what packets look up, and what is refused. */
#include "plan_testing.h"

#include <errno.h>
#include <jansson.h>

#define HEAD "interface: eth0\nvips:\n"
#define VIP1 "203.0.113.1:80/tcp"
#define VIP2 "203.0.113.1:443/tcp"
#define VIP6 "[2001:db8::1]:53/udp"
#define ROW(vip, options) "- {address: '" vip "'" options "}\n"

static const struct vip *options_of(const struct plan *plan, const char *vip)
{
	return &vip_of(plan, vip)->options;
}

static void what_is_not_said_has_its_default(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *plan = must_plan_yaml(HEAD ROW(VIP1, ""), none);
	const struct vip *options = options_of(plan, VIP1);

	(void)state;
	assert_int_equal(options->flags, 0);
	assert_int_equal(options->hash_mode, HASH_5_TUPLE);
	assert_int_equal(options->new_flow_cap, 0);
	/* 7,440 s in ticks of 2 s, and the tick that runs */
	assert_int_equal(options->idle, 3721);
	assert_int_equal(options->tcp_idle, 3721);
	assert_int_equal(plan->n_acls, 0);
}

static void timeouts_become_ticks_that_are_not_shorter(void **state)
{
	static const struct {
		const char *vip, *option;
		uint16_t idle, tcp_idle;
	} rows[] = {
		{ "203.0.113.1:53/udp", "", 151, 3721 },
		{ "203.0.113.1:53/udp", ", udp_idle_timeout: 1", 2, 3721 },
		{ "203.0.113.1:53/udp", ", udp_idle_timeout: 2", 2, 3721 },
		{ "203.0.113.1:53/udp", ", udp_idle_timeout: 3", 3, 3721 },
		{ "203.0.113.1:53/udp", ", udp_idle_timeout: 15356", 7679, 3721 },
		{ "203.0.113.1:53/udp", ", udp_idle_timeout: 0", FLOW_IDLE_MAX, 3721 },
		{ "203.0.113.1:53/tcp", ", tcp_idle_timeout: 60", 31, 31 },
		{ "203.0.113.1:53/tcp", ", tcp_idle_timeout: 0", FLOW_IDLE_MAX,
		  FLOW_IDLE_MAX },
		{ "203.0.113.1:any/any", ", tcp_idle_timeout: 60", 151, 31 },
	};
	char yaml[256];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		_cleanup_plan_ struct plan *none = empty_plan();
		_cleanup_plan_ struct plan *plan = NULL;
		const struct vip *options;

		snprintf(yaml, sizeof(yaml), HEAD ROW("%s", "%s"), rows[i].vip,
			 rows[i].option);
		plan = must_plan_yaml(yaml, none);
		options = options_of(plan, rows[i].vip);
		assert_int_equal(options->idle, rows[i].idle);
		assert_int_equal(options->tcp_idle, rows[i].tcp_idle);
	}
}

static void vips_of_more_than_one_address_or_protocol_are_wide(void **state)
{
	static const struct {
		const char *vip;
		bool wide;
	} rows[] = {
		{ "203.0.113.1:53/udp", false },   { "203.0.113.1:any/tcp", false },
		{ "203.0.113.1:1-9/tcp", false },  { "203.0.113.1:any/any", true },
		{ "203.0.113.0/24:53/udp", true }, { "[2001:db8::/64]:53/udp", true },
	};
	char yaml[256];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		_cleanup_plan_ struct plan *none = empty_plan();
		_cleanup_plan_ struct plan *plan = NULL;

		snprintf(yaml, sizeof(yaml), HEAD ROW("%s", ""), rows[i].vip);
		plan = must_plan_yaml(yaml, none);
		assert_int_equal(!!(options_of(plan, rows[i].vip)->flags & VIP_WIDE),
				 rows[i].wide);
	}
}

static void each_option_becomes_what_packets_look_up(void **state)
{
	static const struct {
		const char *option;
		uint16_t flags;
		uint8_t mode;
		uint32_t cap;
	} rows[] = {
		{ ", hash: source", VIP_HASH_MODE, HASH_SOURCE, 0 },
		{ ", hash: source-dest", VIP_HASH_MODE, HASH_SOURCE_DEST, 0 },
		{ ", hash: dest-port", VIP_HASH_MODE, HASH_DEST_PORT, 0 },
		{ ", hash: 5-tuple, echo: true", 0, HASH_5_TUPLE, 0 },
		{ ", echo: false", VIP_NO_ECHO, 0, 0 },
		{ ", tcp_junk: pass", VIP_TCP_JUNK, 0, 0 },
		{ ", fragments: hash", VIP_FRAGMENT_HASH, 0, 0 },
		{ ", oversize: send", VIP_OVERSIZE, 0, 0 },
		{ ", on_down: keep", VIP_KEEP_DOWN, 0, 0 },
		{ ", new_flow_limit: 5000", VIP_CAP, 0, 5000 },
		{ ", deny: [192.0.2.0/24]", VIP_ACL, 0, 0 },
		{ ", allow: [192.0.2.0/24]", VIP_ACL | VIP_ACL_DENY, 0, 0 },
		{ ", allow: [], deny: []", 0, 0, 0 },
	};
	char yaml[256];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		_cleanup_plan_ struct plan *none = empty_plan();
		_cleanup_plan_ struct plan *plan = NULL;
		const struct vip *options;

		snprintf(yaml, sizeof(yaml), HEAD ROW(VIP1, "%s"), rows[i].option);
		plan = must_plan_yaml(yaml, none);
		options = options_of(plan, VIP1);
		assert_int_equal(options->flags, rows[i].flags);
		assert_int_equal(options->hash_mode, rows[i].mode);
		assert_int_equal(options->new_flow_cap, rows[i].cap);
	}
}

static void lists_are_planned_under_the_id_of_their_vip(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *plan = must_plan_yaml(
		HEAD ROW(VIP1, ", allow: [10.0.0.0/8], deny: [10.1.0.0/16, 10.2.3.4]")
		ROW(VIP6, ", deny: ['::/0']"), none);
	char text[PREFIX_TEXT_MAX];

	(void)state;
	assert_int_equal(plan->n_acls, 4);
	for (size_t i = 0; i < plan->n_acls; i++) {
		const struct plan_acl *acl = &plan->acls[i];

		prefix_format(&acl->prefix, text);
		assert_int_equal(acl->deny, strcmp(text, "10.0.0.0/8") != 0);
		assert_int_equal(acl->vip, vip_of(plan, strcmp(text, "::/0") ?
							VIP1 : VIP6)->id);
	}
}

static void a_saved_file_says_what_was_said(void **state)
{
	static const char yaml[] =
		"interface: eth0\n"
		"vips:\n"
		"- address: 203.0.113.1:80/tcp\n"
		"  hash: source\n"
		"  echo: false\n"
		"  tcp_junk: pass\n"
		"  fragments: hash\n"
		"  oversize: send\n"
		"  on_down: keep\n"
		"  udp_idle_timeout: 60\n"
		"  new_flow_limit: 1000\n"
		"  allow:\n"
		"  - 10.0.0.0/8\n"
		"  - 192.0.2.7\n"
		"  deny:\n"
		"  - 10.1.0.0/16\n";
	_cleanup_cfg_ struct cfg *cfg = must_parse(yaml);
	_cleanup_cfg_ struct cfg *copy = NULL;
	_cleanup_free_ char *text = must_dump(cfg);

	(void)state;
	assert_string_equal(text, yaml);
	assert_int_equal(cfg_clone(cfg, &copy, NULL), 0);
	assert_same_cfg(copy, cfg);
}

static void answers_name_every_option(void **state)
{
	_cleanup_cfg_ struct cfg *cfg =
		must_parse(HEAD ROW(VIP1, ", deny: [10.0.0.0/8]"));
	json_t *got = cfg_vip_options_json(&cfg->vips[0]);
	json_t *expected = json_loads(
		"{\"hash\": \"5-tuple\", \"echo\": true, \"tcp_junk\": \"drop\", "
		"\"fragments\": \"first\", \"oversize\": \"drop\", \"on_down\": \"rehash\", "
		"\"tcp_idle_timeout\": 7440, \"udp_idle_timeout\": 300, \"new_flow_limit\": 0, \"quic\": null, \"allow\": [], "
		"\"deny\": [\"10.0.0.0/8\"]}", 0, NULL);

	(void)state;
	assert_true(json_equal(got, expected));
	json_decref(got);
	json_decref(expected);
}

static void what_does_not_fit_is_refused_with_what_is_allowed(void **state)
{
	static const struct {
		const char *yaml, *sentence;
	} rows[] = {
		{ ROW(VIP1, ", hash: port"),
		  "hash 'port' is not known; allowed: 5-tuple, source, source-dest, dest-port" },
		{ ROW(VIP1, ", echo: maybe"), "echo 'maybe' is not known; allowed: false, true" },
		{ ROW(VIP1, ", tcp_junk: keep"),
		  "tcp_junk 'keep' is not known; allowed: drop, pass" },
		{ ROW(VIP1, ", fragments: last"),
		  "fragments 'last' is not known; allowed: first, hash" },
		{ ROW(VIP1, ", oversize: pass"),
		  "oversize 'pass' is not known; allowed: drop, send" },
		{ ROW(VIP1, ", on_down: stay"),
		  "on_down 'stay' is not known; allowed: rehash, keep" },
		{ ROW(VIP1, ", udp_idle_timeout: -1"), "udp_idle_timeout '-1' is not a number" },
		{ ROW(VIP1, ", udp_idle_timeout: 15357"), "allowed: 0 to 15356" },
		{ ROW(VIP1, ", allow: 10.0.0.0/8"), "allow is a single value; allowed: a list" },
		{ ROW(VIP1, ", allow: [10.0.0.1/8]"),
		  "allow '10.0.0.1/8' has bits set behind its length; allowed: 10.0.0.0/8" },
		{ ROW(VIP1, ", deny: [10.0.0.0/33]"),
		  "deny '10.0.0.0/33' has no length of its family; allowed: ADDRESS" },
		{ ROW(VIP1, ", deny: [host]"), "deny 'host' has no IP address; allowed: ADDRESS" },
		{ ROW(VIP1, ", deny: ['::/0']"),
		  "vip '" VIP1 "': deny '::/0' is of the other family" },
		{ ROW(VIP1, ", deny: [10.0.0.0/8, 10.0.0.0/8]"),
		  "vip '" VIP1 "': deny '10.0.0.0/8' is there twice" },
		{ ROW(VIP1, ", deny: [10.0.0.0/8], allow: [10.1.0.0/16, 10.0.0.0/8]"),
		  "3:3: vip '" VIP1 "': prefix '10.0.0.0/8' is on both lists" },
		{ ROW(VIP1, ", echo: false") ROW(VIP2, ""),
		  "4:3: vip '" VIP2 "': echo is true here and false in vip '" VIP1
		  "' of the same address" },
		{ ROW(VIP1, ", fragments: hash") ROW(VIP2, ", fragments: hash"),
		  "vip '" VIP2 "': fragments is hash here and in vip '" VIP1
		  "' of the same address, which has another pool or hash" },
	};
	char yaml[512];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cfg *cfg = NULL;
		struct err err = { 0 };

		snprintf(yaml, sizeof(yaml), HEAD "%s", rows[i].yaml);
		assert_int_equal(cfg_parse_yaml(yaml, strlen(yaml), "t.yaml", &cfg, &err),
				 -EINVAL);
		if (!strstr(err.text, rows[i].sentence))
			fail_msg("'%s' is not in '%s'", rows[i].sentence, err.text);
	}
}

static void vips_that_share_a_pool_and_a_hash_may_both_hash_fragments(void **state)
{
	_cleanup_cfg_ struct cfg *cfg = must_parse(
		"interface: eth0\npools: {p: {}}\nvips:\n"
		ROW(VIP1, ", pool: p, fragments: hash") ROW(VIP2, ", pool: p, fragments: hash"));

	(void)state;
	assert_true(cfg->vips[0].fragment_hash && cfg->vips[1].fragment_hash);
}

static void must_set(struct cfg *cfg, const char *key, const char *value)
{
	struct cfg_option option = { key, value };
	struct err err = { 0 };

	if (cfg_vip_set(cfg, VIP1, &option, 1, &err) || cfg_check(cfg, &err))
		fail_msg("%s", err.text);
}

static void commands_change_one_option_and_no_other(void **state)
{
	_cleanup_cfg_ struct cfg *cfg = must_parse(
		"interface: eth0\npools: {p: {}}\nvips:\n" ROW(VIP1, ", pool: p"));
	const struct cfg_vip *vip = cfg->vips;
	struct cfg_option bad = { "allow", "10.0.0.0/8,oops" };

	(void)state;
	must_set(cfg, "allow", "10.1.0.0/16,10.0.0.0/8");
	assert_int_equal(vip->allow.n, 2);
	must_set(cfg, "hash", "dest-port");
	must_set(cfg, "deny", "10.1.2.3");
	assert_int_equal(cfg_vip_set(cfg, VIP1, &bad, 1, NULL), -EINVAL);
	assert_int_equal(vip->allow.n, 2);
	assert_int_equal(vip->deny.n, 1);
	assert_int_equal(vip->hash_mode, HASH_DEST_PORT);
	assert_string_equal(vip->pool, "p");
	must_set(cfg, "allow", "none");
	assert_int_equal(vip->allow.n, 0);
	assert_int_equal(vip->deny.n, 1);
}

static void change_of_an_option_keeps_ids_and_tables(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *a = must_plan_yaml(HEAD ROW(VIP1, ""), none);
	_cleanup_plan_ struct plan *b = must_plan_yaml(
		HEAD ROW(VIP1, ", hash: source, deny: [10.0.0.0/8]"), a);

	(void)state;
	assert_int_equal(vip_of(a, VIP1)->id, vip_of(b, VIP1)->id);
	assert_int_equal(vip_of(a, VIP1)->table, vip_of(b, VIP1)->table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_said_has_its_default),
		cmocka_unit_test(each_option_becomes_what_packets_look_up),
		cmocka_unit_test(timeouts_become_ticks_that_are_not_shorter),
		cmocka_unit_test(vips_of_more_than_one_address_or_protocol_are_wide),
		cmocka_unit_test(lists_are_planned_under_the_id_of_their_vip),
		cmocka_unit_test(a_saved_file_says_what_was_said),
		cmocka_unit_test(answers_name_every_option),
		cmocka_unit_test(what_does_not_fit_is_refused_with_what_is_allowed),
		cmocka_unit_test(vips_that_share_a_pool_and_a_hash_may_both_hash_fragments),
		cmocka_unit_test(commands_change_one_option_and_no_other),
		cmocka_unit_test(change_of_an_option_keeps_ids_and_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
