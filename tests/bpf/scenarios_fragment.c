// SPDX-License-Identifier: GPL-2.0-only
/* Fragments: one packet, one backend. */
#include <netinet/in.h>

#include "scenario.h"

#define UDP .protocol = IPPROTO_UDP, .dport = 53, .payload = 32
#define OTHER_FLOW .sport = 40001

/* Of packet n; the first one, one in the middle, the last. */
#define FIRST(n) .fragment = 0x2000, .id = (n)
#define MIDDLE(n) .fragment = 0x2005, .id = (n)
#define LAST(n) .fragment = 0x000a, .id = (n)
#define EXTENSIONS(list) .v6 = true, .extensions = (list)
#define V6 EXTENSIONS("f")

static void table_leads_to_next(struct world *world)
{
	world_table(world, T_MAIN, WORLD_TABLE_SIZE, B_NEXT);
}

static void set_unused(struct backend *backend)
{
	backend->flags = 0;
}

static void backend_is_removed(struct world *world)
{
	world_backend(world, B_IPIP4, set_unused);
	table_leads_to_next(world);
}

static void hash_fragments(struct vip *vip)
{
	vip->flags |= VIP_FRAGMENT_HASH;
}

/* As the daemon writes it: DNS takes what has no port. */
static void fragments_are_hashed(struct world *world)
{
	struct vip vip = { .table = T_MAIN, .flags = VIP_FRAGMENT_HASH,
			   .idle = FLOW_IDLE_MAX, .tcp_idle = FLOW_IDLE_MAX };

	world_vips(world, hash_fragments);
	vip.id = V_DNS4;
	world_vip(world, VIP4, 0, IPPROTO_FRAGMENT, &vip);
	vip.id = V_DNS6;
	world_vip(world, VIP6, 0, IPPROTO_FRAGMENT, &vip);
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
	{
		"later_fragments_follow_the_first",
		.steps = {
			{ .in = { UDP, FIRST(7) }, NEW(B_IPIP4) },
			{ .before = table_leads_to_next, .in = { UDP, MIDDLE(7) },
			  SENT(B_IPIP4) },
			{ .in = { UDP, LAST(7) }, SENT(B_IPIP4) },
			{ .in = { UDP, OTHER_FLOW, FIRST(8) }, NEW(B_NEXT) },
			{ .in = { UDP, LAST(8) }, SENT(B_NEXT) },
		},
	},
	{
		"later_ip6_fragments_follow_the_first",
		.steps = {
			{ .in = { UDP, V6, FIRST(7) }, NEW(B_IPIP4) },
			{ .before = table_leads_to_next, .in = { UDP, V6, MIDDLE(7) },
			  SENT(B_IPIP4) },
			{ .in = { UDP, V6, LAST(7) }, SENT(B_IPIP4) },
			{ .in = { UDP, V6, OTHER_FLOW, FIRST(8) }, NEW(B_NEXT) },
			{ .in = { UDP, V6, LAST(8) }, SENT(B_NEXT) },
		},
	},
	{
		"later_ip6_fragments_with_extension_headers_follow_the_first",
		.steps = {
			{ .in = { UDP, EXTENSIONS("hdf"), FIRST(7) }, NEW(B_IPIP4) },
			{ .before = table_leads_to_next,
			  .in = { UDP, EXTENSIONS("hdf"), LAST(7) }, SENT(B_IPIP4) },
			{ .in = { UDP, EXTENSIONS("fd"), OTHER_FLOW, FIRST(8) },
			  NEW(B_NEXT) },
			{ .in = { UDP, EXTENSIONS("fd"), MIDDLE(8) }, SENT(B_NEXT) },
			{ .in = { UDP, EXTENSIONS("hfad"), LAST(8) }, .tags = 1,
			  SENT(B_NEXT) },
			{ .in = { UDP, EXTENSIONS("fd"), LAST(7) }, SENT(B_IPIP4) },
		},
	},
	{
		"later_ip6_fragment_with_extension_headers_that_comes_first_is_unknown",
		.steps = {
			{ .in = { UDP, EXTENSIONS("hdf"), LAST(7) },
			  DROPPED(FRAGMENT_UNKNOWN) },
			{ .in = { UDP, EXTENSIONS("fd"), MIDDLE(7) },
			  DROPPED(FRAGMENT_UNKNOWN) },
			{ .in = { UDP, EXTENSIONS("ff"), LAST(7) },
			  DROPPED(FRAGMENT_UNKNOWN) },
			{ .in = { UDP, EXTENSIONS("fh"), LAST(7) },
			  DROPPED(FRAGMENT_UNKNOWN) },
		},
	},
	{
		"tcp_fragments_follow_the_first_in_every_tunnel",
		.table = B_GUE6,
		.steps = {
			{ .in = { FIRST(7), .payload = 16 }, NEW(B_GUE6) },
			{ .in = { LAST(7), .tags = 1 }, SENT(B_GUE6) },
			{ .in = { V6, FIRST(7), .payload = 16 }, NEW(B_GUE6) },
			{ .in = { V6, LAST(7), .tags = 2 }, SENT(B_GUE6) },
		},
	},
	{
		"later_fragment_that_comes_first_is_unknown",
		.steps = {
			{ .in = { UDP, LAST(7) }, DROPPED(FRAGMENT_UNKNOWN) },
			{ .in = { UDP, V6, MIDDLE(7) }, DROPPED(FRAGMENT_UNKNOWN) },
			{ .in = { UDP, FIRST(7) }, NEW(B_IPIP4) },
			{ .in = { UDP, LAST(7) }, SENT(B_IPIP4) },
			{ .in = { UDP, LAST(8) }, DROPPED(FRAGMENT_UNKNOWN) },
			{ .in = { LAST(7) }, DROPPED(FRAGMENT_UNKNOWN) },
			{ .in = { UDP, LAST(7), .src = "198.51.100.8" },
			  DROPPED(FRAGMENT_UNKNOWN) },
		},
	},
	{
		"first_fragment_that_is_dropped_leaves_no_way",
		.steps = {
			{ .in = { FIRST(7), .dport = 81 }, DROPPED(NO_SERVICE) },
			{ .in = { LAST(7) }, DROPPED(FRAGMENT_UNKNOWN) },
			{ .in = { FIRST(8), .ip_len = 39 }, DROPPED(L4_TRUNCATED) },
			{ .in = { LAST(8) }, DROPPED(FRAGMENT_UNKNOWN) },
		},
	},
	{
		"later_fragment_does_not_go_to_a_removed_backend",
		.steps = {
			{ .in = { UDP, FIRST(7) }, NEW(B_IPIP4) },
			{ .before = backend_is_removed, .in = { UDP, LAST(7) },
			  DROPPED(FRAGMENT_UNKNOWN) },
		},
	},
	{
		"fragments_to_another_address_pass",
		.steps = {
			{ .in = { UDP, FIRST(7), .dst = OTHER4 }, PASSED },
			{ .in = { UDP, LAST(7), .dst = OTHER4 }, PASSED },
			{ .in = { UDP, V6, FIRST(7), .dst = OTHER6 }, PASSED },
			{ .in = { UDP, V6, LAST(7), .dst = OTHER6 }, PASSED },
		},
	},
	{
		"fragments_of_several_pages_follow_the_first",
		.steps = {
			{ .before = mtu_is_9000,
			  .in = { .protocol = IPPROTO_UDP, .dport = 53,
				  .payload = 8000, FIRST(7) }, NEW(B_IPIP4) },
			{ .in = { .protocol = IPPROTO_UDP, .dport = 53,
				  .payload = 8000, LAST(7) }, SENT(B_IPIP4) },
		},
	},
	{
		"whole_packet_behind_a_fragment_header_is_no_fragment",
		.steps = {
			{ .in = { V6 }, NEW(B_IPIP4) },
			{ .before = table_leads_to_next, .in = { V6 }, SENT(B_IPIP4) },
			{ .in = { V6, OTHER_FLOW }, NEW(B_NEXT) },
		},
	},
	{
		"hashed_fragments_need_no_order",
		.steps = {
			{ .before = fragments_are_hashed, .in = { UDP, LAST(7) },
			  NEW(B_IPIP4) },
			{ .before = table_leads_to_next, .in = { UDP, FIRST(7) },
			  SENT(B_IPIP4) },
			{ .in = { UDP, MIDDLE(7) }, SENT(B_IPIP4) },
			{ .in = { UDP, FIRST(8), OTHER_FLOW }, SENT(B_IPIP4) },
			{ .in = { UDP, OTHER_FLOW }, NEW(B_NEXT) },
			{ .in = { UDP, LAST(9), .src = "198.51.100.8" }, NEW(B_NEXT) },
			{ .in = { UDP, FIRST(9), .src = "198.51.100.8" },
			  SENT(B_NEXT) },
		},
	},
	{
		"hashed_ip6_fragments_need_no_order",
		.steps = {
			{ .before = fragments_are_hashed, .in = { UDP, V6, LAST(7) },
			  NEW(B_IPIP4) },
			{ .before = table_leads_to_next, .in = { UDP, V6, FIRST(7) },
			  SENT(B_IPIP4) },
			{ .in = { UDP, V6, MIDDLE(7) }, SENT(B_IPIP4) },
			{ .in = { UDP, .v6 = true, .extensions = "hf", FIRST(8) },
			  SENT(B_IPIP4) },
			{ .in = { UDP, .v6 = true, OTHER_FLOW }, NEW(B_NEXT) },
		},
	},
	{
		"hashed_ip6_fragments_with_extension_headers_need_no_order",
		.steps = {
			{ .before = fragments_are_hashed,
			  .in = { UDP, EXTENSIONS("hfd"), LAST(7) }, NEW(B_IPIP4) },
			{ .before = table_leads_to_next,
			  .in = { UDP, EXTENSIONS("hfd"), FIRST(7) }, SENT(B_IPIP4) },
			{ .in = { UDP, EXTENSIONS("fd"), MIDDLE(8) }, SENT(B_IPIP4) },
			{ .in = { UDP, EXTENSIONS("fd"), FIRST(8), OTHER_FLOW },
			  SENT(B_IPIP4) },
			{ .in = { UDP, .v6 = true, OTHER_FLOW }, NEW(B_NEXT) },
		},
	},
	{
		"protocols_0_and_44_are_not_those_of_hashed_fragments",
		.steps = {
			{ .before = fragments_are_hashed,
			  .in = { .protocol0 = true, .payload = 20 }, DROPPED(NO_SERVICE) },
			{ .in = { .protocol = IPPROTO_FRAGMENT, .payload = 20 },
			  DROPPED(NO_SERVICE) },
			{ .in = { .protocol = IPPROTO_FRAGMENT, .payload = 20, LAST(7) },
			  DROPPED(NO_SERVICE) },
		},
	},
	{
		"hashed_fragment_of_tcp_with_a_syn_opens_nothing",
		.steps = {
			{ .before = fragments_are_hashed,
			  .in = { FIRST(7), .tcp_flags = TCP_SYN }, NEW(B_IPIP4) },
			{ .before = table_leads_to_next,
			  .in = { LAST(7) }, SENT(B_IPIP4), .vip = V_DNS4 },
			{ .in = { FIRST(8), .tcp_flags = TCP_SYN }, SENT(B_IPIP4) },
		},
	},
	{
		"first_fragment_of_impossible_tcp_flags_is_dropped",
		.steps = {
			{ .in = { FIRST(7), .tcp_flags = TCP_SYN | TCP_FIN },
			  DROPPED(TCP_FLAGS), .vip = V_WEB4 },
			{ .in = { LAST(7) }, DROPPED(FRAGMENT_UNKNOWN) },
		},
	},
};

const struct scenario_list scenarios_fragment = SCENARIO_LIST(rows);
