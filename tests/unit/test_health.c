// SPDX-License-Identifier: GPL-2.0-only
/* The health of one backend: from results and time to its state. */
#include "health_testing.h"

#define assert_state(p, wanted) assert_int_equal((p).h.state, wanted)

static void rise_and_fall_are_results_in_a_row(void **state)
{
	struct patient p = patient_new();

	(void)state;
	patient_checks(&p, "+");
	assert_state(p, HEALTH_UP);
	patient_checks(&p, "--+--+--+-+-+--");
	assert_state(p, HEALTH_UP);
	patient_checks(&p, "-");
	assert_state(p, HEALTH_DOWN);
	assert_int_equal(p.changes & HEALTH_CHANGED_STATE, HEALTH_CHANGED_STATE);
	patient_checks(&p, "+-+-+-+");
	assert_state(p, HEALTH_DOWN);
	assert_int_equal(p.changes, 0);
	patient_checks(&p, "+");
	assert_state(p, HEALTH_UP);
	assert_int_equal(p.h.row, 0);
}

static void failures_of_a_row_may_be_far_apart_but_a_success_ends_it(void **state)
{
	struct patient p = patient_new();
	int i;

	(void)state;
	patient_checks(&p, "+");
	for (i = 0; i < 100; i++) {
		patient_checks(&p, "--+");
		p.now += DAY;
	}
	assert_state(p, HEALTH_UP);
	assert_int_equal(p.h.row, 0);
}

static void a_success_is_enough_for_an_unknown_one(void **state)
{
	struct patient p = patient_new();
	struct patient failed = patient_new();

	(void)state;
	assert_state(p, HEALTH_UNKNOWN);
	patient_checks(&p, "+");
	assert_state(p, HEALTH_UP);
	assert_int_equal(p.changes, HEALTH_CHANGED_STATE);
	patient_checks(&failed, "--+");
	assert_state(failed, HEALTH_UP);
}

static void an_unknown_one_is_down_after_fall_failures(void **state)
{
	struct patient p = patient_new();

	(void)state;
	patient_checks(&p, "--");
	assert_state(p, HEALTH_UNKNOWN);
	patient_checks(&p, "-");
	assert_state(p, HEALTH_DOWN);
	assert_true(p.h.penalty == 0);
	patient_checks(&p, "+");
	assert_state(p, HEALTH_DOWN);
}

static void an_unknown_one_is_down_after_initial_timeout(void **state)
{
	struct patient p = patient_new();

	(void)state;
	p.params.initial_timeout = 30 * SECOND;
	assert_int_equal(health_next(&p.h, &p.params, p.now), p.now + 30 * SECOND);
	patient_wait(&p, 30 * SECOND - 1);
	assert_int_equal(p.changes, 0);
	patient_wait(&p, 1);
	assert_int_equal(p.changes, HEALTH_CHANGED_STATE);
	assert_state(p, HEALTH_DOWN);
	assert_string_equal(p.h.reason, "no result within 30000 ms");
	assert_int_equal(health_next(&p.h, &p.params, p.now), HEALTH_NEVER);

	/* No result has been seen, so its first one counts. */
	p.params.slow_start = MINUTE;
	patient_checks(&p, "+");
	assert_state(p, HEALTH_UP);
	assert_int_equal(patient_share(&p), 100);
}

static void initial_timeout_ends_what_fails_too_slowly_to_fall(void **state)
{
	struct patient p = patient_new();

	(void)state;
	p.params.initial_timeout = 30 * SECOND;
	patient_checks(&p, "-");
	patient_wait(&p, 30 * SECOND);
	assert_state(p, HEALTH_DOWN);
	assert_string_equal(p.h.reason, "connection refused");
	patient_checks(&p, "+");
	assert_state(p, HEALTH_DOWN);
	patient_checks(&p, "+");
	assert_state(p, HEALTH_UP);
}

static void without_initial_timeout_unknown_stays_unknown(void **state)
{
	struct patient p = patient_new();

	(void)state;
	assert_int_equal(health_next(&p.h, &p.params, p.now), HEALTH_NEVER);
	patient_wait(&p, 100 * DAY);
	assert_state(p, HEALTH_UNKNOWN);
}

static void rise_and_fall_of_nothing_are_one(void **state)
{
	struct patient p = patient_new();

	(void)state;
	p.params.rise = p.params.fall = 0;
	patient_checks(&p, "-");
	assert_state(p, HEALTH_DOWN);
	patient_checks(&p, "+");
	assert_state(p, HEALTH_UP);
}

/* Reloaded with a shorter one: what has been counted counts. */
static void a_shorter_fall_is_met_by_the_next_failure(void **state)
{
	struct patient p = patient_new();

	(void)state;
	p.params.fall = 10;
	patient_checks(&p, "+-----");
	p.params.fall = 2;
	patient_checks(&p, "-");
	assert_state(p, HEALTH_DOWN);
}

