// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sets that come into use as there are more flows. In front of each rule is the
 * line of the program that it fails without.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "flow_mix.h"
#include "world_lanes.h"

#define FLOWS 32768
#define MASK_START ((1U << FLOW_SET_BITS_START) - 1)
#define MASK_MAX (4 * MASK_START + 3)
#define CLIENTS 64000
#define LINGER 5 /* ticks: a closing flow is over but for strays */

#define expect_tcp(client, flags, backend) \
	assert_int_equal(lane_tcp(lane, client, flags), backend)

static uint32_t mask(struct lane *lane)
{
	return lane->world->skel->data->flow_mask[lane->v6];
}

static void set_mask(struct lane *lane, uint32_t value)
{
	lane->world->skel->data->flow_mask[lane->v6] = value;
}

static void establish(struct lane *lane, uint16_t client)
{
	lane_tcp(lane, client, TCP_SYN);
	lane_tcp(lane, client, TCP_ACK);
}

/* Clients come until as many sets are in use; how many came. */
static uint16_t grow_to(struct lane *lane, uint32_t wanted)
{
	uint16_t n;

	for (n = 0; mask(lane) < wanted; n++) {
		assert_in_range(n, 0, CLIENTS);
		establish(lane, n);
	}
	assert_int_equal(mask(lane), wanted);
	return n;
}

static void mark(void *context, uint16_t sport, uint16_t dport, struct flow *flow)
{
	bool *known = context;

	(void)dport;
	(void)flow;
	assert_false(known[sport - 1024]);
	known[sport - 1024] = true;
}

/* The caller frees it: which clients have an entry. */
static bool *all_known(struct lane *lane)
{
	bool *known = calloc(CLIENTS, sizeof(*known));

	assert_non_null(known);
	world_each_flow(lane->world, lane->v6, mark, known);
	return known;
}

/*
 * flow_level_note, from plain_refresh and ct_lookup; lanes of the long way fail
 * without the latter. Flows fall into sets at random: one in eight has three and more
 * when there are as many flows as sets, or some more.
 */
static void sets_double_when_many_are_full(struct lane *lane)
{
	uint16_t n;

	assert_int_equal(mask(lane), MASK_START);
	n = grow_to(lane, 2 * MASK_START + 1);
	assert_in_range(n, MASK_START, 2 * MASK_START);
	assert_in_range(lane_count(lane), n - n / 50, n);
	assert_int_equal(lane->world->skel->data->flow_mask[!lane->v6], MASK_START);
}

/*
 * FLOW_CROWD: were it four, the last way would be taken by one first packet from the
 * other, and no set ever be full.
 */
static void flows_that_come_all_at_once_double_them(struct lane *lane)
{
	for (uint16_t n = 0; n < 8 * MASK_START; n++)
		lane_tcp(lane, n, TCP_SYN);
	assert_int_equal(mask(lane), MASK_START);
	for (uint16_t n = 0; n < 8 * MASK_START; n++)
		lane_tcp(lane, n, TCP_ACK);
	assert_true(mask(lane) > MASK_START);
}

/* flow_level_note: levels->mask. A program that takes over begins with it. */
static void level_is_kept_for_the_next_program(struct lane *lane)
{
	struct flow_levels levels;
	uint32_t zero = 0;

	grow_to(lane, 2 * MASK_START + 1);
	assert_int_equal(bpf_map_lookup_elem(
				 bpf_map__fd(lane->world->skel->maps.flow_levels), &zero,
				 &levels), 0);
	assert_int_equal(levels.mask[lane->v6], 2 * MASK_START + 1);
	assert_int_equal(levels.mask[!lane->v6], 0);
}

/* flow_level_note: mask >= flow_mask_max. */
static void sets_do_not_become_more_than_there_are(struct lane *lane)
{
	for (uint16_t n = grow_to(lane, MASK_MAX); n < FLOWS; n++)
		establish(lane, n);
	assert_int_equal(mask(lane), MASK_MAX);
}

/* flow_level_note: only confirmed flows. */
static void flood_of_first_packets_does_not_double_them(struct lane *lane)
{
	for (uint16_t n = 0; n < 2 * MASK_START; n++)
		lane_tcp(lane, n, TCP_SYN);
	assert_int_equal(mask(lane), MASK_START);
}

/* flow_level_note: FLOW_LEFT(stamp[way], now) > FLOW_IDLE_MAX. */
static void flows_that_have_ended_do_not_double_them(struct lane *lane)
{
	uint16_t n = 0;

	/* Not for so long that the clock of their stamps comes round. */
	lane_idle(lane, 100, 100);
	for (int round = 0; round < 4; round++) {
		for (uint32_t i = 0; i < MASK_START / 2; i++)
			establish(lane, n++);
		world_age_flows(lane->world, 101);
	}
	assert_int_equal(mask(lane), MASK_START);
}

/* flow_set_confirmed: flow_is_over, of what has closed and fallen silent. */
static void flows_that_have_closed_do_not_double_them(struct lane *lane)
{
	uint16_t n = 0;

	for (int round = 0; round < 4; round++) {
		for (uint32_t i = 0; i < MASK_START / 2; i++, n++) {
			establish(lane, n);
			lane_tcp(lane, n, TCP_FIN | TCP_ACK);
		}
		world_age_flows(lane->world, LINGER);
	}
	assert_int_equal(mask(lane), MASK_START);
}

