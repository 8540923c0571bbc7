// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who gets a place when a set is full: two sets, of four flows each. In front of each
 * rule is the line of the program that it fails without.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "world_lanes.h"

#define ROOM 8
#define FLOWS (ROOM / 2) /* for which the daemon would make so much room */
#define CLIENTS_MAX 200
#define STRANGERS 1000 /* the first of them */
#define FLOOD 60       /* packets: some for each set */
#define SILENT 40      /* ticks: over a minute */
#define IDLE 1000
#define LINGER 5 /* ticks: a closing flow is over but for strays */

#define expect_tcp(client, flags, backend) \
	assert_int_equal(lane_tcp(lane, client, flags), backend)

/* Clients that have an entry, by set and way: the first four are in one set. */
struct known {
	uint16_t client[ROOM];
	unsigned int n;
};

static void add_known(void *context, uint16_t sport, uint16_t dport, struct flow *flow)
{
	struct known *known = context;

	(void)dport;
	(void)flow;
	assert_in_range(known->n, 0, ROOM - 1);
	known->client[known->n++] = sport - 1024;
}

static struct known all_known(struct lane *lane)
{
	struct known known = { .n = 0 };

	world_each_flow(lane->world, lane->v6, add_known, &known);
	return known;
}

static bool is_known(struct lane *lane, uint16_t client)
{
	struct flow flow;

	return lane_flow(lane, client, &flow);
}

/* Clients come until every way is somebody's. */
static struct known fill(struct lane *lane, void (*come)(struct lane *, uint16_t))
{
	for (uint16_t client = 0; lane_count(lane) < ROOM; client++) {
		assert_in_range(client, 0, CLIENTS_MAX);
		come(lane, client);
	}
	return all_known(lane);
}

static void open_only(struct lane *lane, uint16_t client)
{
	lane_tcp(lane, client, TCP_SYN);
}

static void open_and_confirm(struct lane *lane, uint16_t client)
{
	lane_tcp(lane, client, TCP_SYN);
	lane_tcp(lane, client, TCP_ACK);
}

static void begin_midway(struct lane *lane, uint16_t client)
{
	lane_tcp(lane, client, TCP_ACK);
}

static void ask(struct lane *lane, uint16_t client)
{
	lane_udp(lane, client);
}

static void ask_twice(struct lane *lane, uint16_t client)
{
	lane_udp(lane, client);
	lane_udp(lane, client);
}

static void flood(struct lane *lane, void (*come)(struct lane *, uint16_t))
{
	for (uint16_t i = 0; i < FLOOD; i++)
		come(lane, STRANGERS + i);
}

/* Its packets tell nobody, so they refresh nothing. */
static void expect_all_known(struct lane *lane, const struct known *known)
{
	for (unsigned int i = 0; i < known->n; i++)
		assert_true(is_known(lane, known->client[i]));
	assert_int_equal(lane_count(lane), ROOM);
}

static void refresh_all_but_first(struct lane *lane, const struct known *known,
				  uint8_t flags)
{
	for (unsigned int i = 1; i < ROOM; i++)
		lane_tcp(lane, known->client[i], flags);
}

/* All but the first, which has gone to somebody else. */
static void expect_first_replaced(struct lane *lane, struct known known)
{
	assert_false(is_known(lane, known.client[0]));
	memmove(known.client, known.client + 1, --known.n * sizeof(known.client[0]));
	expect_all_known(lane, &known);
}

/* flow_victim: lowest = confirmed. */
static void opening_packets_take_no_confirmed_flows_place(struct lane *lane)
{
	struct known known = fill(lane, open_and_confirm);

	lane_table(lane, B_NEXT);
	flood(lane, open_only);
	flood(lane, ask);
	expect_all_known(lane, &known);
	for (unsigned int i = 0; i < ROOM; i++)
		expect_tcp(known.client[i], TCP_ACK, B_IPIP4);
}

/* flow_victim: !opens. However long they have been silent. */
static void opening_packets_take_no_silent_flows_place(struct lane *lane)
{
	struct known known = fill(lane, open_and_confirm);

	world_age_flows(lane->world, SILENT);
	flood(lane, open_only);
	flood(lane, ask);
	expect_all_known(lane, &known);
}

/* ct_place: opens, without which the first packets of UDP might ask. */
static void first_packets_of_udp_take_no_silent_flows_place(struct lane *lane)
{
	struct known known = fill(lane, ask_twice);

	world_age_flows(lane->world, SILENT);
	flood(lane, ask);
	expect_all_known(lane, &known);
}

