// SPDX-License-Identifier: GPL-2.0-only
/* What the edits behind the commands make of a configuration. */
#include "cfg_edit_testing.h"

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
		cmocka_unit_test(vip_set_changes_the_private_pool_or_moves_to_a_named_one),
		cmocka_unit_test(a_backend_is_drained_taken_down_and_brought_up),
		cmocka_unit_test(backends_are_edited_by_name_and_by_address),
		cmocka_unit_test(any_row_of_edits_gives_a_sound_configuration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
