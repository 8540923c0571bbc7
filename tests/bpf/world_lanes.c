// SPDX-License-Identifier: GPL-2.0-only
#include "world_lanes.h"

#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <linux/bpf.h>
#include <cmocka.h>

#define FIRST_PORT 1024
#define NAME_MAX_LENGTH 160

static struct run run;

int lane_run(struct lane *lane, struct frame_spec spec)
{
	static const struct run_options plain;
	static struct frame in;

	spec.v6 = lane->v6;
	spec.tags = lane->way == WAY_LONG || (lane->way == WAY_TURNS && lane->sent % 2);
	lane->sent++;
	frame_build(&spec, &in);
	world_run(lane->world, &in, &plain, &run);
	return run.verdict;
}

enum backend_id lane_send(struct lane *lane, struct frame_spec spec)
{
	assert_int_equal(lane_run(lane, spec), XDP_TX);
	return world_sent_to(&run);
}

enum backend_id lane_tcp(struct lane *lane, uint16_t client, uint8_t flags)
{
	return lane_send(lane, (struct frame_spec){ .sport = FIRST_PORT + client,
						    .tcp_flags = flags });
}

enum backend_id lane_udp(struct lane *lane, uint16_t client)
{
	return lane_send(lane, (struct frame_spec){ .sport = FIRST_PORT + client,
						    .protocol = IPPROTO_UDP,
						    .dport = 53,
						    .payload = 32 });
}

struct lookup {
	uint16_t sport;
	unsigned int found;
	struct flow flow;
};

static void look_at(void *context, uint16_t sport, uint16_t dport, struct flow *flow)
{
	struct lookup *lookup = context;

	(void)dport;
	if (sport != lookup->sport)
		return;
	lookup->flow = *flow;
	lookup->found++;
}

bool lane_flow(struct lane *lane, uint16_t client, struct flow *flow)
{
	struct lookup lookup = { .sport = FIRST_PORT + client };

	world_each_flow(lane->world, lane->v6, look_at, &lookup);
	assert_in_range(lookup.found, 0, 1);
	*flow = lookup.flow;
	return lookup.found;
}

void lane_expect_life(struct lane *lane, uint16_t client, uint32_t ticks)
{
	struct flow flow;

	assert_true(lane_flow(lane, client, &flow));
	assert_in_range(FLOW_LEFT(flow.stamp, world_tick(lane->world)), ticks - 1, ticks);
}

void lane_expect_flags(struct lane *lane, uint16_t client, uint16_t flags)
{
	struct flow flow;

	assert_true(lane_flow(lane, client, &flow));
	assert_int_equal(flow.stamp & FLOW_FLAGS, flags);
}

unsigned int lane_count(struct lane *lane)
{
	return world_count_flows(lane->world, lane->v6);
}

void lane_table(struct lane *lane, enum backend_id id)
{
	world_table(lane->world, T_MAIN, WORLD_TABLE_SIZE, id);
}

static void set_down(struct backend *backend)
{
	backend->flags |= BACKEND_DOWN;
}

void lane_down(struct lane *lane, enum backend_id id)
{
	world_backend(lane->world, id, set_down);
}

static void set_failed(struct backend *backend)
{
	backend->flags |= BACKEND_DOWN | BACKEND_FAILED;
}

void lane_fail(struct lane *lane, enum backend_id id)
{
	world_backend(lane->world, id, set_failed);
}

void lane_verdict(struct lane *lane, enum backend_id id, uint8_t verdict, uint8_t flags)
{
	world_verdict(lane->world, lane->v6 ? V_WEB6 : V_WEB4, id, verdict, flags);
}

static void set_keep_down(struct vip *vip)
{
	vip->flags |= VIP_KEEP_DOWN;
}

void lane_keep_down(struct lane *lane)
{
	world_vips(lane->world, set_keep_down);
}

void lane_up(struct lane *lane, enum backend_id id)
{
	world_backend(lane->world, id, NULL);
}

static struct { uint16_t tcp, udp; } idle;

static void set_idle(struct vip *vip)
{
	bool udp = vip->id == V_DNS4 || vip->id == V_DNS6;

	vip->idle = udp ? idle.udp : idle.tcp;
	vip->tcp_idle = idle.tcp;
}

void lane_idle(struct lane *lane, uint16_t tcp, uint16_t udp)
{
	idle.tcp = tcp;
	idle.udp = udp;
	world_vips(lane->world, set_idle);
}

/* A rule in a lane, as cmocka's initial state. */
struct lane_case {
	char name[NAME_MAX_LENGTH];
	const struct lane_rule *rule;
	struct lane lane;
};

static void run_case(void **state)
{
	struct lane_case *c = *state;

	world_reset(c->lane.world);
	c->lane.sent = 0;
	c->rule->check(&c->lane);
}

static void name_case(struct lane_case *c)
{
	static const char *const forms[] = { "sets", "lru" };
	static const char *const ways[] = { "plain", "long", "turns" };

	snprintf(c->name, sizeof(c->name), "%s_ip%d_%s: %s",
		 forms[c->lane.world->config.flow_form], c->lane.v6 ? 6 : 4,
		 ways[c->lane.way], c->rule->name);
}

static int run_cases(struct world *world, const struct lane_rule *rules, size_t n)
{
	size_t lanes = 2 * WAY__MAX, i;
	struct lane_case *cases = calloc(n * lanes, sizeof(*cases));
	struct CMUnitTest *tests = calloc(n * lanes, sizeof(*tests));
	int result;

	if (!cases || !tests)
		abort();
	for (i = 0; i < n * lanes; i++) {
		cases[i].rule = &rules[i / lanes];
		cases[i].lane = (struct lane){ .world = world, .v6 = i % 2,
					       .way = i % lanes / 2 };
		name_case(&cases[i]);
		tests[i] = (struct CMUnitTest){ .name = cases[i].name,
						.test_func = run_case,
						.initial_state = &cases[i] };
	}
	result = _cmocka_run_group_tests("lanes", tests, n * lanes, NULL, NULL);
	free(cases);
	free(tests);
	return result;
}

int lanes_run(enum flow_form form, uint32_t flows, const struct lane_rule *rules,
	      size_t n)
{
	static struct world world;
	int result = world_open_sized(&world, form, flows);

	if (result)
		return result;
	result = run_cases(&world, rules, n);
	world_close(&world);
	return result;
}
