// SPDX-License-Identifier: GPL-2.0-only
/* What holds for every set, algorithm by algorithm. See core/table.h. */
#include "table_sets.h"

#include <math.h>

#include "core/cleanup.h"
#include "core/fnv.h"
#include "core/table.h"

#define ROUNDS 120

static const uint32_t sizes[] = { 251, 509, 1021, 2039, 4093 };

struct fixture {
	struct random random;
	struct set set, other;
	uint32_t counts[SETS_BACKENDS_MAX];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->random.state = 7;
	*state = f;
	return !f;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

/* A ring of the heaviest weights has too many points to build often. */
static enum weights weights_for(struct fixture *f, enum table_algorithm a)
{
	enum weights weights;

	do {
		weights = random_below(&f->random, WEIGHTS__MAX);
	} while (a == TABLE_RING &&
		 (weights == WEIGHTS_ANY || weights == WEIGHTS_LOPSIDED));
	return weights;
}

static struct table_params random_case(struct fixture *f,
				       enum table_algorithm algorithm)
{
	struct table_params params = {
		.algorithm = algorithm,
		.size = sizes[random_below(&f->random, 5)],
	};

	set_fill(&f->set, &f->random, 1 + random_below(&f->random, 150),
		 weights_for(f, algorithm));
	return params;
}

static void every_slot_goes_to_a_backend_with_weight(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < ROUNDS * TABLE__MAX; i++) {
		struct table_params params = random_case(f, i % TABLE__MAX);
		_cleanup_free_ uint16_t *slots = set_build(&f->set, &params);

		for (uint32_t slot = 0; slot < params.size; slot++) {
			assert_in_range(slots[slot], 0, f->set.n - 1);
			assert_int_not_equal(
				f->set.backends[slots[slot]].weight, 0);
		}
	}
}

static void a_single_backend_owns_every_slot(void **state)
{
	static const struct table_backend set[] = {
		{ "a", 0 }, { "b", 3 }, { "c", 0 },
	};
	uint16_t slots[251];

	(void)state;
	for (int a = 0; a < TABLE__MAX; a++) {
		struct table_params params = { .algorithm = a, .size = 251 };

		assert_int_equal(table_build(&params, set, 3, slots, NULL), 0);
		for (uint32_t slot = 0; slot < 251; slot++)
			assert_int_equal(slots[slot], 1);
	}
}

static void a_set_without_weight_owns_nothing(void **state)
{
	static const struct table_backend set[] = { { "a", 0 }, { "b", 0 } };
	uint16_t slots[251];

	(void)state;
	for (int a = 0; a < TABLE__MAX; a++) {
		for (size_t n = 0; n <= 2; n++) {
			struct table_params params = { .algorithm = a,
						       .size = 251 };

			memset(slots, 0, sizeof(slots));
			assert_int_equal(table_build(&params, set, n, slots,
						     NULL), 0);
			for (uint32_t slot = 0; slot < 251; slot++)
				assert_int_equal(slots[slot], TABLE_NONE);
		}
	}
}

static void order_of_the_input_does_not_matter(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < ROUNDS * TABLE__MAX; i++) {
		struct table_params params = random_case(f, i % TABLE__MAX);
		_cleanup_free_ uint16_t *slots = set_build(&f->set, &params);
		_cleanup_free_ uint16_t *again = NULL;
		uint64_t digest, digest_again;

		f->other = f->set;
		set_shuffle(&f->other, &f->random);
		again = set_build(&f->other, &params);
		for (uint32_t slot = 0; slot < params.size; slot++)
			assert_string_equal(
				f->set.backends[slots[slot]].name,
				f->other.backends[again[slot]].name);

		assert_int_equal(table_digest_sorted(f->set.backends, f->set.n,
						     slots, params.size,
						     &digest), 0);
		assert_int_equal(table_digest_sorted(f->other.backends,
						     f->other.n, again,
						     params.size,
						     &digest_again), 0);
		assert_int_equal(digest, digest_again);
	}
}

