// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flows whose packets move from one CPU to another. In front of each rule is the
 * line of the program that it fails without. What this CPU knows is moved to its
 * neighbour by the test; world_age_flows makes older what is still here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "world_lanes.h"

#define CLIENT 7
#define OTHER_CLIENT 8
#define OPENING 32
#define CLOSED 120
#define IDLE 1000
#define SILENT 20 /* ticks: others may have heard of a flow since */

#define expect_tcp(client, flags, backend) \
	assert_int_equal(lane_tcp(lane, client, flags), backend)
#define expect_udp(client, backend) assert_int_equal(lane_udp(lane, client), backend)

struct ct_rescue { uint32_t second, lookups; };

/* How often, of late, other CPUs' maps were looked into. */
static uint32_t lookups(struct lane *lane)
{
	int cpus = libbpf_num_possible_cpus();
	struct ct_rescue *values = calloc(cpus, sizeof(*values));
	uint32_t zero = 0, n;

	assert_non_null(values);
	assert_int_equal(bpf_map_lookup_elem(
				 bpf_map__fd(lane->world->skel->maps.ct_rescues), &zero,
				 values), 0);
	n = values[lane->world->cpu].lookups;
	free(values);
	return n;
}

static void forget_lookups(struct lane *lane)
{
	int cpus = libbpf_num_possible_cpus();
	struct ct_rescue *values = calloc(cpus, sizeof(*values));
	uint32_t zero = 0;

	assert_non_null(values);
	assert_int_equal(bpf_map_update_elem(
				 bpf_map__fd(lane->world->skel->maps.ct_rescues), &zero,
				 values, BPF_ANY), 0);
	free(values);
}

static void establish(struct lane *lane, enum backend_id backend)
{
	expect_tcp(CLIENT, TCP_SYN, backend);
	expect_tcp(CLIENT, TCP_ACK, backend);
}

/* To the neighbour, while the table comes to lead elsewhere. */
static void move(struct lane *lane, enum backend_id next)
{
	world_flows_move(lane->world);
	lane_table(lane, next);
}

/* ct_lookup: ct_rescue. */
static void flow_that_moves_keeps_its_backend_and_is_remembered_here(struct lane *lane)
{
	establish(lane, B_IPIP4);
	expect_udp(OTHER_CLIENT, B_IPIP4);
	move(lane, B_NEXT);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
	expect_udp(OTHER_CLIENT, B_IPIP4);
	world_neighbour_forgets(lane->world);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
	expect_udp(OTHER_CLIENT, B_IPIP4);
	lane_expect_flags(lane, CLIENT, FLOW_CONFIRMED);
	assert_int_equal(lane_count(lane), 2);
}

/* ct_search_cpu: all of struct flow. */
static void guess_that_moves_keeps_its_alternate(struct lane *lane)
{
	world_table_after(lane->world, T_MAIN, B_NEXT, B_IPIP4);
	expect_tcp(CLIENT, TCP_ACK, B_NEXT);
	move(lane, B_EXACT);
	lane_down(lane, B_NEXT);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
}

/* ct_rescue: pkt->syn. A SYN has no past. */
static void syn_is_not_looked_for_elsewhere(struct lane *lane)
{
	establish(lane, B_IPIP4);
	move(lane, B_NEXT);
	forget_lookups(lane);
	expect_tcp(CLIENT, TCP_SYN, B_NEXT);
	assert_int_equal(lookups(lane), 0);
}

/* ct_search_cpu: left <= FLOW_IDLE_MAX. */
static void flow_that_has_ended_elsewhere_is_nobodys(struct lane *lane)
{
	lane_idle(lane, IDLE, IDLE);
	establish(lane, B_IPIP4);
	world_age_flows(lane->world, IDLE + 1);
	move(lane, B_NEXT);
	expect_tcp(CLIENT, TCP_ACK, B_NEXT);
}

/*
 * The same tuple on both CPUs: what the neighbour has is `elsewhere`, and what is
 * here began with a SYN, later.
 */
static void make_both(struct lane *lane, enum backend_id elsewhere, enum backend_id here)
{
	lane_table(lane, elsewhere);
	establish(lane, elsewhere);
	move(lane, here);
	establish(lane, here);
}

/* ct_is_silent, plain_refresh: FLOW_FRESH. What is fresh is not doubted. */
static void known_flow_is_not_looked_for_elsewhere(struct lane *lane)
{
	lane_idle(lane, IDLE, IDLE);
	make_both(lane, B_IPIP4, B_NEXT);
	forget_lookups(lane);
	for (int i = 0; i < 4; i++)
		expect_tcp(CLIENT, TCP_ACK, B_NEXT);
	assert_int_equal(lookups(lane), 0);
}

/* The same of UDP, and of what has a shorter life: flow_life. */
static void neither_are_flows_that_open_or_close(struct lane *lane)
{
	lane_idle(lane, IDLE, IDLE);
	expect_tcp(CLIENT, TCP_SYN, B_IPIP4);
	expect_udp(OTHER_CLIENT, B_IPIP4);
	forget_lookups(lane);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
	expect_udp(OTHER_CLIENT, B_IPIP4);
	expect_udp(OTHER_CLIENT, B_IPIP4);
	assert_int_equal(lookups(lane), 0);
	expect_tcp(CLIENT, TCP_FIN | TCP_ACK, B_IPIP4);
	for (int i = 0; i < 4; i++)
		expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
	assert_int_equal(lookups(lane), 0);
}

