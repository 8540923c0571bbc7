// SPDX-License-Identifier: GPL-2.0-only
/* The edits behind the commands, as the daemon makes them: on a clone. */
#include "cfg_testing.h"

#include <errno.h>

#include "abi.h"

static const char base[] = "interface: eth0\n"
			   "pools:\n"
			   "  web:\n"
			   "    table_size: 251\n"
			   "    backends:\n"
			   "    - address: 10.1.0.11\n"
			   "      name: web-1\n"
			   "    - address: 10.1.0.12\n"
			   "    - address: 10.1.0.13\n"
			   "      name: 10.1.0.99\n"
			   "  api: {}\n"
			   "vips:\n"
			   "- address: 203.0.113.10:443/tcp\n"
			   "  pool: web\n"
			   "- address: 203.0.113.11:443/tcp\n"
			   "  encap: gue\n"
			   "  backends:\n"
			   "  - address: 10.2.0.1\n"
			   "- address: 203.0.113.12:443/tcp\n";

#define SHARED "203.0.113.10:443/tcp"
#define OWN    "203.0.113.11:443/tcp"
#define EMPTY  "203.0.113.12:443/tcp"
#define NEW    "203.0.113.9:80/udp"

enum verb { VIP_ADD, VIP_SET, VIP_DEL, BACKEND_ADD, BACKEND_SET, BACKEND_DEL };

struct edit {
	enum verb verb;
	const char *target, *which;
	struct cfg_option options[4];
};

static int apply(struct cfg *cfg, const struct edit *e, struct err *err)
{
	size_t n = 0;

	while (n < ARRAY_SIZE(e->options) && e->options[n].key)
		n++;
	switch (e->verb) {
	case VIP_ADD:
		return cfg_vip_add(cfg, e->target, e->options, n, err);
	case VIP_SET:
		return cfg_vip_set(cfg, e->target, e->options, n, err);
	case VIP_DEL:
		return cfg_vip_del(cfg, e->target, err);
	case BACKEND_ADD:
		return cfg_backend_add(cfg, e->target, e->which, e->options, n,
				       err);
	case BACKEND_SET:
		return cfg_backend_set(cfg, e->target, e->which, e->options, n,
				       err);
	case BACKEND_DEL:
		return cfg_backend_del(cfg, e->target, e->which, err);
	}
	return -EINVAL;
}

/* The edited base is what `yaml` would have said, before and after the check. */
static void assert_gives(const struct edit *edits, size_t n, const char *yaml)
{
	_cleanup_cfg_ struct cfg *cfg = must_parse(base), *clone = NULL;
	_cleanup_cfg_ struct cfg *untouched = must_parse(base);
	_cleanup_cfg_ struct cfg *expected = must_parse(yaml);
	struct err err = { 0 };

	assert_int_equal(cfg_clone(cfg, &clone, &err), 0);
	for (size_t i = 0; i < n; i++)
		if (apply(clone, &edits[i], &err))
			fail_msg("%s", err.text);
	if (cfg_check(clone, &err))
		fail_msg("%s", err.text);
	assert_same_cfg(clone, expected);
	assert_same_cfg(cfg, untouched);
}

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

#define VIP_OPTIONS                                                \
	"pool, encap, gue_port, algorithm, table_size, slack, "     \
	"ring_points, all_down"

/* The base with other vips. */
#define POOLS                                                               \
	"interface: eth0\npools:\n  api: {}\n  web:\n    table_size: 251\n" \
	"    backends:\n    - {address: 10.1.0.11, name: web-1}\n"          \
	"    - {address: 10.1.0.12}\n"                                      \
	"    - {address: 10.1.0.13, name: 10.1.0.99}\n"
#define VIPS                                            \
	"vips:\n- {address: '" SHARED "', pool: web}\n" \
	"- {address: '" OWN                             \
	"', encap: gue, backends: [{address: 10.2.0.1}]}\n"
#define VIP_EMPTY "- {address: '" EMPTY "'}\n"

