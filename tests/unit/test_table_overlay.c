// SPDX-License-Identifier: GPL-2.0-only
/* Health over a table: minimal, reversible, a pure function of the up set. */
#include "table_sets.h"

#include <errno.h>

#include "core/cleanup.h"
#include "core/fnv.h"
#include "core/table_overlay.h"

#define SIZE 2039

struct fixture {
	struct random random;
	struct set set;
	bool up[SETS_BACKENDS_MAX];
	uint16_t base[SIZE], before[SIZE], after[SIZE], other[SIZE];
	uint32_t counts[SETS_BACKENDS_MAX];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->random.state = 21;
	*state = f;
	return !f;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

/* Everything here is up or down as a whole; test_table_shares.c has the rest. */
static int apply_up(struct table_overlay *overlay, size_t n, const bool *up,
		    uint16_t *slots, struct table_overlay_report *report)
{
	uint8_t shares[SETS_BACKENDS_MAX];

	table_shares_of(up, n, shares);
	return table_overlay_apply(overlay, shares, slots, report, NULL);
}

static int build_up_or_down(const struct table_params *params,
			    const struct table_backend *set, size_t n, const bool *up,
			    uint16_t *slots, struct table_overlay_report *report,
			    struct err *err)
{
	uint8_t shares[SETS_BACKENDS_MAX];

	table_shares_of(up, n, shares);
	return table_build_health(params, set, n, shares, slots, report, err);
}

static struct table_overlay *overlay_new(struct fixture *f, int round, size_t n)
{
	struct table_params params = { round % TABLE__MAX, SIZE, 0, 20 };
	struct table_overlay *overlay;
	struct err err;

	set_fill(&f->set, &f->random, n,
		 round % 3 ? WEIGHTS_EQUAL : WEIGHTS_SMALL);
	if (table_overlay_new(&params, f->set.backends, n, NULL, &overlay, &err))
		fail_msg("%s", err.text);
	memcpy(f->base, table_overlay_base(overlay), sizeof(f->base));
	for (size_t i = 0; i < n; i++)
		f->up[i] = true;
	return overlay;
}

static void apply(struct fixture *f, struct table_overlay *overlay,
		  uint16_t *slots)
{
	assert_int_equal(apply_up(overlay, f->set.n, f->up, slots, NULL),
			 TABLE_OVERLAID);
}

/* Up to `most` backends down; never the one to keep. */
static void random_down(struct fixture *f, uint32_t most, size_t keep)
{
	for (size_t i = 0; i < f->set.n; i++)
		f->up[i] = true;
	for (uint32_t i = random_below(&f->random, most + 1); i > 0; i--) {
		size_t down = random_below(&f->random, (uint32_t)f->set.n);

		if (down != keep)
			f->up[down] = false;
	}
}

static void all_up_is_the_base_table(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 2 * TABLE__MAX; i++) {
		_cleanup_table_overlay_ struct table_overlay *overlay =
			overlay_new(f, i, 30);
		struct table_params params = { i % TABLE__MAX, SIZE, 0, 20 };
		_cleanup_free_ uint16_t *slots = set_build(&f->set, &params);

		apply(f, overlay, f->after);
		assert_memory_equal(f->after, f->base, sizeof(f->base));
		assert_memory_equal(f->after, slots, sizeof(f->base));
	}
}

static void a_base_table_can_be_handed_in(void **state)
{
	struct fixture *f = *state;
	_cleanup_table_overlay_ struct table_overlay *built =
		overlay_new(f, 0, 30);
	_cleanup_table_overlay_ struct table_overlay *given = NULL;
	struct table_params params = { TABLE_MAGLEV, SIZE, 0, 0 };

	assert_int_equal(table_overlay_new(&params, f->set.backends, f->set.n,
					   f->base, &given, NULL), 0);
	f->up[3] = f->up[4] = false;
	apply(f, built, f->before);
	apply(f, given, f->after);
	assert_memory_equal(f->before, f->after, sizeof(f->after));
}

static void one_down_moves_only_its_slots_to_the_table_without_it(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 10 * TABLE__MAX; i++) {
		_cleanup_table_overlay_ struct table_overlay *overlay =
			overlay_new(f, i, 2 + random_below(&f->random, 40));
		size_t down = random_below(&f->random, (uint32_t)f->set.n);
		struct table_params params = { i % TABLE__MAX, SIZE, 0, 20 };

		f->up[down] = false;
		apply(f, overlay, f->after);
		assert_int_equal(table_build_up(&params, f->set.backends,
						f->set.n, f->up, f->other,
						NULL), 0);
		for (uint32_t slot = 0; slot < SIZE; slot++)
			assert_int_equal(f->after[slot],
					 f->base[slot] == down ?
						 f->other[slot] :
						 f->base[slot]);
	}
}

