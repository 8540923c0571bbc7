// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is remembered of one flow, by itself: from its first packet to its end. In
 * front of each rule is the line of the program that it fails without.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <linux/bpf.h>
#include <netinet/in.h>

#include "world_lanes.h"

#define CLIENT 7
#define OTHER_CLIENT 8
#define OPENING_CLIENT 9
#define OPENING 32 /* ticks that a first packet waits for the second */
#define CLOSED 120 /* ticks that a closed connection is remembered */
#define TCP_IDLE 1000
#define UDP_IDLE 500

#define expect_tcp(client, flags, backend) \
	assert_int_equal(lane_tcp(lane, client, flags), backend)
#define expect_udp(client, backend) assert_int_equal(lane_udp(lane, client), backend)

/* ct_refresh: flags | FLOW_CONFIRMED; plain_refresh: *stamp = fresh. */
static void second_packet_confirms_a_flow(struct lane *lane)
{
	lane_idle(lane, TCP_IDLE, UDP_IDLE);
	expect_tcp(CLIENT, TCP_SYN, B_IPIP4);
	lane_expect_flags(lane, CLIENT, 0);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
	lane_expect_flags(lane, CLIENT, FLOW_CONFIRMED);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
	lane_expect_flags(lane, CLIENT, FLOW_CONFIRMED);

	expect_udp(OTHER_CLIENT, B_IPIP4);
	lane_expect_flags(lane, OTHER_CLIENT, 0);
	expect_udp(OTHER_CLIENT, B_IPIP4);
	lane_expect_flags(lane, OTHER_CLIENT, FLOW_CONFIRMED);
	assert_int_equal(lane_count(lane), 2);
}

/* ct_refresh: pkt->syn ? flags. */
static void syn_confirms_nothing(struct lane *lane)
{
	for (int i = 0; i < 4; i++)
		expect_tcp(CLIENT, TCP_SYN, B_IPIP4);
	lane_expect_flags(lane, CLIENT, 0);
	assert_int_equal(lane_count(lane), 1);
}

/* ct_stamp: !(flags & FLOW_CONFIRMED) && idle > FLOW_OPENING; plain_first_stamp. */
static void first_packet_of_tcp_is_remembered_for_a_minute(struct lane *lane)
{
	lane_idle(lane, TCP_IDLE, UDP_IDLE);
	expect_tcp(CLIENT, TCP_SYN, B_IPIP4);
	lane_expect_life(lane, CLIENT, OPENING);
	expect_tcp(OTHER_CLIENT, TCP_ACK, B_IPIP4);
	lane_expect_life(lane, OTHER_CLIENT, OPENING);

	world_age_flows(lane->world, OPENING + 1);
	lane_table(lane, B_NEXT);
	expect_tcp(CLIENT, TCP_SYN, B_NEXT);
	expect_tcp(OTHER_CLIENT, TCP_ACK, B_NEXT);
	lane_expect_life(lane, CLIENT, OPENING);
	lane_expect_life(lane, OTHER_CLIENT, OPENING);
	assert_int_equal(lane_count(lane), 2);
}

/* plain_first_stamp and ct_stamp: the lesser of both. */
static void short_idle_timeout_ends_first_packets_earlier(struct lane *lane)
{
	lane_idle(lane, 10, 8);
	expect_tcp(CLIENT, TCP_SYN, B_IPIP4);
	lane_expect_life(lane, CLIENT, 10);
	expect_udp(OTHER_CLIENT, B_IPIP4);
	lane_expect_life(lane, OTHER_CLIENT, 8);
}

/* ct_holds: !(ct->flow.stamp & FLOW_CONFIRMED). */
static void syn_retransmission_after_a_table_swap_keeps_its_backend(struct lane *lane)
{
	expect_tcp(CLIENT, TCP_SYN, B_IPIP4);
	lane_table(lane, B_NEXT);
	expect_tcp(CLIENT, TCP_SYN, B_IPIP4);
	expect_tcp(CLIENT, TCP_SYN, B_IPIP4);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
	expect_tcp(OTHER_CLIENT, TCP_SYN, B_NEXT);
}

