// SPDX-License-Identifier: GPL-2.0-only
/* What is not for a VIP goes to the kernel as it came. */
#include <netinet/in.h>

#include "scenario.h"

static const struct scenario rows[] = {
	{
		"arp_passes",
		.steps = { { .in = { .ethertype = 0x0806 }, PASSED } },
	},
	{
		"ethertype_without_meaning_passes_though_it_carries_a_vip_packet",
		.steps = { { .in = { .ethertype = 0x1234 }, PASSED } },
	},
	{
		"frame_of_an_ethernet_header_passes",
		.steps = {
			{ .in = { .size = 14 }, PASSED },
			{ .in = { .v6 = true, .size = 14 }, PASSED },
		},
	},
	{
		"frame_that_ends_in_the_ip_header_passes",
		.steps = {
			{ .in = { .size = 14 + 19 }, PASSED },
			{ .in = { .v6 = true, .size = 14 + 39 }, PASSED },
		},
	},
	{
		"tcp_for_another_address_passes",
		.steps = {
			{ .in = { .dst = OTHER4 }, PASSED },
			{ .in = { .v6 = true, .dst = OTHER6 }, PASSED },
			{ .in = { .dst = OTHER4, .tcp_flags = TCP_SYN }, PASSED },
		},
	},
	{
		"udp_for_another_address_passes",
		.steps = {
			{ .in = { .dst = OTHER4, .protocol = IPPROTO_UDP,
				  .payload = 30 }, PASSED },
			{ .in = { .v6 = true, .dst = OTHER6,
				  .protocol = IPPROTO_UDP, .payload = 30 }, PASSED },
		},
	},
	{
		"icmp_for_another_address_passes",
		.steps = {
			{ .in = { .dst = OTHER4, .protocol = IPPROTO_ICMP,
				  .payload = 64 }, PASSED },
			{ .in = { .v6 = true, .dst = OTHER6,
				  .protocol = IPPROTO_ICMPV6, .payload = 64 }, PASSED },
		},
	},
	{
		"unknown_protocol_for_another_address_passes",
		.steps = {
			{ .in = { .dst = OTHER4, .protocol = 253,
				  .payload = 5 }, PASSED },
			{ .in = { .v6 = true, .dst = OTHER6, .protocol = 253,
				  .payload = 5 }, PASSED },
		},
	},
	{
		"malformed_packet_for_another_address_passes",
		.steps = {
			{ .in = { .dst = OTHER4, .ihl = 4 }, PASSED },
			{ .in = { .dst = OTHER4, .version = 5 }, PASSED },
			{ .in = { .dst = OTHER4, .ip_len = 2000 }, PASSED },
			{ .in = { .v6 = true, .dst = OTHER6, .version = 7 }, PASSED },
			{ .in = { .v6 = true, .dst = OTHER6, .ip_len = 2000 }, PASSED },
		},
	},
	{
		"truncated_transport_header_for_another_address_passes",
		.steps = {
			{ .in = { .dst = OTHER4, .ip_len = 39 }, PASSED },
			{ .in = { .v6 = true, .dst = OTHER6, .ip_len = 19 }, PASSED },
		},
	},
	{
		"fragment_for_another_address_passes",
		.steps = {
			{ .in = { .dst = OTHER4, .fragment = 0x2000 }, PASSED },
			{ .in = { .dst = OTHER4, .fragment = 100 }, PASSED },
			{ .in = { .v6 = true, .dst = OTHER6,
				  .protocol = IPPROTO_FRAGMENT, .payload = 40 }, PASSED },
		},
	},
	{
		"vip_address_as_source_passes",
		.steps = {
			{ .in = { .src = VIP4, .dst = CLIENT4, .sport = 443,
				  .dport = 40000 }, PASSED },
			{ .in = { .v6 = true, .src = VIP6, .dst = CLIENT6,
				  .sport = 443, .dport = 40000 }, PASSED },
		},
	},
	{
		"frame_of_several_pages_for_another_address_passes",
		.steps = {
			{ .in = { .dst = OTHER4, .payload = 8000 }, PASSED },
			{ .in = { .v6 = true, .dst = OTHER6, .payload = 8000 }, PASSED },
		},
	},
	{
		"padding_of_a_passed_frame_stays",
		.steps = { { .in = { .dst = OTHER4, .padding = 6 }, PASSED } },
	},
};

const struct scenario_list scenarios_pass = SCENARIO_LIST(rows);
