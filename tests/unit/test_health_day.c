// SPDX-License-Identifier: GPL-2.0-only
/*
 * A day of a backend under the policy of health: its server is up or down as a
 * function of time, its check looks every now and then, time is ticked when
 * health_next() asks for it, and each change of what it serves is a publication.
 */
#include "health_testing.h"

struct day {
	struct patient p;
	uint64_t interval;              /* of its check */
	bool (*is_up)(uint64_t since_start);
	unsigned int publications;
	unsigned int turns;             /* of its state */
	uint64_t served;                /* ms, weighed with the share */
	uint64_t longest_out;           /* ms without a slot */
	uint64_t out_since;             /* 0: it serves */
};

static unsigned int percent_served(const struct day *day)
{
	return patient_serves(&day->p) ? patient_share(&day->p) : 0;
}

/* What the table has now differs from what it had: published. */
static void note(struct day *day, unsigned int before)
{
	unsigned int after = percent_served(day);

	day->publications += before != after;
	day->turns += (day->p.changes & HEALTH_CHANGED_STATE) != 0;
	if (after) {
		day->out_since = 0;
		return;
	}
	if (!day->out_since)
		day->out_since = day->p.now;
	if (day->p.now - day->out_since > day->longest_out)
		day->longest_out = day->p.now - day->out_since;
}

static void let_time_pass(struct day *day, uint64_t until)
{
	for (;;) {
		struct patient *p = &day->p;
		uint64_t next = health_next(&p->h, &p->params, p->now);
		unsigned int before = percent_served(day);

		assert_true(next >= p->now);
		if (next > until)
			next = until;
		day->served += before * (next - p->now) / 100;
		if (next == until && p->now == until)
			return;
		patient_wait(p, next - p->now);
		note(day, before);
		if (next == until)
			return;
	}
}

static void live(struct day *day, uint64_t length)
{
	uint64_t start = day->p.now, at;

	for (at = 0; at < length; at += day->interval) {
		unsigned int before;

		let_time_pass(day, start + at);
		before = percent_served(day);
		patient_check(&day->p, day->is_up(at));
		note(day, before);
	}
	let_time_pass(day, start + length);
}

/* The usual: every 5 s, rise 2, fall 3, damping and slow start. */
static struct day day_of(bool (*is_up)(uint64_t))
{
	struct day day = { .p = patient_new(), .interval = 5 * SECOND, .is_up = is_up };

	day.p.params.initial_timeout = MINUTE;
	day.p.params.suppress = 3000;
	day.p.params.reuse = 1000;
	day.p.params.half_life = 10 * MINUTE;
	day.p.params.slow_start = 45 * SECOND;
	return day;
}

static bool always(uint64_t at)
{
	(void)at;
	return true;
}

static bool never(uint64_t at)
{
	(void)at;
	return false;
}

static bool ten_times_a_second(uint64_t at)
{
	return at / 50 % 2 == 0;
}

static bool but_once_an_hour(uint64_t at)
{
	return at % HOUR >= 5 * SECOND;
}

static bool twice_in_a_row_each_minute(uint64_t at)
{
	return at % MINUTE >= 10 * SECOND;
}

static bool three_minutes_of_four(uint64_t at)
{
	return at % (4 * MINUTE) < 3 * MINUTE;
}

static bool all_but_a_minute_each_two_hours(uint64_t at)
{
	return at % (2 * HOUR) >= MINUTE;
}

static void a_good_day_publishes_once(void **state)
{
	struct day day = day_of(always);

	(void)state;
	live(&day, DAY);
	assert_int_equal(day.publications, 1); /* its first success */
	assert_int_equal(day.longest_out, 0);
}

static void one_that_never_was_up_publishes_nothing(void **state)
{
	struct day day = day_of(never);

	(void)state;
	live(&day, DAY);
	assert_int_equal(day.publications, 0);
	assert_int_equal(day.turns, 1);
	assert_true(day.p.h.penalty == 0);
}

/* A failure an hour, 24 of them, with a fall of 3: they never add up. */
static void failures_spread_over_a_day_never_add_up(void **state)
{
	struct day day = day_of(but_once_an_hour);
	struct day minute = day_of(twice_in_a_row_each_minute);

	(void)state;
	live(&day, DAY);
	assert_int_equal(day.p.h.state, HEALTH_UP);
	assert_int_equal(day.turns, 1);
	assert_int_equal(day.publications, 1);
	live(&minute, DAY);
	assert_int_equal(minute.turns, 1);
	assert_int_equal(minute.publications, 1);
}

