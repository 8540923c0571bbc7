// SPDX-License-Identifier: GPL-2.0-only
/* The edits that are refused, each with its sentence. */
#include "cfg_edit_testing.h"

struct refusal {
	struct edit edit;
	int code;
	const char *sentence;
};

static void assert_refuses(const struct edit *edit, int code, const char *sentence)
{
	_cleanup_cfg_ struct cfg *cfg = must_parse(base), *clone = NULL;
	_cleanup_cfg_ struct cfg *untouched = must_parse(base);
	struct err err = { 0 };

	assert_int_equal(cfg_clone(cfg, &clone, &err), 0);
	assert_int_equal(apply(clone, edit, &err), code);
	assert_int_equal(err.code, code);
	assert_string_equal(err.text, sentence);
	assert_int_equal(apply(clone, edit, NULL), code);
	assert_same_cfg(cfg, untouched);
}

static void check_refusals(const struct refusal *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_refuses(&rows[i].edit, rows[i].code, rows[i].sentence);
}

#define VIP_OPTIONS                                                \
	"pool, hash, echo, tcp_junk, fragments, oversize, on_down, " \
	"tcp_idle_timeout, udp_idle_timeout, new_flow_limit, quic, allow, deny, "           \
	"encap, gue_port, algorithm, table_size, slack, "     \
	"ring_points, all_down, check, initial, initial_timeout, slow_start, damping, " \
	"panic_threshold, quorum, quorum_hysteresis, drain_timeout"

static void vips_are_not_added_wrongly(void **state)
{
	static const struct refusal rows[] = {
		{ { VIP_ADD, OWN, NULL, { { 0 } } },
		  -EEXIST,
		  "vip '" OWN "' exists already" },
		{ { VIP_ADD, "203.0.113.1:0/tcp", NULL, { { 0 } } },
		  -EINVAL,
		  "vip '203.0.113.1:0/tcp': port '0' is out of range; allowed: "
		  "1 to 65535, a range as 8000-8999, or any" },
		{ { VIP_ADD, NEW, NULL, { { "pool", "nope" } } },
		  -ENOENT,
		  "vip '" NEW "': pool 'nope' does not exist; allowed: api, "
		  "web" },
		{ { VIP_ADD, NEW, NULL, { { "weight", "1" } } },
		  -EINVAL,
		  "vip '" NEW "': option 'weight' is not known; allowed: "
		  VIP_OPTIONS },
		{ { VIP_ADD, NEW, NULL, { { "address", "1.2.3.4:1/tcp" } } },
		  -EINVAL,
		  "vip '" NEW
		  "': option 'address' is not known; allowed: " VIP_OPTIONS },
		{ { VIP_ADD, NEW, NULL, { { "gue_port", "65536" } } },
		  -EINVAL,
		  "vip '" NEW "': gue_port '65536' is out of range; allowed: 1 "
		  "to 65535" },
		{ { VIP_ADD, NEW, NULL, { { "algorithm", "ketama" } } },
		  -EINVAL,
		  "vip '" NEW "': table algorithm 'ketama' is not known; allowed "
		  "are maglev, capped, ring and rendezvous" },
		{ { VIP_ADD, NEW, NULL, { { "encap", "gue" }, { "encap", "gue" } } },
		  -EINVAL,
		  "vip '" NEW "': option 'encap' is given twice; allowed: "
		  "once" },
		{ { VIP_ADD, NEW, NULL, { { "pool", "web" }, { "encap", "gue" } } },
		  -EINVAL,
		  "vip '" NEW
		  "': option 'encap' belongs to pool "
		  "'web', which vips share; change it under 'pools' in the "
		  "configuration file and reload it" },
		{ { VIP_ADD, NEW, NULL, { { "table_size", "65536" } } },
		  -EINVAL,
		  "vip '" NEW "': table_size 65536 is not a prime; the nearest "
		  "primes are 65521 and 65537" },
	};

	(void)state;
	check_refusals(rows, ARRAY_SIZE(rows));
}

