// SPDX-License-Identifier: GPL-2.0-only
/* Where flows are put that come from maps of another size, on sets in plain memory. */
#include "plan_testing.h"

#include "daemon/flows_migrate.c"

int flows_walk_maps(const int outer[FLOW_MAP__MAX], unsigned int cpus,
		    flows_visit *visit, void *context)
{
	(void)outer;
	(void)cpus;
	(void)visit;
	(void)context;
	return 0;
}

int flows_open_inner(int outer, uint32_t cpu, uint32_t *entries)
{
	(void)outer;
	(void)cpu;
	(void)entries;
	return -ENOENT;
}

int flows_now(const struct dataplane *dp, uint32_t *tick)
{
	(void)dp;
	*tick = 0;
	return 0;
}

#define NOW 100000U
#define SETS 8192U
#define VIP_ID 3

/* The new maps of one CPU, in which 8192 sets are in use. */
struct scene {
	struct dataplane dp;
	struct plan_vip vip;
	const struct plan_vip *vips[IDS];
	struct target target;
	struct migration m;
	bool v6;
};

static struct scene *scene_new(bool v6)
{
	struct scene *s = calloc(1, sizeof(*s));

	s->v6 = v6;
	s->dp.config.mix_key = 0x123456789abcdef1ULL;
	s->vip.id = VIP_ID;
	s->vip.spec.addr.family = v6 ? AF_INET6 : AF_INET;
	s->vip.spec.addr.v4.s_addr = htonl(0xcb00710a);
	s->vip.spec.protocol = IPPROTO_TCP;
	s->vips[VIP_ID] = &s->vip;
	s->target.sets[0] = calloc(SETS, sizeof(struct flow_set4));
	s->target.sets[1] = calloc(SETS, sizeof(struct flow_set6));
	s->m = (struct migration){ .dp = &s->dp, .vips = s->vips, .targets = &s->target,
				   .now = NOW, .mask = { SETS - 1, SETS - 1 } };
	return s;
}

static void scene_free(struct scene *s)
{
	free(s->target.sets[0]);
	free(s->target.sets[1]);
	free(s);
}

static struct flow_seen seen(const struct scene *s, uint32_t client, uint16_t backend,
			     uint16_t stamp)
{
	struct flow_seen flow = { .v6 = s->v6, .vip = VIP_ID, .sport = 1024, .dport = 80,
				  .flow = { .backend = backend, .stamp = stamp } };

	flow.src.family = s->v6 ? AF_INET6 : AF_INET;
	if (s->v6)
		memcpy(&flow.src.v6, &client, sizeof(client));
	else
		flow.src.v4.s_addr = client;
	return flow;
}

static uint32_t index_of(const struct scene *s, uint32_t client, uint32_t mask)
{
	__u64 src[2] = { client, 0 }, dst[2];
	uint16_t ports[2] = { htons(1024), htons(80) };
	uint32_t word;

	memcpy(&word, ports, sizeof(word));
	memcpy(dst, &s->vip.spec.addr.v6, sizeof(dst));
	return flow_mix_masked(s->v6 ? flow_mix6(s->dp.config.mix_key, src, dst, word) :
				       flow_mix4(s->dp.config.mix_key, client,
						 s->vip.spec.addr.v4.s_addr, word),
			       mask);
}

/* By the first way of a set that has the client; 0: it has none. */
static uint16_t backend_in(const struct scene *s, uint32_t index, uint32_t client)
{
	const struct flow_set4 *set4 = (struct flow_set4 *)s->target.sets[0] + index;
	const struct flow_set6 *set6 = (struct flow_set6 *)s->target.sets[1] + index;
	int way;

	for (way = 0; way < FLOW_WAYS; way++)
		if (s->v6 ? set6->backend[way] && set6->src[way][0] == client :
			    set4->backend[way] && set4->src[way] == client)
			return s->v6 ? set6->backend[way] : set4->backend[way];
	return 0;
}

static void move(struct scene *s, const struct flow_seen *flow)
{
	assert_int_equal(move_one(&s->m, flow), FLOW_KEEP);
}

/*
 * A tuple that is used again while what is left of its connection before lies in a
 * set that it was due in before: the live one is what packets go by.
 */
static void the_live_one_of_two_entries_counts(void **state)
{
	const uint16_t stale = FLOW_STAMP(NOW + 100, FLOW_CONFIRMED | FLOW_CLOSING);
	const uint16_t live[] = { FLOW_STAMP(NOW + 90, FLOW_CONFIRMED),
				  FLOW_STAMP(NOW + 20, 0),
				  FLOW_STAMP(NOW + 119, FLOW_CONFIRMED | FLOW_CLOSING) };
	struct scene *s;
	size_t i;

	(void)state;
	for (i = 0; i < 4 * sizeof(live) / sizeof(*live); i++) {
		struct flow_seen old, new;

		s = scene_new(i & 1);
		old = seen(s, 77, 1, stale);
		new = seen(s, 77, 2, live[i / 4]);
		move(s, i & 2 ? &new : &old);
		move(s, i & 2 ? &old : &new);
		assert_int_equal(backend_in(s, index_of(s, 77, SETS - 1), 77), 2);
		scene_free(s);
	}
}

/* Packets of it look there as well. */
static void whose_set_is_full_goes_where_it_was_due_before(void **state)
{
	const uint16_t stamp = FLOW_STAMP(NOW + 90, FLOW_CONFIRMED);
	uint32_t client, full = SETS - 1, n;
	struct flow_seen flow;
	struct scene *s;
	int v6;

	(void)state;
	for (v6 = 0; v6 < 2; v6++) {
		s = scene_new(v6);
		for (client = n = 1; n <= FLOW_WAYS + 1; client++) {
			if (index_of(s, client, SETS - 1) != full)
				continue;
			flow = seen(s, client, n++, stamp);
			move(s, &flow);
		}
		assert_int_equal(s->m.moved, FLOW_WAYS + 1);
		assert_int_equal(s->m.lost, 0);
		assert_int_equal(backend_in(s, full / 2, client - 1), FLOW_WAYS + 1);
		scene_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_live_one_of_two_entries_counts),
		cmocka_unit_test(whose_set_is_full_goes_where_it_was_due_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
