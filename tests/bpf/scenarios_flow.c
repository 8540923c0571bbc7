// SPDX-License-Identifier: GPL-2.0-only
/* What is remembered of a flow, and when it is chosen for anew. */
#include <netinet/in.h>

#include "scenario.h"

#define V6 .v6 = true
#define SYN .tcp_flags = TCP_SYN
#define OTHER_FLOW .sport = 40001

static void table_leads_to_next(struct world *world)
{
	world_table(world, T_MAIN, WORLD_TABLE_SIZE, B_NEXT);
}

static void table_is_empty(struct world *world)
{
	world_table(world, T_MAIN, WORLD_TABLE_SIZE, 0);
}

static void table_is_gone(struct world *world)
{
	uint32_t table = T_MAIN;

	bpf_map__delete_elem(world->skel->maps.tables, &table, sizeof(table), 0);
}

static void set_draining(struct backend *backend)
{
	backend->flags |= BACKEND_DRAINING;
}

static void set_unused(struct backend *backend)
{
	backend->flags = 0;
}

static void set_unresolved(struct backend *backend)
{
	backend->flags &= ~BACKEND_RESOLVED;
}

static void set_down(struct backend *backend)
{
	backend->flags |= BACKEND_DOWN;
}

static void backend_is_down(struct world *world)
{
	world_backend(world, B_IPIP4, set_down);
	table_leads_to_next(world);
}

static void backend_is_up_again(struct world *world)
{
	world_backend(world, B_IPIP4, NULL);
	world_table(world, T_MAIN, WORLD_TABLE_SIZE, B_IPIP4);
}

static void backend_drains(struct world *world)
{
	world_backend(world, B_IPIP4, set_draining);
	table_leads_to_next(world);
}

static void backend_is_removed(struct world *world)
{
	world_backend(world, B_IPIP4, set_unused);
	table_leads_to_next(world);
}

static void backend_loses_its_next_hop(struct world *world)
{
	world_backend(world, B_IPIP4, set_unresolved);
	table_leads_to_next(world);
}

static void cpu_has_no_flow_map(struct world *world)
{
	world_flows(world, 0);
}

static void flows_move_to_a_neighbour(struct world *world)
{
	world_flows_move(world);
	table_leads_to_next(world);
}

static void flows_move_and_backend_is_removed(struct world *world)
{
	world_flows_move(world);
	backend_is_removed(world);
}

static void flows_move_and_this_cpu_has_no_map(struct world *world)
{
	world_flows_move(world);
	cpu_has_no_flow_map(world);
	table_leads_to_next(world);
}

