// SPDX-License-Identifier: GPL-2.0-only
/*
 * How VIPs use backends, in commits: after every single element that is written a known
 * flow fares as it did, or as it is to.
 */
#include "publish_change.h"
#include "verdicts_testing.h"

/* By VIP, address and port; MODEL_NONE: such a flow is nobody's. */
struct sight {
	uint8_t use[WORLD_VIPS][WORLD_BACKENDS][MODEL_PORTS];
};

static struct {
	struct sight old, new;
	uint16_t ids[WORLD_BACKENDS][MODEL_PORTS], vips[WORLD_VIPS]; /* 0: not in both */
	unsigned int steps, seen;
} watch;

/* As bpf/maps.bpf.h backend_use() does it. */
static uint8_t packet_uses(uint16_t vip, uint16_t id)
{
	struct verdict_key key = { vip, id };
	const struct backend *backend = &fake.backends[id];
	const struct fake_verdict *verdict = NULL;

	if (backend->flags & BACKEND_VERDICTS)
		verdict = fake_verdict(&key, sizeof(key));
	return publish_use_by(verdict && verdict->used ? verdict->value.flags :
							 backend->flags);
}

/* As bpf/plain.bpf.h does it; false: it hands the packet on. */
static bool plain_keeps(uint16_t id)
{
	const uint8_t flags = fake.backends[id].flags;

	return flags & BACKEND_PLAIN && !(flags & BACKEND_DOWN);
}

static uint8_t planned_use(const struct plan *plan, int v, int b, int p)
{
	const struct plan_vip *vip = vip_of(plan, world_vips[v]);
	const struct plan_backend *backend = sick_backend(plan, b, p);
	const struct plan_verdict *verdict;

	if (!vip || !backend)
		return MODEL_NONE;
	verdict = plan_find_verdict(plan, vip->id, backend->id);
	return verdict ? verdict->use : backend->use;
}

static void old_or_new(void)
{
	watch.steps++;
	for (int v = 0; v < WORLD_VIPS; v++)
		for (int b = 0; b < WORLD_BACKENDS; b++)
			for (int p = 0; p < MODEL_PORTS; p++) {
				int old = fate_of(watch.old.use[v][b][p]);
				int new = fate_of(watch.new.use[v][b][p]), now;

				if (!watch.vips[v] || !watch.ids[b][p])
					continue;
				now = fate_of(packet_uses(watch.vips[v], watch.ids[b][p]));
				assert_true(now == old || now == new);
				if (plain_keeps(watch.ids[b][p]))
					assert_true(!old || !new);
				watch.seen++;
			}
}

static void watch_change(const struct plan *from, const struct plan *to)
{
	for (int v = 0; v < WORLD_VIPS; v++) {
		const struct plan_vip *vip = vip_of(from, world_vips[v]);

		watch.vips[v] = vip && vip_of(to, world_vips[v]) ? vip->id : 0;
		for (int b = 0; b < WORLD_BACKENDS; b++)
			for (int p = 0; p < MODEL_PORTS; p++) {
				const struct plan_backend *backend = sick_backend(from, b, p);

				watch.ids[b][p] = backend && sick_backend(to, b, p) ?
							  backend->id : 0;
				watch.old.use[v][b][p] = planned_use(from, v, b, p);
				watch.new.use[v][b][p] = planned_use(to, v, b, p);
			}
	}
	fake_after_write = old_or_new;
}

static size_t verdicts_in_map(void)
{
	size_t i, n = 0;

	for (i = 0; i < FAKE_VERDICTS; i++)
		n += fake.verdicts[i].used;
	return n;
}

static void expect(const struct plan *plan)
{
	for (size_t i = 0; i < plan->n_verdicts; i++) {
		const struct plan_verdict *v = &plan->verdicts[i];

		assert_int_equal(packet_uses(v->vip, v->backend), v->use);
		if (fate_of(v->use))
			assert_false(plain_keeps(v->backend));
	}
	assert_int_equal(verdicts_in_map(), plan->n_verdicts);
}

static struct plan *next_sick(struct sick_world *w, const struct plan *plan)
{
	struct plan_health health = { .ask = sick_ask, .context = w };
	struct plan *next = NULL;

