// SPDX-License-Identifier: GPL-2.0-only
/* How a packet leaves: whole frames, for each kind of tunnel. */
#include <netinet/in.h>

#include "scenario.h"

#define V6 .v6 = true
#define UDP .protocol = IPPROTO_UDP, .dport = 53, .payload = 32

static void jumbo(struct backend *backend)
{
	backend->mtu = 9000;
}

static void mtu_is_9000(struct world *world)
{
	world_backend(world, B_IPIP4, jumbo);
	world_backend(world, B_GUE6, jumbo);
}

static void ingress_is_egress(struct backend *backend)
{
	backend->ifindex = 0;
}

/* Nothing arrives on interface 0, so nothing may turn back on it. */
static void egress_is_unset(struct world *world)
{
	world_backend(world, B_IPIP4, ingress_is_egress);
}

#define EVERY_PACKET(id)                                             \
	{                                                            \
		{ .in = { .payload = 100 }, NEW(id) },               \
		{ .in = { .payload = 1 }, SENT(id) },                \
		{ .in = { V6, .payload = 100 }, NEW(id) },           \
		{ .in = { V6, .payload = 1 }, SENT(id) },            \
		{ .in = { UDP }, NEW(id) }, { .in = { V6, UDP }, NEW(id) }, \
	}

#define EVERY_TOS(id)                                         \
	{                                                     \
		{ .in = { .tos = 0xff }, NEW(id) },           \
		{ .in = { .tos = 0xb8 }, SENT(id) },          \
		{ .in = { .tos = 0x01 }, SENT(id) },          \
		{ .in = { V6, .tos = 0xff }, NEW(id) },       \
		{ .in = { V6, .tos = 0xb8 }, SENT(id) },      \
		{ .in = { V6, .tos = 0x03 }, SENT(id) },      \
	}

static const struct scenario rows[] = {
	{ "ipip_over_ip4_wraps_both_families", B_IPIP4, EVERY_PACKET(B_IPIP4) },
	{ "ipip_over_ip6_wraps_both_families", B_IPIP6, EVERY_PACKET(B_IPIP6) },
	{ "gue_over_ip4_wraps_both_families", B_GUE4, EVERY_PACKET(B_GUE4) },
	{ "gue_over_ip6_wraps_both_families", B_GUE6, EVERY_PACKET(B_GUE6) },
	{ "gue_goes_to_the_port_of_the_backend", B_GUE_PORT,
	  EVERY_PACKET(B_GUE_PORT) },
	{ "outer_checksum_folds_every_carry", B_NEXT, EVERY_PACKET(B_NEXT) },
	{ "dscp_and_ecn_are_copied_to_ipip_over_ip4", B_IPIP4,
	  EVERY_TOS(B_IPIP4) },
	{ "dscp_and_ecn_are_copied_to_ipip_over_ip6", B_IPIP6,
	  EVERY_TOS(B_IPIP6) },
	{ "dscp_and_ecn_are_copied_to_gue_over_ip4", B_GUE4,
	  EVERY_TOS(B_GUE4) },
	{ "dscp_and_ecn_are_copied_to_gue_over_ip6", B_GUE6,
	  EVERY_TOS(B_GUE6) },
	{ "carries_fold_with_dscp_and_ecn", B_NEXT, EVERY_TOS(B_NEXT) },
	{
		"backend_behind_another_interface_is_redirected",
		.table = B_REDIRECT,
		.steps = {
			{ .in = { .payload = 9 }, REDIRECTED(B_REDIRECT) },
			{ .in = { V6 }, REDIRECTED(B_REDIRECT) },
		},
	},
	{
		"backend_without_interface_is_never_sent_to",
		.steps = { { .before = egress_is_unset, DROPPED(EGRESS_MISSING),
			     .vip = V_WEB4 } },
	},
	{
		"ip4_options_are_stepped_over",
		.steps = {
			{ .in = { .options = 4 }, NEW(B_IPIP4) },
			{ .in = { .options = 40, .payload = 7 }, SENT(B_IPIP4) },
			{ .in = { .options = 8, UDP }, NEW(B_IPIP4) },
		},
	},
	{
		"padding_never_reaches_the_tunnel",
		.steps = {
			{ .in = { .padding = 6 }, NEW(B_IPIP4) },
			{ .in = { V6, .padding = 1 }, NEW(B_IPIP4) },
		},
	},
	{
		"padding_never_reaches_a_gue_tunnel",
		.table = B_GUE4,
		.steps = {
			{ .in = { .padding = 6 }, NEW(B_GUE4) },
			{ .in = { V6, .padding = 1 }, NEW(B_GUE4) },
		},
	},
	{
		"smallest_tcp_and_udp_packets_are_forwarded",
		.steps = {
			{ NEW(B_IPIP4) },
			{ .in = { .protocol = IPPROTO_UDP, .dport = 53 },
			  NEW(B_IPIP4) },
			{ .in = { V6 }, NEW(B_IPIP4) },
			{ .in = { V6, .protocol = IPPROTO_UDP, .dport = 53 },
			  NEW(B_IPIP4) },
		},
	},
	{
		"frame_of_several_pages_is_forwarded_over_ip4",
		.steps = {
			{ .before = mtu_is_9000, .in = { .payload = 8000 },
			  NEW(B_IPIP4) },
			{ .in = { V6, .payload = 8000 }, NEW(B_IPIP4) },
			{ .in = { .payload = 8940 }, SENT(B_IPIP4) },
			{ .in = { .payload = 8941 }, DROPPED(TOO_BIG),
			  .vip = V_WEB4 },
		},
	},
	{
		"frame_of_several_pages_is_forwarded_over_gue_over_ip6",
		.table = B_GUE6,
		.steps = {
			{ .before = mtu_is_9000, .in = { .payload = 8000 },
			  NEW(B_GUE6) },
			{ .in = { V6, .payload = 8000 }, NEW(B_GUE6) },
		},
	},
	{
		"headers_alone_in_the_first_page_are_enough",
		.steps = {
			{ .in = { .payload = 1000 }, .with.linear = 54,
			  NEW(B_IPIP4) },
			{ .in = { V6, .payload = 1000 }, .with.linear = 74,
			  NEW(B_IPIP4) },
		},
	},
	{
		"any_port_vip_takes_every_port",
		.steps = {
			{ .in = { .dst = ANY4, .dport = 1 }, NEW(B_IPIP4),
			  .vip = V_ANY4 },
			{ .in = { .dst = ANY4, .dport = 65535 }, NEW(B_IPIP4),
			  .vip = V_ANY4 },
			{ .in = { V6, .dst = ANY6, .dport = 8443 },
			  NEW(B_IPIP4), .vip = V_ANY6 },
			{ .in = { .dst = UDP_ANY4, UDP }, NEW(B_IPIP4),
			  .vip = V_UDP_ANY4 },
		},
	},
	{
		"exact_port_beats_any_port",
		.steps = {
			{ .in = { .dst = ANY4 }, NEW(B_EXACT), .vip = V_EXACT4 },
			{ .in = { V6, .dst = ANY6 }, NEW(B_EXACT),
			  .vip = V_EXACT6 },
		},
	},
};

const struct scenario_list scenarios_encap = SCENARIO_LIST(rows);
