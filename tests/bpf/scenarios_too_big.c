// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets that do not fit the way to their backend, and who hears of it. The
 * MTU is 1500, the IPv4 header 20 bytes, the TCP header another 20.
 */
#include <netinet/in.h>

#include "scenario.h"

#define DF .fragment = 0x4000
#define V6 .v6 = true

static void mtu_1290(struct backend *backend)
{
	backend->mtu = 1290;
}

static void mtu_80(struct backend *backend)
{
	backend->mtu = 80;
}

static void mtu_10(struct backend *backend)
{
	backend->mtu = 10;
}

static void mtu_400(struct backend *backend)
{
	backend->mtu = 400;
}

static void mtu_9000(struct backend *backend)
{
	backend->mtu = 9000;
}

static void become_gre(struct backend *backend)
{
	backend->encap = ENCAP_GRE;
}

static void mtu_is_1290(struct world *world)
{
	world_backend(world, B_IPIP4, mtu_1290);
}

static void mtu_is_80(struct world *world)
{
	world_backend(world, B_IPIP4, mtu_80);
}

static void mtu_is_10(struct world *world)
{
	world_backend(world, B_IPIP4, mtu_10);
}

static void mtu_is_400(struct world *world)
{
	world_backend(world, B_IPIP4, mtu_400);
}

static void mtu_is_9000(struct world *world)
{
	world_backend(world, B_IPIP4, mtu_9000);
}

static void l2_mtu_is_400(struct world *world)
{
	world_backend(world, B_L2, mtu_400);
}

static void backend_is_gre(struct world *world)
{
	world_backend(world, B_IPIP4, become_gre);
}

/* One byte too many for a tunnel of that many bytes, over both families. */
#define ONE_TOO_MANY(overhead)                                           \
	{                                                                \
		{ .in = { DF, .payload = 1500 - (overhead) - 39 },       \
		  ANSWERED, .mtu = 1500 - (overhead) },                  \
		{ .in = { V6, .payload = 1500 - (overhead) - 59 },       \
		  ANSWERED, .mtu = 1500 - (overhead) },                  \
		{ .in = { DF, .protocol = IPPROTO_UDP, .dport = 53,      \
			  .payload = 1500 - (overhead) - 27 },           \
		  ANSWERED, .mtu = 1500 - (overhead) },                  \
	}

