// SPDX-License-Identifier: GPL-2.0-only
/* What a change of a table moves, and the least that it could have moved. */
#include "table_sets.h"

#include <errno.h>

#include "core/cleanup.h"
#include "core/table_compare.h"

static struct table_comparison *compare(const struct table_side *old,
					const struct table_side *new,
					uint32_t size)
{
	struct table_comparison *comparison = NULL;
	struct err err = { 0 };

	if (table_compare(old, new, size, &comparison, &err))
		fail_msg("%s", err.text);
	return comparison;
}

static void backends_are_matched_by_name(void **state)
{
	/* The same owners, slot for slot, from sets in another order. */
	static const struct table_backend old_set[] = { { "b", 1 }, { "a", 2 } };
	static const struct table_backend new_set[] = { { "a", 2 }, { "b", 1 } };
	static const uint16_t old_slots[] = { 0, 1, 1 };
	static const uint16_t new_slots[] = { 1, 0, 0 };
	struct table_side old = { old_set, 2, old_slots };
	struct table_side new = { new_set, 2, new_slots };
	_cleanup_free_ struct table_comparison *c = compare(&old, &new, 3);

	(void)state;
	assert_int_equal(c->moved, 0);
	assert_int_equal(c->minimum, 0);
	assert_true(c->ratio == 1);
	assert_int_equal(c->n, 2);
	assert_string_equal(c->changes[0].name, "a");
	assert_int_equal(c->changes[0].slots_old, 2);
	assert_int_equal(c->changes[0].weight_new, 2);
	assert_string_equal(c->changes[1].name, "b");
	assert_int_equal(c->changes[1].slots_new, 1);
}

static void gains_and_losses_are_counted_per_backend(void **state)
{
	static const struct table_backend old_set[] = {
		{ "a", 1 }, { "b", 1 }, { "c", 1 },
	};
	static const struct table_backend new_set[] = {
		{ "a", 1 }, { "c", 3 }, { "d", 1 },
	};
	static const uint16_t old_slots[] = { 0, 0, 1, 1, 2, 2, TABLE_NONE };
	static const uint16_t new_slots[] = { 0, 1, 1, 2, 1, 0, 2 };
	struct table_side old = { old_set, 3, old_slots };
	struct table_side new = { new_set, 3, new_slots };
	_cleanup_free_ struct table_comparison *c = compare(&old, &new, 7);
	/* a: 2 -> 2, b: 2 -> 0, c: 2 -> 3, d: 0 -> 2, nobody: 1 -> 0 */
	static const struct {
		bool in_old, in_new;
		uint32_t before, after, gained, lost;
	} expected[] = {
		{ true, true, 2, 2, 1, 1 },
		{ true, false, 2, 0, 0, 2 },
		{ true, true, 2, 3, 2, 1 },
		{ false, true, 0, 2, 2, 0 },
	};

	(void)state;
	assert_int_equal(c->moved, 5);
	assert_int_equal(c->minimum, 3);
	assert_true(c->ratio > 1.66 && c->ratio < 1.67);
	assert_int_equal(c->n, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(c->changes[i].name[0], 'a' + (int)i);
		assert_int_equal(c->changes[i].in_old, expected[i].in_old);
		assert_int_equal(c->changes[i].in_new, expected[i].in_new);
		assert_int_equal(c->changes[i].slots_old, expected[i].before);
		assert_int_equal(c->changes[i].slots_new, expected[i].after);
		assert_int_equal(c->changes[i].gained, expected[i].gained);
		assert_int_equal(c->changes[i].lost, expected[i].lost);
	}
	assert_int_equal(c->changes[2].weight_old, 1);
	assert_int_equal(c->changes[2].weight_new, 3);
}

static void a_swap_moves_without_need(void **state)
{
	static const struct table_backend set[] = { { "a", 1 }, { "b", 1 } };
	static const uint16_t old_slots[] = { 0, 1 }, new_slots[] = { 1, 0 };
	struct table_side old = { set, 2, old_slots };
	struct table_side new = { set, 2, new_slots };
	_cleanup_free_ struct table_comparison *c = compare(&old, &new, 2);

	(void)state;
	assert_int_equal(c->moved, 2);
	assert_int_equal(c->minimum, 0);
	assert_true(c->ratio == 0);
}

