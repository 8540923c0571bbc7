// SPDX-License-Identifier: GPL-2.0-only
/* How much of its slots a backend serves: slow start, and what its agent says. */
#include "health_testing.h"

#define assert_state(p, wanted) assert_int_equal((p).h.state, wanted)

static void shares_climb_from_10_to_100_by_10(void **state)
{
	struct patient p = patient_that_climbs();
	uint64_t begun = p.now;
	unsigned int share;

	(void)state;
	for (share = 10; share < 100; share += 10) {
		assert_int_equal(patient_share(&p), share);
		assert_int_equal(health_next(&p.h, &p.params, p.now), p.now + 10 * SECOND);
		patient_wait(&p, 10 * SECOND - 1);
		assert_int_equal(p.changes, 0);
		patient_wait(&p, 1);
		assert_int_equal(p.changes, HEALTH_CHANGED_SHARE);
	}
	assert_int_equal(patient_share(&p), 100);
	assert_int_equal(p.now - begun, 90 * SECOND);
	assert_int_equal(p.h.climbs, 0);
	assert_int_equal(health_next(&p.h, &p.params, p.now), HEALTH_NEVER);
}

/* Whatever the ticks, and results between them. */
static void a_climb_never_leaps_nor_falls(void **state)
{
	static const uint64_t waits[] = { 1, 700, 7 * SECOND, 33 * SECOND, HOUR };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(waits) / sizeof(*waits); i++) {
		struct patient p = patient_that_climbs();
		unsigned int last = patient_share(&p), rounds = 0;

		while (last < 100) {
			patient_wait(&p, waits[i]);
			patient_checks(&p, "+-");
			assert_in_range(patient_share(&p), last, last + 10);
			last = patient_share(&p);
			assert_true(rounds++ < 1000);
		}
	}
}

static void what_was_not_down_does_not_climb(void **state)
{
	struct patient p = patient_new();

	(void)state;
	p.params.slow_start = MINUTE;
	patient_checks(&p, "--+");
	assert_state(p, HEALTH_UP);
	assert_int_equal(patient_share(&p), 100);
	patient_checks(&p, "--++");
	assert_int_equal(patient_share(&p), 100);
}

static void it_does_not_climb_when_nobody_else_serves(void **state)
{
	struct patient p = patient_new();

	(void)state;
	p.params.slow_start = MINUTE;
	p.alone = true;
	patient_checks(&p, "+---++");
	assert_state(p, HEALTH_UP);
	assert_int_equal(patient_share(&p), 100);
}

/* All of its pool serve, as few are up. */
static void what_serves_all_of_its_slots_does_not_climb_to_them(void **state)
{
	struct patient p = patient_that_climbs();

	(void)state;
	assert_int_equal(patient_share(&p), 10);
	assert_true(health_end_climb(&p.h));
	assert_int_equal(patient_share(&p), 100);
	assert_false(health_end_climb(&p.h));
	assert_int_equal(health_next(&p.h, &p.params, p.now), HEALTH_NEVER);
}

static void down_while_it_climbs_begins_anew(void **state)
{
	struct patient p = patient_that_climbs();

	(void)state;
	patient_wait(&p, 10 * SECOND);
	patient_wait(&p, 10 * SECOND);
	assert_int_equal(patient_share(&p), 30);
	patient_checks(&p, "---");
	assert_int_equal(health_next(&p.h, &p.params, p.now), HEALTH_NEVER);
	patient_checks(&p, "++");
	assert_int_equal(patient_share(&p), 10);
}

static void slow_start_turned_off_ends_a_climb(void **state)
{
	struct patient p = patient_that_climbs();

	(void)state;
	p.params.slow_start = 0;
	assert_int_equal(patient_share(&p), 100);
	patient_wait(&p, 10 * SECOND);
	p.params.slow_start = MINUTE;
	assert_int_equal(patient_share(&p), 100);
}

/* It climbs when it serves, not while it is kept out. */
static void a_damped_one_climbs_when_it_is_let_in(void **state)
{
	struct patient p = patient_to_be_damped();

	(void)state;
	p.params.slow_start = 90 * SECOND;
	patient_checks(&p, "+-+-+-+");
	while (p.h.damped)
		patient_wait(&p, health_next(&p.h, &p.params, p.now) - p.now);
	assert_int_equal(patient_share(&p), 10);
	patient_wait(&p, 10 * SECOND - 1);
	assert_int_equal(patient_share(&p), 10);
	patient_wait(&p, 1);
	assert_int_equal(patient_share(&p), 20);
}

static void a_slow_start_of_a_moment_climbs_too(void **state)
{
	struct patient p = patient_new();
	unsigned int ticks = 0;

	(void)state;
	p.params.slow_start = 1;
	patient_checks(&p, "+---++");
	while (patient_share(&p) < 100 && ticks++ < 10)
		patient_wait(&p, 1);
	assert_int_equal(ticks, 9);
}

static void a_weight_is_smoothed(void **state)
{
	struct patient p = patient_new();

	(void)state;
	p.weight = 80;
	patient_checks(&p, "+"); /* the first is taken as it is */
	assert_int_equal(patient_share(&p), 80);
	p.weight = 40;
	patient_checks(&p, "+");
	assert_int_equal(patient_share(&p), 70);
	assert_int_equal(p.changes, HEALTH_CHANGED_SHARE);
	patient_checks(&p, "+");
	assert_in_range(patient_share(&p), 62, 63);
	patient_checks(&p, "++++++++++++++++++++");
	assert_in_range(patient_share(&p), 40, 44);
	assert_true(p.h.agent_weight == 40);
}