static void since_and_reason_are_of_the_last_change(void **state)
{
	struct patient p = patient_new();
	uint64_t turned;

	(void)state;
	patient_checks(&p, "+");
	turned = p.now;
	assert_string_equal(p.h.reason, "HTTP status 200");
	patient_checks(&p, "++-");
	assert_int_equal(p.h.since, turned);
	assert_string_equal(p.h.reason, "connection refused");
	patient_checks(&p, "+");
	assert_string_equal(p.h.reason, "connection refused");
	assert_int_equal(p.h.checked, p.now);
	patient_checks(&p, "---");
	assert_int_equal(p.h.since, p.now);
}

static bool is_presumed(const struct patient *p)
{
	struct health_facts facts = {
		.weight = 1,
		.checked = true,
		.reached = true,
		.state = p->h.state,
		.presumed = p->h.presumed,
	};

	return health_is_presumed(&facts);
}

static void the_unknown_is_presumed_until_its_first_result(void **state)
{
	struct patient p = patient_new();

	(void)state;
	p.params.initial_timeout = MINUTE;
	assert_false(is_presumed(&p));
	health_presume(&p.h);
	assert_true(is_presumed(&p));
	assert_false(patient_serves(&p));
	patient_wait(&p, 30 * SECOND);
	assert_true(is_presumed(&p));
	patient_checks(&p, "-");
	assert_int_equal(p.changes, HEALTH_CHANGED_PRESUMED);
	assert_state(p, HEALTH_UNKNOWN);
	assert_false(is_presumed(&p));

	health_presume(&p.h);
	assert_false(is_presumed(&p));

	health_init(&p.h, p.now);
	health_presume(&p.h);
	patient_wait(&p, MINUTE);
	assert_int_equal(p.changes, HEALTH_CHANGED_PRESUMED | HEALTH_CHANGED_STATE);
	assert_false(is_presumed(&p));

	health_init(&p.h, p.now);
	health_presume(&p.h);
	patient_checks(&p, "+");
	assert_int_equal(p.changes, HEALTH_CHANGED_PRESUMED | HEALTH_CHANGED_STATE);
	assert_true(patient_serves(&p));
	assert_false(is_presumed(&p));
	patient_checks(&p, "---");
	assert_false(is_presumed(&p));
}

/* What made it so is not what a lone result has said otherwise since. */
static void the_cause_is_of_the_state(void **state)
{
	struct patient p = patient_new();

	(void)state;
	p.params.initial_timeout = 30 * SECOND;
	assert_string_equal(p.h.cause, "");
	patient_wait(&p, 30 * SECOND);
	assert_string_equal(p.h.cause, "no result within 30000 ms");
	patient_checks(&p, "+");
	assert_string_equal(p.h.cause, "HTTP status 200");
	patient_checks(&p, "--");
	assert_string_equal(p.h.reason, "connection refused");
	assert_string_equal(p.h.cause, "HTTP status 200");
	patient_checks(&p, "+---");
	assert_string_equal(p.h.cause, "connection refused");
	patient_checks(&p, "+");
	assert_string_equal(p.h.cause, "connection refused");
	patient_checks(&p, "-++");
	assert_string_equal(p.h.cause, "HTTP status 200");
}

static void one_that_changes_too_often_is_damped(void **state)
{
	struct patient p = patient_to_be_damped();

	(void)state;
	patient_checks(&p, "+-+-+");
	assert_false(p.h.damped);
	assert_true(patient_serves(&p));
	patient_checks(&p, "-");
	assert_true(p.h.damped);
	assert_int_equal(p.changes & HEALTH_CHANGED_DAMPED, HEALTH_CHANGED_DAMPED);
	patient_checks(&p, "+");
	assert_state(p, HEALTH_UP);
	assert_true(p.h.damped);
	assert_false(patient_serves(&p));
}

static void a_penalty_halves_each_half_life(void **state)
{
	struct patient p = patient_to_be_damped();

	(void)state;
	patient_checks(&p, "+-");
	assert_true(p.h.penalty == 1000);
	patient_wait(&p, MINUTE);
	assert_true(p.h.penalty > 499.99 && p.h.penalty < 500.01);
	patient_wait(&p, MINUTE / 2);
	patient_wait(&p, MINUTE / 2);
	assert_true(p.h.penalty > 249.99 && p.h.penalty < 250.01);
	/* Coming up is no offence. */
	patient_checks(&p, "+");
	assert_true(p.h.penalty < 250);
}

