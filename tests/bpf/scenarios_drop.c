// SPDX-License-Identifier: GPL-2.0-only
/* Every reason for which a packet to a VIP is dropped. */
#include <netinet/in.h>

#include "scenario.h"

static void table_removed(struct world *world)
{
	uint32_t table = T_MAIN;

	bpf_map__delete_elem(world->skel->maps.tables, &table, sizeof(table), 0);
}

static void table_emptied(struct world *world)
{
	world_table(world, T_MAIN, WORLD_TABLE_SIZE, 0);
}

/* A header that promises more lines than the map has: all but one in 20,000 slots. */
static void table_cut_short(struct world *world)
{
	world_table_short(world, T_MAIN, TABLE_SIZE_MAX, B_IPIP4);
}

static const struct scenario rows[] = {
	{
		"ip4_version_other_than_4_is_malformed",
		.steps = {
			{ .in = { .version = 5 }, DROPPED(IP_MALFORMED) },
			{ .in = { .version = 6 }, DROPPED(IP_MALFORMED) },
		},
	},
	{
		"ip4_header_length_below_20_is_malformed",
		.steps = { { .in = { .ihl = 4 }, DROPPED(IP_MALFORMED) } },
	},
	{
		"ip4_header_length_beyond_total_length_is_malformed",
		.steps = { { .in = { .ihl = 15 }, DROPPED(IP_MALFORMED) } },
	},
	{
		"ip4_total_length_below_its_header_is_malformed",
		.steps = { { .in = { .ip_len = 19 }, DROPPED(IP_MALFORMED) } },
	},
	{
		"ip4_total_length_beyond_the_frame_is_malformed",
		.steps = {
			{ .in = { .ip_len = 41 }, DROPPED(IP_MALFORMED) },
			{ .in = { .ip_len = 0xffff }, DROPPED(IP_MALFORMED) },
			{ .in = { .payload = 100, .size = 153 },
			  DROPPED(IP_MALFORMED) },
		},
	},
	{
		"ip6_version_other_than_6_is_malformed",
		.steps = { { .in = { .v6 = true, .version = 4 },
			     DROPPED(IP_MALFORMED) } },
	},
	{
		"ip6_payload_length_beyond_the_frame_is_malformed",
		.steps = {
			{ .in = { .v6 = true, .ip_len = 21 },
			  DROPPED(IP_MALFORMED) },
			{ .in = { .v6 = true, .ip_len = 0xffff - 40 },
			  DROPPED(IP_MALFORMED) },
			{ .in = { .v6 = true, .ip_len = 0xffff },
			  DROPPED(IP_MALFORMED) },
		},
	},
	/* Its length with the header does not fit the 16 bits of an outer one. */
	{
		"ip6_packet_of_more_than_65535_bytes_is_malformed",
		.steps = { { .in = { .v6 = true, .payload = 0xffff - 20 },
			     DROPPED(IP_MALFORMED) } },
	},
	{
		"length_beyond_a_frame_of_several_pages_is_malformed",
		.steps = {
			{ .in = { .payload = 8000, .ip_len = 8041 },
			  DROPPED(IP_MALFORMED) },
			{ .in = { .v6 = true, .payload = 8000, .ip_len = 8021 },
			  DROPPED(IP_MALFORMED) },
		},
	},
	{
		"tcp_header_that_the_frame_cuts_is_truncated",
		.steps = {
			{ .in = { .ip_len = 39, .size = 14 + 39 },
			  DROPPED(L4_TRUNCATED) },
			{ .in = { .v6 = true, .ip_len = 19, .size = 14 + 59 },
			  DROPPED(L4_TRUNCATED) },
		},
	},
	{
		"tcp_header_that_the_ip_length_cuts_is_truncated",
		.steps = {
			{ .in = { .ip_len = 39 }, DROPPED(L4_TRUNCATED) },
			{ .in = { .v6 = true, .ip_len = 19 },
			  DROPPED(L4_TRUNCATED) },
			{ .in = { .ip_len = 20 }, DROPPED(L4_TRUNCATED) },
		},
	},
	{
		"udp_header_that_ends_early_is_truncated",
		.steps = {
			{ .in = { .protocol = IPPROTO_UDP, .dport = 53,
				  .ip_len = 27, .size = 14 + 27 },
			  DROPPED(L4_TRUNCATED) },
			{ .in = { .protocol = IPPROTO_UDP, .dport = 53,
				  .ip_len = 27 }, DROPPED(L4_TRUNCATED) },
			{ .in = { .v6 = true, .protocol = IPPROTO_UDP,
				  .dport = 53, .ip_len = 7 },
			  DROPPED(L4_TRUNCATED) },
		},
	},
	{
		"tcp_header_behind_options_that_take_all_is_truncated",
		.steps = { { .in = { .options = 40, .ip_len = 60 },
			     DROPPED(L4_TRUNCATED) } },
	},
	{
		"dont_fragment_and_the_reserved_bit_make_no_fragment",
		.steps = {
			{ .in = { .fragment = 0x4000 }, NEW(B_IPIP4) },
			{ .in = { .fragment = 0x8000 }, SENT(B_IPIP4) },
		},
	},
	{
		"protocol_that_no_vip_of_the_address_serves_is_no_service",
		.steps = {
			{ .in = { .protocol = IPPROTO_SCTP, .payload = 32 },
			  DROPPED(NO_SERVICE) },
			{ .in = { .v6 = true, .protocol = IPPROTO_SCTP,
				  .payload = 32 }, DROPPED(NO_SERVICE) },
			{ .in = { .protocol = 255, .payload = 0 },
			  DROPPED(NO_SERVICE) },
		},
	},
	{
		"port_that_no_vip_has_is_no_service",
		.steps = {
			{ .in = { .dport = 80 }, DROPPED(NO_SERVICE) },
			{ .in = { .v6 = true, .dport = 80 },
			  DROPPED(NO_SERVICE) },
		},
	},
	{
		"protocol_that_the_port_has_not_is_no_service",
		.steps = {
			{ .in = { .protocol = IPPROTO_UDP, .dport = 443 },
			  DROPPED(NO_SERVICE) },
			{ .in = { .dport = 53 }, DROPPED(NO_SERVICE) },
		},
	},
	{
		"any_tcp_port_does_not_take_udp",
		.steps = {
			{ .in = { .dst = ANY4, .protocol = IPPROTO_UDP },
			  DROPPED(NO_SERVICE) },
			{ .in = { .v6 = true, .dst = ANY6,
				  .protocol = IPPROTO_UDP }, DROPPED(NO_SERVICE) },
			{ .in = { .dst = UDP_ANY4 }, DROPPED(NO_SERVICE) },
		},
	},
	{
		"table_that_is_not_loaded_is_missing",
		.steps = {
			{ .in = { .dst = TABLELESS4 }, DROPPED(TABLE_MISSING),
			  .vip = V_TABLELESS4 },
			{ .before = table_removed, .in = { .v6 = true },
			  DROPPED(TABLE_MISSING), .vip = V_WEB6 },
		},
	},
	{
		"slot_beyond_the_lines_of_the_table_is_missing",
		.steps = { { .before = table_cut_short,
			     DROPPED(TABLE_MISSING), .vip = V_WEB4 } },
	},
	{
		"slot_without_owner_is_no_backend",
		.steps = {
			{ .before = table_emptied, DROPPED(NO_BACKEND),
			  .vip = V_WEB4 },
			{ .in = { .v6 = true }, DROPPED(NO_BACKEND),
			  .vip = V_WEB6 },
		},
	},
	{
		"table_that_names_an_unused_id_is_backend_invalid",
		.table = B_ABSENT,
		.steps = {
			{ DROPPED(BACKEND_INVALID), .vip = V_WEB4 },
			{ .in = { .v6 = true }, DROPPED(BACKEND_INVALID),
			  .vip = V_WEB6 },
		},
	},
	{
		"backend_without_link_layer_address_is_unresolved",
		.table = B_UNRESOLVED,
		.steps = {
			{ DROPPED(BACKEND_UNRESOLVED), .vip = V_WEB4 },
			{ .in = { .v6 = true }, DROPPED(BACKEND_UNRESOLVED),
			  .vip = V_WEB6 },
		},
	},
	/* Outer headers of 20, 40, 32 and 52 bytes; the MTU is 1500. */
	{
		"packet_one_byte_over_the_mtu_with_its_outer_header_is_too_big",
		.steps = {
			{ .in = { .payload = 1440 }, NEW(B_IPIP4) },
			{ .in = { .payload = 1441 }, DROPPED(TOO_BIG),
			  .vip = V_WEB4 },
			{ .in = { .v6 = true, .payload = 1420 }, NEW(B_IPIP4) },
			{ .in = { .v6 = true, .payload = 1421 }, ANSWERED,
			  .mtu = 1480 },
		},
	},
	{
		"outer_ip6_counts_its_40_bytes_against_the_mtu",
		.table = B_IPIP6,
		.steps = {
			{ .in = { .payload = 1420 }, NEW(B_IPIP6) },
			{ .in = { .payload = 1421 }, DROPPED(TOO_BIG),
			  .vip = V_WEB4 },
		},
	},
	{
		"gue_over_ip4_counts_its_32_bytes_against_the_mtu",
		.table = B_GUE4,
		.steps = {
			{ .in = { .payload = 1428 }, NEW(B_GUE4) },
			{ .in = { .payload = 1429 }, DROPPED(TOO_BIG),
			  .vip = V_WEB4 },
		},
	},
	{
		"gue_over_ip6_counts_its_52_bytes_against_the_mtu",
		.table = B_GUE6,
		.steps = {
			{ .in = { .payload = 1408 }, NEW(B_GUE6) },
			{ .in = { .payload = 1409 }, DROPPED(TOO_BIG),
			  .vip = V_WEB4 },
		},
	},
	{
		"padding_does_not_count_against_the_mtu",
		.steps = { { .in = { .payload = 1440, .padding = 20 },
			     NEW(B_IPIP4) } },
	},
	/*
	 * BPF_PROG_RUN always leaves 256 bytes in front of the data, but XDP
	 * metadata lies there too: 40 bytes are the kernel's (struct
	 * xdp_frame), so 200 of metadata leave 16 where the header needs 20.
	 */
	{
		"frame_without_room_in_front_has_no_headroom",
		.steps = {
			{ .with.metadata = 200, DROPPED(HEADROOM),
			  .vip = V_WEB4 },
			{ .in = { .v6 = true }, .with.metadata = 200,
			  DROPPED(HEADROOM), .vip = V_WEB6 },
		},
	},
	{
		"egress_interface_outside_the_egress_map_is_missing",
		.table = B_NO_EGRESS,
		.steps = {
			{ DROPPED(EGRESS_MISSING), .vip = V_WEB4 },
			{ .in = { .v6 = true }, DROPPED(EGRESS_MISSING),
			  .vip = V_WEB6 },
		},
	},
};

const struct scenario_list scenarios_drop = SCENARIO_LIST(rows);