static const struct scenario rows[] = {
	{
		"known_flow_keeps_its_backend_after_a_table_swap",
		.steps = {
			{ NEW(B_IPIP4) },
			{ .in = { V6 }, NEW(B_IPIP4) },
			{ .before = table_leads_to_next, SENT(B_IPIP4) },
			{ .in = { V6 }, SENT(B_IPIP4) },
			{ .in = { OTHER_FLOW }, NEW(B_NEXT) },
			{ .in = { V6, OTHER_FLOW }, NEW(B_NEXT) },
		},
	},
	{
		"known_flow_of_a_down_backend_is_chosen_again_and_stays",
		.steps = {
			{ NEW(B_IPIP4) },
			{ .in = { V6 }, NEW(B_IPIP4) },
			{ .before = backend_is_down, NEW(B_NEXT) },
			{ SENT(B_NEXT) },
			{ .in = { V6 }, NEW(B_NEXT) },
			{ .before = backend_is_up_again, SENT(B_NEXT) },
		},
	},
	{
		"known_udp_flow_keeps_its_backend_after_a_table_swap",
		.steps = {
			{ .in = { .protocol = IPPROTO_UDP, .dport = 53 },
			  NEW(B_IPIP4) },
			{ .before = table_leads_to_next,
			  .in = { .protocol = IPPROTO_UDP, .dport = 53 },
			  SENT(B_IPIP4) },
		},
	},
	{
		"flow_is_told_by_all_five_of_its_tuple",
		.steps = {
			{ .in = { .dst = ANY4, .dport = 1 }, NEW(B_IPIP4),
			  .vip = V_ANY4 },
			{ .in = { .dst = ANY4, .dport = 2 }, NEW(B_IPIP4),
			  .vip = V_ANY4 },
			{ .in = { .dst = ANY4, .dport = 1, OTHER_FLOW },
			  NEW(B_IPIP4), .vip = V_ANY4 },
			{ .in = { .dst = ANY4, .dport = 1,
				  .src = "198.51.100.8" },
			  NEW(B_IPIP4), .vip = V_ANY4 },
			{ .in = { .dst = UDP_ANY4, .dport = 1,
				  .protocol = IPPROTO_UDP },
			  NEW(B_IPIP4), .vip = V_UDP_ANY4 },
			{ .in = { .dst = ANY4, .dport = 1 }, SENT(B_IPIP4),
			  .vip = V_ANY4 },
		},
	},
	{
		"syn_retransmission_after_a_table_swap_keeps_its_backend",
		.steps = {
			{ .in = { SYN }, NEW(B_IPIP4) },
			{ .before = table_leads_to_next, .in = { SYN },
			  SENT(B_IPIP4) },
			{ .in = { SYN }, SENT(B_IPIP4) },
			{ SENT(B_IPIP4) },
		},
	},
	{
		"ip6_syn_retransmission_after_a_table_swap_keeps_its_backend",
		.steps = {
			{ .in = { V6, SYN }, NEW(B_IPIP4) },
			{ .before = table_leads_to_next, .in = { V6, SYN },
			  SENT(B_IPIP4) },
			{ .in = { V6 }, SENT(B_IPIP4) },
		},
	},
	{
		"syn_on_a_confirmed_flow_chooses_again",
		.steps = {
			{ .in = { SYN }, NEW(B_IPIP4) },
			{ SENT(B_IPIP4) },
			{ .before = table_leads_to_next, SENT(B_IPIP4) },
			{ .in = { SYN }, NEW(B_NEXT) },
			{ SENT(B_NEXT) },
		},
	},
	{
		"ip6_syn_on_a_confirmed_flow_chooses_again",
		.steps = {
			{ .in = { V6, SYN }, NEW(B_IPIP4) },
			{ .in = { V6 }, SENT(B_IPIP4) },
			{ .before = table_leads_to_next, .in = { V6, SYN },
			  NEW(B_NEXT) },
			{ .in = { V6 }, SENT(B_NEXT) },
		},
	},
	{
		"syn_that_chose_again_is_unconfirmed",
		.steps = {
			{ .in = { SYN }, NEW(B_IPIP4) },
			{ SENT(B_IPIP4) },
			{ .in = { SYN }, NEW(B_IPIP4) },
			{ .before = table_leads_to_next, .in = { SYN },
			  SENT(B_IPIP4) },
		},
	},
	{
		"syn_with_ack_opens_nothing",
		.steps = {
			{ .in = { SYN }, NEW(B_IPIP4) },
			{ .in = { .tcp_flags = TCP_SYN | TCP_ACK },
			  SENT(B_IPIP4) },
			{ .before = table_leads_to_next,
			  .in = { .tcp_flags = TCP_SYN | TCP_ACK },
			  SENT(B_IPIP4) },
			{ .in = { SYN }, NEW(B_NEXT) },
		},
	},
	{
		"flow_that_began_midway_is_confirmed_by_its_second_packet",
		.steps = {
			{ NEW(B_IPIP4) },
			{ SENT(B_IPIP4) },
			{ .before = table_leads_to_next, .in = { SYN },
			  NEW(B_NEXT) },
		},
	},
	{
		"one_packet_from_midway_confirms_nothing",
		.steps = {
			{ NEW(B_IPIP4) },
			{ .before = table_leads_to_next, .in = { SYN },
			  SENT(B_IPIP4) },
		},
	},
	{
		"syn_retransmission_to_a_draining_backend_chooses_again",
		.steps = {
			{ .in = { SYN }, NEW(B_IPIP4) },
			{ .in = { V6, SYN }, NEW(B_IPIP4) },
			{ .before = backend_drains, .in = { SYN }, NEW(B_NEXT) },
			{ .in = { V6, SYN }, NEW(B_NEXT) },
			{ SENT(B_NEXT) },
		},
	},
	{
		"syn_on_a_confirmed_flow_to_a_draining_backend_chooses_again",
		.steps = {
			{ .in = { SYN }, NEW(B_IPIP4) },
			{ SENT(B_IPIP4) },
			{ .before = backend_drains, .in = { SYN }, NEW(B_NEXT) },
		},
	},
	{
		"known_flow_stays_with_a_draining_backend_to_its_end",
		.steps = {
			{ .in = { SYN }, NEW(B_IPIP4) },
			{ .before = backend_drains, SENT(B_IPIP4) },
			{ .in = { .payload = 10 }, SENT(B_IPIP4) },
			{ .in = { .tcp_flags = TCP_FIN | TCP_ACK },
			  SENT(B_IPIP4) },
			{ .in = { .tcp_flags = TCP_RST }, SENT(B_IPIP4) },
		},
	},
	{
		"known_flow_of_a_removed_backend_is_chosen_for_again",
		.steps = {
			{ NEW(B_IPIP4) },
			{ .in = { V6 }, NEW(B_IPIP4) },
			{ .before = backend_is_removed, NEW(B_NEXT) },
			{ .in = { V6 }, NEW(B_NEXT) },
			{ SENT(B_NEXT) },
			{ .in = { V6 }, SENT(B_NEXT) },
		},
	},
	{
		"syn_retransmission_to_a_removed_backend_chooses_again",
		.steps = {
			{ .in = { SYN }, NEW(B_IPIP4) },
			{ .before = backend_is_removed, .in = { SYN },
			  NEW(B_NEXT) },
			{ .in = { SYN }, SENT(B_NEXT) },
		},
	},
	{
		"table_without_backends_stops_new_flows_only",
		.steps = {
			{ NEW(B_IPIP4) },
			{ .before = table_is_empty, SENT(B_IPIP4) },
			{ .in = { OTHER_FLOW }, DROPPED(NO_BACKEND),
			  .vip = V_WEB4 },
			{ SENT(B_IPIP4) },
		},
	},
	{
		"missing_table_stops_new_flows_only",
		.steps = {
			{ .in = { V6 }, NEW(B_IPIP4) },
			{ .before = table_is_gone, .in = { V6 }, SENT(B_IPIP4) },
			{ .in = { V6, OTHER_FLOW }, DROPPED(TABLE_MISSING),
			  .vip = V_WEB6 },
		},
	},
	{
		"known_flow_waits_for_the_next_hop_of_its_backend",
		.steps = {
			{ NEW(B_IPIP4) },
			{ .before = backend_loses_its_next_hop,
			  DROPPED(BACKEND_UNRESOLVED), .vip = V_WEB4 },
			{ .before = world_reset_backends, SENT(B_IPIP4) },
		},
	},
	{
		"cpu_without_a_flow_map_forwards_by_the_table",
		.steps = {
			{ .before = cpu_has_no_flow_map, NEW(B_IPIP4) },
			{ NEW(B_IPIP4) },
			{ .in = { V6 }, NEW(B_IPIP4) },
			{ .before = table_leads_to_next, .in = { V6 },
			  NEW(B_NEXT) },
		},
	},
	{
		"flow_that_another_cpu_knows_keeps_its_backend",
		.steps = {
			{ NEW(B_IPIP4) },
			{ .in = { V6 }, NEW(B_IPIP4) },
			{ .before = flows_move_to_a_neighbour, SENT(B_IPIP4) },
			{ .in = { V6 }, SENT(B_IPIP4) },
			{ .in = { OTHER_FLOW }, NEW(B_NEXT) },
			{ .in = { V6, OTHER_FLOW }, NEW(B_NEXT) },
		},
	},
	{
		"flow_from_another_cpu_is_remembered_on_this_one",
		.steps = {
			{ NEW(B_IPIP4) },
			{ .in = { V6 }, NEW(B_IPIP4) },
			{ .before = flows_move_to_a_neighbour, SENT(B_IPIP4) },
			{ .in = { V6 }, SENT(B_IPIP4) },
			{ .before = world_neighbour_forgets, SENT(B_IPIP4) },
			{ .in = { V6 }, SENT(B_IPIP4) },
		},
	},
	{
		"syn_is_not_looked_for_on_other_cpus",
		.steps = {
			{ .in = { SYN }, NEW(B_IPIP4) },
			{ .before = flows_move_to_a_neighbour, .in = { SYN },
			  NEW(B_NEXT) },
			{ SENT(B_NEXT) },
		},
	},
	{
		"flow_from_another_cpu_to_a_removed_backend_is_chosen_for_again",
		.steps = {
			{ NEW(B_IPIP4) },
			{ .before = flows_move_and_backend_is_removed,
			  NEW(B_NEXT) },
			{ .before = world_neighbour_forgets, SENT(B_NEXT) },
		},
	},
	{
		"cpu_without_a_flow_map_still_asks_the_others",
		.steps = {
			{ NEW(B_IPIP4) },
			{ .before = flows_move_and_this_cpu_has_no_map,
			  SENT(B_IPIP4) },
			{ SENT(B_IPIP4) },
		},
	},
};

const struct scenario_list scenarios_flow = SCENARIO_LIST(rows);