static void a_sorted_set_is_built_in_its_order(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < ROUNDS * TABLE__MAX; i++) {
		struct table_params params = random_case(f, i % TABLE__MAX);
		_cleanup_free_ uint16_t *slots = NULL, *in_order = NULL;
		uint64_t digest;

		set_sort(&f->set);
		slots = set_build(&f->set, &params);
		in_order = malloc(params.size * sizeof(*in_order));
		assert_int_equal(table_build_in_order(&params, f->set.backends,
						      f->set.n, in_order, NULL),
				 0);
		assert_memory_equal(slots, in_order,
				    params.size * sizeof(*slots));
		assert_int_equal(table_digest_sorted(f->set.backends, f->set.n,
						     slots, params.size,
						     &digest), 0);
		assert_int_equal(digest, table_digest(slots, params.size));
	}
}

static void backends_without_weight_change_nothing(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < ROUNDS; i++) {
		struct table_params params = random_case(f, i % TABLE__MAX);
		_cleanup_free_ uint16_t *slots = NULL, *with = NULL;

		slots = set_build(&f->set, &params);
		f->set.backends[f->set.n++] = (struct table_backend){ "0", 0 };
		with = set_build(&f->set, &params);
		assert_memory_equal(slots, with, params.size * sizeof(*slots));
	}
}

static void equal_weights_differ_by_at_most_one_slot(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 2 * ROUNDS; i++) {
		struct table_params params = random_case(f, i % 2);
		_cleanup_free_ uint16_t *slots = NULL;
		uint32_t least = UINT32_MAX, most = 0;

		set_fill(&f->set, &f->random, f->set.n, WEIGHTS_EQUAL);
		slots = set_build(&f->set, &params);
		assert_int_equal(table_count_slots(slots, params.size, f->set.n,
						   f->counts), 0);
		for (size_t b = 0; b < f->set.n; b++) {
			least = f->counts[b] < least ? f->counts[b] : least;
			most = f->counts[b] > most ? f->counts[b] : most;
		}
		assert_in_range(most - least, 0, 1);
	}
}

/* |count - size * weight / sum|, times sum. */
static uint64_t distance(const struct fixture *f, size_t b, uint32_t size)
{
	int64_t count = f->counts[b] * (int64_t)f->set.sum;
	int64_t share = f->set.backends[b].weight * (int64_t)size;

	return (uint64_t)(count > share ? count - share : share - count);
}

static void capped_is_less_than_one_slot_off_the_share(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < ROUNDS * 4; i++) {
		struct table_params params = random_case(f, TABLE_CAPPED);
		_cleanup_free_ uint16_t *slots = set_build(&f->set, &params);

		table_count_slots(slots, params.size, f->set.n, f->counts);
		for (size_t b = 0; b < f->set.n; b++)
			assert_true(distance(f, b, params.size) < f->set.sum);
	}
}

static void capped_with_slack_stays_below_share_and_slack(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < ROUNDS * 4; i++) {
		struct table_params params = random_case(f, TABLE_CAPPED);
		_cleanup_free_ uint16_t *slots = NULL;

		params.slack_percent = 1 + random_below(&f->random, 100);
		slots = set_build(&f->set, &params);
		table_count_slots(slots, params.size, f->set.n, f->counts);
		for (size_t b = 0; b < f->set.n; b++) {
			uint64_t limit = (uint64_t)params.size *
					 f->set.backends[b].weight *
					 (100 + params.slack_percent);

			/* count - 1 < limit / (100 * sum) */
			if (f->counts[b])
				assert_true((f->counts[b] - 1) * 100ULL *
						    f->set.sum < limit);
		}
	}
}