/* ct_holds: !pkt->syn; plain_flow: pkt->syn. */
static void syn_on_a_confirmed_flow_chooses_again_in_its_place(struct lane *lane)
{
	expect_tcp(CLIENT, TCP_SYN, B_IPIP4);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
	lane_table(lane, B_NEXT);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
	expect_tcp(CLIENT, TCP_SYN, B_NEXT);
	lane_expect_flags(lane, CLIENT, 0);
	assert_int_equal(lane_count(lane), 1);

	/* It is a first packet like any other: the next SYN is a retransmission. */
	lane_table(lane, B_IPIP4);
	expect_tcp(CLIENT, TCP_SYN, B_NEXT);
	expect_tcp(CLIENT, TCP_ACK, B_NEXT);
}

static void close_and_go_on(struct lane *lane, uint16_t client, uint8_t last)
{
	expect_tcp(client, TCP_SYN, B_IPIP4);
	expect_tcp(client, TCP_ACK, B_IPIP4);
	lane_expect_life(lane, client, TCP_IDLE);
	expect_tcp(client, last, B_IPIP4);
	lane_expect_life(lane, client, CLOSED);
	expect_tcp(client, TCP_ACK, B_IPIP4);
	lane_expect_life(lane, client, CLOSED);
}

/*
 * ct_stamp: pkt->tcp_flags & (TCP_FIN | TCP_RST), flags & FLOW_CLOSING; and
 * plain_refresh: old & FLOW_CLOSING, without which the ACK behind a FIN would
 * give it back its whole life.
 */
static void fin_and_rst_shorten_the_life_of_a_flow(struct lane *lane)
{
	lane_idle(lane, TCP_IDLE, UDP_IDLE);
	close_and_go_on(lane, CLIENT, TCP_FIN | TCP_ACK);
	close_and_go_on(lane, OTHER_CLIENT, TCP_RST);
	lane_expect_flags(lane, CLIENT, FLOW_CONFIRMED | FLOW_CLOSING);
	lane_expect_flags(lane, OTHER_CLIENT, FLOW_CONFIRMED | FLOW_CLOSING);

	lane_table(lane, B_NEXT);
	world_age_flows(lane->world, CLOSED + 1);
	expect_tcp(CLIENT, TCP_ACK, B_NEXT);
	expect_tcp(OTHER_CLIENT, TCP_ACK, B_NEXT);
}

/* ct_refresh. Half-closed connections may last. */
static void closed_flow_goes_on_while_its_packets_come(struct lane *lane)
{
	lane_idle(lane, TCP_IDLE, UDP_IDLE);
	close_and_go_on(lane, CLIENT, TCP_FIN | TCP_ACK);
	lane_table(lane, B_NEXT);
	for (int i = 0; i < 5; i++) {
		world_age_flows(lane->world, CLOSED - 20);
		expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
		lane_expect_life(lane, CLIENT, CLOSED);
	}
}

/* ct_remember: flags begin anew. */
static void syn_on_a_closed_flow_lives_a_whole_life(struct lane *lane)
{
	lane_idle(lane, TCP_IDLE, UDP_IDLE);
	close_and_go_on(lane, CLIENT, TCP_FIN | TCP_ACK);
	lane_table(lane, B_NEXT);
	expect_tcp(CLIENT, TCP_SYN, B_NEXT);
	expect_tcp(CLIENT, TCP_ACK, B_NEXT);
	lane_expect_flags(lane, CLIENT, FLOW_CONFIRMED);
	lane_expect_life(lane, CLIENT, TCP_IDLE);
}

/* ct_stamp: idle > FLOW_CLOSED. */
static void closed_flow_lives_no_longer_than_an_idle_one(struct lane *lane)
{
	lane_idle(lane, 50, 50);
	expect_tcp(CLIENT, TCP_SYN, B_IPIP4);
	expect_tcp(CLIENT, TCP_FIN | TCP_ACK, B_IPIP4);
	lane_expect_life(lane, CLIENT, 50);
}

static void make_confirmed(struct lane *lane)
{
	expect_tcp(CLIENT, TCP_SYN, B_IPIP4);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
	expect_udp(OTHER_CLIENT, B_IPIP4);
	expect_udp(OTHER_CLIENT, B_IPIP4);
}

