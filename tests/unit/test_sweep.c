// SPDX-License-Identifier: GPL-2.0-only
/*
 * When the id of a removed backend is free: the walk over the flows, on flows
 * and a clock that the test makes up.
 */
#include "plan_testing.h"

#include "daemon/sweep.c"

void txn_submit(struct daemon *d, const struct txn_request *request)
{
	(void)d;
	(void)request;
}

int flows_walk(const struct dataplane *dp, flows_visit *visit, void *context)
{
	(void)dp;
	(void)visit;
	(void)context;
	return 0;
}

int flows_now(const struct dataplane *dp, uint32_t *tick)
{
	(void)dp;
	*tick = 0;
	return 0;
}

#define NOW 100000U

static struct daemon the_daemon;

static struct sweep *new_sweep(void)
{
	struct sweep *s = calloc(1, sizeof(*s));

	s->daemon = &the_daemon;
	s->configured = the_daemon.txns.configured;
	s->now = NOW;
	s->state[5] = ID_DRAINING;
	return s;
}

/* An entry that has so many ticks left. */
static int visit(struct sweep *s, uint16_t backend, uint16_t alternate, int left)
{
	const struct flow_seen seen = {
		.flow = { .backend = backend, .alternate = alternate,
			  .stamp = FLOW_STAMP(s->now + left, FLOW_CONFIRMED) },
	};

	return visit_flow(s, &seen);
}

static void id_that_a_live_flow_names_is_kept(void **state)
{
	static const int left[] = { 0, 1, 3721, FLOW_IDLE_MAX };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(left); i++) {
		_cleanup_free_ struct sweep *s = new_sweep();

		assert_int_equal(visit(s, 5, 0, left[i]), FLOW_KEEP);
		assert_false(is_forgotten(s, 0, 5));
	}
}

static void id_that_is_the_alternate_of_a_guess_is_kept(void **state)
{
	_cleanup_free_ struct sweep *s = new_sweep();

	(void)state;
	assert_int_equal(visit(s, 6, 5, 10), FLOW_KEEP);
	assert_false(is_forgotten(s, 0, 5));
}

static void flow_that_has_ended_is_taken_away_and_names_nobody(void **state)
{
	_cleanup_free_ struct sweep *s = new_sweep();

	(void)state;
	assert_int_equal(visit(s, 5, 5, -1), FLOW_FORGET);
	assert_int_equal(visit(s, 5, 5, -500), FLOW_FORGET);
	assert_int_equal(visit(s, 6, 0, -1), FLOW_FORGET);
	assert_true(is_forgotten(s, 0, 5));
}

static void one_live_flow_among_ended_ones_keeps_the_id(void **state)
{
	_cleanup_free_ struct sweep *s = new_sweep();

	(void)state;
	visit(s, 5, 0, -1);
	visit(s, 5, 0, 1);
	visit(s, 5, 0, -1);
	assert_false(is_forgotten(s, 0, 5));
}

static void flows_of_active_backends_are_left_alone(void **state)
{
	_cleanup_free_ struct sweep *s = new_sweep();

	(void)state;
	assert_int_equal(visit(s, 6, 0, 100), FLOW_KEEP);
	assert_false(is_forgotten(s, 0, 6));
	assert_true(is_forgotten(s, 0, 5));
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

/* It may be one that is draining again, with flows where the walk had been. */
static void nothing_is_released_when_the_configuration_changed_meanwhile(void **state)
{
	_cleanup_free_ struct sweep *s = new_sweep();

	(void)state;
	assert_true(is_forgotten(s, 0, 5));
	the_daemon.txns.configured++;
	assert_false(is_forgotten(s, 0, 5));
}

static void add_leaver(struct sweep *s, uint16_t vip, uint16_t backend)
{
	s->leavers = reallocarray(s->leavers, s->n_leavers + 1, sizeof(*s->leavers));
	s->leavers[s->n_leavers++] = (struct leaver){ vip, backend, false };
	s->left[backend] = true;
}

/* Of the VIP, which 0 is none in particular: a flow that is kept by its tuple. */
static void visit_of(struct sweep *s, uint16_t vip, uint16_t backend, uint16_t alternate)
{
	const struct flow_seen seen = {
		.vip = vip,
		.by_tuple = !vip,
		.flow = { .backend = backend, .alternate = alternate,
			  .stamp = FLOW_STAMP(s->now + 10, FLOW_CONFIRMED) },
	};

	assert_int_equal(visit_flow(s, &seen), FLOW_KEEP);
}

static void backend_that_left_a_vip_is_kept_for_flows_of_that_vip_alone(void **state)
{
	static const struct {
		uint16_t vip, backend, alternate;
		bool first, second;
	} rows[] = {
		{ 3, 9, 0, true, true },   /* another VIP's */
		{ 1, 8, 0, true, true },   /* another backend's */
		{ 1, 9, 0, false, true },
		{ 2, 8, 9, true, false },
		{ 0, 9, 0, false, false }, /* anybody's */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sweep *s = new_sweep();

		add_leaver(s, 1, 9);
		add_leaver(s, 2, 9);
		visit_of(s, rows[i].vip, rows[i].backend, rows[i].alternate);
		assert_int_equal(is_forgotten(s, 1, 9), rows[i].first);
		assert_int_equal(is_forgotten(s, 2, 9), rows[i].second);
		assert_false(is_forgotten(s, 3, 9));
		assert_false(is_forgotten(s, 0, 9));
		sweep_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(id_that_a_live_flow_names_is_kept),
		cmocka_unit_test(id_that_is_the_alternate_of_a_guess_is_kept),
		cmocka_unit_test(flow_that_has_ended_is_taken_away_and_names_nobody),
		cmocka_unit_test(one_live_flow_among_ended_ones_keeps_the_id),
		cmocka_unit_test(flows_of_active_backends_are_left_alone),
		cmocka_unit_test(backend_that_came_back_meanwhile_is_not_released),
		cmocka_unit_test(nothing_is_released_when_the_configuration_changed_meanwhile),
		cmocka_unit_test(backend_that_left_a_vip_is_kept_for_flows_of_that_vip_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
