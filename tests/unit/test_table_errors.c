// SPDX-License-Identifier: GPL-2.0-only
/* What the library refuses, in which words; and primes. */
#include "table_sets.h"

#include <errno.h>

#include "abi.h"
#include "core/cleanup.h"
#include "core/primes.h"
#include "core/table.h"

static const struct table_backend pair[] = { { "a", 1 }, { "b", 2 } };

/* Refused by both entries, with the slots untouched. */
static void assert_refused(struct table_params params,
			   const struct table_backend *set, size_t n, int code,
			   const char *sentence)
{
	uint16_t slots[512], untouched[512];
	struct err err = { 0 };

	memset(slots, 0xaa, sizeof(slots));
	memset(untouched, 0xaa, sizeof(untouched));
	assert_int_equal(table_build(&params, set, n, slots, &err), code);
	assert_int_equal(err.code, code);
	assert_string_equal(err.text, sentence);
	assert_memory_equal(slots, untouched, sizeof(slots));

	err = (struct err){ 0 };
	/* What only a builder can know is not checked ahead. */
	if (table_check(&params, set, n, &err))
		assert_string_equal(err.text, sentence);
	assert_int_equal(table_build(&params, set, n, slots, NULL), code);
}

static void a_size_that_is_not_prime_names_the_nearest_primes(void **state)
{
	(void)state;
	assert_refused((struct table_params){ .size = 65536 }, pair, 2, -EINVAL,
		       "table size 65536 is not a prime; the nearest primes are "
		       "65521 and 65537");
	assert_refused((struct table_params){ .size = 65535 }, pair, 2, -EINVAL,
		       "table size 65535 is not a prime; the nearest primes are "
		       "65521 and 65537");
	assert_refused((struct table_params){ .size = 252 }, pair, 2, -EINVAL,
		       "table size 252 is not a prime; the nearest primes are "
		       "251 and 257");
	assert_refused((struct table_params){ .size = 655372 }, pair, 2,
		       -EINVAL, "table size 655372 is not a prime; the nearest "
				"primes are 655357 and 655373");
}

static void a_size_out_of_range_names_the_range(void **state)
{
	(void)state;
	assert_refused((struct table_params){ .size = 0 }, pair, 2, -EINVAL,
		       "table size 0 is out of range; allowed are primes from "
		       "251 to 655373");
	assert_refused((struct table_params){ .size = 241 }, pair, 2, -EINVAL,
		       "table size 241 is out of range; allowed are primes from "
		       "251 to 655373");
	assert_refused((struct table_params){ .size = 655379 }, pair, 2,
		       -EINVAL, "table size 655379 is out of range; allowed are "
				"primes from 251 to 655373");
	assert_refused((struct table_params){ .size = UINT32_MAX }, pair, 2,
		       -EINVAL, "table size 4294967295 is out of range; allowed "
				"are primes from 251 to 655373");
}

static void a_table_needs_more_slots_than_backends(void **state)
{
	struct set *set = calloc(1, sizeof(*set));
	struct random random = { 1 };
	uint16_t slots[251];

	(void)state;
	set_fill(set, &random, 251, WEIGHTS_EQUAL);
	for (int a = 0; a < TABLE__MAX; a++) {
		struct table_params params = { a, 251, 0, 0 };

		assert_refused(params, set->backends, 251, -E2BIG,
			       "251 backends do not fit a table of 251 slots; "
			       "the size must be greater than the number of "
			       "backends");
		assert_int_equal(table_build(&params, set->backends, 250, slots,
					     NULL), 0);
	}
	free(set);
}

static void too_many_backends_are_refused(void **state)
{
	_cleanup_free_ struct table_backend *set = calloc(65536, sizeof(*set));

	(void)state;
	assert_non_null(set);
	assert_refused((struct table_params){ .size = 655373 }, set, 65536,
		       -E2BIG, "65536 backends are too many; a table holds at "
			       "most 65535");
}

/* As many backends as there can be, each with the weight it can have most. */
static void the_largest_set_is_built(void **state)
{
	static char names[TABLE_BACKENDS_MAX][8];
	struct table_backend *set = calloc(TABLE_BACKENDS_MAX, sizeof(*set));
	uint32_t *counts = calloc(TABLE_BACKENDS_MAX, sizeof(*counts));
	uint16_t *slots = calloc(TABLE_SIZE_MAX, sizeof(*slots));

	(void)state;
	for (size_t i = 0; i < TABLE_BACKENDS_MAX; i++) {
		snprintf(names[i], sizeof(names[i]), "%zu", i);
		set[i] = (struct table_backend){ names[i], TABLE_WEIGHT_MAX };
	}
	for (int a = TABLE_MAGLEV; a <= TABLE_CAPPED; a++) {
		struct table_params params = { a, TABLE_SIZE_MAX, 0, 0 };

		assert_int_equal(table_build(&params, set, TABLE_BACKENDS_MAX,
					     slots, NULL), 0);
		assert_int_equal(table_count_slots(slots, TABLE_SIZE_MAX,
						   TABLE_BACKENDS_MAX, counts),
				 0);
		for (size_t i = 0; i < TABLE_BACKENDS_MAX; i++)
			assert_in_range(counts[i], 10, 11);
	}
	free(slots);
	free(counts);
	free(set);
}

