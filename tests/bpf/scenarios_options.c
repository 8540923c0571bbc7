// SPDX-License-Identifier: GPL-2.0-only
/* What a VIP may say of its packets beside where they go. */
#include <netinet/in.h>

#include "scenario.h"

#define V6 .v6 = true
#define UDP .protocol = IPPROTO_UDP, .dport = 53, .payload = 32
#define OTHER_FLOW .sport = 40001
#define FLAGS(flags) .tcp_flags = (flags)
#define JUNK(flags) { .in = { FLAGS(flags) }, DROPPED(TCP_FLAGS), .vip = V_WEB4 }
#define IDLE_TICKS 16

static void table_leads_to_next(struct world *world)
{
	world_table(world, T_MAIN, WORLD_TABLE_SIZE, B_NEXT);
}

static void pass_junk(struct vip *vip)
{
	vip->flags |= VIP_TCP_JUNK;
}

static void junk_passes(struct world *world)
{
	world_vips(world, pass_junk);
}

static void has_lists(struct vip *vip)
{
	vip->flags |= VIP_ACL;
}

static void has_allow_list(struct vip *vip)
{
	vip->flags |= VIP_ACL | VIP_ACL_DENY;
}

/* Most of it denied, but for a part, but for one of that. */
static void sources_are_denied(struct world *world)
{
	world_acl(world, V_WEB4, "198.51.0.0", 16, true);
	world_acl(world, V_WEB4, "198.51.100.0", 24, false);
	world_acl(world, V_WEB4, "198.51.100.8", 32, true);
	world_acl(world, V_WEB6, "2001:db8::", 32, true);
	world_acl(world, V_WEB6, "2001:db8:c::", 48, false);
	world_acl(world, V_WEB6, "2001:db8:c::8", 128, true);
	world_vips(world, has_lists);
}

static void sources_are_allowed(struct world *world)
{
	world_acl(world, V_WEB4, "198.51.100.0", 24, false);
	world_acl(world, V_WEB6, "2001:db8:c::", 48, false);
	world_vips(world, has_allow_list);
}

static void all_sources_are_denied(struct world *world)
{
	world_acl(world, V_WEB4, "0.0.0.0", 0, true);
	world_acl(world, V_WEB6, "::", 0, true);
	world_vips(world, has_lists);
}

static void ends_idle(struct vip *vip)
{
	vip->idle = IDLE_TICKS;
}

static void idle_flows_end(struct world *world)
{
	world_vips(world, ends_idle);
}

/* A tick may pass while the test runs: never at the very limit. */
static void flows_are_idle_for_less(struct world *world)
{
	world_age_flows(world, IDLE_TICKS / 2);
	table_leads_to_next(world);
}

static void flows_are_idle_for_longer(struct world *world)
{
	world_age_flows(world, IDLE_TICKS + 1);
	table_leads_to_next(world);
}

static void idle_flows_are_known_to_a_neighbour(struct world *world)
{
	flows_are_idle_for_longer(world);
	world_flows_move(world);
}

static void remembers_none(struct vip *vip)
{
	vip->flags |= VIP_CAP;
	vip->new_flow_cap = 1;
}

/* One flow fills it; the time of the count is far ahead, so that it stays. */
static void limit_is_reached(struct world *world)
{
	world_vips(world, remembers_none);
	world_fill_new_flows(world, V_WEB4);
	world_fill_new_flows(world, V_WEB6);
}

static void limit_is_lifted(struct world *world)
{
	world_vips(world, NULL);
}

static void send_oversize(struct vip *vip)
{
	vip->flags |= VIP_OVERSIZE;
}

static void oversize_is_sent(struct world *world)
{
	world_vips(world, send_oversize);
}

