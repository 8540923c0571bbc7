// SPDX-License-Identifier: GPL-2.0-only
/* What is kept between tables spares builds, changes no slot, and is bounded. */
#include "table_sets.h"

#include <errno.h>
#include <pthread.h>

#include "core/cleanup.h"
#include "core/table_kept.h"

#define SIZE 2039
#define BACKENDS 200
#define BYTES (1u << 20)

struct fixture {
	struct random random;
	struct set set;
	struct table_params params;
	struct table_kept *kept;
	uint8_t shares[SETS_BACKENDS_MAX];
	uint16_t kept_slots[SIZE], fresh_slots[SIZE];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->random.state = 55;
	f->kept = table_kept_new(BYTES);
	*state = f;
	return !f->kept;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	table_kept_free(&f->kept);
	free(f);
	return 0;
}

static void start(struct fixture *f, int round, size_t n)
{
	f->params = (struct table_params){ round % TABLE__MAX, SIZE, 0, 20 };
	set_fill(&f->set, &f->random, n, round % 3 ? WEIGHTS_EQUAL : WEIGHTS_SMALL);
	memset(f->shares, 50, sizeof(f->shares));
}

/* Tables that it took; the slots are those of a call that keeps nothing. */
static size_t build(struct fixture *f)
{
	struct table_overlay_report report, fresh;
	struct err err = { 0 };
	int result = table_kept_build(f->kept, &f->params, f->set.backends, f->set.n,
				      f->shares, f->kept_slots, &report, &err);

	if (result < 0)
		fail_msg("%s", err.text);
	assert_int_equal(table_build_health(&f->params, f->set.backends, f->set.n,
					    f->shares, f->fresh_slots, &fresh, NULL),
			 result);
	if (result != TABLE_ALL_DOWN)
		assert_memory_equal(f->kept_slots, f->fresh_slots, sizeof(f->fresh_slots));
	assert_int_equal(report.n_down, fresh.n_down);
	assert_int_equal(report.moved, fresh.moved);
	return report.n_built;
}

static void who_stands_in_is_found_once_for_all_that_climb(void **state)
{
	struct fixture *f = *state;

	start(f, TABLE_MAGLEV, BACKENDS);
	assert_int_equal(build(f), 1 + BACKENDS);
	for (unsigned int share = 1; share <= 100; share += 9) {
		memset(f->shares, (int)share, sizeof(f->shares));
		assert_int_equal(build(f), share < 100 ? 0 : 1);
	}
}

/* Some are not up yet, and not the same ones each time. */
static void a_rebuilt_table_takes_no_build_for_each_that_climbs(void **state)
{
	struct fixture *f = *state;

	for (int algorithm = 0; algorithm < TABLE__MAX; algorithm++) {
		start(f, algorithm, BACKENDS);
		for (size_t up = 10; up < BACKENDS / 2; up += 30) {
			for (size_t i = 0; i < BACKENDS; i++)
				f->shares[i] = i < up ? 10 : 0;
			assert_true(build(f) <= 2);
		}
	}
}

/* Shares, sets and parameters come and go in any order. */
static void what_is_kept_changes_no_slot(void **state)
{
	struct fixture *f = *state;

	for (int round = 0; round < 6 * TABLE__MAX; round++) {
		start(f, round, 9 + random_below(&f->random, 40));
		for (int change = 0; change < 8; change++) {
			for (size_t i = 0; i < f->set.n; i++)
				f->shares[i] = (uint8_t)random_below(&f->random, 101);
			f->shares[random_below(&f->random, (uint32_t)f->set.n)] = 0;
			build(f);
			if (change == 3)
				f->set.backends[2].weight += 3;
			if (change == 4)
				set_shuffle(&f->set, &f->random);
			if (change == 5)
				f->params.slack_percent += 7;
			if (change == 6)
				f->params.ring_points += 5;
		}
	}
}

static void what_differs_in_anything_is_another(void **state)
{
	struct fixture *f = *state;
	struct table_backend old;

	start(f, TABLE_MAGLEV, 20);
	build(f);
	assert_int_equal(build(f), 0);

	f->set.backends[19].weight++;
	assert_int_equal(build(f), 21);
	f->set.backends[19].weight--;
	assert_int_equal(build(f), 0);

	old = f->set.backends[19];
	f->set.backends[19].name = "another";
	assert_int_equal(build(f), 21);
	f->set.backends[19] = old;
	f->set.n--;
	assert_int_equal(build(f), 20);
	f->set.n++;
	f->params.size = 1021;
	assert_true(table_kept_build(f->kept, &f->params, f->set.backends, 20, f->shares,
				     f->kept_slots, NULL, NULL) == TABLE_OVERLAID);
	f->params.size = SIZE;
	assert_int_equal(build(f), 0);
}