static void it_comes_back_below_reuse_exactly_when_next_says(void **state)
{
	struct patient p = patient_to_be_damped();
	uint64_t next;

	(void)state;
	patient_checks(&p, "+-+-+-+");
	assert_true(p.h.damped);
	next = health_next(&p.h, &p.params, p.now);
	/* log2(2900 / 800) half lives */
	assert_in_range(next - p.now, MINUTE * 18 / 10, MINUTE * 19 / 10);
	patient_wait(&p, next - p.now - 100);
	assert_int_equal(p.changes, 0);
	patient_wait(&p, next - p.now);
	assert_int_equal(p.changes, HEALTH_CHANGED_DAMPED);
	assert_true(patient_serves(&p));
	assert_int_equal(health_next(&p.h, &p.params, p.now), HEALTH_NEVER);
}

static void a_penalty_has_a_ceiling(void **state)
{
	struct patient p = patient_to_be_damped();
	int i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		p.now++;
		patient_check(&p, i % 2);
	}
	assert_true(p.h.penalty <= HEALTH_PENALTY_MAX);
	/* log2(16000 / 800) = 4.3 half lives, however long it flapped */
	patient_wait(&p, 5 * MINUTE);
	assert_false(p.h.damped);
}

static void damping_off_damps_nothing(void **state)
{
	struct patient p = patient_to_be_damped();

	(void)state;
	p.params.suppress = 0;
	patient_checks(&p, "+-+-+-+-+-+-+-+-+");
	assert_true(patient_serves(&p));
	assert_true(p.h.penalty == 0);
}

/* A reload that turns it off lets go of what is damped. */
static void damping_turned_off_lets_go(void **state)
{
	struct patient p = patient_to_be_damped();

	(void)state;
	patient_checks(&p, "+-+-+-+");
	p.params.suppress = 0;
	assert_int_equal(health_next(&p.h, &p.params, p.now), p.now);
	patient_wait(&p, 0);
	assert_int_equal(p.changes, HEALTH_CHANGED_DAMPED);
	assert_true(patient_serves(&p));
}

/* Limits that the wrong way round, or zero, would keep it out for ever. */
static void odd_limits_still_let_it_come_back(void **state)
{
	static const uint32_t reuses[] = { 0, 1, 2500, 9000 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(reuses) / sizeof(*reuses); i++) {
		struct patient p = patient_to_be_damped();

		p.params.reuse = reuses[i];
		patient_checks(&p, "+-+-+-+");
		while (health_next(&p.h, &p.params, p.now) != HEALTH_NEVER)
			patient_wait(&p, health_next(&p.h, &p.params, p.now) - p.now);
		assert_true(patient_serves(&p));
		assert_true(p.now < HOUR + 15 * MINUTE);
	}
}

static void a_clock_that_stands_still_does_no_harm(void **state)
{
	struct patient p = patient_to_be_damped();
	int i;

	(void)state;
	p.params.slow_start = p.params.initial_timeout = MINUTE;
	for (i = 0; i < 10000; i++) {
		patient_check(&p, i % 2);
		patient_wait(&p, 0);
		assert_true(p.h.penalty <= HEALTH_PENALTY_MAX);
		assert_true(health_next(&p.h, &p.params, p.now) >= p.now);
	}
	patient_check(&p, true);
	assert_state(p, HEALTH_UP);
	assert_true(p.h.damped);
	assert_int_equal(patient_share(&p), 10);
	/* It goes on: all that waited comes. */
	patient_wait(&p, 10 * MINUTE);
	assert_true(patient_serves(&p));
}

/* As after a restart with what an earlier boot left. */
static void a_clock_that_goes_back_begins_the_waiting_anew(void **state)
{
	struct patient p = patient_to_be_damped();
	struct patient unknown = patient_new();

	(void)state;
	p.params.slow_start = 90 * SECOND;
	p.now = 30 * DAY;
	patient_checks(&p, "+-+-+-+");
	p.now = 0;
	assert_true(health_next(&p.h, &p.params, p.now) < 3 * MINUTE);
	patient_wait(&p, 0);
	assert_int_equal(p.changes, 0);
	assert_int_equal(p.h.since, 0);
	assert_in_range(p.h.checked, 1, 1);
	patient_wait(&p, 3 * MINUTE);
	assert_true(patient_serves(&p));
	assert_int_equal(patient_share(&p), 10);
	/* And back again in the middle of a climb, which does not fall. */
	patient_wait(&p, 10 * SECOND);
	p.now = 5;
	patient_wait(&p, 0);
	assert_int_equal(patient_share(&p), 20);
	assert_int_equal(health_next(&p.h, &p.params, p.now), p.now + 10 * SECOND);
	patient_wait(&p, 10 * SECOND);
	assert_int_equal(patient_share(&p), 30);

	unknown.params.initial_timeout = MINUTE;
	unknown.now = 1;
	patient_wait(&unknown, 0);
	patient_wait(&unknown, MINUTE - 1);
	assert_state(unknown, HEALTH_UNKNOWN);
	patient_wait(&unknown, 1);
	assert_state(unknown, HEALTH_DOWN);
}

