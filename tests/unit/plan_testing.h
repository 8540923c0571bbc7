/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TESTS_PLAN_TESTING_H
#define FAIRLEAD_TESTS_PLAN_TESTING_H

/*
 * Random configurations, edit by edit from a fixed seed, for the tests of plans
 * and of how they are published. They are small and their parts come from few
 * choices, so that pools often become equal, part, and meet again.
 */

#include "cfg_testing.h"

#include "core/plan.h"
#include "tests/lib/random.h"

#define WORLD_POOLS 5
#define WORLD_BACKENDS 7
#define WORLD_VIPS 8

static const char *const world_addresses[WORLD_BACKENDS] = {
	"10.1.0.11", "10.1.0.12", "10.1.0.13", "10.1.0.14",
	"10.1.0.15", "fd00:1::11", "fd00:1::12",
};

static const char *const world_vips[WORLD_VIPS] = {
	"203.0.113.1:80/tcp",    "203.0.113.1:443/tcp",   "203.0.113.1:any/udp",
	"203.0.113.2:any/tcp",   "203.0.113.3:53/udp",    "[2001:db8::1]:80/tcp",
	"[2001:db8::1]:any/tcp", "[2001:db8::2]:443/tcp",
};

/* What a VIP says beside its pool; by family where it names sources. */
#define WORLD_OPTIONS 8
static const char *const world_options[WORLD_OPTIONS][2] = {
	{ "", "" },
	{ ", hash: source, tcp_junk: pass", ", udp_idle_timeout: 0" },
	{ ", deny: [192.0.2.0/24]", ", deny: ['2001:db8:1::/48']" },
	{ ", allow: [192.0.2.0/24]", ", allow: ['2001:db8:1::/48']" },
	{ ", allow: [192.0.0.0/16, 192.0.2.7], deny: [192.0.2.0/24]",
	  ", allow: ['2001:db8::/32', '2001:db8:1::7'], deny: ['2001:db8:1::/48']" },
	{ ", allow: [192.0.2.0/24], deny: [0.0.0.0/0, 192.0.2.7]",
	  ", allow: ['2001:db8:1::/48'], deny: ['::/0', '2001:db8:1::7']" },
	{ ", deny: [192.0.0.0/16], allow: [192.0.2.0/24], new_flow_limit: 9",
	  ", deny: ['2001:db8::/32'], allow: ['2001:db8:1::/48']" },
	{ ", allow: [192.0.2.0/30], oversize: send", ", allow: ['2001:db8:1::7']" },
};

struct world {
	struct random random;
	struct world_pool {
		int weight[WORLD_BACKENDS]; /* -1: not in the pool */
		int gue_port;               /* 0: ipip */
		bool large;                 /* 509 slots, else 251 */
	} pools[WORLD_POOLS];
	int vip_pool[WORLD_VIPS]; /* -1: there is no such VIP */
	int vip_options[WORLD_VIPS];
};

static inline uint32_t world_below(struct world *w, uint32_t limit)
{
	return random_below(&w->random, limit);
}

static inline void world_start(struct world *w, uint64_t seed)
{
	int i, j;

	*w = (struct world){ .random = { seed } };
	for (i = 0; i < WORLD_POOLS; i++)
		for (j = 0; j < WORLD_BACKENDS; j++)
			w->pools[i].weight[j] = j < 3 ? 1 : -1;
	for (i = 0; i < WORLD_VIPS; i++)
		w->vip_pool[i] = i < 4 ? 0 : -1;
}

static inline void world_edit(struct world *w)
{
	struct world_pool *pool = &w->pools[world_below(w, WORLD_POOLS)];
	int *weight = &pool->weight[world_below(w, WORLD_BACKENDS)];
	int number = world_below(w, WORLD_VIPS);
	int *vip = &w->vip_pool[number];

	switch (world_below(w, 12)) {
	case 0:
	case 1:
		*weight = *weight < 0 ? 1 : -1;
		break;
	case 2:
		if (*weight >= 0)
			*weight = world_below(w, 3);
		break;
	case 3:
		*pool = w->pools[world_below(w, WORLD_POOLS)];
		break;
	case 4:
		pool->gue_port = pool->gue_port ? 0 : 6080 + world_below(w, 2);
		break;
	case 5:
		pool->large = !pool->large;
		break;
	case 6:
		*vip = -1;
		break;
	case 10:
	case 11:
		w->vip_options[number] = world_below(w, WORLD_OPTIONS);
		break;
	default:
		*vip = world_below(w, WORLD_POOLS);
		break;
	}
}

static inline void world_print_pool(FILE *out, const struct world_pool *pool, int number)
{
	int j;

	fprintf(out, "  p%d:\n    table_size: %d\n", number, pool->large ? 509 : 251);
	if (pool->gue_port)
		fprintf(out, "    encap: gue\n    gue_port: %d\n", pool->gue_port);
	fprintf(out, "    backends: [");
	for (j = 0; j < WORLD_BACKENDS; j++)
		if (pool->weight[j] >= 0)
			fprintf(out, "{address: \"%s\", weight: %d},", world_addresses[j],
				pool->weight[j]);
	fprintf(out, "]\n");
}

static inline struct cfg *world_cfg(const struct world *w)
{
	_cleanup_free_ char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	int i;

	assert_non_null(out);
	fprintf(out, "interface: eth0\npools:\n");
	for (i = 0; i < WORLD_POOLS; i++)
		world_print_pool(out, &w->pools[i], i);
	fprintf(out, "vips:\n  [");
	for (i = 0; i < WORLD_VIPS; i++)
		if (w->vip_pool[i] >= 0)
			fprintf(out, "{address: \"%s\", pool: p%d%s},", world_vips[i],
				w->vip_pool[i],
				world_options[w->vip_options[i]][world_vips[i][0] == '[']);
	fprintf(out, "]\n");
	fclose(out);
	return must_parse(text);
}

/* The plan for *cfg, which it takes, or the test fails with the sentence. */
static inline struct plan *must_plan(struct cfg *cfg, const struct plan *old)
{
	struct plan *plan = NULL;
	struct err err = { 0 };

	if (plan_make(&cfg, old, NULL, &plan, &err))
		fail_msg("%s", err.text);
	assert_null(cfg);
	return plan;
}

static inline struct plan *must_plan_yaml(const char *yaml, const struct plan *old)
{
	return must_plan(must_parse(yaml), old);
}

static inline struct plan *empty_plan(void)
{
	struct plan *plan = NULL;

	assert_int_equal(plan_new(&plan, NULL), 0);
	return plan;
}

/* The id of a backend with that address, whatever its encapsulation; 0: none. */
static inline uint16_t backend_id(const struct plan *plan, const char *address)
{
	struct addr addr;
	size_t i;

	assert_int_equal(addr_parse(address, "backend", &addr, NULL), 0);
	for (i = 0; i < plan->n_backends; i++)
		if (!addr_compare(&plan->backends[i].ident.addr, &addr))
			return plan->backends[i].id;
	return 0;
}

static inline const struct plan_vip *vip_of(const struct plan *plan, const char *text)
{
	struct vip_spec spec;

	assert_int_equal(vip_spec_parse(text, &spec, NULL), 0);
	return plan_find_vip(plan, &spec);
}

static inline const struct plan_table *table_of(const struct plan *plan, const char *text)
{
	const struct plan_vip *vip = vip_of(plan, text);

	assert_non_null(vip);
	return plan_find_table(plan, vip->table);
}

#endif
