// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fast maglev and capped builders against the textbook, slot for slot, on
 * random sets, and the exact order of weighted turns.
 */
#include "table_sets.h"

#include "core/cleanup.h"
#include "core/table_impl.h"
#include "table_textbook.h"

#define SLOTS_MAX 16381

static const uint32_t small_sizes[] = { 2,   3,   7,   61,  127,
					251, 257, 509, 521, 1021 };
static const uint32_t large_sizes[] = { 2039, 4093, 8191, 16381 };

struct fixture {
	struct random random;
	struct set set;
	uint16_t slots[SLOTS_MAX], expected[SLOTS_MAX];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->random.state = 1;
	*state = f;
	return !f;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

/* One random set of up to `most` backends, in a table of one of the sizes. */
static struct table_params random_case(struct fixture *f, const uint32_t *sizes,
				       size_t n_sizes, uint32_t most,
				       enum table_algorithm algorithm)
{
	struct table_params params = {
		.algorithm = algorithm,
		.size = sizes[random_below(&f->random, (uint32_t)n_sizes)],
	};
	uint32_t limit = params.size - 1 < most ? params.size - 1 : most;
	enum weights weights = random_below(&f->random, WEIGHTS__MAX);

	set_fill(&f->set, &f->random, 1 + random_below(&f->random, limit),
		 weights);
	return params;
}

static void assert_same(const struct fixture *f,
			const struct table_params *params)
{
	for (uint32_t slot = 0; slot < params->size; slot++)
		if (f->slots[slot] != f->expected[slot])
			fail_msg("%zu backends, size %u, slack %u: slot %u is "
				 "%u, not %u", f->set.n, params->size,
				 params->slack_percent, slot, f->slots[slot],
				 f->expected[slot]);
}

static void compare_maglev(struct fixture *f, const struct table_params *params)
{
	struct err err;

	assert_int_equal(table_build_in_order(params, f->set.backends,
					      f->set.n, f->slots, &err), 0);
	textbook_maglev(f->set.backends, f->set.n, params->size, f->expected);
	assert_same(f, params);
	textbook_maglev_heap(f->set.backends, f->set.n, params->size, f->slots);
	assert_same(f, params);
}

static void maglev_is_the_textbook_table_on_small_sets(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 4000; i++) {
		struct table_params params = random_case(f, small_sizes, 10, 64,
							 TABLE_MAGLEV);

		compare_maglev(f, &params);
	}
}

static void maglev_is_the_textbook_table_on_large_sets(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 40; i++) {
		struct table_params params = random_case(f, large_sizes, 4, 600,
							 TABLE_MAGLEV);

		compare_maglev(f, &params);
	}
}

/* Textbook rounds are cheap, so tables may be as large as in production. */
static void maglev_of_equal_weights_is_the_textbook_table(void **state)
{
	struct fixture *f = *state;
	static const struct table_params params = { TABLE_MAGLEV, 16381, 0, 0 };

	for (int i = 0; i < 60; i++) {
		struct err err;

		set_fill(&f->set, &f->random, 1 + random_below(&f->random, 1000),
			 WEIGHTS_EQUAL);
		assert_int_equal(table_build_in_order(&params, f->set.backends,
						      f->set.n, f->slots, &err),
				 0);
		textbook_maglev_equal(f->set.backends, f->set.n, params.size,
				      f->expected);
		assert_same(f, &params);
	}
}

static void compare_capped(struct fixture *f, const struct table_params *params)
{
	struct err err;

	assert_int_equal(table_build_in_order(params, f->set.backends,
					      f->set.n, f->slots, &err), 0);
	if (params->slack_percent)
		textbook_capped_slack(f->set.backends, f->set.n, params->size,
				      params->slack_percent, f->expected);
	else
		textbook_capped(f->set.backends, f->set.n, params->size, f->expected);
	assert_same(f, params);
}

static void capped_is_the_textbook_table(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 4000; i++) {
		struct table_params params = random_case(f, small_sizes, 10, 64,
							 TABLE_CAPPED);

		compare_capped(f, &params);
	}
}

static void capped_is_the_textbook_table_on_large_sets(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 100; i++) {
		struct table_params params = random_case(f, large_sizes, 4, 1000,
							 TABLE_CAPPED);

		compare_capped(f, &params);
	}
}

