// SPDX-License-Identifier: GPL-2.0-only
/* ICMP to a VIP: echo requests, errors that quote a packet, everything else. */
#include <netinet/in.h>

#include "scenario.h"

#define REQUEST4 .type = 8, .id = 0x1234, .seq = 7
#define REQUEST6 .v6 = true, .type = 128, .id = 0x1234, .seq = 7
#define ICMP(...) .icmp = &(const struct icmp_spec){ __VA_ARGS__ }

/* Packets that a backend has sent from the VIP. */
#define FROM_VIP4 .src = VIP4, .dst = CLIENT4, .sport = VIP_PORT, .dport = CLIENT_PORT
#define FROM_VIP6 \
	.v6 = true, .src = VIP6, .dst = CLIENT6, .sport = VIP_PORT, .dport = CLIENT_PORT
#define QUOTE(...) .quote = &(const struct frame_spec){ __VA_ARGS__ }
#define ROUTER4 .src = "192.0.2.77"
#define ROUTER6 .v6 = true, .src = "2001:db8:f::1"

#define UNREACHABLE4 ROUTER4, .type = 3, .code = 3
#define UNREACHABLE6 ROUTER6, .type = 1, .code = 4

#define UDP_FROM_VIP4 \
	.protocol = IPPROTO_UDP, .src = VIP4, .dst = CLIENT4, .sport = 53, .dport = CLIENT_PORT
#define UDP_FROM_VIP6                                                            \
	.v6 = true, .protocol = IPPROTO_UDP, .src = VIP6, .dst = CLIENT6, .sport = 53, \
	.dport = CLIENT_PORT

static void table_says_next(struct world *world)
{
	world_table(world, T_MAIN, WORLD_TABLE_SIZE, B_NEXT);
}

static void flows_move_and_table_says_next(struct world *world)
{
	world_flows_move(world);
	table_says_next(world);
}

/* To the neighbour: the tuple is used again, and its SYN comes here. */
static void flows_are_swapped_and_table_says_next(struct world *world)
{
	world_flows_swap(world);
	table_says_next(world);
}

static void go_down(struct backend *backend)
{
	backend->flags |= BACKEND_DOWN;
}

static void backend_goes_down(struct world *world)
{
	table_says_next(world);
	world_backend(world, B_IPIP4, go_down);
}

static void backend_goes_down_for_its_vip_alone(struct world *world)
{
	table_says_next(world);
	world_verdict(world, V_WEB4, B_IPIP4, BACKEND_DOWN, 0);
}

static void fail(struct backend *backend)
{
	backend->flags |= BACKEND_DOWN | BACKEND_FAILED;
}

static void keep_down(struct vip *vip)
{
	vip->flags |= VIP_KEEP_DOWN;
}

static void backend_fails_and_vip_keeps_flows(struct world *world)
{
	table_says_next(world);
	world_vips(world, keep_down);
	world_backend(world, B_IPIP4, fail);
}

/* To its flow's backend by the table: the flow was never seen. */
#define ERROR4(to, t, c)                                                      \
	{ ICMP(ROUTER4, .type = (t), .code = (c), QUOTE(FROM_VIP4)), SENT(to), \
	  .vip = V_WEB4 }
#define ERROR6(to, t, c)                                                      \
	{ ICMP(ROUTER6, .type = (t), .code = (c), QUOTE(FROM_VIP6)), SENT(to), \
	  .vip = V_WEB6 }
/* With one tag and with two, about TCP and UDP of both families. */
#define TAGGED_ERRORS(to)                                                         \
	{                                                                         \
		{ ICMP(UNREACHABLE4, QUOTE(FROM_VIP4)), .tags = 1, SENT(to),      \
		  .vip = V_WEB4 },                                                \
		{ ICMP(UNREACHABLE4, QUOTE(FROM_VIP4)), .tags = 2, SENT(to),      \
		  .vip = V_WEB4 },                                                \
		{ ICMP(UNREACHABLE6, QUOTE(FROM_VIP6)), .tags = 1, SENT(to),      \
		  .vip = V_WEB6 },                                                \
		{ ICMP(UNREACHABLE6, QUOTE(FROM_VIP6)), .tags = 2, SENT(to),      \
		  .vip = V_WEB6 },                                                \
		{ ICMP(UNREACHABLE4, .options = 8,                                \
		       QUOTE(UDP_FROM_VIP4, .options = 4)),                       \
		  .tags = 2, SENT(to), .vip = V_DNS4 },                           \
		{ ICMP(UNREACHABLE6, .quote_headers = 8, QUOTE(UDP_FROM_VIP6)),   \
		  .tags = 1, SENT(to), .vip = V_DNS6 },                           \
	}
