// SPDX-License-Identifier: GPL-2.0-only
/* Frames with VLAN tags, IPv4 options and IPv6 extension headers. */
#include <netinet/in.h>

#include "scenario.h"

#define V6 .v6 = true
#define UDP .protocol = IPPROTO_UDP, .dport = 53, .payload = 32
#define EXT(list) .v6 = true, .extensions = (list)

#define EVERY_TAG(id)                                                  \
	{                                                              \
		{ .in = { .tags = 1, .payload = 100 }, NEW(id) },      \
		{ .in = { .tags = 2, .payload = 101 }, SENT(id) },     \
		{ .in = { .payload = 101, .tos = 0xb9 }, SENT(id) },   \
		{ .in = { V6, .tags = 1, .payload = 100 }, NEW(id) },  \
		{ .in = { V6, .tags = 2, .payload = 3 }, SENT(id) },   \
		{ .in = { V6, .payload = 3, .tos = 0xb9 }, SENT(id) }, \
		{ .in = { .tags = 2, UDP }, NEW(id) },                 \
		{ .in = { V6, .tags = 1, UDP }, NEW(id) },             \
	}

/* The MTU is 1500: so many bytes of IPv4 packet fit, and not one more. */
#define FITS(id, bytes)                                                        \
	{                                                                      \
		{ .in = { .tags = 1, .payload = (bytes) - 40 }, NEW(id) },     \
		{ .in = { .tags = 1, .payload = (bytes) - 39 }, \
		  DROPPED(TOO_BIG), .vip = V_WEB4 },                           \
	}

static void jumbo(struct backend *backend)
{
	backend->mtu = 9000;
}

static void mtu_is_9000(struct world *world)
{
	world_backend(world, B_IPIP4, jumbo);
}