/* flow_victim: idle - FLOW_SILENCE. */
static void packets_from_midway_take_no_lively_flows_place(struct lane *lane)
{
	struct known known = fill(lane, open_and_confirm);

	world_age_flows(lane->world, SILENT - 10);
	flood(lane, begin_midway);
	expect_all_known(lane, &known);
}

/* ct_remember: what began midway is unconfirmed like a SYN's. */
static void packets_from_midway_displace_each_other(struct lane *lane)
{
	struct known known = fill(lane, open_and_confirm);
	uint16_t first = known.client[0];

	lane_idle(lane, IDLE, IDLE);
	refresh_all_but_first(lane, &known, TCP_ACK);
	expect_tcp(first, TCP_SYN, B_IPIP4);
	flood(lane, begin_midway);
	expect_first_replaced(lane, known);
}

/* flow_victim: lowest += idle - FLOW_SILENCE. */
static void packet_from_midway_takes_the_place_of_a_silent_flow(struct lane *lane)
{
	struct known known = fill(lane, open_and_confirm);

	world_age_flows(lane->world, SILENT);
	refresh_all_but_first(lane, &known, TCP_ACK);
	flood(lane, begin_midway);
	expect_first_replaced(lane, known);
}

/* flow_victim: score < lowest. The others of its set are silent as well. */
static void flow_that_was_silent_longest_goes_first(struct lane *lane)
{
	struct known known = fill(lane, open_and_confirm);
	uint16_t stranger = STRANGERS;

	world_age_flows(lane->world, SILENT);
	refresh_all_but_first(lane, &known, TCP_ACK);
	world_age_flows(lane->world, SILENT);
	while (is_known(lane, known.client[0]))
		begin_midway(lane, stranger++);
	for (unsigned int i = 1; i < FLOW_WAYS; i++)
		assert_true(is_known(lane, known.client[i]));
}

/*
 * flow_victim: vip[way] == id. What is left of the life of another VIP's flow does
 * not tell how long that has been silent.
 */
static void lively_flow_of_a_vip_with_a_short_timeout_is_not_silent(struct lane *lane)
{
	struct known known;

	lane_idle(lane, IDLE, 30);
	known = fill(lane, ask_twice);
	flood(lane, begin_midway);
	expect_all_known(lane, &known);
}

/* flow_victim: score = 1. */
static void first_packet_takes_the_place_of_a_flow_that_has_ended(struct lane *lane)
{
	struct known known;

	lane_idle(lane, IDLE, IDLE);
	known = fill(lane, open_and_confirm);
	world_age_flows(lane->world, SILENT);
	refresh_all_but_first(lane, &known, TCP_ACK);
	world_age_flows(lane->world, IDLE - SILENT / 2);
	flood(lane, open_only);
	expect_first_replaced(lane, known);
}

/* flow_victim: score = left + 2. */
static void of_unconfirmed_flows_the_oldest_goes_first(struct lane *lane)
{
	struct known known = fill(lane, open_only);
	uint16_t stranger = STRANGERS;

	world_age_flows(lane->world, 5);
	refresh_all_but_first(lane, &known, TCP_SYN);
	while (is_known(lane, known.client[0]))
		open_only(lane, stranger++);
	for (unsigned int i = 1; i < FLOW_WAYS; i++)
		assert_true(is_known(lane, known.client[i]));
}

/*
 * flow_victim: FLOW_CLOSING. Those that close would fill the ways of a busy host, and
 * who comes next find none.
 */
static void first_packet_takes_the_place_of_a_flow_that_closes(struct lane *lane)
{
	struct known known = fill(lane, open_and_confirm);

	expect_tcp(known.client[0], TCP_FIN | TCP_ACK, B_IPIP4);
	flood(lane, open_only);
	expect_first_replaced(lane, known);
}

/* flow_victim: 2 + FLOW_IDLE_MAX. It may be half closed, and last. */
static void closing_flow_that_is_sent_to_goes_after_unconfirmed_ones(struct lane *lane)
{
	struct known known = fill(lane, open_and_confirm);

	expect_tcp(known.client[1], TCP_FIN | TCP_ACK, B_IPIP4);
	expect_tcp(known.client[0], TCP_SYN, B_IPIP4);
	flood(lane, open_only);
	expect_first_replaced(lane, known);
}

/* flow_is_over: FLOW_LINGER. */
static void closing_flow_that_is_silent_goes_before_unconfirmed_ones(struct lane *lane)
{
	struct known known = fill(lane, open_and_confirm);
	uint16_t stranger = STRANGERS;

	expect_tcp(known.client[0], TCP_FIN | TCP_ACK, B_IPIP4);
	world_age_flows(lane->world, LINGER);
	expect_tcp(known.client[1], TCP_SYN, B_IPIP4);
	while (is_known(lane, known.client[0]) && is_known(lane, known.client[1]))
		open_only(lane, stranger++);
	assert_true(is_known(lane, known.client[1]));
}