/* plain_refresh and ct_stamp: + idle, of the protocol. */
static void known_flow_lives_as_long_as_its_vip_and_protocol_say(struct lane *lane)
{
	lane_idle(lane, TCP_IDLE, UDP_IDLE);
	make_confirmed(lane);
	lane_expect_life(lane, CLIENT, TCP_IDLE);
	lane_expect_life(lane, OTHER_CLIENT, UDP_IDLE);

	lane_idle(lane, UDP_IDLE, TCP_IDLE);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
	expect_udp(OTHER_CLIENT, B_IPIP4);
	lane_expect_life(lane, CLIENT, UDP_IDLE);
	lane_expect_life(lane, OTHER_CLIENT, TCP_IDLE);
}

/* ct_holds and plain_refresh: FLOW_LEFT(...) > FLOW_IDLE_MAX. */
static void idle_flow_is_chosen_again_after_its_time_and_not_before(struct lane *lane)
{
	lane_idle(lane, TCP_IDLE, UDP_IDLE);
	make_confirmed(lane);
	lane_table(lane, B_NEXT);
	world_age_flows(lane->world, UDP_IDLE - 2);
	expect_udp(OTHER_CLIENT, B_IPIP4);
	world_age_flows(lane->world, UDP_IDLE + 1);
	expect_udp(OTHER_CLIENT, B_NEXT);
	lane_expect_flags(lane, OTHER_CLIENT, 0);

	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
	world_age_flows(lane->world, TCP_IDLE - 2);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
	world_age_flows(lane->world, TCP_IDLE + 1);
	expect_tcp(CLIENT, TCP_ACK, B_NEXT);
	lane_expect_flags(lane, CLIENT, FLOW_GUESS);
}

/* ct_holds: ct_idle(pkt, v6) < FLOW_IDLE_MAX. */
static void flow_of_a_vip_without_timeout_is_kept_while_it_has_an_entry(struct lane *lane)
{
	lane_idle(lane, FLOW_IDLE_MAX, FLOW_IDLE_MAX);
	make_confirmed(lane);
	lane_table(lane, B_NEXT);
	world_age_flows(lane->world, FLOW_IDLE_MAX + 100);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
	expect_udp(OTHER_CLIENT, B_IPIP4);
	lane_expect_life(lane, CLIENT, FLOW_IDLE_MAX);
	lane_expect_life(lane, OTHER_CLIENT, FLOW_IDLE_MAX);
}

/*
 * usable_backend and plain_backend: BACKEND_DOWN; ct_save: in the place of the old
 * entry.
 */
static void flow_of_a_down_backend_is_chosen_again_in_its_place(struct lane *lane)
{
	make_confirmed(lane);
	lane_table(lane, B_NEXT);
	lane_down(lane, B_IPIP4);
	expect_tcp(CLIENT, TCP_ACK, B_NEXT);
	expect_udp(OTHER_CLIENT, B_NEXT);
	assert_int_equal(lane_count(lane), 2);

	lane_up(lane, B_IPIP4);
	lane_table(lane, B_IPIP4);
	expect_tcp(CLIENT, TCP_ACK, B_NEXT);
	expect_udp(OTHER_CLIENT, B_NEXT);
	assert_int_equal(lane_count(lane), 2);
}

/* backend_keeps_flows: BACKEND_FAILED alone, without VIP_KEEP_DOWN. */
static void flow_of_a_failed_backend_is_chosen_again_unless_the_vip_keeps_it(struct lane *lane)
{
	make_confirmed(lane);
	lane_table(lane, B_NEXT);
	lane_fail(lane, B_IPIP4);
	expect_tcp(CLIENT, TCP_ACK, B_NEXT);
	expect_udp(OTHER_CLIENT, B_NEXT);
	assert_int_equal(lane_count(lane), 2);
}

/* backend_keeps_flows: VIP_KEEP_DOWN; usable_backend: syn and BACKEND_DOWN. */
static void flow_of_a_failed_backend_stays_when_the_vip_keeps_it(struct lane *lane)
{
	lane_keep_down(lane);
	make_confirmed(lane);
	expect_tcp(OPENING_CLIENT, TCP_SYN, B_IPIP4);
	lane_table(lane, B_NEXT);
	lane_fail(lane, B_IPIP4);
	for (int i = 0; i < 3; i++) {
		expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
		expect_udp(OTHER_CLIENT, B_IPIP4);
	}
	assert_int_equal(lane_count(lane), 3);

	/* What opens, again or anew, is no flow that it has. */
	expect_tcp(OPENING_CLIENT, TCP_SYN, B_NEXT);
	expect_tcp(CLIENT, TCP_SYN, B_NEXT);
	expect_tcp(CLIENT, TCP_ACK, B_NEXT);
	expect_udp(CLIENT, B_NEXT);

	lane_up(lane, B_IPIP4);
	expect_udp(OTHER_CLIENT, B_IPIP4);
	expect_tcp(CLIENT, TCP_ACK, B_NEXT);
}