static const struct scenario rows[] = {
	{
		"tcp_flags_that_no_sender_means_are_dropped",
		.steps = {
			JUNK(TCP_ECE), /* none of the six */
			JUNK(TCP_SYN | TCP_FIN),
			JUNK(TCP_SYN | TCP_RST),
			JUNK(TCP_FIN | TCP_RST),
			JUNK(TCP_FIN),
			JUNK(TCP_PSH),
			JUNK(TCP_FIN | TCP_PSH | TCP_URG),
			JUNK(0x3f),
		},
	},
	{
		"tcp_flags_that_no_sender_means_are_dropped_over_ip6",
		.steps = {
			{ .in = { V6, FLAGS(TCP_SYN | TCP_FIN) }, DROPPED(TCP_FLAGS),
			  .vip = V_WEB6 },
			{ .in = { V6, FLAGS(TCP_ECE), .tags = 1 }, DROPPED(TCP_FLAGS),
			  .vip = V_WEB6 },
			{ .in = { V6, FLAGS(TCP_URG), .extensions = "d" },
			  DROPPED(TCP_FLAGS), .vip = V_WEB6 },
		},
	},
	{
		"tcp_flags_that_senders_mean_are_forwarded",
		.steps = {
			{ .in = { FLAGS(TCP_SYN) }, NEW(B_IPIP4) },
			{ .in = { FLAGS(TCP_ACK | TCP_PSH | TCP_URG) }, SENT(B_IPIP4) },
			{ .in = { FLAGS(TCP_ACK | TCP_FIN | TCP_PSH) }, SENT(B_IPIP4) },
			{ .in = { FLAGS(TCP_RST) }, SENT(B_IPIP4) },
			{ .in = { FLAGS(TCP_RST | TCP_ACK) }, SENT(B_IPIP4) },
			{ .in = { FLAGS(TCP_SYN | TCP_ACK) }, SENT(B_IPIP4) },
			/* ECN setup, RFC 3168, section 6.1.1: ECE and CWR */
			{ .in = { FLAGS(TCP_SYN | 0xc0), OTHER_FLOW }, NEW(B_IPIP4) },
		},
	},
	{
		"vip_may_let_any_tcp_flags_through",
		.steps = {
			{ .before = junk_passes, .in = { FLAGS(TCP_SYN | TCP_FIN) },
			  NEW(B_IPIP4) },
			{ .in = { V6, FLAGS(TCP_ECE) }, NEW(B_IPIP4) },
			{ .in = { V6, FLAGS(0x3f), .tags = 1 }, SENT(B_IPIP4) },
		},
	},
	{
		"most_specific_prefix_of_the_source_wins",
		.steps = {
			{ .before = sources_are_denied, .in = { .src = "198.51.1.1" },
			  DROPPED(SOURCE_DENIED), .vip = V_WEB4 },
			{ NEW(B_IPIP4) },
			{ .in = { .src = "198.51.100.8" }, DROPPED(SOURCE_DENIED),
			  .vip = V_WEB4 },
			{ .in = { .src = "198.52.0.1" }, NEW(B_IPIP4) },
			{ .in = { .src = "198.51.1.1", .tags = 1 },
			  DROPPED(SOURCE_DENIED), .vip = V_WEB4 },
		},
	},
	{
		"most_specific_ip6_prefix_of_the_source_wins",
		.steps = {
			{ .before = sources_are_denied,
			  .in = { V6, .src = "2001:db8::1" },
			  DROPPED(SOURCE_DENIED), .vip = V_WEB6 },
			{ .in = { V6 }, NEW(B_IPIP4) },
			{ .in = { V6, .src = "2001:db8:c::8" },
			  DROPPED(SOURCE_DENIED), .vip = V_WEB6 },
			{ .in = { V6, .src = "2001:db9::1" }, NEW(B_IPIP4) },
			{ .in = { V6, .src = "2001:db8::1", .extensions = "h" },
			  DROPPED(SOURCE_DENIED), .vip = V_WEB6 },
		},
	},
	{
		"source_on_no_list_is_denied_when_there_is_an_allow_list",
		.steps = {
			{ .before = sources_are_allowed, NEW(B_IPIP4) },
			{ .in = { .src = "192.0.2.1" }, DROPPED(SOURCE_DENIED),
			  .vip = V_WEB4 },
			{ .in = { V6 }, NEW(B_IPIP4) },
			{ .in = { V6, .src = "2001:db8::1" }, DROPPED(SOURCE_DENIED),
			  .vip = V_WEB6 },
		},
	},
	{
		"lists_are_those_of_the_vip",
		.steps = {
			{ .before = all_sources_are_denied, DROPPED(SOURCE_DENIED),
			  .vip = V_WEB4 },
			{ .in = { UDP }, NEW(B_IPIP4) },
			{ .in = { V6 }, DROPPED(SOURCE_DENIED), .vip = V_WEB6 },
			{ .in = { V6, UDP }, NEW(B_IPIP4) },
		},
	},
	{
		"known_flow_of_a_denied_source_is_dropped",
		.steps = {
			{ NEW(B_IPIP4) },
			{ .before = all_sources_are_denied, DROPPED(SOURCE_DENIED),
			  .vip = V_WEB4 },
		},
	},
	{
		"udp_flow_that_was_silent_for_longer_is_chosen_again_in_place",
		.steps = {
			{ .before = idle_flows_end, .in = { UDP }, NEW(B_IPIP4) },
			{ .in = { V6, UDP }, NEW(B_IPIP4) },
			{ .before = flows_are_idle_for_longer, .in = { UDP },
			  NEW(B_NEXT) },
			{ .in = { V6, UDP }, NEW(B_NEXT) },
			{ .in = { UDP }, SENT(B_NEXT) },
			{ .in = { V6, UDP }, SENT(B_NEXT) },
		},
	},
	{
		"udp_flow_that_was_silent_for_less_keeps_its_backend",
		.steps = {
			{ .before = idle_flows_end, .in = { UDP }, NEW(B_IPIP4) },
			{ .before = flows_are_idle_for_less, .in = { UDP },
			  SENT(B_IPIP4) },
			/* That packet was heard: the time begins anew. */
			{ .before = flows_are_idle_for_less, .in = { UDP },
			  SENT(B_IPIP4) },
			{ .before = flows_are_idle_for_less, .in = { UDP },
			  SENT(B_IPIP4) },
		},
	},
	{
		"silence_ends_no_tcp_flow",
		.steps = {
			{ .before = idle_flows_end, NEW(B_IPIP4) },
			{ .before = flows_are_idle_for_longer, SENT(B_IPIP4) },
		},
	},
	{
		"silence_ends_no_udp_flow_of_a_vip_without_a_limit",
		.steps = {
			{ .in = { UDP }, NEW(B_IPIP4) },
			{ .before = flows_are_idle_for_longer, .in = { UDP },
			  SENT(B_IPIP4) },
		},
	},
	{
		"silent_udp_flow_is_not_taken_over_from_another_cpu",
		.steps = {
			{ .before = idle_flows_end, .in = { UDP }, NEW(B_IPIP4) },
			{ .before = idle_flows_are_known_to_a_neighbour,
			  .in = { UDP }, NEW(B_NEXT) },
		},
	},
	{
		"flows_beyond_the_limit_are_forwarded_and_not_remembered",
		.steps = {
			{ NEW(B_IPIP4) },
			{ .before = limit_is_reached, SENT(B_IPIP4) },
			{ .in = { OTHER_FLOW }, NEW(B_IPIP4), .unremembered = 1 },
			{ .before = table_leads_to_next, .in = { OTHER_FLOW },
			  NEW(B_NEXT), .unremembered = 2 },
			{ SENT(B_IPIP4), .unremembered = 2 },
			{ .in = { V6 }, NEW(B_NEXT), .unremembered = 1 },
			{ .before = limit_is_lifted, .in = { OTHER_FLOW },
			  NEW(B_NEXT) },
			{ .in = { OTHER_FLOW }, SENT(B_NEXT) },
		},
	},
	{
		/* What a flood is made of takes the short way, else. */
		"connections_that_open_count_for_the_limit",
		.steps = {
			{ .before = limit_is_reached, .in = { FLAGS(TCP_SYN) },
			  NEW(B_IPIP4), .unremembered = 1 },
			{ .in = { V6, FLAGS(TCP_SYN) }, NEW(B_IPIP4), .unremembered = 1 },
			{ .before = table_leads_to_next, .in = { FLAGS(TCP_SYN) },
			  NEW(B_NEXT), .unremembered = 2 },
			{ .in = { V6, FLAGS(TCP_SYN) }, NEW(B_NEXT), .unremembered = 2 },
		},
	},
	{
		"flow_that_is_known_is_chosen_again_whatever_the_limit",
		.steps = {
			{ .in = { FLAGS(TCP_SYN) }, NEW(B_IPIP4) },
			{ SENT(B_IPIP4) },
			{ .before = limit_is_reached, SENT(B_IPIP4) },
			{ .before = table_leads_to_next, .in = { FLAGS(TCP_SYN) },
			  NEW(B_NEXT) },
			{ SENT(B_NEXT) },
		},
	},
	/* Outer headers of 20 bytes; the MTU is 1500. */
	{
		"vip_may_have_what_is_too_big_sent_for_routers_to_fragment",
		.steps = {
			{ .before = oversize_is_sent, .in = { .payload = 1441 },
			  NEW(B_IPIP4), .oversize = true },
			{ .in = { .payload = 1441, .tcp_flags = TCP_SYN, .sport = 40001 },
			  NEW(B_IPIP4), .oversize = true },
			{ .in = { .payload = 1460, .tos = 0xff }, SENT(B_IPIP4),
			  .oversize = true },
			{ .in = { .payload = 1440 }, SENT(B_IPIP4) },
			{ .in = { .payload = 1441, .tags = 2 }, SENT(B_IPIP4),
			  .oversize = true },
		},
	},
};

const struct scenario_list scenarios_options = SCENARIO_LIST(rows);
