// SPDX-License-Identifier: GPL-2.0-only
/* The tunnels beside IPIP and GUE variant 0; and oversize packets in each. */
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
	world_backend(world, B_GUE1_6, jumbo);
	world_backend(world, B_GRE4, jumbo);
	world_backend(world, B_L2, jumbo);
}

static void send_oversize(struct vip *vip)
{
	vip->flags |= VIP_OVERSIZE;
}

static void oversize_is_sent(struct world *world)
{
	world_vips(world, send_oversize);
}

#define EVERY_PACKET(id)                                             \
	{                                                            \
		{ .in = { .payload = 100 }, NEW(id) },               \
		{ .in = { .payload = 1 }, SENT(id) },                \
		{ .in = { .options = 40, .payload = 5 }, SENT(id) }, \
		{ .in = { V6, .payload = 100 }, NEW(id) },           \
		{ .in = { V6, .payload = 1 }, SENT(id) },            \
		{ .in = { V6, .extensions = "hd" }, SENT(id) },      \
		{ .in = { UDP }, NEW(id) },                          \
		{ .in = { V6, UDP }, NEW(id) },                      \
	}

#define EVERY_TOS(id, n)                                                   \
	{                                                                  \
		{ .in = { .tags = (n), .tos = 0xff }, NEW(id) },           \
		{ .in = { .tags = (n), .tos = 0xb8 }, SENT(id) },          \
		{ .in = { .tags = (n), .tos = 0x01 }, SENT(id) },          \
		{ .in = { .tags = (n), .tos = 0x02 }, SENT(id) },          \
		{ .in = { .tags = (n), V6, .tos = 0xff }, NEW(id) },       \
		{ .in = { .tags = (n), V6, .tos = 0xb8 }, SENT(id) },      \
		{ .in = { .tags = (n), V6, .tos = 0x01 }, SENT(id) },      \
		{ .in = { .tags = (n), V6, .tos = 0x02 }, SENT(id) },      \
	}

#define EVERY_LENGTH(id)                                              \
	{                                                             \
		{ .before = mtu_is_9000, .in = { .payload = 8000 },   \
		  NEW(id) },                                          \
		{ .in = { .payload = 8000, .tags = 2 }, SENT(id) },   \
		{ .in = { V6, .payload = 8000 }, NEW(id) },           \
		{ .in = { V6, .payload = 8000, .tags = 1 }, SENT(id) }, \
	}

/* `bytes`: what the MTU of 1500 leaves to the inner packet. */
#define OVERSIZE(id, bytes)                                                    \
	{                                                                      \
		{ .before = oversize_is_sent,                                  \
		  .in = { .payload = (bytes) - 40 }, NEW(id) },                \
		{ .in = { .payload = (bytes) - 39 }, SENT(id),                 \
		  .oversize = true },                                          \
		{ .in = { .payload = 1460, .tos = 0xff }, SENT(id),            \
		  .oversize = true },                                          \
		{ .in = { .payload = 1460, .tags = 1 }, SENT(id),              \
		  .oversize = true },                                          \
	}

/* `bytes`: what is left to the inner packet of the 65535 that IPv4 can say. */
#define LONGEST(id, bytes)                                                     \
	{                                                                      \
		{ .before = oversize_is_sent,                                  \
		  .in = { .payload = (bytes) - 40 }, NEW(id),                  \
		  .oversize = true },                                          \
		{ .in = { .payload = (bytes) - 39 }, DROPPED(TOO_BIG),         \
		  .vip = V_WEB4 },                                             \
		{ .in = { .payload = 65535 - 40, .tags = 2 },                  \
		  DROPPED(TOO_BIG), .vip = V_WEB4 },                           \
	}

/* No router fragments what leaves: so it does not leave. */
#define OVERSIZE_DROPPED(id, bytes)                                            \
	{                                                                      \
		{ .before = oversize_is_sent,                                  \
		  .in = { .payload = (bytes) - 40 }, NEW(id) },                \
		{ .in = { .payload = (bytes) - 39 }, DROPPED(TOO_BIG),         \
		  .vip = V_WEB4 },                                             \
		{ .in = { .payload = (bytes) - 39, .tags = 1 },                \
		  DROPPED(TOO_BIG), .vip = V_WEB4 },                           \
	}