/* Looked at every 50 ms, with no patience at all: 864,000 changes in a day. */
static void ten_flaps_a_second_are_damped_and_stay_so(void **state)
{
	struct day day = day_of(ten_times_a_second);

	(void)state;
	day.interval = 50;
	day.p.params.rise = day.p.params.fall = 1;
	live(&day, DAY);
	assert_int_equal(day.turns, DAY / 50);
	assert_true(day.p.h.damped);
	/* Up and down until the penalty of the fourth, and never again. */
	assert_in_range(day.publications, 2, 8);
	assert_true(day.longest_out > DAY - MINUTE);

	/* It calms down: back within log2(16000 / 1000) = 4 half lives, in steps. */
	day.is_up = always;
	day.publications = 0;
	day.longest_out = 0;
	day.out_since = 0;
	live(&day, HOUR);
	assert_true(patient_serves(&day.p));
	assert_int_equal(patient_share(&day.p), 100);
	assert_in_range(day.longest_out, 39 * MINUTE, 40 * MINUTE + SECOND);
	assert_int_equal(day.publications, 10);
}

/* With the usual patience, such a one is not even seen to change. */
static void ten_flaps_a_second_make_no_row(void **state)
{
	struct day day = day_of(ten_times_a_second);

	(void)state;
	day.interval = 50;
	live(&day, DAY);
	assert_int_equal(day.turns, 1);
	assert_int_equal(day.publications, 1);
}

static void flaps_of_minutes_are_damped_until_it_calms_down(void **state)
{
	struct day day = day_of(three_minutes_of_four);
	unsigned int turns;
	uint64_t damped_at;

	(void)state;
	live(&day, DAY);
	/* It changed twice each four minutes, and was out after the first few. */
	turns = day.turns;
	assert_in_range(turns, 700, 721);
	assert_in_range(day.publications, 8, 11 * 6);
	assert_true(day.p.h.damped);
	assert_true(day.longest_out > 23 * HOUR);

	day.is_up = always;
	damped_at = day.p.now;
	while (day.p.h.damped)
		live(&day, day.interval);
	assert_in_range(day.p.now - damped_at, 10 * MINUTE, 40 * MINUTE);
	live(&day, 5 * MINUTE);
	assert_int_equal(patient_share(&day.p), 100);
	live(&day, DAY);
	assert_int_equal(day.p.h.state, HEALTH_UP);
	assert_true(day.p.h.penalty < 1);
}

/* Real failures far apart are not flapping: each costs its minute and a slow start. */
static void failures_hours_apart_are_not_damped(void **state)
{
	struct day day = day_of(all_but_a_minute_each_two_hours);

	(void)state;
	live(&day, DAY);
	/* 12 times down and up, but for the first, which begins unknown. */
	assert_int_equal(day.turns, 24);
	assert_int_equal(day.publications, 10 + 11 * 11);
	assert_true(day.longest_out < 2 * MINUTE);
	assert_true(day.served > DAY * 97 / 100);
}

/* Asleep for six hours in the middle, and set back by a day at its end. */
static void a_day_with_a_clock_that_jumps(void **state)
{
	struct day day = day_of(but_once_an_hour);

	(void)state;
	day.p.now = 2 * DAY;
	health_init(&day.p.h, day.p.now);
	live(&day, 6 * HOUR);
	day.p.now += 6 * HOUR;
	live(&day, 6 * HOUR);
	day.p.now -= DAY;
	live(&day, 6 * HOUR);
	assert_int_equal(day.turns, 1);
	assert_int_equal(day.publications, 1);
	assert_true(day.p.h.since <= day.p.now);

	/* While damped, too: it waits out the half lives that are left, not a day. */
	day.is_up = three_minutes_of_four;
	live(&day, HOUR);
	assert_true(day.p.h.damped);
	day.p.now -= DAY / 2;
	day.is_up = always;
	live(&day, 45 * MINUTE);
	assert_true(patient_serves(&day.p));
	assert_int_equal(patient_share(&day.p), 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_day_publishes_once),
		cmocka_unit_test(one_that_never_was_up_publishes_nothing),
		cmocka_unit_test(failures_spread_over_a_day_never_add_up),
		cmocka_unit_test(ten_flaps_a_second_are_damped_and_stay_so),
		cmocka_unit_test(ten_flaps_a_second_make_no_row),
		cmocka_unit_test(flaps_of_minutes_are_damped_until_it_calms_down),
		cmocka_unit_test(failures_hours_apart_are_not_damped),
		cmocka_unit_test(a_day_with_a_clock_that_jumps),
	};

	return cmocka_run_group_tests_name("a day of health", tests, NULL, NULL);
}