	if (plan->cfg && world_below(&w->world, 8) == 0) {
		assert_int_equal(plan_release(plan, &health, drop_all, NULL, &next, NULL), 0);
		return next;
	}
	do {
		sick_edit(w);
	} while (world_below(&w->world, 2));
	return sick_plan(w, plan);
}

static void run_worlds(unsigned int fail_below)
{
	memset(&watch, 0, sizeof(watch));
	for (int seed = 1; seed <= 40; seed++) {
		struct kernel k = new_kernel();
		struct plan *plan = empty_plan();
		struct sick_world w;

		sick_start(&w, seed);
		for (int i = 0; i < 60; i++) {
			struct plan *next = next_sick(&w, plan);

			fake_ops = 0;
			fake_fail_at = fail_below ? 1 + world_below(&w.world, fail_below) : 0;
			watch_change(plan, next);
			if (change(&k, plan, next)) {
				assert_true(fail_below);
				fake_fail_at = 0;
				expect(plan);
				watch_change(plan, next);
				assert_int_equal(change(&k, plan, next), 0);
			}
			fake_fail_at = 0;
			expect(next);
			plan_free(&plan);
			plan = next;
		}
		plan_free(&plan);
		kernel_release(&k);
	}
	assert_true(watch.steps > 5000 && watch.seen > 100000);
}

static void known_flow_fares_as_it_did_or_is_to(void **state)
{
	(void)state;
	run_worlds(0);
}

static void known_flow_fares_so_when_a_change_fails(void **state)
{
	(void)state;
	run_worlds(10);
}

/* A world in which there are some. */
static struct plan *plan_with_verdicts(struct sick_world *w)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	struct plan *plan;

	sick_start(w, 7);
	w->world.vip_pool[1] = 1;
	w->state[1][0] = EFFECTIVE_DOWN;
	plan = sick_plan(w, none);
	assert_int_equal(plan->n_verdicts, 1);
	return plan;
}

static void same_verdicts_again_write_nothing(void **state)
{
	struct kernel k = new_kernel();
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *plan = NULL;
	_cleanup_plan_ struct plan *again = NULL;
	struct sick_world w;

	(void)state;
	plan = plan_with_verdicts(&w);
	again = sick_plan(&w, plan);
	assert_int_equal(change(&k, none, plan), 0);
	expect(plan);
	fake_writes = 0;
	assert_int_equal(change(&k, plan, again), 0);
	assert_int_equal(fake_writes, 0);
	kernel_release(&k);
}

static void backend_goes_the_plain_way_unless_its_vips_part(void **state)
{
	struct kernel k = new_kernel();
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *plan = NULL;
	_cleanup_plan_ struct plan *well = NULL;
	_cleanup_plan_ struct plan *left = NULL;
	struct sick_world w;
	uint16_t id, other;

	(void)state;
	plan = plan_with_verdicts(&w);
	id = sick_backend(plan, 0, 0)->id;
	other = sick_backend(plan, 1, 0)->id;
	assert_int_equal(change(&k, none, plan), 0);
	assert_int_equal(fake.backends[id].flags & (BACKEND_PLAIN | BACKEND_VERDICTS),
			 BACKEND_VERDICTS);
	assert_int_equal(fake.backends[other].flags & (BACKEND_PLAIN | BACKEND_VERDICTS),
			 BACKEND_PLAIN);

	w.state[1][0] = EFFECTIVE_UP;
	well = sick_plan(&w, plan);
	assert_int_equal(change(&k, plan, well), 0);
	assert_int_equal(fake.backends[id].flags & (BACKEND_PLAIN | BACKEND_VERDICTS),
			 BACKEND_PLAIN);
	assert_int_equal(verdicts_in_map(), 0);

	w.world.pools[1].weight[0] = -1;
	left = sick_plan(&w, well);
	assert_int_equal(change(&k, well, left), 0);
	assert_int_equal(fake.backends[id].flags & (BACKEND_PLAIN | BACKEND_VERDICTS),
			 BACKEND_PLAIN | BACKEND_VERDICTS);
	assert_int_equal(verdicts_in_map(), 1);
	kernel_release(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_flow_fares_as_it_did_or_is_to),
		cmocka_unit_test(known_flow_fares_so_when_a_change_fails),
		cmocka_unit_test(same_verdicts_again_write_nothing),
		cmocka_unit_test(backend_goes_the_plain_way_unless_its_vips_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