/* Rendezvous moves the minimum; maglev and capped more, capped less of it. */
static void algorithms_rank_by_what_they_move(void **state)
{
	struct set *set = calloc(1, sizeof(*set));
	struct random random = { 5 };
	uint32_t moved[TABLE__MAX];

	(void)state;
	set_fill(set, &random, 200, WEIGHTS_EQUAL);
	for (int a = 0; a < TABLE__MAX; a++) {
		struct table_params params = { a, 16381, 0, 0 };
		_cleanup_free_ uint16_t *before = set_build(set, &params);
		_cleanup_free_ uint16_t *after = NULL;
		_cleanup_free_ struct table_comparison *c = NULL;
		struct table_side old = { set->backends, 200, before };
		struct table_side new = { set->backends, 199, NULL };

		set->n--;
		after = set_build(set, &params);
		set->n++;
		new.slots = after;
		c = compare(&old, &new, 16381);
		assert_true(c->moved >= c->minimum);
		moved[a] = c->moved;
		if (a == TABLE_RING || a == TABLE_RENDEZVOUS)
			assert_int_equal(c->moved, c->minimum);
		assert_int_equal(c->n, 200);
	}
	assert_true(moved[TABLE_CAPPED] < moved[TABLE_MAGLEV]);
	free(set);
}

static void gains_and_losses_add_up(void **state)
{
	struct set *set = calloc(1, sizeof(*set));
	struct random random = { 6 };

	(void)state;
	for (int i = 0; i < 60; i++) {
		struct table_params params = { i % 2, 1021, 0, 0 };
		_cleanup_free_ uint16_t *before = NULL, *after = NULL;
		_cleanup_free_ struct table_comparison *c = NULL;
		struct table_side old, new;
		uint32_t gained = 0, lost = 0;

		set_fill(set, &random, 2 + random_below(&random, 60),
			 WEIGHTS_SMALL);
		before = set_build(set, &params);
		old = (struct table_side){ set->backends, set->n, before };
		new = (struct table_side){ set->backends, set->n - 1, NULL };
		set->n--;
		after = set_build(set, &params);
		new.slots = after;
		c = compare(&old, &new, 1021);
		for (size_t b = 0; b < c->n; b++) {
			gained += c->changes[b].gained;
			lost += c->changes[b].lost;
			assert_int_equal(c->changes[b].slots_old +
						 c->changes[b].gained,
					 c->changes[b].slots_new +
						 c->changes[b].lost);
		}
		assert_int_equal(gained, c->moved);
		assert_int_equal(lost, c->moved);
	}
	free(set);
}

static void an_owner_outside_the_set_is_refused(void **state)
{
	static const struct table_backend set[] = { { "a", 1 }, { "b", 1 } };
	static const uint16_t good[] = { 0, 1 }, bad[] = { 1, 2 };
	struct table_side old = { set, 2, good };
	struct table_side new = { set, 2, bad };
	struct table_comparison *c = NULL;
	struct err err;

	(void)state;
	assert_int_equal(table_compare(&old, &new, 2, &c, &err), -EINVAL);
	assert_null(c);
	assert_string_equal(err.text, "slot 1 names backend 2, but the set has "
				      "only 2");
}

static void a_name_twice_on_one_side_is_refused(void **state)
{
	static const struct table_backend once[] = { { "a", 1 }, { "b", 1 } };
	static const struct table_backend twice[] = { { "a", 1 }, { "a", 1 } };
	static const uint16_t slots[] = { 0, 1 };
	struct table_side old = { once, 2, slots };
	struct table_side new = { twice, 2, slots };
	struct table_comparison *c = NULL;
	struct err err;

	(void)state;
	assert_int_equal(table_compare(&old, &new, 2, &c, &err), -EINVAL);
	assert_string_equal(err.text, "new table: backend 'a' is in the set "
				      "twice; names must be unique");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(backends_are_matched_by_name),
		cmocka_unit_test(gains_and_losses_are_counted_per_backend),
		cmocka_unit_test(a_swap_moves_without_need),
		cmocka_unit_test(algorithms_rank_by_what_they_move),
		cmocka_unit_test(gains_and_losses_add_up),
		cmocka_unit_test(an_owner_outside_the_set_is_refused),
		cmocka_unit_test(a_name_twice_on_one_side_is_refused),
	};

	return cmocka_run_group_tests_name("table compare", tests, NULL, NULL);
}
