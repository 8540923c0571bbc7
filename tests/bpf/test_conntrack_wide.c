// SPDX-License-Identifier: GPL-2.0-only
/*
 * VIPs of more than one address or protocol: what tells their flows apart is more
 * than the VIP's id and the ports. Two sets, in which flows that are not told apart
 * would meet. In front of each rule is the line of the program that it fails without.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include <netinet/in.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "world_lanes.h"

#define FLOWS 4
#define WIDE_ID 50
#define GROUP 50
#define DESTINATIONS 64
#define TRIES 32 /* of which half meet in a set */
#define TCP_IDLE 1000
#define UDP_IDLE 500

/* A VIP of 198.18.0.0/16 or 2001:db8:aa::/48 and of all ports of the protocol. */
static void lay_prefix(struct lane *lane, uint8_t protocol)
{
	struct fairlead_bpf *skel = lane->world->skel;
	struct vip address = { .id = GROUP, .flags = VIP_ADDRESS | VIP_SERVICES };
	struct vip vip = { .id = WIDE_ID, .table = T_MAIN, .flags = VIP_WIDE,
			   .idle = UDP_IDLE, .tcp_idle = TCP_IDLE };
	struct service_key service = {
		.prefix_len = protocol ? SERVICE_PREFIX_ANY_PORT :
					 SERVICE_PREFIX_ANY_PROTOCOL,
		.group = GROUP,
		.protocol = protocol,
	};
	struct prefix_key4 key4 = { .prefix_len = 16 };
	struct prefix_key6 key6 = { .prefix_len = 48 };

	frame_address("198.18.0.0", false, (uint8_t *)&key4.addr);
	frame_address("2001:db8:aa::", true, key6.addr);
	assert_int_equal(bpf_map_update_elem(bpf_map__fd(skel->maps.services), &service,
					     &vip, BPF_ANY), 0);
	assert_int_equal(bpf_map_update_elem(bpf_map__fd(skel->maps.prefixes4), &key4,
					     &address, BPF_ANY), 0);
	assert_int_equal(bpf_map_update_elem(bpf_map__fd(skel->maps.prefixes6), &key6,
					     &address, BPF_ANY), 0);
	skel->bss->vip_prefixes = VIP_PREFIXES4 | VIP_PREFIXES6;
}

static void take_away(struct lane *lane, uint8_t protocol)
{
	struct fairlead_bpf *skel = lane->world->skel;
	struct service_key service = {
		.prefix_len = protocol ? SERVICE_PREFIX_ANY_PORT :
					 SERVICE_PREFIX_ANY_PROTOCOL,
		.group = GROUP,
		.protocol = protocol,
	};

	skel->bss->vip_prefixes = 0;
	bpf_map_delete_elem(bpf_map__fd(skel->maps.services), &service);
}

/* From one client and port. */
static enum backend_id send_to(struct lane *lane, int destination, uint8_t protocol,
			       uint8_t flags)
{
	char dst[64];

	snprintf(dst, sizeof(dst), lane->v6 ? "2001:db8:aa::%x" : "198.18.1.%d",
		 destination + 1);
	return lane_send(lane, (struct frame_spec){ .dst = dst, .protocol = protocol,
						    .tcp_flags = flags, .payload = 32 });
}

/* vip_is_wide in ct_is_lru: by the whole tuple, of which the destination is. */
static void flows_to_addresses_of_a_prefix_are_apart(struct lane *lane)
{
	lay_prefix(lane, IPPROTO_TCP);
	for (int i = 0; i < DESTINATIONS; i++) {
		lane_table(lane, i % 2 ? B_NEXT : B_IPIP4);
		assert_int_equal(send_to(lane, i, IPPROTO_TCP, TCP_SYN),
				 i % 2 ? B_NEXT : B_IPIP4);
	}
	lane_table(lane, B_EXACT);
	for (int i = 0; i < DESTINATIONS; i++)
		assert_int_equal(send_to(lane, i, IPPROTO_TCP, TCP_ACK),
				 i % 2 ? B_NEXT : B_IPIP4);
	assert_int_equal(lane_count(lane), DESTINATIONS);
	take_away(lane, IPPROTO_TCP);
}

/* The same: the protocol is, too. */
static void flows_of_two_protocols_are_apart(struct lane *lane)
{
	lay_prefix(lane, 0);
	assert_int_equal(send_to(lane, 0, IPPROTO_TCP, TCP_SYN), B_IPIP4);
	lane_table(lane, B_NEXT);
	assert_int_equal(send_to(lane, 0, IPPROTO_UDP, 0), B_NEXT);
	assert_int_equal(send_to(lane, 0, IPPROTO_TCP, TCP_ACK), B_IPIP4);
	lane_table(lane, B_EXACT);
	assert_int_equal(send_to(lane, 0, IPPROTO_UDP, 0), B_NEXT);
	assert_int_equal(send_to(lane, 0, IPPROTO_TCP, TCP_ACK), B_IPIP4);
	assert_int_equal(lane_count(lane), 2);
	take_away(lane, 0);
}

/* ct_idle: pkt->vip.tcp_idle : pkt->vip.idle. */
static void vip_of_any_protocol_has_a_timeout_for_tcp_and_one_for_the_others(struct lane *lane)
{
	lay_prefix(lane, 0);
	for (int i = 0; i < 2; i++) {
		send_to(lane, 0, IPPROTO_TCP, TCP_ACK);
		send_to(lane, 0, IPPROTO_UDP, 0);
	}
	lane_table(lane, B_NEXT);
	world_age_flows(lane->world, UDP_IDLE + 1);
	assert_int_equal(send_to(lane, 0, IPPROTO_UDP, 0), B_NEXT);
	assert_int_equal(send_to(lane, 0, IPPROTO_TCP, TCP_ACK), B_IPIP4);
	world_age_flows(lane->world, TCP_IDLE + 1);
	assert_int_equal(send_to(lane, 0, IPPROTO_TCP, TCP_ACK), B_NEXT);
	take_away(lane, 0);
}