static void vips_are_added_with_a_pool_or_their_own(void **state)
{
	static const struct edit own[] = {
		{ VIP_ADD,
		  NEW,
		  NULL,
		  { { "encap", "gue" },
		    { "gue_port", "99" },
		    { "table_size", "257" } } },
	};
	static const struct edit shared[] = {
		{ VIP_ADD, NEW, NULL, { { "pool", "api" } } },
	};
	static const struct edit plain[] = { { VIP_ADD, NEW, NULL, { { 0 } } } };

	(void)state;
	assert_gives(own, 1,
		     POOLS VIPS VIP_EMPTY "- {address: '" NEW
					  "', encap: gue, gue_port: 99, "
					  "table_size: 257}\n");
	assert_gives(shared, 1,
		     POOLS VIPS VIP_EMPTY "- {address: '" NEW
					  "', pool: api}\n");
	assert_gives(plain, 1, POOLS VIPS VIP_EMPTY "- {address: '" NEW "'}\n");
}

static void a_vip_is_the_same_however_it_is_written(void **state)
{
	static const struct edit edits[] = {
		{ VIP_ADD, "[2001:DB8:0::1]:any/tcp", NULL, { { 0 } } },
		{ BACKEND_ADD, "[2001:db8::1]:any/tcp", "2001:DB8::0:2", { { 0 } } },
		{ BACKEND_SET,
		  "[2001:db8::0:1]:any/tcp",
		  "2001:db8:0::2",
		  { { "weight", "7" } } },
	};

	(void)state;
	assert_gives(edits, 3,
		     POOLS VIPS VIP_EMPTY
		     "- address: '[2001:db8::1]:any/tcp'\n"
		     "  backends: [{address: '2001:db8::2', weight: 7}]\n");
}

static void a_deleted_vip_takes_its_private_pool_along(void **state)
{
	static const struct edit edits[] = {
		{ VIP_DEL, OWN, NULL, { { 0 } } },
		{ VIP_DEL, SHARED, NULL, { { 0 } } },
	};
	static const struct edit again[] = {
		{ VIP_DEL, EMPTY, NULL, { { 0 } } },
		{ VIP_ADD, EMPTY, NULL, { { 0 } } },
	};

	(void)state;
	assert_gives(edits, 2, POOLS "vips:\n" VIP_EMPTY);
	assert_gives(again, 2, base);
}

static void vip_set_changes_the_private_pool_or_moves_to_a_named_one(void **state)
{
	static const struct edit keys[] = {
		{ VIP_SET,
		  EMPTY,
		  NULL,
		  { { "table_size", "509" }, { "encap", "gue" } } },
	};
	static const struct edit table[] = {
		{ VIP_SET,
		  EMPTY,
		  NULL,
		  { { "algorithm", "ring" }, { "ring_points", "40" } } },
		{ VIP_SET,
		  EMPTY,
		  NULL,
		  { { "slack", "2" }, { "all_down", "drop" } } },
	};
	static const struct edit pool[] = {
		{ VIP_SET, EMPTY, NULL, { { "pool", "web" } } },
	};
	static const struct edit other[] = {
		{ VIP_SET, SHARED, NULL, { { "pool", "api" } } },
		{ VIP_SET, SHARED, NULL, { { "pool", "web" } } },
	};

	(void)state;
	assert_gives(keys, 1,
		     POOLS VIPS "- {address: '" EMPTY "', table_size: 509, "
				"encap: gue}\n");
	assert_gives(table, 2,
		     POOLS VIPS "- {address: '" EMPTY "', algorithm: ring, "
				"ring_points: 40, slack: 2, all_down: drop}\n");
	assert_gives(pool, 1, POOLS VIPS "- {address: '" EMPTY "', pool: web}\n");
	assert_gives(other, 2, base);
}

static void a_backend_is_drained_taken_down_and_brought_up(void **state)
{
	static const struct edit drain[] = {
		{ BACKEND_SET, OWN, "10.2.0.1", { { "state", "drain" } } },
	};
	static const struct edit down_and_up[] = {
		{ BACKEND_SET, OWN, "10.2.0.1", { { "state", "down" } } },
		{ BACKEND_SET, OWN, "10.2.0.1", { { "state", "up" } } },
	};

	(void)state;
	assert_gives(drain, 1,
		     POOLS "vips:\n- {address: '" SHARED "', pool: web}\n"
			   "- {address: '" OWN "', encap: gue, backends: "
			   "[{address: 10.2.0.1, state: drain}]}\n" VIP_EMPTY);
	assert_gives(down_and_up, 2, base);
}