static void vips_are_not_set_or_deleted_wrongly(void **state)
{
	static const struct refusal rows[] = {
		{ { VIP_SET, NEW, NULL, { { "encap", "gue" } } },
		  -ENOENT,
		  "vip '" NEW "' does not exist" },
		{ { VIP_SET, OWN, NULL, { { "slack", "101" } } },
		  -EINVAL,
		  "vip '" OWN "': slack '101' is out of range; allowed: 0 to "
		  "100" },
		{ { VIP_SET, OWN, NULL, { { "all_down", "open" } } },
		  -EINVAL,
		  "vip '" OWN "': all_down 'open' is not known; allowed: all, "
		  "drop" },
		{ { VIP_SET, OWN, NULL, { { 0 } } },
		  -EINVAL,
		  "vip '" OWN "': nothing to set; allowed: " VIP_OPTIONS },
		{ { VIP_SET, SHARED, NULL, { { "encap", "gue" } } },
		  -EINVAL,
		  "vip '" SHARED "': option 'encap' belongs to "
		  "pool 'web', which vips share; change it under 'pools' in "
		  "the configuration file and reload it" },
		{ { VIP_SET, OWN, NULL, { { "pool", "web" } } },
		  -EINVAL,
		  "vip '" OWN "': it has backends of its own (1); delete them "
		  "before it can use pool 'web'" },
		{ { VIP_SET, OWN, NULL, { { "pool", "nope" } } },
		  -ENOENT,
		  "vip '" OWN "': pool 'nope' does not exist; allowed: api, "
		  "web" },
		{ { VIP_SET, OWN, NULL, { { "pool", EMPTY } } },
		  -EINVAL,
		  "vip '" OWN "': pool name '" EMPTY "' has another character; "
		  "allowed: 1 to 127 letters, digits, . _ -" },
		{ { VIP_DEL, NEW, NULL, { { 0 } } },
		  -ENOENT,
		  "vip '" NEW "' does not exist" },
		{ { VIP_DEL, "web", NULL, { { 0 } } },
		  -EINVAL,
		  "vip 'web' has no protocol; allowed: ADDRESS:PORT/PROTOCOL, "
		  "as "
		  "203.0.113.10:443/tcp, [2001:db8::10]:any/udp, "
		  "203.0.113.0/28:8000-8999/tcp or 203.0.113.10:any/any" },
	};

	(void)state;
	check_refusals(rows, ARRAY_SIZE(rows));
}

static void bad_backend_edits_are_refused(void **state)
{
	static const struct refusal rows[] = {
		{ { BACKEND_ADD, "nope", "10.1.0.1", { { 0 } } },
		  -ENOENT,
		  "pool 'nope' does not exist; allowed: api, web" },
		{ { BACKEND_ADD, NEW, "10.1.0.1", { { 0 } } },
		  -ENOENT,
		  "vip '" NEW "' does not exist" },
		{ { BACKEND_ADD, SHARED, "10.1.0.1", { { 0 } } },
		  -EINVAL,
		  "vip '" SHARED "' uses pool 'web'; edit the backends of the "
		  "pool: fairlead backend add|set|del web ..." },
		{ { BACKEND_SET, SHARED, "web-1", { { "weight", "1" } } },
		  -EINVAL,
		  "vip '" SHARED "' uses pool 'web'; edit the backends of the "
		  "pool: fairlead backend add|set|del web ..." },
		{ { BACKEND_DEL, SHARED, "web-1", { { 0 } } },
		  -EINVAL,
		  "vip '" SHARED "' uses pool 'web'; edit the backends of the "
		  "pool: fairlead backend add|set|del web ..." },
		{ { BACKEND_SET, "web", "web-1", { { "state", "off" } } },
		  -EINVAL,
		  "pool 'web': state 'off' is not known; "
		  "allowed: up, drain, down" },
		{ { BACKEND_ADD, "web", "10.1.0.11", { { 0 } } },
		  -EEXIST,
		  "pool 'web': backend address '10.1.0.11' exists already, as "
		  "'web-1'" },
		{ { BACKEND_ADD, "web", "10.1.0.1", { { "name", "web-1" } } },
		  -EEXIST,
		  "pool 'web': backend 'web-1' exists already" },
		{ { BACKEND_ADD, "web", "10.1.0.99", { { 0 } } },
		  -EEXIST,
		  "pool 'web': backend '10.1.0.99' exists already" },
		{ { BACKEND_ADD, "web", "10.1.0.300", { { 0 } } },
		  -EINVAL,
		  "pool 'web': address '10.1.0.300' is not an IP address; "
		  "allowed: a unicast IPv4 or IPv6 address" },
		{ { BACKEND_ADD, OWN, "127.0.0.1", { { 0 } } },
		  -EINVAL,
		  "vip '" OWN "': address '127.0.0.1' is a loopback address; "
		  "allowed: an address that other hosts can reach" },
		{ { BACKEND_ADD, "web", "10.1.0.1", { { "weight", "65536" } } },
		  -EINVAL,
		  "pool 'web': weight '65536' is out of range; allowed: 0 to "
		  "65535" },
		{ { BACKEND_ADD, "web", "10.1.0.1", { { "address", "1" } } },
		  -EINVAL,
		  "pool 'web': option 'address' is not known; allowed: name, "
		  "weight, state, server_id" },
		{ { BACKEND_SET, "web", "web-2", { { "weight", "1" } } },
		  -ENOENT,
		  "pool 'web': backend 'web-2' does not exist" },
		{ { BACKEND_SET, "web", "web-1", { { "name", "10.1.0.12" } } },
		  -EEXIST,
		  "pool 'web': backend '10.1.0.12' exists already" },
		{ { BACKEND_SET, "web", "web-1", { { 0 } } },
		  -EINVAL,
		  "pool 'web': nothing to set; allowed: name, weight, "
		  "state, server_id" },
		{ { BACKEND_DEL, "web", "web-2", { { 0 } } },
		  -ENOENT,
		  "pool 'web': backend 'web-2' does not exist" },
		{ { BACKEND_DEL, "web", "\x1b[1m", { { 0 } } },
		  -ENOENT,
		  "pool 'web': backend '\\x1b[1m' does not exist" },
	};

	(void)state;
	check_refusals(rows, ARRAY_SIZE(rows));
}