/* ct_is_lru, in the search of other CPUs. */
static void flow_that_moves_to_another_cpu_keeps_its_backend(struct lane *lane)
{
	lay_prefix(lane, IPPROTO_TCP);
	send_to(lane, 0, IPPROTO_TCP, TCP_SYN);
	world_flows_move(lane->world);
	lane_table(lane, B_NEXT);
	assert_int_equal(send_to(lane, 0, IPPROTO_TCP, TCP_ACK), B_IPIP4);
	assert_int_equal(send_to(lane, 1, IPPROTO_TCP, TCP_ACK), B_NEXT);
	world_neighbour_forgets(lane->world);
	assert_int_equal(send_to(lane, 0, IPPROTO_TCP, TCP_ACK), B_IPIP4);
	take_away(lane, IPPROTO_TCP);
}

/*
 * That a SYN goes by the table says that it is taken for no other's retransmission,
 * and an ACK, that it is taken for no packet of another's connection.
 */
static void expect_new(struct lane *lane, uint8_t flags, const char *src, uint16_t sport,
		       const char *dst, uint16_t dport)
{
	static enum backend_id table;
	struct frame_spec spec = { .src = src, .sport = sport, .dst = dst,
				   .dport = dport, .tcp_flags = flags };

	table = table == B_NEXT ? B_IPIP4 : B_NEXT;
	lane_table(lane, table);
	assert_int_equal(lane_send(lane, spec), table);
}

/* plain_find and ct_in_set: src, sport, dport, vip. A set has flows of all. */
static void flows_of_a_set_are_told_apart_by_all_that_they_have(struct lane *lane)
{
	const char *vip = lane->v6 ? VIP6 : VIP4, *any = lane->v6 ? ANY6 : ANY4;
	char src[64];

	for (int i = 1; i <= TRIES; i++) {
		snprintf(src, sizeof(src), lane->v6 ? "2001:db8:c::%x" : "198.51.100.%d", i);
		expect_new(lane, TCP_SYN, src, 40000, vip, VIP_PORT);
		expect_new(lane, TCP_SYN, src, 40000 + i, vip, VIP_PORT);
		expect_new(lane, TCP_SYN, src, 40000, any, 80);
		expect_new(lane, TCP_SYN, src, 40000, any, 81);
	}
}

/*
 * plain_find: of packets that differ in one thing only, since another difference
 * would hide that one is not looked at.
 */
static void packets_from_midway_are_told_apart_by_each_thing(struct lane *lane)
{
	const char *vip = lane->v6 ? VIP6 : VIP4, *any = lane->v6 ? ANY6 : ANY4;
	char src[64];

	for (int i = 1; i <= TRIES; i++) {
		snprintf(src, sizeof(src), lane->v6 ? "2001:db8:c::%x" : "198.51.100.%d", i);
		expect_new(lane, TCP_ACK, src, 40000, vip, VIP_PORT);
	}
	for (int i = 1; i <= TRIES && lane->v6; i++) {
		snprintf(src, sizeof(src), "2001:db8:%x::c", i);
		expect_new(lane, TCP_ACK, src, 40000, vip, VIP_PORT);
	}
	for (int i = 1; i <= TRIES; i++)
		expect_new(lane, TCP_ACK, NULL, 40001, any, 1000 + i);
}

/* The same: the VIP alone. 443/tcp of the other address leads to B_EXACT. */
static void expect_vips_apart(struct lane *lane, uint8_t flags)
{
	for (int i = 1; i <= TRIES; i++) {
		struct frame_spec spec = { .sport = 40000 + i, .tcp_flags = flags };

		assert_int_equal(lane_send(lane, spec), B_IPIP4);
		spec.dst = lane->v6 ? ANY6 : ANY4;
		assert_int_equal(lane_send(lane, spec), B_EXACT);
	}
}

static void flows_of_two_vips_on_one_port_are_apart(struct lane *lane)
{
	expect_vips_apart(lane, TCP_SYN);
}

static void packets_from_midway_to_two_vips_are_apart(struct lane *lane)
{
	expect_vips_apart(lane, TCP_ACK);
}

int main(void)
{
	static const struct lane_rule rules[] = {
		LANE_RULE(flows_to_addresses_of_a_prefix_are_apart),
		LANE_RULE(flows_of_two_protocols_are_apart),
		LANE_RULE(vip_of_any_protocol_has_a_timeout_for_tcp_and_one_for_the_others),
		LANE_RULE(flow_that_moves_to_another_cpu_keeps_its_backend),
		LANE_RULE(flows_of_a_set_are_told_apart_by_all_that_they_have),
		LANE_RULE(packets_from_midway_are_told_apart_by_each_thing),
		LANE_RULE(flows_of_two_vips_on_one_port_are_apart),
		LANE_RULE(packets_from_midway_to_two_vips_are_apart),
	};
	size_t n = sizeof(rules) / sizeof(rules[0]);
	int result = lanes_run(FLOW_FORM_SETS, FLOWS, rules, n);

	return result ? result : lanes_run(FLOW_FORM_LRU, WORLD_FLOWS, rules, n);
}