static const struct scenario rows[] = {
	{ "too_big_for_ipip_over_ip4_is_answered", B_IPIP4, ONE_TOO_MANY(20) },
	{ "too_big_for_ipip_over_ip6_is_answered", B_IPIP6, ONE_TOO_MANY(40) },
	{ "too_big_for_gue_over_ip4_is_answered", B_GUE4, ONE_TOO_MANY(32) },
	{ "too_big_for_gue_over_ip6_is_answered", B_GUE6, ONE_TOO_MANY(52) },
	{
		"too_big_for_gre_is_answered",
		.steps = {
			{ .before = backend_is_gre, .in = { DF, .payload = 1437 },
			  ANSWERED, .mtu = 1476 },
			{ .in = { V6, .payload = 1417 }, ANSWERED, .mtu = 1476 },
		},
	},
	{
		"too_big_for_the_segment_is_answered_with_all_of_its_mtu",
		.table = B_L2,
		.steps = {
			{ .in = { DF, .payload = 1461 }, ANSWERED, .mtu = 1500 },
			{ .in = { V6, .payload = 1441 }, ANSWERED, .mtu = 1500 },
			{ .in = { DF, .protocol = IPPROTO_UDP, .dport = 53,
				  .payload = 1473 },
			  ANSWERED, .mtu = 1500 },
			/* Of a known flow as well. */
			{ .in = { DF, .payload = 1460 }, NEW(B_L2) },
			{ .in = { DF, .payload = 1461 }, ANSWERED, .mtu = 1500 },
			{ .in = { V6, .payload = 1440 }, NEW(B_L2) },
			{ .in = { V6, .payload = 1441 }, ANSWERED, .mtu = 1500 },
		},
	},
	{
		"answer_to_too_big_for_the_segment_keeps_vlan_tags",
		.table = B_L2,
		.steps = {
			{ .in = { DF, .payload = 1461 }, .tags = 1, ANSWERED, .mtu = 1500 },
			{ .in = { DF, .payload = 1461 }, .tags = 2, ANSWERED, .mtu = 1500 },
			{ .in = { V6, .payload = 1441 }, .tags = 1, ANSWERED, .mtu = 1500 },
			{ .in = { V6, .payload = 1441 }, .tags = 2, ANSWERED, .mtu = 1500 },
		},
	},
	{
		"answer_to_too_big_for_the_segment_quotes_no_padding",
		.table = B_L2,
		.steps = {
			{ .before = l2_mtu_is_400, .in = { DF, .payload = 361, .padding = 9 },
			  ANSWERED, .mtu = 400 },
			{ .in = { DF, .options = 8, .payload = 353 }, ANSWERED,
			  .mtu = 400 },
			{ .in = { V6, .payload = 1221, .padding = 7 }, ANSWERED,
			  .mtu = 1280 },
			{ .in = { DF, .payload = 360 }, NEW(B_L2) },
		},
	},
	{
		"packet_too_big_for_the_segment_that_is_not_answered_is_dropped",
		.table = B_L2,
		.steps = {
			{ .in = { .payload = 1461 }, DROPPED(TOO_BIG), .vip = V_WEB4 },
			{ .in = { DF, .src = "224.0.0.9", .payload = 1461 },
			  DROPPED(TOO_BIG_NO_REPLY), .vip = V_WEB4 },
			{ .before = world_spend_icmp, .in = { V6, .payload = 1441 },
			  DROPPED(ICMP_LIMIT), .vip = V_WEB6 },
		},
	},
	{
		"answer_to_too_big_keeps_vlan_tags",
		.steps = {
			{ .in = { DF, .payload = 1441 }, .tags = 1, ANSWERED, .mtu = 1480 },
			{ .in = { DF, .payload = 1441 }, .tags = 2, ANSWERED, .mtu = 1480 },
			{ .in = { V6, .payload = 1421 }, .tags = 1, ANSWERED, .mtu = 1480 },
			{ .in = { V6, .payload = 1421 }, .tags = 2, ANSWERED, .mtu = 1480 },
		},
	},
	{
		"answer_to_too_big_quotes_options_and_no_padding",
		.steps = {
			{ .in = { DF, .options = 40, .payload = 1401 }, ANSWERED,
			  .mtu = 1480 },
			{ .in = { DF, .payload = 1441, .padding = 40 }, ANSWERED,
			  .mtu = 1480 },
			{ .before = mtu_is_400, .in = { DF, .payload = 341, .padding = 40 },
			  ANSWERED, .mtu = 380 },
			{ .in = { V6, .payload = 321, .padding = 7 }, ANSWERED,
			  .mtu = 1280 },
		},
	},
	{
		"short_packet_that_is_too_big_is_quoted_whole",
		.steps = {
			{ .before = mtu_is_400, .in = { DF, .payload = 341 }, ANSWERED,
			  .mtu = 380 },
			{ .in = { DF, .payload = 342 }, ANSWERED, .mtu = 380 },
			{ .in = { DF, .payload = 508 }, ANSWERED, .mtu = 380 },
			{ .in = { DF, .payload = 509 }, ANSWERED, .mtu = 380 },
			{ .in = { V6, .payload = 1172 }, ANSWERED, .mtu = 1280 },
			{ .in = { V6, .payload = 1173 }, ANSWERED, .mtu = 1280 },
		},
	},
	{
		"packet_of_several_pages_that_is_too_big_is_answered",
		.steps = {
			{ .in = { DF, .payload = 8000 }, ANSWERED, .mtu = 1480 },
			{ .in = { V6, .payload = 8000 }, ANSWERED, .mtu = 1480 },
			{ .in = { DF, .payload = 1441 }, .with.linear = 54, ANSWERED,
			  .mtu = 1480 },
			{ .in = { V6, .payload = 1421 }, .with.linear = 74, ANSWERED,
			  .mtu = 1480 },
			{ .before = mtu_is_9000, .in = { DF, .payload = 8941 }, ANSWERED,
			  .mtu = 8980 },
		},
	},
	{
		"ip6_client_is_never_told_less_than_1280",
		.steps = {
			{ .before = mtu_is_1290, .in = { V6, .payload = 1211 }, ANSWERED,
			  .mtu = 1280 },
			{ .in = { V6, .payload = 1220 }, ANSWERED, .mtu = 1280 },
		},
	},
	{
		"ip4_client_is_never_told_less_than_68",
		.steps = {
			{ .before = mtu_is_80, .in = { DF, .payload = 40 }, ANSWERED,
			  .mtu = 68 },
			{ .before = mtu_is_10, .in = { DF, .payload = 40 }, ANSWERED,
			  .mtu = 68 },
		},
	},
	{
		"packet_without_df_that_is_too_big_is_dropped",
		.steps = { { .in = { .payload = 1441 }, DROPPED(TOO_BIG),
			     .vip = V_WEB4 } },
	},
	{
		"packet_from_many_that_is_too_big_is_not_answered",
		.steps = {
			{ .in = { DF, .src = "224.0.0.9", .payload = 1441 },
			  DROPPED(TOO_BIG_NO_REPLY), .vip = V_WEB4 },
			{ .in = { DF, .src = "255.255.255.255", .payload = 1441 },
			  DROPPED(TOO_BIG_NO_REPLY), .vip = V_WEB4 },
			{ .in = { V6, .src = "ff02::1", .payload = 1421 },
			  DROPPED(TOO_BIG_NO_REPLY), .vip = V_WEB6 },
			{ .in = { V6, .src = "::", .payload = 1421 },
			  DROPPED(TOO_BIG_NO_REPLY), .vip = V_WEB6 },
		},
	},
	{
		"later_fragment_that_is_too_big_is_not_answered",
		.steps = {
			{ .in = { .fragment = 0x6000, .payload = 1441 }, ANSWERED,
			  .mtu = 1480 },
			{ .in = { .fragment = 0x4100, .payload = 1441 },
			  DROPPED(TOO_BIG_NO_REPLY) },
		},
	},
	{
		"icmp_error_that_is_too_big_is_not_answered",
		.steps = {
			{ .before = mtu_is_80,
			  .icmp = &(const struct icmp_spec){
				  .src = "192.0.2.77", .type = 3, .fragment = 0x4000,
				  .quote_l4 = 40,
				  .quote = &(const struct frame_spec){
					  .src = VIP4, .dst = CLIENT4, .sport = VIP_PORT,
					  .dport = CLIENT_PORT, .payload = 40 } },
			  DROPPED(TOO_BIG_NO_REPLY), .vip = V_WEB4 },
			{ .icmp = &(const struct icmp_spec){
				  .v6 = true, .src = "2001:db8:f::1", .type = 1,
				  .quote = &(const struct frame_spec){
					  .v6 = true, .src = VIP6, .dst = CLIENT6,
					  .sport = VIP_PORT, .dport = CLIENT_PORT } },
			  DROPPED(TOO_BIG_NO_REPLY), .vip = V_WEB6 },
		},
	},
	{
		"answers_to_too_big_beyond_the_limit_are_not_sent",
		.steps = {
			{ .before = world_spend_icmp, .in = { DF, .payload = 1441 },
			  DROPPED(ICMP_LIMIT), .vip = V_WEB4 },
			{ .before = world_spend_icmp, .in = { V6, .payload = 1421 },
			  DROPPED(ICMP_LIMIT), .vip = V_WEB6 },
		},
	},
	{
		"answer_that_the_driver_leaves_no_room_for_is_not_sent",
		.steps = {
			{ .in = { DF, .payload = 1441 }, .with.metadata = 200,
			  DROPPED(HEADROOM), .vip = V_WEB4 },
		},
	},
};

const struct scenario_list scenarios_too_big = SCENARIO_LIST(rows);