static void a_name_twice_is_refused_wherever_it_stands(void **state)
{
	struct set *set = calloc(1, sizeof(*set));
	struct random random = { 2 };

	(void)state;
	for (int i = 0; i < 100; i++) {
		char sentence[128];
		size_t from, to;

		set_fill(set, &random, 50, WEIGHTS_EQUAL);
		from = random_below(&random, 50);
		to = (from + 1 + random_below(&random, 49)) % 50;
		set->backends[to].name = set->backends[from].name;
		snprintf(sentence, sizeof(sentence), "backend '%s' is in the "
			 "set twice; names must be unique",
			 set->backends[to].name);
		assert_refused((struct table_params){ i % TABLE__MAX, 251, 0, 0 },
			       set->backends, 50, -EINVAL, sentence);
	}
	free(set);
}

static void a_missing_name_is_refused(void **state)
{
	static const struct table_backend null[] = { { "a", 1 }, { NULL, 1 } };
	static const struct table_backend empty[] = { { "", 1 }, { "b", 1 } };

	(void)state;
	assert_refused((struct table_params){ .size = 251 }, null, 2, -EINVAL,
		       "backend 2 of 2 has no name");
	assert_refused((struct table_params){ .size = 251 }, empty, 2, -EINVAL,
		       "backend 1 of 2 has no name");
}

static void a_weight_above_65535_is_refused(void **state)
{
	static const struct table_backend heavy[] = { { "a", 1 },
						      { "b", 65536 } };
	static const struct table_backend huge[] = { { "a", UINT32_MAX },
						     { "b", UINT32_MAX } };

	(void)state;
	assert_refused((struct table_params){ .size = 251 }, heavy, 2, -EINVAL,
		       "backend 'b': weight 65536 is out of range; allowed are "
		       "0 to 65535");
	assert_refused((struct table_params){ .size = 251 }, huge, 2, -EINVAL,
		       "backend 'a': weight 4294967295 is out of range; allowed "
		       "are 0 to 65535");
}

static void parameters_out_of_range_are_refused(void **state)
{
	(void)state;
	assert_refused((struct table_params){ TABLE__MAX, 251, 0, 0 }, pair, 2,
		       -EINVAL, "table algorithm number 4 is not known; allowed "
				"are 0 to 3");
	assert_refused((struct table_params){ TABLE_CAPPED, 251, 101, 0 }, pair,
		       2, -EINVAL, "slack of 101 % is out of range; allowed are "
				   "0 to 100 %");
	assert_refused((struct table_params){ TABLE_RING, 251, 0, 65536 }, pair,
		       2, -EINVAL, "65536 ring points a unit of weight are out "
				   "of range; allowed are 1 to 65535");
}

static void a_ring_of_too_many_points_is_refused(void **state)
{
	static const struct table_backend set[] = { { "a", 65535 },
						    { "b", 65535 } };

	(void)state;
	assert_refused((struct table_params){ TABLE_RING, 251, 0, 600 }, set, 2,
		       -E2BIG, "a ring of 78642000 points is too large; allowed "
			       "are 67108864: lower the weights or the 600 "
			       "points a unit of weight");
}

static void rendezvous_that_takes_too_long_is_refused(void **state)
{
	static char names[20000][8];
	struct table_backend *set = calloc(20000, sizeof(*set));
	uint16_t slot = 0;
	struct table_params params = { TABLE_RENDEZVOUS, TABLE_SIZE_MAX, 0, 0 };
	struct err err;

	(void)state;
	for (size_t i = 0; i < 20000; i++) {
		snprintf(names[i], sizeof(names[i]), "%zu", i);
		set[i] = (struct table_backend){ names[i], 1 };
	}
	assert_int_equal(table_build(&params, set, 20000, &slot, &err), -E2BIG);
	assert_string_equal(err.text, "a rendezvous table of 20000 backends and "
				      "655373 slots would take too long; allowed "
				      "are 13106 backends at this size");
	free(set);
}

static void an_empty_set_fails_the_check_but_builds(void **state)
{
	struct table_params params = { .size = 251 };
	uint16_t slots[251];
	struct err err;

	(void)state;
	assert_int_equal(table_check(&params, NULL, 0, &err), -ENODATA);
	assert_string_equal(err.text, "the set of backends is empty; a table "
				      "needs at least one");
	assert_int_equal(table_build(&params, NULL, 0, slots, &err), 0);
	assert_int_equal(slots[0], TABLE_NONE);
	assert_int_equal(table_check(&params, pair, 2, &err), 0);
}

