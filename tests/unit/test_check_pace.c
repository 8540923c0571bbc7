// SPDX-License-Identifier: GPL-2.0-only
/* How soon a check is run again: soon while it is not settled, and bounded then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/check_pace.h"

static const struct check check = {
	.interval = 5000,
	.fast_interval = 1000,
	.rise = 2,
	.fall = 3,
};

/* The pauses after these results ('+' passed, '-' failed), of a check that is alone. */
static void expect(const char *results, const uint32_t *pauses)
{
	struct check_pace pace = { 0 };

	for (; *results; results++) {
		check_pace_count(&pace, &check, *results == '+');
		assert_int_equal(check_pace_pause(&pace, &check, !!pace.row), *pauses++);
	}
}

#define EXPECT(results, ...) expect(results, (const uint32_t[]){ __VA_ARGS__ })

static void what_is_settled_is_run_each_interval(void **state)
{
	(void)state;
	EXPECT("++++", 5000, 5000, 5000, 5000);
}

static void a_death_is_followed_up_until_it_is_settled(void **state)
{
	(void)state;
	EXPECT("+----", 5000, 1000, 1000, 5000, 5000);
}

static void a_return_is_followed_up_until_it_is_settled(void **state)
{
	(void)state;
	EXPECT("+---+++", 5000, 1000, 1000, 5000, 1000, 5000, 5000);
}

static void one_that_was_a_false_alarm_settles_at_once(void **state)
{
	(void)state;
	EXPECT("+-+--++", 5000, 1000, 5000, 1000, 1000, 5000, 5000);
	EXPECT("+---+-", 5000, 1000, 1000, 5000, 1000, 5000);
}

static void one_that_is_dead_from_the_start_is_followed_up(void **state)
{
	(void)state;
	EXPECT("----", 1000, 1000, 5000, 5000);
	EXPECT("-++", 1000, 5000, 5000);
}

/* Of 10,000 that fail for ever none is run more often than it would be if it passed. */
static void failing_for_ever_costs_the_interval(void **state)
{
	struct check_pace pace = { 0 };
	uint64_t fast = 0;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		check_pace_count(&pace, &check, false);
		fast += check_pace_pause(&pace, &check, 10000) < check.interval;
	}
	assert_int_equal(fast, check.fall - 1);
}

static void many_at_once_are_run_less_often_each(void **state)
{
	static const struct {
		uint32_t unsettled, pause;
	} rows[] = {
		{ 1, 1000 },	  { 4000, 1000 },      { 4001, 1000 },	{ 8000, 2000 },
		{ 10000, 2500 }, { 20000, 5000 }, { 1000000, 5000 }, { UINT32_MAX, 5000 },
	};
	struct check_pace pace = { CHECK_PASSES, 1 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(check_pace_pause(&pace, &check, rows[i].unsettled),
				 rows[i].pause);
	/* Those that are settled do not wait for the others. */
	pace.row = 0;
	assert_int_equal(check_pace_pause(&pace, &check, 1000000), 5000);
}

static void without_a_fast_interval_there_is_one_pace(void **state)
{
	struct check_pace pace = { CHECK_PASSES, 1 };
	struct check plain = check;

	(void)state;
	plain.fast_interval = 0;
	assert_int_equal(check_pace_pause(&pace, &plain, 1), 5000);
}

/* As often as it can: results alternate so that nothing is ever settled anew. */
static void flapping_is_bounded(void **state)
{
	struct check_pace pace = { 0 };
	uint64_t time = 0;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		check_pace_count(&pace, &check, i % 3 == 0);
		time += check_pace_pause(&pace, &check, 1);
	}
	/* Two of three runs are fast. */
	assert_int_equal(time, 1000 * (5000 + 2 * 1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_settled_is_run_each_interval),
		cmocka_unit_test(a_death_is_followed_up_until_it_is_settled),
		cmocka_unit_test(a_return_is_followed_up_until_it_is_settled),
		cmocka_unit_test(one_that_was_a_false_alarm_settles_at_once),
		cmocka_unit_test(one_that_is_dead_from_the_start_is_followed_up),
		cmocka_unit_test(failing_for_ever_costs_the_interval),
		cmocka_unit_test(many_at_once_are_run_less_often_each),
		cmocka_unit_test(without_a_fast_interval_there_is_one_pace),
		cmocka_unit_test(flapping_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
