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
#include <time.h>
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

static uint32_t coarse_second(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (now.tv_sec * 1000000000ULL + now.tv_nsec) >> 30;
}

/* As if there had been so many in this second, which is returned. */
static uint32_t spend_lookups(struct lane *lane, uint32_t spent)
{
	int cpus = libbpf_num_possible_cpus();
	struct ct_rescue *values = calloc(cpus, sizeof(*values));
	uint32_t zero = 0, second = coarse_second();

	assert_non_null(values);
	for (int i = 0; i < cpus; i++)
		values[i] = (struct ct_rescue){ .second = second, .lookups = spent };
	assert_int_equal(bpf_map_update_elem(
				 bpf_map__fd(lane->world->skel->maps.ct_rescues), &zero,
				 values, BPF_ANY), 0);
	free(values);
	return second;
}

static void forget_lookups(struct lane *lane)
{
	spend_lookups(lane, 0);
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
static void neither_are_flows_that_open(struct lane *lane)
{
	lane_idle(lane, IDLE, IDLE);
	expect_tcp(CLIENT, TCP_SYN, B_IPIP4);
	expect_udp(OTHER_CLIENT, B_IPIP4);
	forget_lookups(lane);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
	expect_udp(OTHER_CLIENT, B_IPIP4);
	expect_udp(OTHER_CLIENT, B_IPIP4);
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

/*
 * A client uses a tuple again, at once, and its packets go from CPU to CPU: the SYN
 * comes here, what follows to the neighbour, which has heard of the connection before.
 */
static void swap(struct lane *lane)
{
	world_flows_swap(lane->world);
}

/* The SYN here goes by the table, which has changed, and all that follows with it. */
static void expect_reuse(struct lane *lane)
{
	lane_table(lane, B_NEXT);
	expect_tcp(CLIENT, TCP_SYN, B_NEXT);
	swap(lane);
	lane_table(lane, B_EXACT);
	for (int i = 0; i < 4; i++)
		expect_tcp(CLIENT, TCP_ACK, B_NEXT);
	expect_tcp(CLIENT, TCP_FIN | TCP_ACK, B_NEXT);
	expect_tcp(CLIENT, TCP_ACK, B_NEXT);
}

/* Both have confirmed the connection before. */
static void establish_on_both(struct lane *lane)
{
	lane_idle(lane, IDLE, IDLE);
	establish(lane, B_IPIP4);
	swap(lane);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
	swap(lane);
}

static void finish(struct lane *lane)
{
	expect_tcp(CLIENT, TCP_FIN | TCP_ACK, B_IPIP4);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
}

/* ct_question: FLOW_CLOSING. */
static void tuple_is_used_again_where_its_end_was_not_seen(struct lane *lane)
{
	establish_on_both(lane);
	swap(lane);
	finish(lane);
	swap(lane);
	expect_reuse(lane);
}

/* The same, and the SYN comes where nothing is known, not even of another set. */
static void tuple_is_used_again_where_it_was_never_seen(struct lane *lane)
{
	lane_idle(lane, IDLE, IDLE);
	establish(lane, B_IPIP4);
	finish(lane);
	swap(lane);
	expect_reuse(lane);
}

/* ct_rank: closing, and unconfirmed. What is closing may have had strays since. */
static void first_packet_counts_before_what_is_closing(struct lane *lane)
{
	lane_idle(lane, IDLE, IDLE);
	establish(lane, B_IPIP4);
	finish(lane);
	swap(lane);
	lane_table(lane, B_NEXT);
	expect_tcp(CLIENT, TCP_SYN, B_NEXT);
	world_age_flows(lane->world, SILENT);
	swap(lane);
	expect_tcp(CLIENT, TCP_ACK, B_NEXT);
	lane_expect_flags(lane, CLIENT, FLOW_CONFIRMED);
}

/* ct_remember: ct_forget_others. */
static void tuple_is_used_again_where_its_end_was_seen(struct lane *lane)
{
	establish_on_both(lane);
	finish(lane);
	expect_reuse(lane);
}

static void tuple_is_used_again_though_nobody_saw_its_end(struct lane *lane)
{
	establish_on_both(lane);
	expect_reuse(lane);
}

static void set_draining(struct backend *backend)
{
	backend->flags |= BACKEND_DRAINING;
}

/* ct_remember, of an entry that is not confirmed, whose backend takes no SYN now. */
static void tuple_is_used_again_while_its_backend_drains(struct lane *lane)
{
	lane_idle(lane, IDLE, IDLE);
	expect_tcp(CLIENT, TCP_SYN, B_IPIP4);
	swap(lane);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
	swap(lane);
	world_backend(lane->world, B_IPIP4, set_draining);
	expect_reuse(lane);
}

/* ct_forget_others: the entry of this CPU stays, and other flows do. */
static void only_the_tuple_is_forgotten_elsewhere(struct lane *lane)
{
	establish_on_both(lane);
	swap(lane);
	expect_tcp(OTHER_CLIENT, TCP_SYN, B_IPIP4);
	swap(lane);
	expect_tcp(CLIENT, TCP_SYN, B_IPIP4);
	assert_int_equal(lane_count(lane), 1);
	swap(lane);
	assert_int_equal(lane_count(lane), 1);
	expect_tcp(OTHER_CLIENT, TCP_ACK, B_IPIP4);
	lane_expect_flags(lane, OTHER_CLIENT, FLOW_CONFIRMED);
}

/* ct_search: the backend is another. The CPU of the SYN has seen no FIN. */
static void half_closed_flow_stays_one(struct lane *lane)
{
	lane_idle(lane, IDLE, IDLE);
	expect_tcp(CLIENT, TCP_SYN, B_IPIP4);
	swap(lane);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
	lane_table(lane, B_NEXT);
	finish(lane);
	for (int i = 0; i < 4; i++)
		expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
	lane_expect_flags(lane, CLIENT, FLOW_CONFIRMED | FLOW_CLOSING);
}

/* ct_search: or was heard of later. It is a new connection, and may go the plain way. */
static void tuple_that_is_used_again_with_its_backend_is_not_closing(struct lane *lane)
{
	lane_idle(lane, IDLE, IDLE);
	establish(lane, B_IPIP4);
	finish(lane);
	world_age_flows(lane->world, 1);
	swap(lane);
	expect_tcp(CLIENT, TCP_SYN, B_IPIP4);
	swap(lane);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
	lane_expect_flags(lane, CLIENT, FLOW_CONFIRMED);
}

/* ct_rank: the silence of what is confirmed. An old connection's end was not seen. */
static void half_closed_flow_is_not_taken_for_an_old_one_elsewhere(struct lane *lane)
{
	lane_idle(lane, IDLE, IDLE);
	establish(lane, B_IPIP4);
	world_age_flows(lane->world, SILENT);
	move(lane, B_NEXT);
	establish(lane, B_NEXT);
	expect_tcp(CLIENT, TCP_FIN | TCP_ACK, B_NEXT);
	for (int i = 0; i < 4; i++)
		expect_tcp(CLIENT, TCP_ACK, B_NEXT);
}

/* ct_rank: FLOW_GUESS. */
static void nor_for_a_guess_elsewhere(struct lane *lane)
{
	lane_idle(lane, IDLE, IDLE);
	lane_table(lane, B_NEXT);
	expect_tcp(CLIENT, TCP_ACK, B_NEXT);
	move(lane, B_IPIP4);
	establish(lane, B_IPIP4);
	finish(lane);
	lane_expect_flags(lane, CLIENT, FLOW_CONFIRMED | FLOW_CLOSING);
}

/* ct_rank: FLOW_GUESS, of what is as silent. */
static void guess_counts_less_than_what_is_as_silent_elsewhere(struct lane *lane)
{
	lane_idle(lane, IDLE, IDLE);
	lane_table(lane, B_NEXT);
	expect_tcp(CLIENT, TCP_ACK, B_NEXT);
	world_age_flows(lane->world, SILENT);
	swap(lane);
	lane_table(lane, B_IPIP4);
	establish(lane, B_IPIP4);
	world_age_flows(lane->world, SILENT);
	swap(lane);
	expect_tcp(CLIENT, TCP_ACK, B_IPIP4);
}

#define LOOKUPS (1 << 19) /* that a CPU may spend a second */

/* ct_question: what closes may spend a part of it, and so has left the most of it. */
static void half_closed_flows_leave_lookups_for_those_that_moved(struct lane *lane)
{
	enum backend_id fresh, later, moved;
	uint32_t second, after;

	do {
		world_reset(lane->world);
		lane_idle(lane, IDLE, IDLE);
		establish(lane, B_IPIP4);
		expect_tcp(OTHER_CLIENT, TCP_SYN, B_IPIP4);
		expect_tcp(OTHER_CLIENT, TCP_ACK, B_IPIP4);
		finish(lane);
		swap(lane);
		lane_table(lane, B_NEXT);
		expect_tcp(CLIENT, TCP_SYN, B_NEXT);
		swap(lane);
		second = spend_lookups(lane, LOOKUPS / 4);
		fresh = lane_tcp(lane, CLIENT, TCP_ACK);
		after = lookups(lane);
		world_age_flows(lane->world, 1);
		later = lane_tcp(lane, CLIENT, TCP_ACK);
		swap(lane);
		moved = lane_tcp(lane, OTHER_CLIENT, TCP_ACK);
	} while (second != coarse_second());
	assert_int_equal(after, LOOKUPS / 4);
	assert_int_equal(fresh, B_IPIP4);
	assert_int_equal(later, B_NEXT);
	assert_int_equal(moved, B_IPIP4);
}

/* The most that all of them may spend: half. */
static void lookups_for_tuples_used_again_leave_half(struct lane *lane)
{
	enum backend_id closing, confirmed, moved;
	uint32_t second, after;

	do {
		world_reset(lane->world);
		establish_on_both(lane);
		finish(lane);
		swap(lane);
		expect_tcp(OTHER_CLIENT, TCP_SYN, B_IPIP4);
		expect_tcp(OTHER_CLIENT, TCP_ACK, B_IPIP4);
		swap(lane);
		second = spend_lookups(lane, LOOKUPS / 2);
		lane_table(lane, B_NEXT);
		expect_tcp(CLIENT, TCP_SYN, B_NEXT);
		swap(lane);
		confirmed = lane_tcp(lane, CLIENT, TCP_ACK);
		lane_tcp(lane, CLIENT, TCP_FIN | TCP_ACK);
		world_age_flows(lane->world, 1);
		closing = lane_tcp(lane, CLIENT, TCP_ACK);
		after = lookups(lane);
		swap(lane);
		moved = lane_tcp(lane, OTHER_CLIENT, TCP_ACK);
	} while (second != coarse_second());
	assert_int_equal(after, LOOKUPS / 2);
	assert_int_equal(confirmed, B_IPIP4);
	assert_int_equal(closing, B_IPIP4);
	assert_int_equal(moved, B_IPIP4);
}

int main(void)
{
	static const struct lane_rule rules[] = {
		LANE_RULE(flow_that_moves_keeps_its_backend_and_is_remembered_here),
		LANE_RULE(guess_that_moves_keeps_its_alternate),
		LANE_RULE(syn_is_not_looked_for_elsewhere),
		LANE_RULE(flow_that_has_ended_elsewhere_is_nobodys),
		LANE_RULE(known_flow_is_not_looked_for_elsewhere),
		LANE_RULE(neither_are_flows_that_open),
		LANE_RULE(of_a_flow_that_was_silent_here_the_fresher_entry_counts),
		LANE_RULE(older_entry_elsewhere_does_not_count),
		LANE_RULE(flow_that_has_ended_here_and_lives_elsewhere_keeps_its_backend),
		LANE_RULE(new_connection_is_not_taken_for_the_old_one_elsewhere),
		LANE_RULE(closing_connection_is_not_taken_for_the_old_one_elsewhere),
		LANE_RULE(first_packet_that_was_here_is_not_the_last_word),
		LANE_RULE(tuple_is_used_again_where_its_end_was_not_seen),
		LANE_RULE(tuple_is_used_again_where_it_was_never_seen),
		LANE_RULE(first_packet_counts_before_what_is_closing),
		LANE_RULE(tuple_is_used_again_where_its_end_was_seen),
		LANE_RULE(tuple_is_used_again_though_nobody_saw_its_end),
		LANE_RULE(tuple_is_used_again_while_its_backend_drains),
		LANE_RULE(only_the_tuple_is_forgotten_elsewhere),
		LANE_RULE(half_closed_flow_stays_one),
		LANE_RULE(tuple_that_is_used_again_with_its_backend_is_not_closing),
		LANE_RULE(half_closed_flow_is_not_taken_for_an_old_one_elsewhere),
		LANE_RULE(nor_for_a_guess_elsewhere),
		LANE_RULE(guess_counts_less_than_what_is_as_silent_elsewhere),
		LANE_RULE(half_closed_flows_leave_lookups_for_those_that_moved),
		LANE_RULE(lookups_for_tuples_used_again_leave_half),
	};
	size_t n = sizeof(rules) / sizeof(rules[0]);
	int result = lanes_run(FLOW_FORM_SETS, WORLD_FLOWS, rules, n);

	return result ? result : lanes_run(FLOW_FORM_LRU, WORLD_FLOWS, rules, n);
}