static const struct scenario rows[] = {
	{ "tags_stay_on_ipip_over_ip4", B_IPIP4, EVERY_TAG(B_IPIP4) },
	{ "tags_stay_on_ipip_over_ip6", B_IPIP6, EVERY_TAG(B_IPIP6) },
	{ "tags_stay_on_gue_over_ip4", B_GUE4, EVERY_TAG(B_GUE4) },
	{ "tags_stay_on_gue_over_ip6", B_GUE6, EVERY_TAG(B_GUE6) },
	{ "tags_stay_on_gue_variant_1_over_ip4", B_GUE1_4, EVERY_TAG(B_GUE1_4) },
	{ "tags_stay_on_gue_variant_1_over_ip6", B_GUE1_6, EVERY_TAG(B_GUE1_6) },
	{ "tags_stay_on_gre_over_ip4", B_GRE4, EVERY_TAG(B_GRE4) },
	{ "tags_stay_on_gre_over_ip6", B_GRE6, EVERY_TAG(B_GRE6) },
	{ "tags_stay_in_l2_mode", B_L2, EVERY_TAG(B_L2) },
	{
		"tagged_frame_for_another_address_passes",
		.steps = {
			{ .in = { .tags = 1, .dst = OTHER4 }, PASSED },
			{ .in = { .tags = 2, V6, .dst = OTHER6 }, PASSED },
			{ .in = { .tags = 1, .ethertype = 0x0806 }, PASSED },
			{ .in = { .tags = 2, .size = 20 }, PASSED },
			{ .in = { .tags = 1, .size = 17 }, PASSED },
			{ .in = { .tags = 2, .size = 22 + 19 }, PASSED },
			{ .in = { .tags = 1, V6, .size = 18 + 39 }, PASSED },
		},
	},
	{
		"third_tag_hides_the_packet",
		.steps = { { .in = { .tags = 3 }, PASSED } },
	},
	{
		"tagged_packet_that_is_malformed_is_dropped",
		.steps = {
			{ .in = { .tags = 1, .ihl = 4 }, DROPPED(IP_MALFORMED) },
			{ .in = { .tags = 2, .ip_len = 41 }, DROPPED(IP_MALFORMED) },
			{ .in = { .tags = 2, V6, .ip_len = 21 },
			  DROPPED(IP_MALFORMED) },
			{ .in = { .tags = 1, .ip_len = 39 }, DROPPED(L4_TRUNCATED) },
		},
	},
	{ "tags_do_not_count_against_the_mtu_of_ipip", B_IPIP4, FITS(B_IPIP4, 1480) },
	{ "tags_do_not_count_against_the_mtu_of_gre6", B_GRE6, FITS(B_GRE6, 1456) },
	{ "tags_do_not_count_against_the_mtu_of_gue1", B_GUE1_4, FITS(B_GUE1_4, 1472) },
	{ "l2_mode_has_the_whole_mtu", B_L2, FITS(B_L2, 1500) },
	{
		"padding_of_a_tagged_frame_never_reaches_the_tunnel",
		.steps = {
			{ .in = { .tags = 1, .padding = 2 }, NEW(B_IPIP4) },
			{ .in = { .tags = 2, V6, .padding = 30 }, NEW(B_IPIP4) },
		},
	},
	{
		"padding_never_reaches_a_gre_tunnel",
		.table = B_GRE4,
		.steps = {
			{ .in = { .padding = 6 }, NEW(B_GRE4) },
			{ .in = { V6, .padding = 1 }, NEW(B_GRE4) },
		},
	},
	{
		"short_frame_keeps_its_padding_in_l2_mode",
		.table = B_L2,
		.steps = { { .in = { .padding = 6 }, NEW(B_L2) } },
	},
	{
		"padding_behind_several_pages_never_reaches_the_tunnel",
		.steps = {
			{ .before = mtu_is_9000,
			  .in = { .payload = 8000, .padding = 100 }, NEW(B_IPIP4) },
			{ .in = { V6, .payload = 8000, .padding = 1 }, NEW(B_IPIP4) },
		},
	},
	{
		"tagged_frame_of_several_pages_is_forwarded",
		.steps = {
			{ .before = mtu_is_9000,
			  .in = { .tags = 1, .payload = 8000 }, NEW(B_IPIP4) },
			{ .in = { .tags = 2, V6, .payload = 8000 }, NEW(B_IPIP4) },
			{ .in = { .tags = 2, .payload = 8000, .ip_len = 8041 },
			  DROPPED(IP_MALFORMED) },
		},
	},
	{
		"ip4_options_of_a_tagged_packet_are_stepped_over",
		.steps = {
			{ .in = { .tags = 1, .options = 4 }, NEW(B_IPIP4) },
			{ .in = { .tags = 2, .options = 40, .payload = 7 },
			  SENT(B_IPIP4) },
		},
	},
	{
		"each_extension_header_is_walked",
		.steps = {
			{ .in = { EXT("h"), .payload = 10 }, NEW(B_IPIP4) },
			{ .in = { EXT("d"), .payload = 10 }, SENT(B_IPIP4) },
			{ .in = { EXT("r"), .payload = 10 }, SENT(B_IPIP4) },
			{ .in = { EXT("a"), .payload = 10 }, SENT(B_IPIP4) },
			{ .in = { EXT("f"), .payload = 10 }, SENT(B_IPIP4) },
			{ .in = { EXT("hdrfad"), .payload = 10 }, SENT(B_IPIP4) },
			{ .in = { V6, .payload = 10 }, SENT(B_IPIP4) },
			{ .in = { EXT("h"), UDP }, NEW(B_IPIP4) },
		},
	},
	{
		"extension_headers_travel_in_every_tunnel",
		.table = B_GUE6,
		.steps = {
			{ .in = { EXT("hda"), .tos = 0xff }, NEW(B_GUE6) },
			{ .in = { EXT("r"), .tags = 2 }, SENT(B_GUE6) },
		},
	},
	{
		"extension_headers_are_walked_to_the_eighth",
		.steps = {
			{ .in = { EXT("hdddddda") }, NEW(B_IPIP4) },
			{ .in = { EXT("hddddddaa") }, DROPPED(EXTENSION_HEADERS) },
			{ .in = { EXT("hddddddad"), .tags = 1 },
			  DROPPED(EXTENSION_HEADERS) },
		},
	},
	{
		"extension_headers_of_more_than_4095_bytes_are_not_walked",
		.steps = {
			{ .before = mtu_is_9000, .in = { EXT("L") }, NEW(B_IPIP4) },
			{ .in = { EXT("LL") }, DROPPED(EXTENSION_HEADERS) },
			{ .in = { EXT("LLh") }, DROPPED(EXTENSION_HEADERS) },
		},
	},
	{
		"extension_header_that_the_packet_cuts_is_malformed",
		.steps = {
			{ .in = { EXT("h"), .ip_len = 7, .size = 14 + 47 },
			  DROPPED(IP_MALFORMED) },
			{ .in = { EXT("h"), .ip_len = 4 }, DROPPED(IP_MALFORMED) },
			{ .in = { EXT("a"), .ip_len = 12 }, DROPPED(IP_MALFORMED) },
			{ .in = { EXT("L"), .ip_len = 2047 }, DROPPED(IP_MALFORMED) },
			{ .in = { EXT("hd"), .ip_len = 12 }, DROPPED(IP_MALFORMED) },
		},
	},
	{
		"transport_header_behind_extensions_that_is_cut_is_truncated",
		.steps = {
			{ .in = { EXT("h"), .ip_len = 8 + 19 }, DROPPED(L4_TRUNCATED) },
			{ .in = { EXT("f"), .ip_len = 8 }, DROPPED(L4_TRUNCATED) },
			{ .in = { EXT("dr"), UDP, .ip_len = 16 + 7 },
			  DROPPED(L4_TRUNCATED) },
		},
	},
	{
		"headers_of_a_rare_packet_may_lie_in_any_page",
		.steps = {
			{ .in = { .options = 40, .payload = 100 },
			  .with.linear = 14 + 60, NEW(B_IPIP4) },
			{ .in = { V6, .payload = 100 }, .with.linear = 14 + 40 + 19,
			  NEW(B_IPIP4) },
			{ .in = { .tags = 1, UDP }, .with.linear = 18 + 20,
			  NEW(B_IPIP4) },
			{ .in = { .fragment = 0x2000, .payload = 44 },
			  .with.linear = 14 + 20 + 13, SENT(B_IPIP4) },
			{ .in = { EXT("hd"), .payload = 100 },
			  .with.linear = 14 + 40 + 1, SENT(B_IPIP4) },
			{ .in = { EXT("hdrfad"), .payload = 100, .tags = 2 },
			  .with.linear = 22 + 40 + 12, SENT(B_IPIP4) },
			{ .in = { EXT("a"), UDP }, .with.linear = 14 + 40 + 16 + 3,
			  NEW(B_IPIP4) },
			{ .in = { EXT("h"), .tcp_flags = TCP_SYN | TCP_FIN, .payload = 9 },
			  .with.linear = 14 + 40 + 8, DROPPED(TCP_FLAGS), .vip = V_WEB6 },
		},
	},
	{
		"headers_in_another_page_that_are_cut_are_dropped_for_what_they_are",
		.steps = {
			{ .in = { EXT("h"), .ip_len = 8 + 19 },
			  .with.linear = 14 + 40 + 4, DROPPED(L4_TRUNCATED) },
			{ .in = { EXT("hd"), .ip_len = 12 },
			  .with.linear = 14 + 40 + 4, DROPPED(IP_MALFORMED) },
			{ .in = { .tags = 1, .ip_len = 39 },
			  .with.linear = 18 + 20, DROPPED(L4_TRUNCATED) },
		},
	},
	{
		"extension_headers_to_another_address_pass",
		.steps = {
			{ .in = { EXT("h"), .dst = OTHER6 }, PASSED },
			{ .in = { EXT("hddddddad"), .dst = OTHER6 }, PASSED },
			{ .in = { EXT("h"), .dst = OTHER6, .ip_len = 4 }, PASSED },
		},
	},
	{
		"port_behind_extensions_that_no_vip_has_is_no_service",
		.steps = { { .in = { EXT("hd"), .dport = 81 }, DROPPED(NO_SERVICE) } },
	},
};

const struct scenario_list scenarios_rare = SCENARIO_LIST(rows);
