// SPDX-License-Identifier: GPL-2.0-only
/*
 * When the id of a removed backend is free: the walk over the flows, on flows
 * and a clock that the test makes up.
 */
#include "plan_testing.h"

#include <bpf/bpf.h>

static unsigned int flows_deleted;

static int fake_delete(int fd, const void *key)
{
	(void)key;
	assert_int_equal(fd, 7);
	flows_deleted++;
	return 0;
}
#define bpf_map_delete_elem fake_delete

#include "daemon/sweep.c"

void txn_submit(struct daemon *d, const struct txn_request *request)
{
	(void)d;
	(void)request;
}

int flows_walk_maps(const struct dataplane *dp, bool v6, flows_visit *visit,
		    void (*start)(void *context, int fd), void *context)
{
	(void)dp;
	(void)v6;
	(void)visit;
	(void)start;
	(void)context;
	return 0;
}

#define NOW 100000U
#define HOURS_2 6706 /* 7,200 s in units of 2^30 ns */

static struct sweep *new_sweep(void)
{
	struct sweep *s = calloc(1, sizeof(*s));

	s->now = NOW;
	s->state[5] = ID_DRAINING;
	flows_deleted = 0;
	return s;
}

static void visit(struct sweep *s, uint16_t backend, uint32_t seen)
{
	const struct flow flow = { .backend = backend, .seen = seen };
	const struct flow_key4 key = { .src = 1 };
	struct flow_walk walk = { .sweep = s, .fd = 7 };

	assert_int_equal(visit_flow(&walk, &key, &flow), 0);
}

static void id_that_a_live_flow_names_is_kept(void **state)
{
	static const uint32_t alive[] = { NOW, NOW - 1, NOW - HOURS_2, NOW + 1 };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(alive); i++) {
		_cleanup_free_ struct sweep *s = new_sweep();

		visit(s, 5, alive[i]);
		assert_false(is_forgotten(s, 5));
		assert_int_equal(flows_deleted, 0);
	}
}

static void idle_flow_is_deleted_and_its_id_forgotten(void **state)
{
	_cleanup_free_ struct sweep *s = new_sweep();

	(void)state;
	visit(s, 5, NOW - 7000); /* 7,516 s */
	assert_int_equal(flows_deleted, 1);
	assert_true(is_forgotten(s, 5));
}

static void one_live_flow_among_idle_ones_keeps_the_id(void **state)
{
	_cleanup_free_ struct sweep *s = new_sweep();

	(void)state;
	visit(s, 5, NOW - 7000);
	visit(s, 5, NOW - 1);
	visit(s, 5, NOW - 7000);
	assert_int_equal(flows_deleted, 2);
	assert_false(is_forgotten(s, 5));
}

static void flows_of_active_backends_are_left_alone(void **state)
{
	_cleanup_free_ struct sweep *s = new_sweep();

	(void)state;
	visit(s, 6, NOW - 50000);
	assert_int_equal(flows_deleted, 0);
	assert_false(is_forgotten(s, 6));
	assert_true(is_forgotten(s, 5));
}

static void clock_may_wrap(void **state)
{
	_cleanup_free_ struct sweep *s = new_sweep();

	(void)state;
	s->now = 10;
	visit(s, 5, UINT32_MAX - 20);
	assert_false(is_forgotten(s, 5));
	s->state[5] = ID_DRAINING;
	visit(s, 5, 10U - 7000);
	assert_true(is_forgotten(s, 5));
	assert_int_equal(flows_deleted, 1);
}

/* What is not draining any more when the release comes, stays. */
static void backend_that_came_back_meanwhile_is_not_released(void **state)
{
	static const char *const yaml =
		"interface: eth0\nvips: [{address: \"203.0.113.1:80/tcp\", backends: [%s]}]\n";
	char with[256], without[256];
	_cleanup_free_ struct sweep *s = new_sweep();
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *both = NULL;
	_cleanup_plan_ struct plan *one = NULL;
	_cleanup_plan_ struct plan *again = NULL;
	_cleanup_plan_ struct plan *released = NULL;
	_cleanup_plan_ struct plan *kept = NULL;
	uint16_t id;

	(void)state;
	snprintf(with, sizeof(with), yaml, "{address: 10.0.0.1}, {address: 10.0.0.2}");
	snprintf(without, sizeof(without), yaml, "{address: 10.0.0.2}");
	both = must_plan_yaml(with, none);
	one = must_plan_yaml(without, both);
	again = must_plan_yaml(with, one);
	id = backend_id(one, "10.0.0.1");
	s->state[id] = ID_DRAINING;
	assert_int_equal(plan_release(one, NULL, is_forgotten, s, &released, NULL), 0);
	assert_int_equal(backend_id(released, "10.0.0.1"), 0);
	assert_int_equal(plan_release(again, NULL, is_forgotten, s, &kept, NULL), 0);
	assert_int_equal(backend_id(kept, "10.0.0.1"), id);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(id_that_a_live_flow_names_is_kept),
		cmocka_unit_test(idle_flow_is_deleted_and_its_id_forgotten),
		cmocka_unit_test(one_live_flow_among_idle_ones_keeps_the_id),
		cmocka_unit_test(flows_of_active_backends_are_left_alone),
		cmocka_unit_test(clock_may_wrap),
		cmocka_unit_test(backend_that_came_back_meanwhile_is_not_released),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