static void a_name_that_is_the_address_of_another_is_ambiguous(void **state)
{
	static const struct edit make = {
		BACKEND_ADD, "web", "10.1.0.99", { { "name", "other" } }
	};
	static const struct edit del = {
		BACKEND_DEL, "web", "10.1.0.99", { { 0 } }
	};
	static const struct edit by_name = {
		BACKEND_DEL, "web", "other", { { 0 } }
	};
	_cleanup_cfg_ struct cfg *cfg = must_parse(base);
	struct err err;

	(void)state;
	assert_int_equal(apply(cfg, &make, &err), 0);
	assert_int_equal(apply(cfg, &del, &err), -EINVAL);
	assert_string_equal(
		err.text, "pool 'web': '10.1.0.99' is the name of one backend "
			  "and the address of another; use the name or address "
			  "that only one of them has");
	assert_int_equal(apply(cfg, &by_name, &err), 0);
	assert_int_equal(apply(cfg, &del, &err), 0);
	assert_int_equal(cfg_find_pool(cfg, "web")->n_backends, 2);
}

static void an_edit_that_the_check_refuses_leaves_the_source(void **state)
{
	_cleanup_cfg_ struct cfg *cfg = must_parse(base), *clone = NULL;
	_cleanup_cfg_ struct cfg *untouched = must_parse(base);
	char address[32];
	struct err err;

	(void)state;
	assert_int_equal(cfg_clone(cfg, &clone, &err), 0);
	for (int i = 0; i < 248; i++) {
		assert_int_equal(cfg_check(clone, &err), 0);
		snprintf(address, sizeof(address), "10.3.0.%d", i);
		assert_int_equal(
			cfg_backend_add(clone, "web", address, NULL, 0, &err), 0);
	}
	assert_int_equal(cfg_check(clone, &err), -EINVAL);
	assert_string_equal(
		err.text,
		"t.yaml:3:3: pool 'web': table_size 251 is not "
		"above the number of backends, 251; allowed: a prime above "
		"that");
	assert_same_cfg(cfg, untouched);
}

static void a_vip_whose_pool_has_gone_fails_the_check(void **state)
{
	_cleanup_cfg_ struct cfg *cfg = must_parse(base);
	struct err err;

	(void)state;
	strcpy(cfg_find_pool(cfg, "web")->name, "xyz");
	assert_int_equal(cfg_check(cfg, &err), -EINVAL);
	assert_string_equal(err.text, "t.yaml:13:3: vip '" SHARED
				      "': pool 'web' does not exist; allowed: "
				      "api, xyz");
}

static void a_private_pool_belongs_to_its_own_vip(void **state)
{
	_cleanup_cfg_ struct cfg *cfg = must_parse(base), *orphan = NULL;
	struct err err;

	(void)state;
	assert_int_equal(cfg_clone(cfg, &orphan, &err), 0);
	strcpy(cfg->vips[0].pool, OWN);
	assert_int_equal(cfg_check(cfg, &err), -EINVAL);
	assert_string_equal(err.text,
			    "t.yaml:13:3: vip '" SHARED "': pool '" OWN
			    "' belongs to that vip alone");

	strcpy(orphan->vips[1].pool, "web");
	assert_int_equal(cfg_check(orphan, &err), -EINVAL);
	assert_string_equal(err.text, "1 private pool without a vip");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vips_are_not_added_wrongly),
		cmocka_unit_test(vips_are_not_set_or_deleted_wrongly),
		cmocka_unit_test(bad_backend_edits_are_refused),
		cmocka_unit_test(a_name_that_is_the_address_of_another_is_ambiguous),
		cmocka_unit_test(an_edit_that_the_check_refuses_leaves_the_source),
		cmocka_unit_test(a_vip_whose_pool_has_gone_fails_the_check),
		cmocka_unit_test(a_private_pool_belongs_to_its_own_vip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