/* Light backends do not fill the table before a heavy one has its share. */
static void capped_with_slack_respects_weights(void **state)
{
	struct fixture *f = *state;

	for (uint32_t slack = 1; slack <= 20; slack++) {
		struct table_params params = { TABLE_CAPPED, 4093, slack, 0 };
		_cleanup_free_ uint16_t *slots = NULL;

		set_fill(&f->set, &f->random, 50, WEIGHTS_EQUAL);
		f->set.backends[slack].weight *= 3;
		slots = set_build(&f->set, &params);
		table_count_slots(slots, params.size, f->set.n, f->counts);
		/* share: 4093 * 3 / 52 = 236 */
		assert_in_range(f->counts[slack], 236 * 9 / 10, 236 * 5 / 4);
	}
}

static size_t count_weighted(const struct set *set)
{
	size_t n = 0;

	for (size_t b = 0; b < set->n; b++)
		n += set->backends[b].weight != 0;
	return n;
}

/*
 * count = weight * T rounded to nearest, with one T for all: the largest of the
 * lower bounds on T is at most the smallest of the upper bounds.
 */
static void maglev_counts_follow_one_divisor(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < ROUNDS * 4; i++) {
		struct table_params params = random_case(f, TABLE_MAGLEV);
		_cleanup_free_ uint16_t *slots = set_build(&f->set, &params);
		const struct table_backend *set = f->set.backends;

		table_count_slots(slots, params.size, f->set.n, f->counts);
		for (size_t a = 0; a < f->set.n; a++)
			for (size_t b = 0; b < f->set.n; b++) {
				uint64_t low = 2ULL * f->counts[a] *
					       set[b].weight;
				uint64_t high = (2ULL * f->counts[b] + 1) *
						set[a].weight;

				assert_true(low <= high + set[b].weight);
			}
	}
}

static void maglev_is_within_the_stated_bound_of_the_share(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < ROUNDS * 4; i++) {
		struct table_params params = random_case(f, TABLE_MAGLEV);
		_cleanup_free_ uint16_t *slots = set_build(&f->set, &params);
		uint64_t n = count_weighted(&f->set);

		table_count_slots(slots, params.size, f->set.n, f->counts);
		for (size_t b = 0; b < f->set.n; b++) {
			uint64_t weight = f->set.backends[b].weight;
			uint64_t off = distance(f, b, params.size);

			assert_true(2 * off <= f->set.sum + weight * n);
			if (weight * n <= f->set.sum)
				assert_true(off <= f->set.sum);
		}
	}
}

/* Removes backend `gone`; returns the table without it in old indices. */
static uint16_t *build_without(struct fixture *f, size_t gone,
			       const struct table_params *params)
{
	uint16_t *slots;

	f->other = f->set;
	f->other.backends[gone] = f->other.backends[--f->other.n];
	slots = set_build(&f->other, params);
	for (uint32_t slot = 0; slot < params->size; slot++)
		if (slots[slot] == gone)
			slots[slot] = (uint16_t)f->other.n;
	return slots;
}

static void ring_and_rendezvous_move_only_what_they_must(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 2 * ROUNDS; i++) {
		struct table_params params =
			random_case(f, TABLE_RING + i % 2);
		_cleanup_free_ uint16_t *slots = NULL, *without = NULL;
		size_t gone;

		set_fill(&f->set, &f->random, 2 + f->set.n, WEIGHTS_SMALL);
		gone = random_below(&f->random, (uint32_t)f->set.n);
		slots = set_build(&f->set, &params);
		without = build_without(f, gone, &params);
		for (uint32_t slot = 0; slot < params.size; slot++) {
			if (slots[slot] == gone)
				continue;
			assert_int_equal(slots[slot], without[slot]);
		}
	}
}

/* The cost as the paper has it, in floating point. */
static double rendezvous_cost(const struct table_backend *backend,
			      uint32_t slot)
{
	uint64_t name = mix64(fnv64_text(FNV64_OFFSET, backend->name));
	uint64_t hash = mix64(name ^ mix64(slot + GOLDEN_GAMMA));

	return -log2((double)hash / 0x1p64) / backend->weight;
}