/* backend_keeps_flows: BACKEND_DOWN without BACKEND_FAILED is the operator's word. */
static void flow_of_a_backend_that_was_taken_down_is_never_kept(struct lane *lane)
{
	lane_keep_down(lane);
	make_confirmed(lane);
	lane_table(lane, B_NEXT);
	lane_down(lane, B_IPIP4);
	expect_tcp(CLIENT, TCP_ACK, B_NEXT);
	expect_udp(OTHER_CLIENT, B_NEXT);
}

/* backend_use: key.vip. */
static void flow_of_a_backend_that_is_down_for_its_vip_alone_is_chosen_again(struct lane *lane)
{
	make_confirmed(lane);
	lane_table(lane, B_NEXT);
	lane_verdict(lane, B_IPIP4, BACKEND_DOWN, 0);
	expect_udp(OTHER_CLIENT, B_IPIP4);
	expect_tcp(CLIENT, TCP_ACK, B_NEXT);
	expect_udp(OTHER_CLIENT, B_IPIP4);
	assert_int_equal(lane_count(lane), 2);

	/* There it stays. */
	lane_up(lane, B_IPIP4);
	expect_tcp(CLIENT, TCP_ACK, B_NEXT);
}

/* backend_use: in the place of the flags, not beside them; key.backend. */
static void flow_of_a_backend_that_is_up_for_its_vip_alone_stays(struct lane *lane)
{
	make_confirmed(lane);
	lane_table(lane, B_NEXT);
	lane_verdict(lane, B_NEXT, BACKEND_DOWN, 0);
	lane_verdict(lane, B_IPIP4, BACKEND_DRAINING, BACKEND_DOWN);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
	expect_udp(OTHER_CLIENT, B_NEXT);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
	expect_udp(OTHER_CLIENT, B_NEXT);
}

/* use_keeps_flows: of the verdict, and not of the flags. */
static void flow_of_a_backend_that_fails_for_its_vip_stays_when_that_keeps_it(struct lane *lane)
{
	lane_keep_down(lane);
	make_confirmed(lane);
	lane_table(lane, B_NEXT);
	lane_verdict(lane, B_IPIP4, BACKEND_DOWN | BACKEND_FAILED, BACKEND_DOWN);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
	expect_udp(OTHER_CLIENT, B_NEXT);

	lane_verdict(lane, B_IPIP4, BACKEND_DOWN, BACKEND_DOWN | BACKEND_FAILED);
	expect_tcp(CLIENT, TCP_ACK, B_NEXT);
}

/* usable_backend: syn and BACKEND_DRAINING, of the verdict. */
static void syn_is_chosen_again_where_its_vip_alone_drains_the_backend(struct lane *lane)
{
	make_confirmed(lane);
	expect_tcp(OPENING_CLIENT, TCP_SYN, B_IPIP4);
	lane_table(lane, B_NEXT);
	lane_verdict(lane, B_IPIP4, BACKEND_DRAINING, 0);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
	expect_tcp(OPENING_CLIENT, TCP_SYN, B_NEXT);
}

static void table_leads_to_next_after_ipip4(struct lane *lane)
{
	world_table_after(lane->world, T_MAIN, B_NEXT, B_IPIP4);
}

/* known_backend: ct->flow.alternate; ct_remember: guess ? alternate. */
static void guess_goes_to_the_slots_previous_owner_when_its_backend_is_down(struct lane *lane)
{
	table_leads_to_next_after_ipip4(lane);
	expect_tcp(CLIENT, TCP_ACK, B_NEXT);
	expect_tcp(CLIENT, TCP_ACK, B_NEXT);
	lane_expect_flags(lane, CLIENT, FLOW_GUESS | FLOW_CONFIRMED);

	lane_down(lane, B_NEXT);
	lane_table(lane, B_EXACT);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
	assert_int_equal(lane_count(lane), 1);

	/* There it stays. */
	lane_up(lane, B_NEXT);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
}

