/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TESTS_VERDICTS_TESTING_H
#define FAIRLEAD_TESTS_VERDICTS_TESTING_H

/*
 * How VIPs of a random world use its backends, told by a model that knows nothing of
 * ids, tables or entries: a VIP has what the checks of its pool say, and of what left
 * that pool what was known last, or that it drains.
 */

#include "plan_testing.h"

#define MODEL_PORTS 3 /* of GUE: none, 6080, 6081 */
#define MODEL_NONE 0xff

/* What the checks say of each pool's backends: EFFECTIVE_UP, _DRAIN or _DOWN. */
struct sick_world {
	struct world world;
	uint8_t state[WORLD_POOLS][WORLD_BACKENDS];
	/* enum backend_use, by VIP, address and port; MODEL_NONE: no flow may be there */
	uint8_t use[WORLD_VIPS][WORLD_BACKENDS][MODEL_PORTS];
};

static inline void sick_start(struct sick_world *w, uint64_t seed)
{
	world_start(&w->world, seed);
	memset(w->state, EFFECTIVE_UP, sizeof(w->state));
	memset(w->use, MODEL_NONE, sizeof(w->use));
}

static inline void sick_edit(struct sick_world *w)
{
	static const uint8_t states[] = { EFFECTIVE_UP, EFFECTIVE_UP, EFFECTIVE_DRAIN,
					  EFFECTIVE_DOWN, EFFECTIVE_DOWN };
	uint32_t pool = world_below(&w->world, WORLD_POOLS);
	uint32_t backend = world_below(&w->world, WORLD_BACKENDS);

	if (world_below(&w->world, 2))
		world_edit(&w->world);
	else
		w->state[pool][backend] = states[world_below(&w->world, 5)];
}

static inline int number_of_address(const struct addr *addr)
{
	struct addr known;

	for (int i = 0; i < WORLD_BACKENDS; i++) {
		assert_int_equal(addr_parse(world_addresses[i], "backend", &known, NULL), 0);
		if (!addr_compare(&known, addr))
			return i;
	}
	fail_msg("no such backend");
	return 0;
}

static inline int number_of_port(uint16_t gue_port)
{
	return gue_port ? gue_port - 6080 + 1 : 0;
}

static inline void sick_ask(void *context, const struct cfg_pool *pool,
			    const struct way *way, const struct cfg_backend *backend,
			    struct plan_backend_health *out)
{
	const struct sick_world *w = context;

	(void)way;
	*out = (struct plan_backend_health){
		.state = w->state[pool->name[1] - '0'][number_of_address(&backend->addr)],
		.share = HEALTH_SHARE_FULL,
	};
}

static inline uint8_t use_in(enum effective_state state)
{
	switch (state) {
	case EFFECTIVE_UP:
		return USE_UP;
	case EFFECTIVE_DRAIN:
		return USE_DRAIN;
	default:
		return USE_FAILED;
	}
}

/* To the world as it is now, from what it was. */
static inline void sick_follow(struct sick_world *w)
{
	for (int v = 0; v < WORLD_VIPS; v++) {
		int pool = w->world.vip_pool[v];

		for (int b = 0; b < WORLD_BACKENDS; b++)
			for (int p = 0; p < MODEL_PORTS; p++) {
				uint8_t *use = &w->use[v][b][p];

				if (pool < 0)
					*use = MODEL_NONE;
				else if (w->world.pools[pool].weight[b] >= 0 &&
					 number_of_port(w->world.pools[pool].gue_port) == p)
					*use = use_in(w->state[pool][b]);
				else if (*use == USE_UP)
					*use = USE_DRAIN;
			}
	}
}

static inline struct plan *sick_plan(struct sick_world *w, const struct plan *old)
{
	struct plan_health health = { .ask = sick_ask, .context = w };
	struct cfg *cfg = world_cfg(&w->world);
	struct plan *plan = NULL;
	struct err err = { 0 };

	for (size_t i = 0; i < cfg->n_pools; i++)
		cfg->pools[i].all_down = ALL_DOWN_DROP;
	if (plan_make(&cfg, old, &health, &plan, &err))
		fail_msg("%s", err.text);
	return plan;
}

static inline const struct plan_backend *sick_backend(const struct plan *plan, int b, int p)
{
	struct backend_ident ident = { .encap = p ? ENCAP_GUE : ENCAP_IPIP,
				       .gue_port = p ? 6080 + p - 1 : 0 };

	assert_int_equal(addr_parse(world_addresses[b], "backend", &ident.addr, NULL), 0);
	return plan_find_backend(plan, &ident);
}

/* What becomes of known flows: stay, stay if the VIP says so, are chosen again. */
static inline int fate_of(uint8_t use)
{
	return use == USE_FAILED ? 1 : use == USE_DOWN ? 2 : 0;
}

#endif