static void rendezvous_owner_has_the_least_cost(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 40; i++) {
		struct table_params params = random_case(f, TABLE_RENDEZVOUS);
		_cleanup_free_ uint16_t *slots = set_build(&f->set, &params);

		for (uint32_t slot = 0; slot < params.size; slot += 5) {
			const struct table_backend *set = f->set.backends;
			double cost = rendezvous_cost(&set[slots[slot]], slot);

			for (size_t b = 0; b < f->set.n; b++)
				if (set[b].weight)
					assert_true(
						cost <=
						rendezvous_cost(&set[b], slot) *
							(1 + 1e-6) + 1e-12);
		}
	}
}

/* Ten standard deviations of slots drawn one by one. */
static void rendezvous_shares_follow_the_weights(void **state)
{
	struct fixture *f = *state;
	static const struct table_params params = { TABLE_RENDEZVOUS, 65537, 0,
						    0 };

	for (int i = 0; i < 4; i++) {
		_cleanup_free_ uint16_t *slots = NULL;

		set_fill(&f->set, &f->random, 20,
			 i % 2 ? WEIGHTS_SMALL : WEIGHTS_ANY);
		slots = set_build(&f->set, &params);
		table_count_slots(slots, params.size, f->set.n, f->counts);
		for (size_t b = 0; b < f->set.n; b++) {
			double p = (double)f->set.backends[b].weight /
				   (double)f->set.sum;
			double deviation = sqrt(p * (1 - p) * params.size);

			assert_true(fabs(f->counts[b] - p * params.size) <=
				    10 * deviation + 1);
		}
	}
}

static void digest_is_over_little_endian_words(void **state)
{
	/* Written out byte by byte, so it is the same dump on any host. */
	static const uint8_t dump[] = { 0x01, 0, 0, 0, 0x34, 0x12, 0, 0,
					0xff, 0xff, 0, 0 };
	static const uint16_t slots[] = { 0x0001, 0x1234, TABLE_NONE };
	uint64_t hash = 0xcbf29ce484222325ULL, words = FNV64_OFFSET;

	(void)state;
	for (size_t i = 0; i < sizeof(dump); i++)
		hash = (hash ^ dump[i]) * 0x100000001b3ULL;
	for (size_t i = 0; i < 3; i++)
		words = fnv64_le32(words, slots[i]);
	assert_int_equal(table_digest(slots, 3), hash);
	assert_int_equal(words, hash);
	assert_int_equal(table_digest(slots, 0), 0xcbf29ce484222325ULL);
}

static void slots_without_owner_are_counted_apart(void **state)
{
	static const uint16_t slots[] = { 1, TABLE_NONE, 1, 0, TABLE_NONE };
	uint32_t counts[3];

	(void)state;
	assert_int_equal(table_count_slots(slots, 5, 3, counts), 2);
	assert_int_equal(counts[0], 1);
	assert_int_equal(counts[1], 2);
	assert_int_equal(counts[2], 0);
}

#define PROPERTY(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROPERTY(every_slot_goes_to_a_backend_with_weight),
		PROPERTY(a_single_backend_owns_every_slot),
		PROPERTY(a_set_without_weight_owns_nothing),
		PROPERTY(order_of_the_input_does_not_matter),
		PROPERTY(a_sorted_set_is_built_in_its_order),
		PROPERTY(backends_without_weight_change_nothing),
		PROPERTY(equal_weights_differ_by_at_most_one_slot),
		PROPERTY(capped_is_less_than_one_slot_off_the_share),
		PROPERTY(capped_with_slack_stays_below_share_and_slack),
		PROPERTY(capped_with_slack_respects_weights),
		PROPERTY(maglev_counts_follow_one_divisor),
		PROPERTY(maglev_is_within_the_stated_bound_of_the_share),
		PROPERTY(ring_and_rendezvous_move_only_what_they_must),
		PROPERTY(rendezvous_owner_has_the_least_cost),
		PROPERTY(rendezvous_shares_follow_the_weights),
		PROPERTY(digest_is_over_little_endian_words),
		PROPERTY(slots_without_owner_are_counted_apart),
	};

	return cmocka_run_group_tests_name("table properties", tests, NULL,
					   NULL);
}