static void backends_are_edited_by_name_and_by_address(void **state)
{
	static const struct edit edits[] = {
		{ BACKEND_DEL, "web", "web-1", { { 0 } } },
		{ BACKEND_DEL, "web", "10.1.0.12", { { 0 } } },
		{ BACKEND_SET,
		  "web",
		  "10.1.0.13",
		  { { "weight", "0" }, { "name", "last" } } },
		{ BACKEND_ADD,
		  "web",
		  "10.1.0.11",
		  { { "weight", "3" }, { "name", "aaa" } } },
		{ BACKEND_ADD, OWN, "10.2.0.2", { { 0 } } },
		{ BACKEND_DEL, OWN, "10.2.0.1", { { 0 } } },
	};

	(void)state;
	assert_gives(edits, ARRAY_SIZE(edits),
		     "interface: eth0\npools:\n  api: {}\n  web:\n"
		     "    table_size: 251\n    backends:\n"
		     "    - {address: 10.1.0.13, name: last, weight: 0}\n"
		     "    - {address: 10.1.0.11, name: aaa, weight: 3}\n"
		     "vips:\n- {address: '" SHARED "', pool: web}\n"
		     "- {address: '" OWN "', encap: gue, "
		     "backends: [{address: 10.2.0.2}]}\n" VIP_EMPTY);
}