/* known_backend: BACKEND_DOWN of the alternate; ct_remember: alternate 0. */
static void guess_without_a_usable_alternate_goes_by_the_table(struct lane *lane)
{
	table_leads_to_next_after_ipip4(lane);
	expect_tcp(CLIENT, TCP_ACK, B_NEXT);
	expect_tcp(OTHER_CLIENT, TCP_ACK, B_NEXT);
	lane_down(lane, B_NEXT);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);

	lane_down(lane, B_IPIP4);
	lane_table(lane, B_EXACT);
	expect_tcp(CLIENT, TCP_ACK, B_EXACT);
	expect_tcp(OTHER_CLIENT, TCP_ACK, B_EXACT);
}

/* plain_refresh: | (old & FLOW_GUESS). It may have been wrong all the time. */
static void guess_remains_one(struct lane *lane)
{
	table_leads_to_next_after_ipip4(lane);
	for (int i = 0; i < 5; i++)
		expect_tcp(CLIENT, TCP_ACK, B_NEXT);
	world_age_flows(lane->world, 20);
	for (int i = 0; i < 5; i++)
		expect_tcp(CLIENT, TCP_ACK, B_NEXT);
	lane_expect_flags(lane, CLIENT, FLOW_GUESS | FLOW_CONFIRMED);
}

/* ct_remember: is_tcp(pkt, v6) && !pkt->syn; plain_add: alternate. */
static void flow_whose_beginning_was_seen_has_no_alternate(struct lane *lane)
{
	table_leads_to_next_after_ipip4(lane);
	expect_tcp(CLIENT, TCP_SYN, B_NEXT);
	expect_tcp(CLIENT, TCP_ACK, B_NEXT);
	expect_udp(OTHER_CLIENT, B_NEXT);
	expect_udp(OTHER_CLIENT, B_NEXT);

	lane_down(lane, B_NEXT);
	lane_table(lane, B_EXACT);
	expect_tcp(CLIENT, TCP_ACK, B_EXACT);
	expect_udp(OTHER_CLIENT, B_EXACT);
}

/* ct_remember: the flags of the old entry are gone. */
static void syn_on_a_guess_makes_it_certain(struct lane *lane)
{
	table_leads_to_next_after_ipip4(lane);
	expect_tcp(CLIENT, TCP_ACK, B_NEXT);
	expect_tcp(CLIENT, TCP_ACK, B_NEXT);
	expect_tcp(CLIENT, TCP_SYN, B_NEXT);
	lane_expect_flags(lane, CLIENT, 0);
	lane_down(lane, B_NEXT);
	lane_table(lane, B_EXACT);
	expect_tcp(CLIENT, TCP_ACK, B_EXACT);
}

static uint64_t new_flows(struct lane *lane)
{
	struct counts counts;

	world_counts(lane->world, &counts);
	return lane->v6 ? counts.vips[V_WEB6].new_flows + counts.vips[V_DNS6].new_flows :
			  counts.vips[V_WEB4].new_flows + counts.vips[V_DNS4].new_flows;
}

static void expect_flows(struct lane *lane, unsigned int remembered, uint64_t new)
{
	assert_int_equal(lane_count(lane), remembered);
	assert_int_equal(new_flows(lane), new);
}

/* What is too big is answered; `first` is a packet of the same flow that is not. */
static void answer_then_send(struct lane *lane, struct frame_spec first,
			     unsigned int flows)
{
	struct frame_spec too_big = first;

	too_big.fragment = 0x4000;
	too_big.payload = 1470;
	assert_int_equal(lane_run(lane, too_big), XDP_TX);
	assert_int_equal(lane_run(lane, too_big), XDP_TX);
	expect_flows(lane, flows - 1, flows - 1);
	assert_int_equal(lane_send(lane, first), B_IPIP4);
	expect_flows(lane, flows, flows);
	assert_int_equal(lane_run(lane, too_big), XDP_TX);
	expect_flows(lane, flows, flows);
}