static void capped_with_slack_is_the_textbook_table(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 1000; i++) {
		struct table_params params = random_case(f, small_sizes, 8, 32,
							 TABLE_CAPPED);

		params.slack_percent = 1 + random_below(&f->random, 100);
		compare_capped(f, &params);
	}
}

/* (2 * ta + 1) / (2 * wa) against the same of b; ties by member. */
static bool turn_before(uint32_t ta, uint32_t wa, size_t a, uint32_t tb,
			uint32_t wb, size_t b)
{
	uint64_t left = (2ULL * ta + 1) * wb, right = (2ULL * tb + 1) * wa;

	return left != right ? left < right : a < b;
}

/* Weights next to each other at the top have the closest times of all. */
static void turns_of_the_heaviest_weights_are_in_exact_order(void **state)
{
	struct table_member members[64];
	uint32_t taken[64] = { 0 };
	size_t previous = 0, count = 0;
	struct turns turns;

	(void)state;
	for (size_t i = 0; i < 64; i++)
		members[i] = (struct table_member){
			"x", TABLE_WEIGHT_MAX - (uint32_t)(i * 5 % 64 / 2),
			(uint16_t)i,
		};
	assert_int_equal(turns_new(members, 64, &turns), 0);
	while (count < 2 * 64 * TABLE_WEIGHT_MAX / 10) {
		size_t n = turns_next(&turns);

		for (size_t i = 0; i < n; i++, count++) {
			size_t member = turns.order[i];

			if (count && !turn_before(taken[previous] - 1,
						  members[previous].weight,
						  previous, taken[member],
						  members[member].weight,
						  member))
				fail_msg("turn %zu of %zu comes after that of "
					 "%zu", count, member, previous);
			taken[member]++;
			previous = member;
		}
	}
	turns_done(&turns);
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static void sort_agrees_with_the_library(void **state)
{
	struct random random = { 3 };
	uint64_t values[300], expected[300], scratch[300];

	(void)state;
	for (int round = 0; round < 3000; round++) {
		size_t n = random_below(&random, 300);
		uint32_t range = 1 + random_below(&random, 1000);

		for (size_t i = 0; i < n; i++)
			values[i] = random_below(&random, range) +
				    (round % 2 ? i * range / 8 : 0);
		memcpy(expected, values, sizeof(values));
		sort_u64(values, scratch, n);
		qsort(expected, n, sizeof(*expected), compare_u64);
		assert_memory_equal(values, expected, n * sizeof(*values));
	}
}

/* Long common beginnings, beginnings of each other, bytes above 127. */
static void names_sort_as_unsigned_bytes(void **state)
{
	static char names[200][24];
	struct table_backend set[200];
	struct random random = { 4 };
	uint16_t order[200];
	size_t duplicate;

	(void)state;
	for (int round = 0; round < 200; round++) {
		size_t n = 2 + random_below(&random, 198);
		uint32_t letters = 1 + random_below(&random, 3);

		for (size_t i = 0; i < n; i++) {
			uint32_t length = 8 + random_below(&random, 12);

			memset(names[i], 0, sizeof(names[i]));
			memset(names[i], 'x', round % 8);
			for (uint32_t at = round % 8; at < length; at++)
				names[i][at] = "az\xc3\x80"[random_below(
					&random, 1 + letters)];
			set[i] = (struct table_backend){ names[i], 1 };
		}
		assert_int_equal(table_sort(set, n, order, &duplicate), 0);
		for (size_t i = 1; i < n; i++) {
			int compared = strcmp(names[order[i - 1]],
					      names[order[i]]);

			assert_true(compared <= 0);
			if (!duplicate || i < duplicate)
				assert_true(compared < 0);
			else if (i == duplicate)
				assert_int_equal(compared, 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			maglev_is_the_textbook_table_on_small_sets, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			maglev_is_the_textbook_table_on_large_sets, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			maglev_of_equal_weights_is_the_textbook_table, setup,
			teardown),
		cmocka_unit_test_setup_teardown(capped_is_the_textbook_table,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			capped_is_the_textbook_table_on_large_sets, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			capped_with_slack_is_the_textbook_table, setup,
			teardown),
		cmocka_unit_test(
			turns_of_the_heaviest_weights_are_in_exact_order),
		cmocka_unit_test(sort_agrees_with_the_library),
		cmocka_unit_test(names_sort_as_unsigned_bytes),
	};

	return cmocka_run_group_tests_name("table builders", tests, NULL, NULL);
}