static void few_that_lend_are_not_kept(void **state)
{
	struct fixture *f = *state;

	start(f, TABLE_MAGLEV, 40);
	memset(f->shares, TABLE_SHARE_FULL, sizeof(f->shares));
	for (size_t i = 0; i < TABLE_KEPT_BUILDS_MIN - 1; i++)
		f->shares[i] = 50;
	build(f);
	assert_int_equal(table_kept_bytes(f->kept), 0);
	f->shares[20] = 50;
	build(f);
	assert_true(table_kept_bytes(f->kept) > 0);
}

static void what_was_used_last_stays_within_the_bound(void **state)
{
	struct fixture *f = *state;
	char first[] = "first-000", name[] = "other-000";

	start(f, TABLE_MAGLEV, 20);
	f->set.backends[0].name = first;
	build(f);
	/* Each takes over 4 KiB, and the bound is 1 MiB. */
	for (int i = 0; i < 600; i++) {
		snprintf(name, sizeof(name), "other-%03d", i);
		f->set.backends[0].name = name;
		assert_int_equal(build(f), 21);
		assert_true(table_kept_bytes(f->kept) <= BYTES);
		f->set.backends[0].name = first;
		assert_int_equal(build(f), 0);
	}
	f->set.backends[0].name = "other-000";
	assert_int_equal(build(f), 21);
}

static void what_is_larger_than_the_bound_is_not_kept(void **state)
{
	struct fixture *f = *state;

	table_kept_free(&f->kept);
	f->kept = table_kept_new(1000);
	start(f, TABLE_MAGLEV, 20);
	build(f);
	assert_int_equal(table_kept_bytes(f->kept), 0);
	assert_int_equal(build(f), 21);
}

static void a_refusal_is_that_of_a_build(void **state)
{
	struct fixture *f = *state;
	struct err err, fresh;

	start(f, TABLE_MAGLEV, 20);
	f->set.backends[7].name = f->set.backends[3].name;
	assert_int_equal(table_kept_build(f->kept, &f->params, f->set.backends, 20,
					  f->shares, f->kept_slots, NULL, &err), -EINVAL);
	assert_int_equal(table_build_health(&f->params, f->set.backends, 20, f->shares,
					    f->kept_slots, NULL, &fresh), -EINVAL);
	assert_string_equal(err.text, fresh.text);
	assert_int_equal(table_kept_bytes(f->kept), 0);
}

struct worker {
	struct fixture *f;
	uint16_t slots[SIZE];
	int result;
};

static void *work(void *context)
{
	struct worker *w = context;

	for (int i = 0; i < 50 && !w->result; i++)
		w->result = table_kept_build(w->f->kept, &w->f->params, w->f->set.backends,
					     w->f->set.n, w->f->shares, w->slots, NULL, NULL);
	return NULL;
}

static void threads_may_ask_for_the_same(void **state)
{
	struct fixture *f = *state;
	struct worker workers[4];
	pthread_t threads[4];

	start(f, TABLE_MAGLEV, 30);
	build(f);
	for (size_t i = 0; i < 4; i++) {
		workers[i] = (struct worker){ .f = f };
		assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
	}
	for (size_t i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(workers[i].result, TABLE_OVERLAID);
		assert_memory_equal(workers[i].slots, f->fresh_slots, sizeof(f->fresh_slots));
	}
}

#define KEPT(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		KEPT(who_stands_in_is_found_once_for_all_that_climb),
		KEPT(a_rebuilt_table_takes_no_build_for_each_that_climbs),
		KEPT(what_is_kept_changes_no_slot),
		KEPT(what_differs_in_anything_is_another),
		KEPT(few_that_lend_are_not_kept),
		KEPT(what_was_used_last_stays_within_the_bound),
		KEPT(what_is_larger_than_the_bound_is_not_kept),
		KEPT(a_refusal_is_that_of_a_build),
		KEPT(threads_may_ask_for_the_same),
	};

	return cmocka_run_group_tests_name("tables kept", tests, NULL, NULL);
}
