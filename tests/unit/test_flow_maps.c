// SPDX-License-Identifier: GPL-2.0-only
/* How large the maps of flows are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dp/flow_maps.h"

#define MIB (1ULL << 20)
#define GIB (1ULL << 30)

static struct config config_of(enum flow_form form, __u32 flows)
{
	return (struct config){
		.flow_form = form,
		.flows_per_cpu = flows,
		.flow_set_bits = flow_maps_set_bits(flows),
	};
}

static void half_of_the_ways_or_more_are_for_luck(void **state)
{
	static const __u32 flows[] = { 1, 2, 3, 1000, 1024, 1025, 1 << 20, 1000000,
				       FLOW_WAYS / 2 << FLOW_SET_BITS_MAX };

	(void)state;
	for (size_t i = 0; i < sizeof(flows) / sizeof(flows[0]); i++) {
		__u64 ways = (__u64)FLOW_WAYS << flow_maps_set_bits(flows[i]);

		assert_true(ways >= 2ULL * flows[i]);
		assert_true(flows[i] < 4 || ways < 4ULL * flows[i]);
	}
}

/* Beyond it flows are more crowded, and nothing overflows. */
static void sets_have_a_most(void **state)
{
	(void)state;
	assert_int_equal(flow_maps_set_bits((1U << (FLOW_SET_BITS_MAX + 1)) + 1),
			 FLOW_SET_BITS_MAX);
	assert_int_equal(flow_maps_set_bits(UINT32_MAX), FLOW_SET_BITS_MAX);
	assert_in_range(flow_maps_set_bits(0), 1, 2);
}

static void few_sets_are_in_use_at_first_and_never_more_than_there_are(void **state)
{
	struct config few = config_of(FLOW_FORM_SETS, 1000);
	struct config many = config_of(FLOW_FORM_SETS, 1 << 20);

	(void)state;
	assert_int_equal(flow_maps_first_mask(&few), (1U << few.flow_set_bits) - 1);
	assert_int_equal(flow_maps_first_mask(&many), (1U << FLOW_SET_BITS_START) - 1);
}

static void sets_have_all_but_the_flows_of_wide_vips(void **state)
{
	struct config config = config_of(FLOW_FORM_SETS, 1 << 20);
	struct config few = config_of(FLOW_FORM_SETS, 1024);

	(void)state;
	assert_int_equal(flow_map_entries(&config, FLOW_MAP_SETS4), 1 << 19);
	assert_int_equal(flow_map_entries(&config, FLOW_MAP_SETS6), 1 << 19);
	assert_int_equal(flow_map_entries(&config, FLOW_MAP_LRU4), 1 << 16);
	assert_int_equal(flow_map_entries(&config, FLOW_MAP_LRU6), 1 << 16);
	assert_int_equal(flow_map_entries(&few, FLOW_MAP_LRU4), 1024);
}

static void lru_hashes_have_all_when_that_is_the_form(void **state)
{
	struct config config = config_of(FLOW_FORM_LRU, 1 << 20);

	(void)state;
	assert_int_equal(flow_map_entries(&config, FLOW_MAP_LRU4), 1 << 20);
	assert_int_equal(flow_map_entries(&config, FLOW_MAP_LRU6), 1 << 20);
	assert_int_equal(flow_map_entries(&config, FLOW_MAP_SETS4), 2);
	assert_int_equal(flow_map_entries(&config, FLOW_MAP_SETS6), 2);
}

static void memory_is_that_of_all_four_maps(void **state)
{
	struct config sets = config_of(FLOW_FORM_SETS, 1 << 20);
	struct config lru = config_of(FLOW_FORM_LRU, 1 << 20);
	size_t in_sets = (1 << 19) * (sizeof(struct flow_set4) + sizeof(struct flow_set6));
	/* Keys, values, and 64 bytes of the kernel's own for each. */
	size_t wide = (1 << 16) * (16 + 40 + 2 * (8 + 64));

	(void)state;
	assert_int_equal(flow_maps_bytes(&sets), in_sets + wide);
	assert_int_equal(flow_maps_bytes(&lru),
			 16 * wide + 2 * (sizeof(struct flow_set4) +
					  sizeof(struct flow_set6)));
}

static void default_takes_at_most_a_64th_of_the_memory(void **state)
{
	static const __u64 memory[] = { 2 * GIB, 8 * GIB, 64 * GIB, 1024 * GIB };

	(void)state;
	for (int form = 0; form < FLOW_FORM__MAX; form++) {
		for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++) {
			__u32 flows = flow_maps_default(form, memory[i], 4);
			struct config config = config_of(form, flows);
			struct config twice = config_of(form, 2 * flows);

			assert_int_equal(flows & (flows - 1), 0);
			assert_true(4 * flow_maps_bytes(&config) <= memory[i] / 64);
			assert_true(flows == 1 << 20 ||
				    4 * flow_maps_bytes(&twice) > memory[i] / 64);
		}
	}
}

/* A virtual machine may have two CPUs of a hundred that could be plugged in. */
static void default_counts_all_cpus_that_may_be(void **state)
{
	struct cfg cfg = { .conntrack = FLOW_FORM_SETS };
	__u32 flows = flow_maps_per_cpu(&cfg, 64 * GIB, 2, 100);
	struct config config = config_of(FLOW_FORM_SETS, flows);

	(void)state;
	assert_true(100 * flow_maps_bytes(&config) <= GIB);
}

static void flows_are_shared_by_the_cpus_that_are(void **state)
{
	struct cfg total = { .flows = 1 << 20 }, each = { .flows_per_cpu = 5000 };

	(void)state;
	assert_int_equal(flow_maps_per_cpu(&total, GIB, 2, 100), 1 << 19);
	assert_int_equal(flow_maps_per_cpu(&each, GIB, 2, 100), 5000);
}

static void default_has_a_least_and_a_most(void **state)
{
	(void)state;
	assert_int_equal(flow_maps_default(FLOW_FORM_SETS, 0, 1), 4096);
	assert_int_equal(flow_maps_default(FLOW_FORM_SETS, 64 * MIB, 256), 4096);
	assert_int_equal(flow_maps_default(FLOW_FORM_SETS, 4096 * GIB, 1), 1 << 20);
	assert_int_equal(flow_maps_default(FLOW_FORM_LRU, 4096 * GIB, 1), 1 << 20);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(half_of_the_ways_or_more_are_for_luck),
		cmocka_unit_test(sets_have_a_most),
		cmocka_unit_test(few_sets_are_in_use_at_first_and_never_more_than_there_are),
		cmocka_unit_test(sets_have_all_but_the_flows_of_wide_vips),
		cmocka_unit_test(lru_hashes_have_all_when_that_is_the_form),
		cmocka_unit_test(memory_is_that_of_all_four_maps),
		cmocka_unit_test(default_takes_at_most_a_64th_of_the_memory),
		cmocka_unit_test(default_counts_all_cpus_that_may_be),
		cmocka_unit_test(flows_are_shared_by_the_cpus_that_are),
		cmocka_unit_test(default_has_a_least_and_a_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