#define UNHANDLED(...) { ICMP(__VA_ARGS__), DROPPED(ICMP_UNHANDLED) }

static const struct scenario rows[] = {
	{
		"echo_request_is_answered_over_ip4",
		.steps = {
			{ ICMP(REQUEST4), ANSWERED },
			{ ICMP(REQUEST4, .payload = 56), ANSWERED },
			{ ICMP(REQUEST4, .payload = 57, .hop_limit = 1), ANSWERED },
			{ ICMP(REQUEST4, .payload = 56, .fragment = 0x4000), ANSWERED },
			{ ICMP(REQUEST4, .padding = 18), ANSWERED },
			{ ICMP(REQUEST4, .dst = ANY4, .payload = 9), ANSWERED },
		},
	},
	{
		"echo_request_is_answered_over_ip6",
		.steps = {
			{ ICMP(REQUEST6), ANSWERED },
			{ ICMP(REQUEST6, .payload = 56), ANSWERED },
			{ ICMP(REQUEST6, .payload = 57, .hop_limit = 1), ANSWERED },
			{ ICMP(REQUEST6, .padding = 3), ANSWERED },
			{ ICMP(REQUEST6, .dst = ANY6, .payload = 9), ANSWERED },
			{ ICMP(REQUEST6, .src = "fe80::7", .payload = 9), ANSWERED },
		},
	},
	{
		"echo_answer_keeps_vlan_tags",
		.steps = {
			{ ICMP(REQUEST4, .payload = 56), .tags = 1, ANSWERED },
			{ ICMP(REQUEST4, .payload = 56), .tags = 2, ANSWERED },
			{ ICMP(REQUEST6, .payload = 56), .tags = 1, ANSWERED },
			{ ICMP(REQUEST6, .payload = 56), .tags = 2, ANSWERED },
		},
	},
	{
		"echo_answer_has_no_options_and_no_extension_headers",
		.steps = {
			{ ICMP(REQUEST4, .options = 4, .payload = 56), ANSWERED },
			{ ICMP(REQUEST4, .options = 40, .payload = 56), ANSWERED },
			{ ICMP(REQUEST4, .options = 8), .tags = 2, ANSWERED },
			{ ICMP(REQUEST6, .options = 8, .payload = 56), ANSWERED },
			{ ICMP(REQUEST6, .options = 64), .tags = 1, ANSWERED },
		},
	},
	{
		"echo_answer_over_ip4_has_no_padding_but_to_60_bytes",
		.steps = {
			{ ICMP(REQUEST4, .padding = 1), ANSWERED },
			{ ICMP(REQUEST4, .padding = 19), ANSWERED },
			{ ICMP(REQUEST4, .padding = 400), ANSWERED },
			{ ICMP(REQUEST4, .payload = 17, .padding = 3), ANSWERED },
			{ ICMP(REQUEST4, .payload = 56, .padding = 1), ANSWERED },
			{ ICMP(REQUEST4, .payload = 2, .padding = 18), .tags = 2, ANSWERED },
			{ ICMP(REQUEST4, .options = 40, .padding = 30), ANSWERED },
			{ ICMP(REQUEST4, .payload = 8000, .padding = 100), ANSWERED },
		},
	},
	{
		"echo_answer_over_ip6_has_no_padding",
		.steps = {
			{ ICMP(REQUEST6, .padding = 1), ANSWERED },
			{ ICMP(REQUEST6, .options = 64, .padding = 90), .tags = 1, ANSWERED },
			{ ICMP(REQUEST6, .payload = 900, .padding = 7), .with.linear = 62,
			  ANSWERED },
		},
	},
	{
		"echo_request_of_several_pages_is_answered",
		.steps = {
			{ ICMP(REQUEST4, .payload = 8000), ANSWERED },
			{ ICMP(REQUEST6, .payload = 8000), ANSWERED },
			{ ICMP(REQUEST4, .payload = 900), .with.linear = 42, ANSWERED },
			{ ICMP(REQUEST6, .payload = 900), .with.linear = 62, ANSWERED },
			{ ICMP(REQUEST4, .payload = 900), .with.linear = 35, ANSWERED },
			{ ICMP(REQUEST6, .payload = 900), .with.linear = 54, ANSWERED },
		},
	},
	{
		"echo_request_in_fragments_is_not_answered",
		.steps = {
			{ ICMP(REQUEST4, .payload = 56, .fragment = 0x2000),
			  DROPPED(FRAGMENT) },
			{ ICMP(REQUEST4, .payload = 56, .fragment = 0x0007),
			  DROPPED(FRAGMENT_UNKNOWN) },
		},
	},
	{
		"echo_request_that_is_cut_short_is_not_answered",
		.steps = {
			{ .in = { .protocol = IPPROTO_ICMP, .payload = 7 },
			  DROPPED(L4_TRUNCATED) },
			{ .in = { .v6 = true, .protocol = IPPROTO_ICMPV6, .payload = 7 },
			  DROPPED(L4_TRUNCATED) },
		},
	},
	{
		"echo_request_from_many_is_not_answered",
		.steps = {
			UNHANDLED(REQUEST4, .src = "224.0.0.1"),
			UNHANDLED(REQUEST4, .src = "255.255.255.255"),
			UNHANDLED(REQUEST4, .src = "0.0.0.0"),
			UNHANDLED(REQUEST4, .src = "127.0.0.1"),
			UNHANDLED(REQUEST4, .src = VIP4),
		},
	},
	{
		"echo_request_from_many_is_not_answered_over_ip6",
		.steps = {
			UNHANDLED(REQUEST6, .src = "ff02::1"),
			UNHANDLED(REQUEST6, .src = "::"),
			UNHANDLED(REQUEST6, .src = "::1"),
			UNHANDLED(REQUEST6, .src = VIP6),
		},
	},
	{
		"echo_request_to_a_vip_that_answers_none_is_dropped",
		.steps = {
			{ .before = world_echo_off, ICMP(REQUEST4), DROPPED(ECHO_OFF) },
			{ ICMP(REQUEST6), DROPPED(ECHO_OFF) },
			{ ICMP(REQUEST4, .dst = ANY4), ANSWERED },
		},
	},
	{
		"echo_requests_beyond_the_limit_are_dropped",
		.steps = {
			{ .before = world_spend_icmp, ICMP(REQUEST4),
			  DROPPED(ICMP_LIMIT) },
			{ .before = world_spend_icmp, ICMP(REQUEST6),
			  DROPPED(ICMP_LIMIT) },
		},
	},
	{
		"echo_request_to_another_address_passes",
		.steps = {
			{ ICMP(REQUEST4, .dst = OTHER4), PASSED },
			{ ICMP(REQUEST6, .dst = OTHER6), PASSED },
			{ ICMP(UNREACHABLE4, .dst = OTHER4, QUOTE(FROM_VIP4)), PASSED },
		},
	},
	{
		"error_goes_to_the_backend_of_the_known_flow",
		.steps = {
			{ NEW(B_IPIP4) },
			{ .in = { .v6 = true }, NEW(B_IPIP4) },
			{ .before = table_says_next, ICMP(UNREACHABLE4, QUOTE(FROM_VIP4)),
			  SENT(B_IPIP4), .vip = V_WEB4 },
			{ ICMP(UNREACHABLE6, QUOTE(FROM_VIP6)), SENT(B_IPIP4),
			  .vip = V_WEB6 },
			/* Another flow. */
			{ ICMP(UNREACHABLE4, QUOTE(.src = VIP4, .dst = CLIENT4,
						   .sport = VIP_PORT, .dport = 1)),
			  SENT(B_NEXT), .vip = V_WEB4 },
		},
	},
	{
		"error_goes_to_the_backend_that_another_cpu_knows",
		.steps = {
			{ NEW(B_IPIP4) },
			{ .in = { .v6 = true }, NEW(B_IPIP4) },
			{ .before = flows_move_and_table_says_next,
			  ICMP(UNREACHABLE4, QUOTE(FROM_VIP4)), SENT(B_IPIP4),
			  .vip = V_WEB4 },
			{ ICMP(UNREACHABLE6, QUOTE(FROM_VIP6)), SENT(B_IPIP4),
			  .vip = V_WEB6 },
		},
	},
	{
		"error_goes_to_the_backend_of_the_connection_that_uses_the_tuple_again",
		.steps = {
			{ .in = { .tcp_flags = TCP_FIN | TCP_ACK }, NEW(B_IPIP4) },
			{ .in = { .v6 = true, .tcp_flags = TCP_FIN | TCP_ACK },
			  NEW(B_IPIP4) },
			{ .before = flows_are_swapped_and_table_says_next,
			  .in = { .tcp_flags = TCP_SYN }, NEW(B_NEXT) },
			{ .in = { .v6 = true, .tcp_flags = TCP_SYN }, NEW(B_NEXT) },
			{ .before = world_flows_swap, ICMP(UNREACHABLE4, QUOTE(FROM_VIP4)),
			  SENT(B_NEXT), .vip = V_WEB4 },
			{ ICMP(UNREACHABLE6, QUOTE(FROM_VIP6)), SENT(B_NEXT),
			  .vip = V_WEB6 },
		},
	},
	{
		"every_error_that_quotes_a_packet_of_the_vip_is_forwarded",
		.table = B_GUE6,
		.steps = {
			ERROR4(B_GUE6, 3, 1),
			ERROR4(B_GUE6, 3, 4),
			ERROR4(B_GUE6, 11, 0),
			ERROR4(B_GUE6, 12, 0),
		},
	},
	{
		"every_ip6_error_that_quotes_a_packet_of_the_vip_is_forwarded",
		.table = B_GUE4,
		.steps = {
			ERROR6(B_GUE4, 1, 0),
			ERROR6(B_GUE4, 2, 0),
			ERROR6(B_GUE4, 3, 0),
			ERROR6(B_GUE4, 4, 1),
		},
	},
	{
		"error_about_udp_is_forwarded",
		.steps = {
			{ ICMP(UNREACHABLE4, QUOTE(UDP_FROM_VIP4)), SENT(B_IPIP4),
			  .vip = V_DNS4 },
			{ ICMP(UNREACHABLE6, QUOTE(UDP_FROM_VIP6)), SENT(B_IPIP4),
			  .vip = V_DNS6 },
		},
	},
	{
		"error_that_quotes_options_or_extension_headers_is_forwarded",
		.steps = {
			{ ICMP(UNREACHABLE4, QUOTE(FROM_VIP4, .options = 40)),
			  SENT(B_IPIP4), .vip = V_WEB4 },
			{ ICMP(UNREACHABLE4, .options = 12, QUOTE(FROM_VIP4, .options = 4)),
			  SENT(B_IPIP4), .vip = V_WEB4 },
			{ ICMP(UNREACHABLE6, .quote_headers = 8, QUOTE(FROM_VIP6)),
			  SENT(B_IPIP4), .vip = V_WEB6 },
			{ ICMP(UNREACHABLE6, .quote_headers = 240, QUOTE(FROM_VIP6)),
			  SENT(B_IPIP4), .vip = V_WEB6 },
		},
	},
	{
		"error_that_quotes_more_than_a_page_holds_is_forwarded",
		.steps = {
			{ ICMP(UNREACHABLE4, .quote_l4 = 200,
			       QUOTE(FROM_VIP4, .payload = 400)),
			  .with.linear = 43, SENT(B_IPIP4), .vip = V_WEB4 },
			{ ICMP(UNREACHABLE6, .quote_l4 = 200,
			       QUOTE(FROM_VIP6, .payload = 400)),
			  .with.linear = 63, SENT(B_IPIP4), .vip = V_WEB6 },
		},
	},
	{
		"error_finds_any_port_vips_and_the_exact_ones_among_them",
		.steps = {
			{ ICMP(UNREACHABLE4, .dst = ANY4,
			       QUOTE(.src = ANY4, .dst = CLIENT4, .sport = 8080,
				     .dport = CLIENT_PORT)),
			  SENT(B_IPIP4), .vip = V_ANY4 },
			{ ICMP(UNREACHABLE4, .dst = ANY4,
			       QUOTE(.src = ANY4, .dst = CLIENT4, .sport = 443,
				     .dport = CLIENT_PORT)),
			  SENT(B_EXACT), .vip = V_EXACT4 },
			{ ICMP(UNREACHABLE6, .dst = ANY6,
			       QUOTE(.v6 = true, .src = ANY6, .dst = CLIENT6,
				     .sport = 8080, .dport = CLIENT_PORT)),
			  SENT(B_IPIP4), .vip = V_ANY6 },
		},
	},
	{ "error_keeps_its_tags_in_ipip", B_IPIP4, TAGGED_ERRORS(B_IPIP4) },
	{ "error_keeps_its_tags_in_gue_over_ip6", B_GUE6, TAGGED_ERRORS(B_GUE6) },
	{ "error_keeps_its_tags_in_gre", B_GRE4, TAGGED_ERRORS(B_GRE4) },
	{ "error_keeps_its_tags_in_l2_mode", B_L2, TAGGED_ERRORS(B_L2) },
	{
		"error_in_a_tagged_frame_that_quotes_no_flow_is_dropped",
		.steps = {
			{ ICMP(UNREACHABLE4, QUOTE(.src = CLIENT4, .dst = VIP4)),
			  .tags = 1, DROPPED(ICMP_UNHANDLED) },
			{ ICMP(UNREACHABLE6, .quote_l4 = 3, QUOTE(FROM_VIP6)),
			  .tags = 2, DROPPED(ICMP_UNHANDLED) },
		},
	},
	{
		"error_goes_to_the_backend_of_the_known_flow_in_l2_mode",
		.table = B_L2,
		.steps = {
			{ NEW(B_L2) },
			{ .in = { .v6 = true }, NEW(B_L2) },
			{ .before = table_says_next, ICMP(UNREACHABLE4, QUOTE(FROM_VIP4)),
			  SENT(B_L2), .vip = V_WEB4 },
			{ ICMP(UNREACHABLE6, QUOTE(FROM_VIP6)), SENT(B_L2),
			  .vip = V_WEB6 },
			{ ICMP(ROUTER4, .type = 3, .code = 4, QUOTE(FROM_VIP4)),
			  .tags = 1, SENT(B_L2), .vip = V_WEB4 },
		},
	},
	{
		"every_error_is_forwarded_in_l2_mode",
		.table = B_L2,
		.steps = {
			ERROR4(B_L2, 3, 4),
			ERROR4(B_L2, 11, 0),
			ERROR4(B_L2, 12, 0),
			ERROR6(B_L2, 1, 0),
			ERROR6(B_L2, 2, 0),
			ERROR6(B_L2, 3, 0),
			ERROR6(B_L2, 4, 1),
		},
	},
	{
		"echo_request_to_a_vip_in_l2_mode_is_answered",
		.table = B_L2,
		.steps = {
			{ ICMP(REQUEST4, .payload = 56), ANSWERED },
			{ ICMP(REQUEST6, .payload = 56), ANSWERED },
			{ ICMP(REQUEST4, .payload = 56), .tags = 1, ANSWERED },
			{ ICMP(REQUEST6, .payload = 56), .tags = 2, ANSWERED },
		},
	},
	{
		"error_about_a_flow_of_a_backend_that_is_down_goes_where_the_flow_goes",
		.steps = {
			{ NEW(B_IPIP4) },
			{ .before = backend_goes_down, ICMP(UNREACHABLE4, QUOTE(FROM_VIP4)),
			  SENT(B_NEXT), .vip = V_WEB4 },
			{ NEW(B_NEXT) },
		},
	},
	{
		"error_about_a_flow_that_stays_on_a_failed_backend_goes_there",
		.steps = {
			{ NEW(B_IPIP4) },
			{ .before = backend_fails_and_vip_keeps_flows,
			  ICMP(UNREACHABLE4, QUOTE(FROM_VIP4)), SENT(B_IPIP4),
			  .vip = V_WEB4 },
			{ SENT(B_IPIP4) },
			{ .before = backend_goes_down, ICMP(UNREACHABLE4, QUOTE(FROM_VIP4)),
			  SENT(B_NEXT), .vip = V_WEB4 },
			{ NEW(B_NEXT) },
		},
	},
	{
		"error_about_a_flow_of_a_backend_that_is_down_for_its_vip_alone_goes_by_the_table",
		.steps = {
			{ NEW(B_IPIP4) },
			{ .in = { .protocol = IPPROTO_UDP, .dport = 53 }, NEW(B_IPIP4) },
			{ .before = backend_goes_down_for_its_vip_alone,
			  ICMP(UNREACHABLE4, QUOTE(FROM_VIP4)), SENT(B_NEXT),
			  .vip = V_WEB4 },
			{ ICMP(UNREACHABLE4, QUOTE(UDP_FROM_VIP4)), SENT(B_IPIP4),
			  .vip = V_DNS4 },
		},
	},
	{
		"error_neither_creates_nor_confirms_a_flow",
		.steps = {
			{ ICMP(UNREACHABLE4, QUOTE(FROM_VIP4)), SENT(B_IPIP4),
			  .vip = V_WEB4 },
			{ .in = { .tcp_flags = TCP_SYN }, NEW(B_IPIP4) },
			{ .before = table_says_next, ICMP(UNREACHABLE4, QUOTE(FROM_VIP4)),
			  SENT(B_IPIP4), .vip = V_WEB4 },
			/* On a confirmed flow it would be a new connection. */
			{ .in = { .tcp_flags = TCP_SYN }, SENT(B_IPIP4) },
		},
	},
	{
		"error_of_an_unknown_service_is_dropped",
		.steps = {
			UNHANDLED(UNREACHABLE4, QUOTE(.src = VIP4, .dst = CLIENT4,
						      .sport = 80, .dport = 1)),
			UNHANDLED(UNREACHABLE6, QUOTE(.v6 = true, .src = VIP6,
						      .dst = CLIENT6, .sport = 80,
						      .dport = 1)),
		},
	},
	{
		"error_that_quotes_no_packet_of_the_address_is_dropped",
		.steps = {
			UNHANDLED(UNREACHABLE4, QUOTE(.src = CLIENT4, .dst = VIP4)),
			UNHANDLED(UNREACHABLE4, .dst = ANY4, QUOTE(FROM_VIP4)),
			UNHANDLED(UNREACHABLE6, QUOTE(.v6 = true)),
			UNHANDLED(UNREACHABLE6, .dst = ANY6, QUOTE(FROM_VIP6)),
			UNHANDLED(UNREACHABLE4, QUOTE(FROM_VIP6)),
			UNHANDLED(UNREACHABLE6, QUOTE(FROM_VIP4, .payload = 40)),
		},
	},
	{
		"error_that_quotes_too_little_is_dropped",
		.steps = {
			UNHANDLED(UNREACHABLE4, .quote_l4 = 3, QUOTE(FROM_VIP4)),
			UNHANDLED(UNREACHABLE6, .quote_l4 = 3, QUOTE(FROM_VIP6)),
			UNHANDLED(UNREACHABLE4, .quote_cut_short = true, QUOTE(FROM_VIP4)),
			UNHANDLED(UNREACHABLE6, .quote_cut_short = true, QUOTE(FROM_VIP6)),
			UNHANDLED(UNREACHABLE4, QUOTE(FROM_VIP4, .ihl = 4)),
			UNHANDLED(UNREACHABLE4, QUOTE(FROM_VIP4, .fragment = 1)),
		},
	},
	{
		"error_about_icmp_is_dropped",
		.steps = {
			UNHANDLED(UNREACHABLE4, QUOTE(FROM_VIP4, .protocol = IPPROTO_ICMP,
						      .payload = 8)),
			UNHANDLED(UNREACHABLE6, QUOTE(FROM_VIP6, .protocol = IPPROTO_ICMPV6,
						      .payload = 8)),
		},
	},
	{
		"other_icmp_messages_to_a_vip_are_dropped",
		.steps = {
			UNHANDLED(.type = 0, .payload = 8),
			UNHANDLED(ROUTER4, .type = 4, QUOTE(FROM_VIP4)),
			UNHANDLED(ROUTER4, .type = 5, QUOTE(FROM_VIP4)),
			UNHANDLED(.type = 13, .payload = 12),
			UNHANDLED(.v6 = true, .type = 129),
			UNHANDLED(.v6 = true, .type = 0),
		},
	},
	{
		"neighbour_discovery_for_a_vip_passes",
		.steps = {
			{ ICMP(.v6 = true, .type = 135, .hop_limit = 255, .payload = 16),
			  PASSED },
			{ ICMP(.v6 = true, .type = 136, .hop_limit = 255, .payload = 16),
			  PASSED, .tags = 1 },
			{ ICMP(.v6 = true, .type = 133, .hop_limit = 255), PASSED },
			{ ICMP(.v6 = true, .type = 137, .hop_limit = 255, .payload = 32),
			  PASSED },
		},
	},
	{
		"neighbour_discovery_that_a_router_forwarded_is_dropped",
		.steps = {
			UNHANDLED(.v6 = true, .type = 135, .hop_limit = 254, .payload = 16),
			UNHANDLED(.v6 = true, .type = 132, .hop_limit = 255, .payload = 16),
			UNHANDLED(.v6 = true, .type = 138, .hop_limit = 255, .payload = 16),
		},
	},
};

const struct scenario_list scenarios_icmp = SCENARIO_LIST(rows);