static void a_clock_that_leaps_changes_no_state_but_an_unknown_one(void **state)
{
	struct patient p = patient_that_climbs();

	(void)state;
	patient_wait(&p, UINT64_MAX / 2);
	assert_state(p, HEALTH_UP);
	assert_int_equal(patient_share(&p), 20);
	patient_checks(&p, "--");
	assert_state(p, HEALTH_UP);
}

/* Whatever happens: what next says is not past, and brings something about once. */
static void next_is_when_something_changes(void **state)
{
	struct patient p = patient_to_be_damped();
	uint64_t random = 5;
	int i, ticks = 0;

	(void)state;
	p.params.slow_start = 20 * SECOND;
	p.params.initial_timeout = 7 * SECOND;
	for (i = 0; i < 20000; i++) {
		uint64_t next = health_next(&p.h, &p.params, p.now);

		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		if (next != HEALTH_NEVER && random >> 62) {
			assert_true(next >= p.now);
			patient_wait(&p, next - p.now);
			assert_true(p.changes || patient_share(&p) < 100);
			/* Done with: a caller that sleeps until next does sleep. */
			assert_true(health_next(&p.h, &p.params, p.now) > p.now);
			ticks++;
			continue;
		}
		p.agent = random >> 32 & 7 ? AGENT_SILENT : random >> 40 & 3;
		p.weight = (int16_t)(random >> 48 & 127);
		p.now += random >> 33 & 0x3fff;
		patient_check(&p, random >> 60 & 1);
	}
	assert_true(ticks > 1000);
}

static void an_agent_that_makes_no_sense_is_the_reason_while_it_does_not(void **state)
{
	struct patient p = patient_new();

	(void)state;
	patient_checks(&p, "+");
	p.unclear = true;
	patient_checks(&p, "+");
	assert_string_equal(p.h.reason, "weight or state 'x' makes no sense");
	assert_true(p.h.agent_unclear);
	assert_int_equal(p.h.state, HEALTH_UP);
	assert_int_equal(patient_share(&p), HEALTH_SHARE_FULL);
	p.unclear = false;
	patient_checks(&p, "+");
	assert_string_equal(p.h.reason, "HTTP status 200");
	assert_false(p.h.agent_unclear);

	/* What it fails with is more important, and stays when it passes. */
	p.unclear = true;
	patient_checks(&p, "+-");
	assert_string_equal(p.h.reason, "connection refused");
	p.unclear = false;
	patient_checks(&p, "+");
	assert_string_equal(p.h.reason, "connection refused");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rise_and_fall_are_results_in_a_row),
		cmocka_unit_test(an_agent_that_makes_no_sense_is_the_reason_while_it_does_not),
		cmocka_unit_test(failures_of_a_row_may_be_far_apart_but_a_success_ends_it),
		cmocka_unit_test(a_success_is_enough_for_an_unknown_one),
		cmocka_unit_test(an_unknown_one_is_down_after_fall_failures),
		cmocka_unit_test(an_unknown_one_is_down_after_initial_timeout),
		cmocka_unit_test(initial_timeout_ends_what_fails_too_slowly_to_fall),
		cmocka_unit_test(without_initial_timeout_unknown_stays_unknown),
		cmocka_unit_test(rise_and_fall_of_nothing_are_one),
		cmocka_unit_test(a_shorter_fall_is_met_by_the_next_failure),
		cmocka_unit_test(since_and_reason_are_of_the_last_change),
		cmocka_unit_test(the_cause_is_of_the_state),
		cmocka_unit_test(the_unknown_is_presumed_until_its_first_result),
		cmocka_unit_test(one_that_changes_too_often_is_damped),
		cmocka_unit_test(a_penalty_halves_each_half_life),
		cmocka_unit_test(it_comes_back_below_reuse_exactly_when_next_says),
		cmocka_unit_test(a_penalty_has_a_ceiling),
		cmocka_unit_test(damping_off_damps_nothing),
		cmocka_unit_test(damping_turned_off_lets_go),
		cmocka_unit_test(odd_limits_still_let_it_come_back),
		cmocka_unit_test(a_clock_that_stands_still_does_no_harm),
		cmocka_unit_test(a_clock_that_goes_back_begins_the_waiting_anew),
		cmocka_unit_test(a_clock_that_leaps_changes_no_state_but_an_unknown_one),
		cmocka_unit_test(next_is_when_something_changes),
	};

	return cmocka_run_group_tests_name("health", tests, NULL, NULL);
}