/* deliver: ct_forget. */
static void flow_whose_first_packets_are_too_big_is_new_when_one_leaves(struct lane *lane)
{
	struct frame_spec syn = { .tcp_flags = TCP_SYN, .sport = 1024 };
	struct frame_spec ack = { .tcp_flags = TCP_ACK, .sport = 1025 };
	struct frame_spec udp = { .protocol = IPPROTO_UDP, .dport = 53, .payload = 32 };

	answer_then_send(lane, syn, 1);
	answer_then_send(lane, ack, 2);
	answer_then_send(lane, udp, 3);
}

/* The same; and plain: PACKET_RARE_OPENS. */
static void flow_whose_first_packets_are_dropped_is_new_when_one_leaves(struct lane *lane)
{
	struct frame_spec syn = { .tcp_flags = TCP_SYN, .sport = 1024 };

	lane_table(lane, B_NO_EGRESS);
	assert_int_equal(lane_run(lane, syn), XDP_DROP);
	assert_int_equal(lane_run(lane, syn), XDP_DROP);
	expect_flows(lane, 0, 0);
	lane_table(lane, B_UNRESOLVED);
	assert_int_equal(lane_run(lane, syn), XDP_DROP);
	expect_flows(lane, 0, 0);
	lane_table(lane, B_IPIP4);
	assert_int_equal(lane_send(lane, syn), B_IPIP4);
	expect_flows(lane, 1, 1);
	assert_int_equal(lane_send(lane, syn), B_IPIP4);
	expect_flows(lane, 1, 1);
}

int main(void)
{
	static const struct lane_rule rules[] = {
		LANE_RULE(second_packet_confirms_a_flow),
		LANE_RULE(syn_confirms_nothing),
		LANE_RULE(first_packet_of_tcp_is_remembered_for_a_minute),
		LANE_RULE(short_idle_timeout_ends_first_packets_earlier),
		LANE_RULE(syn_retransmission_after_a_table_swap_keeps_its_backend),
		LANE_RULE(syn_on_a_confirmed_flow_chooses_again_in_its_place),
		LANE_RULE(fin_and_rst_shorten_the_life_of_a_flow),
		LANE_RULE(closed_flow_goes_on_while_its_packets_come),
		LANE_RULE(syn_on_a_closed_flow_lives_a_whole_life),
		LANE_RULE(closed_flow_lives_no_longer_than_an_idle_one),
		LANE_RULE(known_flow_lives_as_long_as_its_vip_and_protocol_say),
		LANE_RULE(idle_flow_is_chosen_again_after_its_time_and_not_before),
		LANE_RULE(flow_of_a_vip_without_timeout_is_kept_while_it_has_an_entry),
		LANE_RULE(flow_of_a_down_backend_is_chosen_again_in_its_place),
		LANE_RULE(flow_of_a_failed_backend_is_chosen_again_unless_the_vip_keeps_it),
		LANE_RULE(flow_of_a_failed_backend_stays_when_the_vip_keeps_it),
		LANE_RULE(flow_of_a_backend_that_was_taken_down_is_never_kept),
		LANE_RULE(flow_of_a_backend_that_is_down_for_its_vip_alone_is_chosen_again),
		LANE_RULE(flow_of_a_backend_that_is_up_for_its_vip_alone_stays),
		LANE_RULE(flow_of_a_backend_that_fails_for_its_vip_stays_when_that_keeps_it),
		LANE_RULE(syn_is_chosen_again_where_its_vip_alone_drains_the_backend),
		LANE_RULE(guess_goes_to_the_slots_previous_owner_when_its_backend_is_down),
		LANE_RULE(guess_without_a_usable_alternate_goes_by_the_table),
		LANE_RULE(guess_remains_one),
		LANE_RULE(flow_whose_beginning_was_seen_has_no_alternate),
		LANE_RULE(syn_on_a_guess_makes_it_certain),
		LANE_RULE(flow_whose_first_packets_are_too_big_is_new_when_one_leaves),
		LANE_RULE(flow_whose_first_packets_are_dropped_is_new_when_one_leaves),
	};
	size_t n = sizeof(rules) / sizeof(rules[0]);
	int result = lanes_run(FLOW_FORM_SETS, WORLD_FLOWS, rules, n);

	return result ? result : lanes_run(FLOW_FORM_LRU, WORLD_FLOWS, rules, n);
}
