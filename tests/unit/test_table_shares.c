// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shares over a table: a backend serves the part of its slots that its share says,
 * a growing share only ever takes slots to it, and no slot is left empty.
 */
#include "table_sets.h"

#include "core/cleanup.h"
#include "core/fnv.h"
#include "core/table_overlay.h"
/* For who is the last resort, whom no set that is overlaid needs. */
#include "core/table_overlay.c"

#define SIZE 2039

struct fixture {
	struct random random;
	struct set set;
	struct table_params params;
	uint8_t shares[SETS_BACKENDS_MAX];
	uint16_t base[SIZE], before[SIZE], after[SIZE];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->random.state = 33;
	*state = f;
	return !f;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

/* A set of n whose base table is known, all of them up. */
static void start(struct fixture *f, int round, size_t n)
{
	f->params = (struct table_params){ round % TABLE__MAX, SIZE, 0, 20 };
	set_fill(&f->set, &f->random, n, round % 3 ? WEIGHTS_EQUAL : WEIGHTS_SMALL);
	assert_int_equal(table_build(&f->params, f->set.backends, n, f->base, NULL), 0);
	memset(f->shares, TABLE_SHARE_FULL, sizeof(f->shares));
}

static int lay(const struct fixture *f, uint16_t *slots)
{
	struct err err = { 0 };
	int result = table_build_health(&f->params, f->set.backends, f->set.n, f->shares,
					slots, NULL, &err);

	if (result < 0)
		fail_msg("%s", err.text);
	return result;
}

/* A sixth each down and full, the others anything; at most 15 % down. */
static void random_shares(struct fixture *f)
{
	size_t down = 0, most = f->set.n * TABLE_REBUILD_PERCENT / 100;

	for (size_t i = 0; i < f->set.n; i++) {
		uint32_t kind = random_below(&f->random, 6);

		f->shares[i] = (uint8_t)(1 + random_below(&f->random, 99));
		if (kind == 0 && down++ < most)
			f->shares[i] = 0;
		else if (kind < 2)
			f->shares[i] = TABLE_SHARE_FULL;
	}
}

/* The rule of the header, written down again. */
static bool is_served(const struct fixture *f, size_t x, uint32_t slot)
{
	uint64_t name = fnv64_text(0xcbf29ce484222325ULL, f->set.backends[x].name);

	return ((mix64(slot ^ name) >> 32) * 100) >> 32 < f->shares[x];
}

static void a_slot_goes_to_its_owner_where_the_hash_is_under_the_share(void **state)
{
	struct fixture *f = *state;

	for (int round = 0; round < 5 * TABLE__MAX; round++) {
		start(f, round, 20);
		f->shares[7] = (uint8_t)(1 + random_below(&f->random, 99));
		assert_int_equal(lay(f, f->after), TABLE_OVERLAID);
		for (uint32_t slot = 0; slot < SIZE; slot++) {
			size_t owner = f->base[slot];

			assert_int_equal(f->after[slot] == owner,
					 is_served(f, owner, slot));
		}
	}
}

/* The same for whom it goes to, from the table without the owner; whole: any share. */
static uint16_t found_by(const struct fixture *f, const uint16_t *without, uint32_t slot,
			 bool whole)
{
	for (uint64_t j = 0; j <= 129; j++) {
		uint64_t x = mix64(slot + (j - 1) * 0x9e3779b97f4a7c15ULL);
		uint16_t candidate = f->base[((x >> 32) * SIZE) >> 32];

		if (j == 0)
			candidate = f->base[slot];
		if (j == 1)
			candidate = without[slot];
		if (candidate == TABLE_NONE)
			continue;
		if (whole ? f->shares[candidate] > 0 : is_served(f, candidate, slot))
			return candidate;
	}
	return TABLE_NONE;
}

/* Owner, spare, rehashes; then the same with part shares taken for whole ones. */
static void a_slot_goes_to_the_first_that_serves_it(void **state)
{
	struct fixture *f = *state;
	unsigned int taken_for_whole = 0;

	for (int round = 0; round < 6 * TABLE__MAX; round++) {
		/* Many of so small a share that each try of the search counts. */
		bool tiny = round % 3 == 0;
		size_t n = tiny ? 200 : 20;
		uint16_t *without[200];

		start(f, round, n);
		random_shares(f);
		for (size_t i = 0; tiny && i < n; i++)
			f->shares[i] = i % 10 != 0;
		for (size_t i = 0; i < n; i++) {
			uint32_t weight = f->set.backends[i].weight;

			f->set.backends[i].weight = 0;
			without[i] = set_build(&f->set, &f->params);
			f->set.backends[i].weight = weight;
		}
		assert_int_equal(lay(f, f->after), TABLE_OVERLAID);
		for (uint32_t slot = 0; slot < SIZE; slot++) {
			const uint16_t *table = without[f->base[slot]];
			uint16_t wanted = found_by(f, table, slot, false);

			taken_for_whole += wanted == TABLE_NONE;
			if (wanted == TABLE_NONE)
				wanted = found_by(f, table, slot, true);
			assert_int_equal(f->after[slot], wanted);
		}
		for (size_t i = 0; i < n; i++)
			free(without[i]);
	}
	assert_true(taken_for_whole > 0);
}

static void the_last_resort_is_up_and_whoever_the_hash_says(void **state)
{
	struct fixture *f = *state;
	_cleanup_table_overlay_ struct table_overlay *o = NULL;
	struct lay lay = { .shares = f->shares };

	start(f, 1, 20);
	random_shares(f);
	f->set.backends[3].weight = 0;
	f->shares[3] = TABLE_SHARE_FULL;
	assert_int_equal(table_overlay_new(&f->params, f->set.backends, 20, NULL, &o, NULL),
			 0);
	lay.o = o;
	for (uint32_t slot = 0; slot < SIZE; slot++) {
		uint16_t found = last_resort(&lay, slot);

		assert_true(found != 3 && f->shares[found]);
		for (uint16_t i = 0; i < 20; i++)
			if (i != 3 && f->shares[i])
				assert_true(slot_hash(o, found, slot) <=
					    slot_hash(o, i, slot));
	}
}

/* Where all spares are found at once: for each slot that of a table of its own. */
static void check_second(struct fixture *f, const struct table_params *params)
{
	struct set *set = &f->set;
	_cleanup_free_ uint16_t *base = set_build(set, params);

	assert_int_equal(table_build_second(params, set->backends, set->n, f->after,
					    NULL), 0);
	for (size_t i = 0; i < set->n; i++) {
		uint32_t weight = set->backends[i].weight;
		uint16_t *without;

		set->backends[i].weight = 0;
		without = set_build(set, params);
		for (uint32_t slot = 0; slot < SIZE; slot++)
			if (base[slot] == i)
				assert_int_equal(f->after[slot], without[slot]);
		set->backends[i].weight = weight;
		free(without);
	}
}

static void second_owners_are_those_of_the_table_without_the_first(void **state)
{
	static const uint32_t points[] = { 1, 3, 160 };
	static const size_t sizes[] = { 1, 2, 3, 30 };
	struct fixture *f = *state;

	for (int weights = 0; weights < WEIGHTS__MAX; weights++)
		for (size_t i = 0; i < 4; i++) {
			struct table_params params = { TABLE_RENDEZVOUS, SIZE, 0, 0 };

			set_fill(&f->set, &f->random, sizes[i], weights);
			check_second(f, &params);
			params.algorithm = TABLE_RING;
			for (size_t p = 0; p < 3; p++) {
				params.ring_points = points[p];
				if (f->set.sum * points[p] < 2000000)
					check_second(f, &params);
			}
		}
}

static void a_walk_through_all_slots_has_no_second_owners(void **state)
{
	struct table_params params = { TABLE_MAGLEV, SIZE, 0, 0 };
	struct fixture *f = *state;
	struct err err;

	start(f, 0, 5);
	assert_int_equal(table_build_second(&params, f->set.backends, 5, f->after, &err),
			 -EOPNOTSUPP);
	assert_string_equal(err.text, "maglev has no second owners of slots");
	params.algorithm = TABLE_CAPPED;
	assert_int_equal(table_build_second(&params, f->set.backends, 5, f->after, NULL),
			 -EOPNOTSUPP);
	params.size = 252;
	assert_int_equal(table_build_second(&params, f->set.backends, 5, f->after, NULL),
			 -EINVAL);
}

/* What is lent in part is lent to whom it would be lent were all of it. */
static void stand_ins_are_those_of_one_that_is_down(void **state)
{
	struct fixture *f = *state;

	for (int round = 0; round < 5 * TABLE__MAX; round++) {
		start(f, round, 20);
		f->shares[7] = 0;
		lay(f, f->before);
		f->shares[7] = (uint8_t)(1 + random_below(&f->random, 99));
		lay(f, f->after);
		for (uint32_t slot = 0; slot < SIZE; slot++)
			if (f->after[slot] != 7)
				assert_int_equal(f->after[slot], f->before[slot]);
	}
}

/* Whoever serves a slot, owner or stand-in, does so within its share. */
static void stand_ins_serve_only_what_their_share_lets_them(void **state)
{
	struct fixture *f = *state;
	unsigned int lent = 0;

	for (int round = 0; round < 5 * TABLE__MAX; round++) {
		start(f, round, 40);
		for (size_t i = 0; i < 40; i++)
			f->shares[i] = (uint8_t)(40 + random_below(&f->random, 61));
		lay(f, f->after);
		for (uint32_t slot = 0; slot < SIZE; slot++) {
			assert_true(is_served(f, f->after[slot], slot));
			lent += f->after[slot] != f->base[slot];
		}
	}
	assert_true(lent > 0);
}

/* Also beside others that are down or serve in part, from 0 and up to 100. */
static void a_growing_share_only_adds_slots(void **state)
{
	struct fixture *f = *state;
	unsigned int won = 0;

	for (int round = 0; round < 12 * TABLE__MAX; round++) {
		size_t grows;

		start(f, round, 20 + random_below(&f->random, 30));
		random_shares(f);
		grows = random_below(&f->random, (uint32_t)f->set.n);
		f->shares[grows] = (uint8_t)random_below(&f->random, 2);
		if (lay(f, f->before) != TABLE_OVERLAID)
			continue;
		while (f->shares[grows] < TABLE_SHARE_FULL) {
			f->shares[grows] += 1 + random_below(&f->random, 30);
			assert_int_equal(lay(f, f->after), TABLE_OVERLAID);
			for (uint32_t slot = 0; slot < SIZE; slot++) {
				if (f->after[slot] == f->before[slot])
					continue;
				assert_int_equal(f->after[slot], grows);
				won++;
			}
			memcpy(f->before, f->after, sizeof(f->before));
		}
	}
	assert_true(won > 0);
}

/* Where all shares are so small that the search ends without one that serves. */
static void tiny_shares_grow_by_adding_slots_too(void **state)
{
	struct fixture *f = *state;

	for (int round = 0; round < 4 * TABLE__MAX; round++) {
		size_t grows;

		start(f, round, 2 + random_below(&f->random, 6));
		for (size_t i = 0; i < f->set.n; i++)
			f->shares[i] = 1;
		grows = random_below(&f->random, (uint32_t)f->set.n);
		assert_int_equal(lay(f, f->before), TABLE_OVERLAID);
		for (f->shares[grows] = 2; f->shares[grows] <= 100; f->shares[grows] += 7) {
			assert_int_equal(lay(f, f->after), TABLE_OVERLAID);
			for (uint32_t slot = 0; slot < SIZE; slot++)
				if (f->after[slot] != f->before[slot])
					assert_int_equal(f->after[slot], grows);
			memcpy(f->before, f->after, sizeof(f->before));
		}
	}
}

static void no_slot_is_empty_while_one_is_up(void **state)
{
	struct fixture *f = *state;

	for (int round = 0; round < 20 * TABLE__MAX; round++) {
		size_t up;

		start(f, round, 1 + random_below(&f->random, 12));
		for (size_t i = 0; i < f->set.n; i++)
			f->shares[i] = (uint8_t)random_below(&f->random, 3);
		up = random_below(&f->random, (uint32_t)f->set.n);
		f->shares[up] = 1;
		lay(f, f->after);
		for (uint32_t slot = 0; slot < SIZE; slot++) {
			assert_true(f->after[slot] < f->set.n);
			assert_true(f->shares[f->after[slot]] > 0);
		}
	}
}

static void one_alone_serves_all_whatever_its_share(void **state)
{
	struct fixture *f = *state;

	for (int round = 0; round < TABLE__MAX; round++) {
		start(f, round, 2);
		f->shares[0] = 10;
		f->shares[1] = 0;
		assert_int_equal(lay(f, f->after), TABLE_OVERLAID);
		for (uint32_t slot = 0; slot < SIZE; slot++)
			assert_int_equal(f->after[slot], 0);
	}
}

/* Of a large table, so that luck is small: within 3 points of what was asked. */
static void a_share_is_the_fraction_that_was_asked(void **state)
{
	static const uint8_t asked[] = { 1, 10, 25, 50, 75, 90, 99 };
	struct table_params params = { TABLE_MAGLEV, 65537, 0, 0 };
	_cleanup_free_ uint16_t *slots = malloc(65537 * sizeof(*slots));
	struct fixture *f = *state;
	uint32_t counts[10], full[10];

	set_fill(&f->set, &f->random, 10, WEIGHTS_EQUAL);
	memset(f->shares, TABLE_SHARE_FULL, sizeof(f->shares));
	assert_int_equal(table_build(&params, f->set.backends, 10, slots, NULL), 0);
	table_count_slots(slots, 65537, 10, full);
	for (size_t i = 0; i < sizeof(asked); i++) {
		f->shares[4] = asked[i];
		assert_int_equal(table_build_health(&params, f->set.backends, 10,
						    f->shares, slots, NULL, NULL), 0);
		table_count_slots(slots, 65537, 10, counts);
		assert_in_range(counts[4] * 100 / full[4] + 3, asked[i], asked[i] + 6);
		/* And what is lent is lent evenly. */
		for (size_t other = 0; other < 10; other++)
			if (other != 4)
				assert_in_range(counts[other], full[other],
						full[other] + full[4] / 9 * 12 / 10);
	}
}

/* All say the same of themselves: each has about what it has at 100. */
static void equal_shares_are_as_even_as_full_ones(void **state)
{
	static const uint8_t shares[] = { 1, 5, 20, 50, 90 };
	struct table_params params = { TABLE_MAGLEV, 65537, 0, 0 };
	_cleanup_free_ uint16_t *slots = malloc(65537 * sizeof(*slots));
	struct fixture *f = *state;
	uint32_t counts[20];

	set_fill(&f->set, &f->random, 20, WEIGHTS_EQUAL);
	for (size_t i = 0; i < 2 * sizeof(shares); i++) {
		/* Ten of ten, and ten of twenty: laid over a table of those ten. */
		bool rebuilt = i % 2;

		memset(f->shares, 0, sizeof(f->shares));
		memset(f->shares, shares[i / 2], 10);
		assert_int_equal(table_build_health(&params, f->set.backends,
						    rebuilt ? 20 : 10, f->shares, slots,
						    NULL, NULL),
				 rebuilt ? TABLE_REBUILD : TABLE_OVERLAID);
		table_count_slots(slots, 65537, 20, counts);
		for (size_t b = 0; b < 10; b++)
			assert_in_range(counts[b], 6554 * 92 / 100, 6554 * 108 / 100);
	}
}

static void order_of_the_set_does_not_matter(void **state)
{
	struct fixture *f = *state;

	for (int round = 0; round < 5 * TABLE__MAX; round++) {
		struct table_backend old[30];
		uint8_t shares[30];

		start(f, round, 30);
		random_shares(f);
		if (round % 2) /* and where the search finds nobody */
			for (size_t i = 0; i < 30; i++)
				f->shares[i] = (uint8_t)(i == 3);
		lay(f, f->before);
		memcpy(old, f->set.backends, sizeof(old));
		memcpy(shares, f->shares, sizeof(shares));
		set_shuffle(&f->set, &f->random);
		for (size_t i = 0; i < 30; i++)
			f->shares[set_find(&f->set, old[i].name)] = shares[i];
		lay(f, f->after);
		for (uint32_t slot = 0; slot < SIZE; slot++)
			assert_string_equal(old[f->before[slot]].name,
					    f->set.backends[f->after[slot]].name);
	}
}

/* One that is kept from change to change finds what one call finds. */
static void result_does_not_depend_on_the_past(void **state)
{
	struct fixture *f = *state;

	for (int round = 0; round < 2 * TABLE__MAX; round++) {
		_cleanup_table_overlay_ struct table_overlay *overlay = NULL;

		start(f, round, 40);
		assert_int_equal(table_overlay_new(&f->params, f->set.backends, 40, NULL,
						   &overlay, NULL), 0);
		for (int change = 0; change < 8; change++) {
			random_shares(f);
			if (table_overlay_apply(overlay, f->shares, f->before, NULL, NULL))
				continue;
			assert_int_equal(lay(f, f->after), TABLE_OVERLAID);
			assert_memory_equal(f->before, f->after, sizeof(f->after));
		}
	}
}

static void part_shares_do_not_ask_for_a_rebuild(void **state)
{
	struct fixture *f = *state;

	start(f, 1, 20);
	memset(f->shares, 1, sizeof(f->shares));
	assert_int_equal(lay(f, f->after), TABLE_OVERLAID);
	f->shares[0] = f->shares[1] = f->shares[2] = 0; /* 15 % of 20 */
	assert_int_equal(lay(f, f->after), TABLE_OVERLAID);
	f->shares[3] = 0;
	assert_int_equal(lay(f, f->after), TABLE_REBUILD);
}

/* The table of those that are up is what the share is of, then. */
static void shares_are_laid_over_a_rebuilt_table(void **state)
{
	struct fixture *f = *state;

	for (int round = 0; round < TABLE__MAX; round++) {
		bool up[20];

		start(f, round, 20);
		for (size_t i = 0; i < 20; i++) {
			up[i] = i % 2;
			f->shares[i] = up[i] ? TABLE_SHARE_FULL : 0;
		}
		assert_int_equal(lay(f, f->before), TABLE_REBUILD);
		assert_int_equal(table_build_up(&f->params, f->set.backends, 20, up,
						f->base, NULL), 0);
		assert_memory_equal(f->before, f->base, sizeof(f->base));

		f->shares[5] = 40;
		assert_int_equal(lay(f, f->after), TABLE_REBUILD);
		for (uint32_t slot = 0; slot < SIZE; slot++) {
			if (f->base[slot] != 5 || is_served(f, 5, slot))
				assert_int_equal(f->after[slot], f->base[slot]);
			else
				assert_true(f->after[slot] != 5 && f->after[slot] % 2);
		}
	}
}

static void more_than_full_is_full(void **state)
{
	struct fixture *f = *state;

	start(f, 0, 20);
	memset(f->shares, 255, sizeof(f->shares));
	assert_int_equal(lay(f, f->after), TABLE_OVERLAID);
	assert_memory_equal(f->after, f->base, sizeof(f->base));
}

#define PROPERTY(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROPERTY(a_slot_goes_to_its_owner_where_the_hash_is_under_the_share),
		PROPERTY(a_slot_goes_to_the_first_that_serves_it),
		PROPERTY(the_last_resort_is_up_and_whoever_the_hash_says),
		PROPERTY(second_owners_are_those_of_the_table_without_the_first),
		PROPERTY(a_walk_through_all_slots_has_no_second_owners),
		PROPERTY(stand_ins_are_those_of_one_that_is_down),
		PROPERTY(stand_ins_serve_only_what_their_share_lets_them),
		PROPERTY(a_growing_share_only_adds_slots),
		PROPERTY(tiny_shares_grow_by_adding_slots_too),
		PROPERTY(no_slot_is_empty_while_one_is_up),
		PROPERTY(one_alone_serves_all_whatever_its_share),
		PROPERTY(a_share_is_the_fraction_that_was_asked),
		PROPERTY(equal_shares_are_as_even_as_full_ones),
		PROPERTY(order_of_the_set_does_not_matter),
		PROPERTY(result_does_not_depend_on_the_past),
		PROPERTY(part_shares_do_not_ask_for_a_rebuild),
		PROPERTY(shares_are_laid_over_a_rebuilt_table),
		PROPERTY(more_than_full_is_full),
	};

	return cmocka_run_group_tests_name("table shares", tests, NULL, NULL);
}