static void algorithm_names_are_parsed_back(void **state)
{
	enum table_algorithm algorithm;

	(void)state;
	for (int a = 0; a < TABLE__MAX; a++) {
		assert_int_equal(table_algorithm_parse(table_algorithm_name(a),
						       &algorithm, NULL), 0);
		assert_int_equal(algorithm, a);
	}
	assert_string_equal(table_algorithm_name(TABLE_MAGLEV), "maglev");
	assert_string_equal(table_algorithm_name(TABLE__MAX), "unknown");
}

static void an_unknown_algorithm_names_the_known(void **state)
{
	static const char *const bad[] = { "Maglev", "maglevs", "mag", "" };
	enum table_algorithm algorithm = TABLE_RING;
	struct err err;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		char sentence[128];

		snprintf(sentence, sizeof(sentence), "table algorithm '%s' is not "
			 "known; allowed are maglev, capped, ring and "
			 "rendezvous", bad[i]);
		assert_int_equal(table_algorithm_parse(bad[i], &algorithm, &err),
				 -EINVAL);
		assert_string_equal(err.text, sentence);
		assert_int_equal(algorithm, TABLE_RING);
	}
}

static void primes_agree_with_a_sieve(void **state)
{
	static bool composite[TABLE_SIZE_MAX + 1000];
	const uint32_t n = TABLE_SIZE_MAX + 1000;

	(void)state;
	composite[0] = composite[1] = true;
	for (uint32_t p = 2; p < n; p++)
		for (uint32_t q = 2 * p; !composite[p] && q < n; q += p)
			composite[q] = true;
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(is_prime(i), !composite[i]);
	assert_true(is_prime(4294967291U));
	assert_false(is_prime(4294967295U));
	assert_false(is_prime(65521U * 65521U));
}

static void the_usual_sizes_are_prime(void **state)
{
	static const uint32_t usual[] = { 251, 509, 1021, 2039, 4093, 8191,
					  16381, 32749, 65521, 65537, 131071,
					  655373 };

	(void)state;
	for (size_t i = 0; i < 12; i++)
		assert_true(is_prime(usual[i]));
	assert_true(is_prime(TABLE_SIZE_MIN));
	assert_true(is_prime(TABLE_SIZE_MAX));
}

static void nearest_primes_stay_within_the_allowed_sizes(void **state)
{
	static const struct {
		uint32_t n, below, above;
	} rows[] = {
		{ 0, 0, 251 },         { 250, 0, 251 },
		{ 251, 0, 257 },       { 252, 251, 257 },
		{ 257, 251, 263 },     { 65537, 65521, 65539 },
		{ 655373, 655357, 0 }, { 655374, 655373, 0 },
		{ UINT32_MAX, 655373, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t below = 1, above = 1;

		primes_near(rows[i].n, &below, &above);
		assert_int_equal(below, rows[i].below);
		assert_int_equal(above, rows[i].above);
	}
}

static void inverses_multiply_to_one(void **state)
{
	static const uint32_t primes[] = { 2, 3, 7, 251, 65537, 655373 };

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		uint32_t prime = primes[i];

		for (uint32_t a = 1; a < prime; a += 1 + prime / 5000) {
			uint32_t inverse = prime_inverse(a, prime);

			assert_in_range(inverse, 1, prime - 1);
			assert_int_equal((uint64_t)a * inverse % prime, 1);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_size_that_is_not_prime_names_the_nearest_primes),
		cmocka_unit_test(a_size_out_of_range_names_the_range),
		cmocka_unit_test(a_table_needs_more_slots_than_backends),
		cmocka_unit_test(too_many_backends_are_refused),
		cmocka_unit_test(the_largest_set_is_built),
		cmocka_unit_test(a_name_twice_is_refused_wherever_it_stands),
		cmocka_unit_test(a_missing_name_is_refused),
		cmocka_unit_test(a_weight_above_65535_is_refused),
		cmocka_unit_test(parameters_out_of_range_are_refused),
		cmocka_unit_test(a_ring_of_too_many_points_is_refused),
		cmocka_unit_test(rendezvous_that_takes_too_long_is_refused),
		cmocka_unit_test(an_empty_set_fails_the_check_but_builds),
		cmocka_unit_test(algorithm_names_are_parsed_back),
		cmocka_unit_test(an_unknown_algorithm_names_the_known),
		cmocka_unit_test(primes_agree_with_a_sieve),
		cmocka_unit_test(the_usual_sizes_are_prime),
		cmocka_unit_test(nearest_primes_stay_within_the_allowed_sizes),
		cmocka_unit_test(inverses_multiply_to_one),
	};

	return cmocka_run_group_tests_name("table errors", tests, NULL, NULL);
}