/* flow_victim: (left & 0xff). */
static void of_closing_flows_the_one_silent_longest_goes_first(struct lane *lane)
{
	struct known known = fill(lane, open_and_confirm);
	uint16_t stranger = STRANGERS;

	expect_tcp(known.client[1], TCP_FIN | TCP_ACK, B_IPIP4);
	world_age_flows(lane->world, LINGER - 3);
	expect_tcp(known.client[0], TCP_FIN | TCP_ACK, B_IPIP4);
	while (is_known(lane, known.client[0]) && is_known(lane, known.client[1]))
		open_only(lane, stranger++);
	assert_true(is_known(lane, known.client[0]));
}

static void forget(void *context, uint16_t sport, uint16_t dport, struct flow *flow)
{
	const uint16_t *client = context;

	(void)dport;
	if (sport == 1024 + *client)
		flow->backend = 0;
}

/* flow_victim: score = 0. */
static void way_that_was_emptied_is_taken_first(struct lane *lane)
{
	struct known known = fill(lane, open_only);
	uint16_t stranger = STRANGERS;

	world_age_flows(lane->world, 5);
	expect_tcp(known.client[0], TCP_SYN, B_IPIP4);
	world_each_flow(lane->world, lane->v6, forget, &known.client[0]);
	while (lane_count(lane) < ROOM)
		open_only(lane, stranger++);
	for (unsigned int i = 1; i < FLOW_WAYS; i++)
		assert_true(is_known(lane, known.client[i]));
}

/* plain_backend: BACKEND_VALID, of none; ct_holds: !ct->flow.backend. */
static void flow_that_was_forgotten_goes_by_the_table(struct lane *lane)
{
	uint16_t client = 0;

	open_and_confirm(lane, client);
	world_each_flow(lane->world, lane->v6, forget, &client);
	assert_int_equal(lane_count(lane), 0);
	lane_table(lane, B_NEXT);
	expect_tcp(client, TCP_ACK, B_NEXT);
	expect_tcp(client, TCP_ACK, B_NEXT);
	lane_expect_flags(lane, client, FLOW_GUESS | FLOW_CONFIRMED);
	assert_int_equal(lane_count(lane), 1);
}

/* ct_place: ct->way < FLOW_WAYS. A full set is no reason to forget what is in it. */
static void known_flows_are_chosen_again_in_their_places(struct lane *lane)
{
	struct known known = fill(lane, open_and_confirm);

	lane_table(lane, B_NEXT);
	lane_down(lane, B_IPIP4);
	for (unsigned int i = 0; i < ROOM; i++)
		expect_tcp(known.client[i], i % 2 ? TCP_SYN : TCP_ACK, B_NEXT);
	expect_all_known(lane, &known);
	lane_up(lane, B_IPIP4);
	lane_table(lane, B_IPIP4);
	for (unsigned int i = 0; i < ROOM; i++)
		expect_tcp(known.client[i], TCP_ACK, B_NEXT);
}

int main(void)
{
	static const struct lane_rule rules[] = {
		LANE_RULE(opening_packets_take_no_confirmed_flows_place),
		LANE_RULE(opening_packets_take_no_silent_flows_place),
		LANE_RULE(first_packets_of_udp_take_no_silent_flows_place),
		LANE_RULE(packets_from_midway_take_no_lively_flows_place),
		LANE_RULE(packets_from_midway_displace_each_other),
		LANE_RULE(packet_from_midway_takes_the_place_of_a_silent_flow),
		LANE_RULE(flow_that_was_silent_longest_goes_first),
		LANE_RULE(lively_flow_of_a_vip_with_a_short_timeout_is_not_silent),
		LANE_RULE(first_packet_takes_the_place_of_a_flow_that_has_ended),
		LANE_RULE(of_unconfirmed_flows_the_oldest_goes_first),
		LANE_RULE(first_packet_takes_the_place_of_a_flow_that_closes),
		LANE_RULE(closing_flow_that_is_sent_to_goes_after_unconfirmed_ones),
		LANE_RULE(closing_flow_that_is_silent_goes_before_unconfirmed_ones),
		LANE_RULE(of_closing_flows_the_one_silent_longest_goes_first),
		LANE_RULE(way_that_was_emptied_is_taken_first),
		LANE_RULE(flow_that_was_forgotten_goes_by_the_table),
		LANE_RULE(known_flows_are_chosen_again_in_their_places),
	};

	return lanes_run(FLOW_FORM_SETS, FLOWS, rules, sizeof(rules) / sizeof(rules[0]));
}