static const struct scenario rows[] = {
	{ "gue_variant_1_over_ip4_wraps_both_families", B_GUE1_4,
	  EVERY_PACKET(B_GUE1_4) },
	{ "gue_variant_1_over_ip6_wraps_both_families", B_GUE1_6,
	  EVERY_PACKET(B_GUE1_6) },
	{ "gre_over_ip4_wraps_both_families", B_GRE4, EVERY_PACKET(B_GRE4) },
	{ "gre_over_ip6_wraps_both_families", B_GRE6, EVERY_PACKET(B_GRE6) },
	{ "l2_mode_changes_the_mac_addresses_only", B_L2, EVERY_PACKET(B_L2) },

	{ "dscp_and_ecn_are_copied_to_gue_variant_1_over_ip4", B_GUE1_4,
	  EVERY_TOS(B_GUE1_4, 0) },
	{ "dscp_and_ecn_are_copied_to_gue_variant_1_over_ip6", B_GUE1_6,
	  EVERY_TOS(B_GUE1_6, 0) },
	{ "dscp_and_ecn_are_copied_to_gre_over_ip4", B_GRE4,
	  EVERY_TOS(B_GRE4, 0) },
	{ "dscp_and_ecn_are_copied_to_gre_over_ip6", B_GRE6,
	  EVERY_TOS(B_GRE6, 0) },
	{ "dscp_and_ecn_stay_in_l2_mode", B_L2, EVERY_TOS(B_L2, 0) },
	{ "dscp_and_ecn_are_copied_to_ipip_behind_a_tag", B_IPIP4,
	  EVERY_TOS(B_IPIP4, 1) },
	{ "dscp_and_ecn_are_copied_to_gue_over_ip6_behind_tags", B_GUE6,
	  EVERY_TOS(B_GUE6, 2) },
	{ "carries_fold_with_dscp_and_ecn_behind_a_tag", B_NEXT,
	  EVERY_TOS(B_NEXT, 1) },

	{ "gue_variant_1_of_several_pages_is_forwarded", B_GUE1_6,
	  EVERY_LENGTH(B_GUE1_6) },
	{ "gre_of_several_pages_is_forwarded", B_GRE4, EVERY_LENGTH(B_GRE4) },
	{ "frame_of_several_pages_is_forwarded_in_l2_mode", B_L2,
	  EVERY_LENGTH(B_L2) },

	{ "oversize_ipip_is_sent_for_routers_to_fragment", B_IPIP4,
	  OVERSIZE(B_IPIP4, 1480) },
	{ "oversize_gue_is_sent_for_routers_to_fragment", B_GUE4,
	  OVERSIZE(B_GUE4, 1468) },
	{ "oversize_gue_variant_1_is_sent_for_routers_to_fragment", B_GUE1_4,
	  OVERSIZE(B_GUE1_4, 1472) },
	{ "oversize_gre_is_sent_for_routers_to_fragment", B_GRE4,
	  OVERSIZE(B_GRE4, 1476) },
	{ "oversize_packet_whose_checksum_carries_is_sent", B_NEXT,
	  OVERSIZE(B_NEXT, 1480) },
	{
		"fragments_of_an_oversize_packet_are_all_sent",
		.steps = {
			{ .before = oversize_is_sent,
			  .in = { .fragment = 0x2000, .id = 7, .payload = 1460 },
			  NEW(B_IPIP4), .oversize = true },
			{ .in = { .fragment = 0x20b9, .id = 7, .payload = 1460 },
			  SENT(B_IPIP4), .oversize = true },
			{ .in = { .fragment = 0x0172, .id = 7, .payload = 10 },
			  SENT(B_IPIP4) },
		},
	},
	{ "oversize_ipip_is_no_longer_than_a_length_field", B_IPIP4,
	  LONGEST(B_IPIP4, 65535 - 20) },
	{ "oversize_gue_is_no_longer_than_a_length_field", B_GUE4,
	  LONGEST(B_GUE4, 65535 - 32) },
	{ "oversize_gue_variant_1_is_no_longer_than_a_length_field", B_GUE1_4,
	  LONGEST(B_GUE1_4, 65535 - 28) },
	{ "oversize_gre_is_no_longer_than_a_length_field", B_GRE4,
	  LONGEST(B_GRE4, 65535 - 24) },
	{ "oversize_ipip_over_ip6_is_dropped", B_IPIP6,
	  OVERSIZE_DROPPED(B_IPIP6, 1460) },
	{ "oversize_gre_over_ip6_is_dropped", B_GRE6,
	  OVERSIZE_DROPPED(B_GRE6, 1456) },
	{ "oversize_packet_is_dropped_in_l2_mode", B_L2,
	  OVERSIZE_DROPPED(B_L2, 1500) },
};

const struct scenario_list scenarios_tunnels = SCENARIO_LIST(rows);