/* Also when others are down already: only what it serves just then moves. */
static void a_flap_moves_what_it_serves_and_gives_it_back(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 10 * TABLE__MAX; i++) {
		_cleanup_table_overlay_ struct table_overlay *overlay =
			overlay_new(f, i, 60);
		size_t flaps = random_below(&f->random, 60);

		random_down(f, 5, flaps);
		if (apply_up(overlay, f->set.n, f->up, f->before, NULL))
			continue;
		f->up[flaps] = false;
		if (apply_up(overlay, f->set.n, f->up, f->after, NULL))
			continue;
		for (uint32_t slot = 0; slot < SIZE; slot++) {
			assert_int_not_equal(f->after[slot], flaps);
			assert_true(f->up[f->after[slot]]);
			if (f->before[slot] != flaps)
				assert_int_equal(f->after[slot],
						 f->before[slot]);
		}
		f->up[flaps] = true;
		apply(f, overlay, f->other);
		assert_memory_equal(f->other, f->before, sizeof(f->before));
	}
}

static void result_does_not_depend_on_the_past(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 3 * TABLE__MAX; i++) {
		_cleanup_table_overlay_ struct table_overlay *overlay =
			overlay_new(f, i, 60);
		struct table_params params = { i % TABLE__MAX, SIZE, 0, 20 };

		for (int change = 0; change < 12; change++) {
			struct table_overlay_report report;

			random_down(f, 6, f->set.n);
			if (apply_up(overlay, f->set.n, f->up, f->after, NULL))
				continue;
			assert_int_equal(build_up_or_down(
				&params, f->set.backends, f->set.n, f->up,
				f->other, &report, NULL), TABLE_OVERLAID);
			assert_memory_equal(f->after, f->other,
					    sizeof(f->after));
		}
	}
}

static void order_of_the_set_does_not_matter(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 3 * TABLE__MAX; i++) {
		_cleanup_table_overlay_ struct table_overlay *overlay =
			overlay_new(f, i, 60);
		_cleanup_table_overlay_ struct table_overlay *shuffled = NULL;
		struct table_params params = { i % TABLE__MAX, SIZE, 0, 20 };
		struct table_backend old[60];
		bool up[60];

		random_down(f, 4, 60);
		if (apply_up(overlay, f->set.n, f->up, f->before, NULL))
			continue;
		memcpy(old, f->set.backends, sizeof(old));
		set_shuffle(&f->set, &f->random);
		for (size_t b = 0; b < 60; b++)
			up[set_find(&f->set, old[b].name)] = f->up[b];
		assert_int_equal(table_overlay_new(&params, f->set.backends, 60,
						   NULL, &shuffled, NULL), 0);
		assert_int_equal(apply_up(shuffled, f->set.n, up, f->after, NULL), 0);
		for (uint32_t slot = 0; slot < SIZE; slot++)
			assert_string_equal(
				old[f->before[slot]].name,
				f->set.backends[f->after[slot]].name);
	}
}

/* The rule of the header, written down again. */
static uint16_t stand_in(struct fixture *f, const uint16_t *without,
			 uint32_t slot)
{
	if (f->up[without[slot]])
		return without[slot];
	for (uint64_t j = 1;; j++) {
		uint64_t x = mix64(slot + j * 0x9e3779b97f4a7c15ULL);
		uint16_t owner = f->base[((x >> 32) * SIZE) >> 32];

		if (f->up[owner])
			return owner;
	}
}

static void two_down_follow_the_rule_of_spare_and_rehash(void **state)
{
	struct fixture *f = *state;
	int rehashed = 0;

	for (int i = 0; i < 10 * TABLE__MAX; i++) {
		_cleanup_table_overlay_ struct table_overlay *overlay =
			overlay_new(f, i, 20);
		struct table_params params = { i % TABLE__MAX, SIZE, 0, 20 };
		size_t down = random_below(&f->random, 20);
		size_t also = (down + 1 + random_below(&f->random, 19)) % 20;
		_cleanup_free_ uint16_t *without = NULL;
		struct set *set = &f->set;

		f->up[down] = f->up[also] = false;
		if (apply_up(overlay, f->set.n, f->up, f->after, NULL))
			continue;
		set->backends[down].weight = 0;
		without = set_build(set, &params);
		for (uint32_t slot = 0; slot < SIZE; slot++) {
			if (f->base[slot] != down)
				continue;
			rehashed += without[slot] == also;
			assert_int_equal(f->after[slot],
					 stand_in(f, without, slot));
		}
	}
	assert_true(rehashed > 0);
}