/* ct_find_set: mask >>= 1; ct_place: in->backend[...] = 0. */
static void flows_are_found_after_sets_have_doubled(struct lane *lane)
{
	uint16_t n = grow_to(lane, MASK_MAX);
	bool *known = all_known(lane), *after;

	lane_table(lane, B_NEXT);
	for (uint16_t i = 0; i < n; i++)
		if (known[i])
			expect_tcp(i, TCP_ACK, B_IPIP4);
	after = all_known(lane);
	assert_memory_equal(known, after, CLIENTS);
	free(known);
	free(after);
}

/* ct_find_set: also what has sent a SYN only. */
static void flow_that_opens_is_known_after_sets_have_doubled(struct lane *lane)
{
	for (uint16_t i = 0; i < 16; i++)
		expect_tcp(i, TCP_SYN, B_IPIP4);
	set_mask(lane, MASK_MAX);
	lane_table(lane, B_NEXT);
	for (uint16_t i = 0; i < 16; i++)
		expect_tcp(i, TCP_ACK, B_IPIP4);
	assert_int_equal(lane_count(lane), 16);
}

/* The set of a client's flow when so many are in use. */
static uint32_t set_of(struct lane *lane, uint16_t client, uint32_t in_use)
{
	uint32_t ports = htons(1024 + client) | (uint32_t)htons(VIP_PORT) << 16;
	__u64 key = lane->world->config.mix_key, src[2] = { 0 }, dst[2] = { 0 };

	frame_address(lane->v6 ? CLIENT6 : CLIENT4, lane->v6, (uint8_t *)src);
	frame_address(lane->v6 ? VIP6 : VIP4, lane->v6, (uint8_t *)dst);
	return flow_mix_masked(lane->v6 ? flow_mix6(key, src, dst, ports) :
					  flow_mix4(key, src[0], dst[0], ports),
			       in_use);
}

/* Others fill the set that the client's flow is due in after the next doubling. */
static void fill_next_set(struct lane *lane, uint16_t client)
{
	uint32_t next = set_of(lane, client, 2 * MASK_START + 1);
	int n = 0;

	for (uint16_t other = 0; n < FLOW_WAYS; other++) {
		assert_in_range(other, 0, CLIENTS);
		if (other == client || set_of(lane, other, 2 * MASK_START + 1) != next)
			continue;
		establish(lane, other);
		n++;
	}
}

/* Whose flow is due in another set after the next doubling. */
static uint16_t client_that_moves(struct lane *lane)
{
	uint16_t client = 0;

	while (set_of(lane, client, 2 * MASK_START + 1) <= MASK_START)
		client++;
	return client;
}

/* ct_find_set: flow_is_over. The client's next connection is due in another set. */
static void closed_flow_in_an_old_set_is_nobodys(struct lane *lane)
{
	uint16_t client = client_that_moves(lane);

	establish(lane, client);
	expect_tcp(client, TCP_FIN | TCP_ACK, B_IPIP4);
	world_age_flows(lane->world, LINGER);
	set_mask(lane, 2 * MASK_START + 1);
	lane_table(lane, B_NEXT);
	expect_tcp(client, TCP_ACK, B_NEXT);
}

/* ct_place: only when there is a way does the flow leave the one that it had. */
static void flow_whose_new_set_is_full_keeps_its_place(struct lane *lane)
{
	uint16_t client = client_that_moves(lane);

	establish(lane, client);
	set_mask(lane, 2 * MASK_START + 1);
	fill_next_set(lane, client);
	assert_int_equal(lane_count(lane), 1 + FLOW_WAYS);

	lane_table(lane, B_NEXT);
	for (int i = 0; i < 4; i++)
		expect_tcp(client, TCP_ACK, B_IPIP4);
	assert_int_equal(lane_count(lane), 1 + FLOW_WAYS);
	lane_expect_life(lane, client, FLOW_IDLE_MAX);
}

int main(void)
{
	static const struct lane_rule rules[] = {
		LANE_RULE(sets_double_when_many_are_full),
		LANE_RULE(flows_that_come_all_at_once_double_them),
		LANE_RULE(level_is_kept_for_the_next_program),
		LANE_RULE(sets_do_not_become_more_than_there_are),
		LANE_RULE(flood_of_first_packets_does_not_double_them),
		LANE_RULE(flows_that_have_ended_do_not_double_them),
		LANE_RULE(flows_that_have_closed_do_not_double_them),
		LANE_RULE(flows_are_found_after_sets_have_doubled),
		LANE_RULE(flow_that_opens_is_known_after_sets_have_doubled),
		LANE_RULE(closed_flow_in_an_old_set_is_nobodys),
		LANE_RULE(flow_whose_new_set_is_full_keeps_its_place),
	};

	return lanes_run(FLOW_FORM_SETS, FLOWS, rules, sizeof(rules) / sizeof(rules[0]));
}