/* ct_lookup: ct_is_silent; plain_refresh: FLOW_LEFT(old, p->now) + FLOW_FRESH. */
static void of_a_flow_that_was_silent_here_the_fresher_entry_counts(struct lane *lane)
{
	lane_idle(lane, IDLE, IDLE);
	make_both(lane, B_IPIP4, B_NEXT);
	world_age_flows(lane->world, SILENT);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
	assert_int_equal(lane_count(lane), 1);
	lane_expect_life(lane, CLIENT, IDLE);
}

/* ct_search_cpu: the least silence. */
static void older_entry_elsewhere_does_not_count(struct lane *lane)
{
	lane_idle(lane, IDLE, IDLE);
	establish(lane, B_IPIP4);
	world_age_flows(lane->world, 2 * SILENT);
	move(lane, B_NEXT);
	establish(lane, B_NEXT);
	world_age_flows(lane->world, SILENT);
	expect_tcp(CLIENT, TCP_ACK, B_NEXT);
}

/* ct_is_silent: an entry that has ended has been silent for long. */
static void flow_that_has_ended_here_and_lives_elsewhere_keeps_its_backend(struct lane *lane)
{
	lane_idle(lane, IDLE, IDLE);
	make_both(lane, B_IPIP4, B_NEXT);
	world_age_flows(lane->world, IDLE + 1);
	lane_table(lane, B_EXACT);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
	assert_int_equal(lane_count(lane), 1);
}

/*
 * flow_life: a first packet lives for less than what is confirmed, and is no older
 * for it. A client that uses a port again has a flow elsewhere that would live for
 * longer.
 */
static void new_connection_is_not_taken_for_the_old_one_elsewhere(struct lane *lane)
{
	lane_idle(lane, IDLE, IDLE);
	establish(lane, B_IPIP4);
	world_age_flows(lane->world, SILENT);
	move(lane, B_NEXT);
	expect_tcp(CLIENT, TCP_SYN, B_NEXT);
	expect_tcp(CLIENT, TCP_ACK, B_NEXT);

	/* Also when its second packet is late. */
	expect_tcp(CLIENT, TCP_SYN, B_NEXT);
	world_age_flows(lane->world, SILENT / 2);
	expect_tcp(CLIENT, TCP_ACK, B_NEXT);
}

/* flow_life, of FLOW_CLOSED. */
static void closing_connection_is_not_taken_for_the_old_one_elsewhere(struct lane *lane)
{
	lane_idle(lane, IDLE, IDLE);
	establish(lane, B_IPIP4);
	world_age_flows(lane->world, SILENT);
	move(lane, B_NEXT);
	establish(lane, B_NEXT);
	expect_tcp(CLIENT, TCP_FIN | TCP_ACK, B_NEXT);
	world_age_flows(lane->world, SILENT / 2);
	expect_tcp(CLIENT, TCP_ACK, B_NEXT);
}

/*
 * plain_refresh: of an entry that is not confirmed, too. The flow went elsewhere
 * after its SYN, was chosen anew there, and comes back.
 */
static void first_packet_that_was_here_is_not_the_last_word(struct lane *lane)
{
	lane_idle(lane, IDLE, IDLE);
	establish(lane, B_IPIP4);
	move(lane, B_NEXT);
	expect_tcp(CLIENT, TCP_SYN, B_NEXT);
	world_age_flows(lane->world, SILENT);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
}

int main(void)
{
	static const struct lane_rule rules[] = {
		LANE_RULE(flow_that_moves_keeps_its_backend_and_is_remembered_here),
		LANE_RULE(guess_that_moves_keeps_its_alternate),
		LANE_RULE(syn_is_not_looked_for_elsewhere),
		LANE_RULE(flow_that_has_ended_elsewhere_is_nobodys),
		LANE_RULE(known_flow_is_not_looked_for_elsewhere),
		LANE_RULE(neither_are_flows_that_open_or_close),
		LANE_RULE(of_a_flow_that_was_silent_here_the_fresher_entry_counts),
		LANE_RULE(older_entry_elsewhere_does_not_count),
		LANE_RULE(flow_that_has_ended_here_and_lives_elsewhere_keeps_its_backend),
		LANE_RULE(new_connection_is_not_taken_for_the_old_one_elsewhere),
		LANE_RULE(closing_connection_is_not_taken_for_the_old_one_elsewhere),
		LANE_RULE(first_packet_that_was_here_is_not_the_last_word),
	};
	size_t n = sizeof(rules) / sizeof(rules[0]);
	int result = lanes_run(FLOW_FORM_SETS, WORLD_FLOWS, rules, n);

	return result ? result : lanes_run(FLOW_FORM_LRU, WORLD_FLOWS, rules, n);
}