static void above_15_percent_down_asks_for_a_rebuild(void **state)
{
	struct fixture *f = *state;
	_cleanup_table_overlay_ struct table_overlay *overlay =
		overlay_new(f, 1, 20);
	struct table_params params = { 1, SIZE, 0, 20 };
	struct table_overlay_report report;

	f->up[0] = f->up[1] = f->up[2] = false; /* 15 % of 20 */
	apply(f, overlay, f->after);

	f->up[3] = false;
	memset(f->after, 0xaa, sizeof(f->after));
	memcpy(f->before, f->after, sizeof(f->after));
	assert_int_equal(apply_up(overlay, f->set.n, f->up, f->after, &report), TABLE_REBUILD);
	assert_memory_equal(f->before, f->after, sizeof(f->after));
	assert_int_equal(report.n_weighted, 20);
	assert_int_equal(report.n_down, 4);

	assert_int_equal(build_up_or_down(&params, f->set.backends, 20, f->up,
					    f->after, NULL, NULL),
			 TABLE_REBUILD);
	assert_int_equal(table_build_up(&params, f->set.backends, 20, f->up,
					f->other, NULL), 0);
	assert_memory_equal(f->after, f->other, sizeof(f->after));
	table_count_slots(f->after, SIZE, 20, f->counts);
	for (size_t i = 0; i < 20; i++)
		assert_int_equal(f->counts[i] != 0, f->up[i]);
}

static void one_of_three_down_is_still_overlaid(void **state)
{
	struct fixture *f = *state;
	_cleanup_table_overlay_ struct table_overlay *overlay =
		overlay_new(f, 0, 3);
	struct table_overlay_report report;

	f->up[1] = false;
	assert_int_equal(apply_up(overlay, f->set.n, f->up, f->after, &report), TABLE_OVERLAID);
	table_count_slots(f->base, SIZE, 3, f->counts);
	assert_int_equal(report.n_down, 1);
	assert_int_equal(report.moved, f->counts[1]);
}

/* Few are down, but they own nearly everything. */
static void heavy_backends_down_ask_for_a_rebuild(void **state)
{
	struct fixture *f = *state;
	_cleanup_table_overlay_ struct table_overlay *overlay = NULL;
	struct table_params params = { TABLE_MAGLEV, SIZE, 0, 0 };

	set_fill(&f->set, &f->random, 40, WEIGHTS_EQUAL);
	f->set.backends[5].weight = f->set.backends[6].weight = 60000;
	for (size_t i = 0; i < 40; i++)
		f->up[i] = i != 5 && i != 6;
	assert_int_equal(table_overlay_new(&params, f->set.backends, 40, NULL,
					   &overlay, NULL), 0);
	assert_int_equal(apply_up(overlay, f->set.n, f->up, f->after, NULL), TABLE_REBUILD);
	f->up[6] = true;
	apply(f, overlay, f->after);
}

static void all_down_is_left_to_the_caller(void **state)
{
	struct fixture *f = *state;
	struct table_params params = { TABLE_MAGLEV, SIZE, 0, 0 };
	bool up[] = { false, false, true };
	struct table_backend set[] = { { "a", 1 }, { "b", 2 }, { "c", 0 } };
	struct table_overlay_report report;

	/* c is up, but has no weight */
	assert_int_equal(build_up_or_down(&params, set, 3, up, f->after,
					    &report, NULL), TABLE_ALL_DOWN);
	assert_int_equal(report.n_down, 2);
	assert_int_equal(report.n_weighted, 2);
}

static void a_backend_without_weight_may_be_down(void **state)
{
	struct fixture *f = *state;
	struct table_params params = { TABLE_MAGLEV, SIZE, 0, 0 };
	bool up[] = { true, true, false };
	struct table_backend set[] = { { "a", 1 }, { "b", 2 }, { "c", 0 } };
	struct table_overlay_report report;

	assert_int_equal(build_up_or_down(&params, set, 3, up, f->after,
					    &report, NULL), TABLE_OVERLAID);
	assert_int_equal(report.n_down, 0);
	assert_int_equal(report.moved, 0);
	assert_int_equal(table_build(&params, set, 3, f->base, NULL), 0);
	assert_memory_equal(f->after, f->base, sizeof(f->base));
}

static void an_empty_set_is_refused(void **state)
{
	struct table_params params = { TABLE_MAGLEV, SIZE, 0, 0 };
	struct table_overlay *overlay = NULL;
	struct err err;

	(void)state;
	assert_int_equal(table_overlay_new(&params, NULL, 0, NULL, &overlay,
					   &err), -ENODATA);
	assert_null(overlay);
	assert_string_equal(err.text, "the set of backends is empty; a table "
				      "needs at least one");
}

#define PROPERTY(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROPERTY(all_up_is_the_base_table),
		PROPERTY(a_base_table_can_be_handed_in),
		PROPERTY(one_down_moves_only_its_slots_to_the_table_without_it),
		PROPERTY(a_flap_moves_what_it_serves_and_gives_it_back),
		PROPERTY(result_does_not_depend_on_the_past),
		PROPERTY(order_of_the_set_does_not_matter),
		PROPERTY(two_down_follow_the_rule_of_spare_and_rehash),
		PROPERTY(above_15_percent_down_asks_for_a_rebuild),
		PROPERTY(one_of_three_down_is_still_overlaid),
		PROPERTY(heavy_backends_down_ask_for_a_rebuild),
		PROPERTY(all_down_is_left_to_the_caller),
		PROPERTY(a_backend_without_weight_may_be_down),
		PROPERTY(an_empty_set_is_refused),
	};

	return cmocka_run_group_tests_name("table overlay", tests, NULL, NULL);
}