static void bad_vip_edits_are_refused(void **state)
{
	static const struct {
		struct edit edit;
		int code;
		const char *sentence;
	} rows[] = {
		{ { VIP_ADD, OWN, NULL, { { 0 } } },
		  -EEXIST,
		  "vip '" OWN "' exists already" },
		{ { VIP_ADD, "203.0.113.1:0/tcp", NULL, { { 0 } } },
		  -EINVAL,
		  "vip '203.0.113.1:0/tcp': port '0' is out of range; allowed: "
		  "1 to 65535, or any" },
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
		{ { VIP_SET, OWN, NULL, { { "slack", "101" } } },
		  -EINVAL,
		  "vip '" OWN "': slack '101' is out of range; allowed: 0 to "
		  "100" },
		{ { VIP_SET, OWN, NULL, { { "all_down", "open" } } },
		  -EINVAL,
		  "vip '" OWN "': all_down 'open' is not known; allowed: all, "
		  "drop" },
		{ { VIP_ADD, NEW, NULL, { { "encap", "gue" }, { "encap", "gue" } } },
		  -EINVAL,
		  "vip '" NEW "': option 'encap' is given twice; allowed: "
		  "once" },
		{ { VIP_ADD, NEW, NULL, { { "pool", "web" }, { "encap", "gue" } } },
		  -EINVAL,
		  "vip '" NEW
		  "': all options but pool belong to pool "
		  "'web', which vips share; change them under 'pools' in the "
		  "configuration file and reload it" },
		{ { VIP_ADD, NEW, NULL, { { "table_size", "65536" } } },
		  -EINVAL,
		  "vip '" NEW "': table_size 65536 is not a prime; the nearest "
		  "primes are 65521 and 65537" },
		{ { VIP_SET, NEW, NULL, { { "encap", "gue" } } },
		  -ENOENT,
		  "vip '" NEW "' does not exist" },
		{ { VIP_SET, OWN, NULL, { { 0 } } },
		  -EINVAL,
		  "vip '" OWN "': nothing to set; allowed: " VIP_OPTIONS },
		{ { VIP_SET, SHARED, NULL, { { "encap", "gue" } } },
		  -EINVAL,
		  "vip '" SHARED "': all options but pool belong to "
		  "pool 'web', which vips share; change them under 'pools' in "
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
		  "as 203.0.113.10:443/tcp or [2001:db8::10]:any/udp" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_refuses(&rows[i].edit, rows[i].code, rows[i].sentence);
}

static void bad_backend_edits_are_refused(void **state)
{
	static const struct {
		struct edit edit;
		int code;
		const char *sentence;
	} rows[] = {
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
		  "weight, state" },
		{ { BACKEND_SET, "web", "web-2", { { "weight", "1" } } },
		  -ENOENT,
		  "pool 'web': backend 'web-2' does not exist" },
		{ { BACKEND_SET, "web", "web-1", { { "name", "10.1.0.12" } } },
		  -EEXIST,
		  "pool 'web': backend '10.1.0.12' exists already" },
		{ { BACKEND_SET, "web", "web-1", { { 0 } } },
		  -EINVAL,
		  "pool 'web': nothing to set; allowed: name, weight, "
		  "state" },
		{ { BACKEND_DEL, "web", "web-2", { { 0 } } },
		  -ENOENT,
		  "pool 'web': backend 'web-2' does not exist" },
		{ { BACKEND_DEL, "web", "\x1b[1m", { { 0 } } },
		  -ENOENT,
		  "pool 'web': backend '\\x1b[1m' does not exist" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_refuses(&rows[i].edit, rows[i].code, rows[i].sentence);
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
	assert_string_equal(err.text, "1 private pools belong to no vip");
}

static void random_name(unsigned int *seed, char *vip, size_t size)
{
	snprintf(vip, size, "10.9.0.%d:%d/%s", rand_r(seed) % 4,
		 1 + rand_r(seed) % 4, rand_r(seed) % 2 ? "tcp" : "udp");
}

static int random_edit(struct cfg *cfg, unsigned int *seed)
{
	static const struct cfg_option pool = { "pool", "api" };
	char vip[64], backend[32];
	struct err err;

	random_name(seed, vip, sizeof(vip));
	snprintf(backend, sizeof(backend), "10.8.0.%d", rand_r(seed) % 8);
	switch (rand_r(seed) % 6) {
	case 0:
	case 1:
		return cfg_vip_add(cfg, vip, &pool, rand_r(seed) % 2, &err);
	case 2:
		return cfg_vip_del(cfg, vip, &err);
	case 3:
		return cfg_vip_set(cfg, vip, &pool, 1, &err);
	case 4:
		return cfg_backend_add(cfg, rand_r(seed) % 2 ? vip : "api",
				       backend, NULL, 0, &err);
	default:
		return cfg_backend_del(cfg, rand_r(seed) % 2 ? vip : "api",
				       backend, &err);
	}
}

/* Edits keep the order that cfg_check makes, and what they make can be saved. */
static void any_row_of_edits_gives_a_sound_configuration(void **state)
{
	_cleanup_cfg_ struct cfg *cfg = must_parse(base);
	unsigned int seed = 7, done = 0;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		_cleanup_cfg_ struct cfg *next = NULL, *checked = NULL;
		struct err err = { 0 };

		assert_int_equal(cfg_clone(cfg, &next, &err), 0);
		if (random_edit(next, &seed))
			continue;
		done++;
		assert_true(next->sorted);
		assert_int_equal(cfg_clone(next, &checked, &err), 0);
		if (cfg_check(checked, &err))
			fail_msg("%s", err.text);
		for (size_t j = 0; j < next->n_vips; j++)
			assert_ptr_equal(cfg_find_vip(next,
						      &checked->vips[j].spec),
					 &next->vips[j]);
		for (size_t j = 0; j < next->n_pools; j++)
			assert_ptr_equal(cfg_find_pool(next,
						       checked->pools[j].name),
					 &next->pools[j]);
		cfg_free(&cfg);
		cfg = TAKE_PTR(checked);
		if (done % 50 == 0) {
			_cleanup_free_ char *yaml = must_dump(cfg);
			_cleanup_cfg_ struct cfg *back = must_parse(yaml);

			assert_same_cfg(cfg, back);
		}
	}
	assert_true(done > 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vips_are_added_with_a_pool_or_their_own),
		cmocka_unit_test(a_vip_is_the_same_however_it_is_written),
		cmocka_unit_test(a_deleted_vip_takes_its_private_pool_along),
		cmocka_unit_test(
			vip_set_changes_the_private_pool_or_moves_to_a_named_one),
		cmocka_unit_test(a_backend_is_drained_taken_down_and_brought_up),
		cmocka_unit_test(backends_are_edited_by_name_and_by_address),
		cmocka_unit_test(bad_vip_edits_are_refused),
		cmocka_unit_test(bad_backend_edits_are_refused),
		cmocka_unit_test(
			a_name_that_is_the_address_of_another_is_ambiguous),
		cmocka_unit_test(an_edit_that_the_check_refuses_leaves_the_source),
		cmocka_unit_test(a_vip_whose_pool_has_gone_fails_the_check),
		cmocka_unit_test(a_private_pool_belongs_to_its_own_vip),
		cmocka_unit_test(any_row_of_edits_gives_a_sound_configuration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