static void a_weight_is_bounded(void **state)
{
	static const int16_t weights[] = { 101, 1000, 32767, -2, -32768 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(weights) / sizeof(*weights); i++) {
		struct patient p = patient_new();

		p.weight = weights[i];
		patient_checks(&p, "+");
		assert_int_equal(patient_share(&p), 100);
	}
}

static void a_weight_that_trembles_changes_no_share(void **state)
{
	struct patient p = patient_new();
	int i;

	(void)state;
	p.weight = 60;
	patient_checks(&p, "+");
	for (i = 0; i < 1000; i++) {
		p.weight = 60 + (i * 7) % 9 - 4;
		patient_checks(&p, "+");
		assert_int_equal(p.changes, 0);
	}
	assert_int_equal(patient_share(&p), 60);
}

/* However close it came before: at the ends there is no remainder. */
static void the_ends_of_a_weight_are_reached(void **state)
{
	struct patient p = patient_new();

	(void)state;
	p.weight = 97;
	patient_checks(&p, "+");
	p.weight = 100;
	patient_checks(&p, "+++++++++++++");
	assert_int_equal(patient_share(&p), 100);
	p.weight = 1;
	patient_checks(&p, "++++++++++++++++++++++++++++++++");
	assert_in_range(patient_share(&p), 1, 5);
	p.weight = 0;
	patient_checks(&p, "+");
	assert_int_equal(patient_share(&p), 0);
	p.weight = 100;
	patient_checks(&p, "+");
	assert_int_equal(patient_share(&p), 25);
}

static void a_failure_says_no_weight_and_a_success_takes_it_back(void **state)
{
	struct patient p = patient_new();

	(void)state;
	p.weight = 20;
	p.agent = AGENT_DRAIN;
	patient_checks(&p, "+");
	p.weight = -1;
	p.agent = AGENT_SILENT;
	patient_checks(&p, "--");
	assert_int_equal(patient_share(&p), 20);
	assert_int_equal(p.h.agent, AGENT_DRAIN);
	patient_checks(&p, "+");
	assert_int_equal(patient_share(&p), 40);
	assert_int_equal(p.h.agent, AGENT_SILENT);
	assert_int_equal(p.changes, HEALTH_CHANGED_SHARE | HEALTH_CHANGED_AGENT);
}

/* An answer that fails may still say why. */
static void a_failure_may_say_a_state(void **state)
{
	struct patient p = patient_new();

	(void)state;
	patient_checks(&p, "+");
	p.agent = AGENT_DOWN;
	p.weight = 0;
	patient_checks(&p, "-");
	assert_int_equal(p.h.agent, AGENT_DOWN);
	assert_int_equal(patient_share(&p), 0);
	assert_false(patient_serves(&p));
}

static void one_that_called_itself_down_climbs_when_it_is_back(void **state)
{
	struct patient p = patient_new();

	(void)state;
	p.params.slow_start = 90 * SECOND;
	patient_checks(&p, "+");
	p.agent = AGENT_DOWN;
	patient_checks(&p, "+");
	assert_false(patient_serves(&p));
	p.now += HOUR;
	p.agent = AGENT_UP;
	patient_checks(&p, "+");
	assert_true(patient_serves(&p));
	assert_int_equal(patient_share(&p), 10);
}

static void climb_and_weight_multiply(void **state)
{
	struct patient p = patient_new();

	(void)state;
	p.params.slow_start = 90 * SECOND;
	p.weight = 50;
	patient_checks(&p, "+---++");
	assert_int_equal(patient_share(&p), 5);
	patient_wait(&p, 10 * SECOND);
	assert_int_equal(patient_share(&p), 10);
	/* What is little is not nothing. */
	p = patient_new();
	p.params.slow_start = 90 * SECOND;
	p.weight = 2;
	patient_checks(&p, "+---++");
	assert_int_equal(patient_share(&p), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_climb_from_10_to_100_by_10),
		cmocka_unit_test(a_climb_never_leaps_nor_falls),
		cmocka_unit_test(what_was_not_down_does_not_climb),
		cmocka_unit_test(it_does_not_climb_when_nobody_else_serves),
		cmocka_unit_test(what_serves_all_of_its_slots_does_not_climb_to_them),
		cmocka_unit_test(down_while_it_climbs_begins_anew),
		cmocka_unit_test(slow_start_turned_off_ends_a_climb),
		cmocka_unit_test(a_damped_one_climbs_when_it_is_let_in),
		cmocka_unit_test(a_slow_start_of_a_moment_climbs_too),
		cmocka_unit_test(a_weight_is_smoothed),
		cmocka_unit_test(a_weight_is_bounded),
		cmocka_unit_test(a_weight_that_trembles_changes_no_share),
		cmocka_unit_test(the_ends_of_a_weight_are_reached),
		cmocka_unit_test(a_failure_says_no_weight_and_a_success_takes_it_back),
		cmocka_unit_test(a_failure_may_say_a_state),
		cmocka_unit_test(one_that_called_itself_down_climbs_when_it_is_back),
		cmocka_unit_test(climb_and_weight_multiply),
	};

	return cmocka_run_group_tests_name("health: shares", tests, NULL, NULL);
}
