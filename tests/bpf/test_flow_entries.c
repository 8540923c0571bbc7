// SPDX-License-Identifier: GPL-2.0-only
/* What becomes of flow entries over many packets. */
#include "world.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>

static struct world world;

static int reset_world(void **state)
{
	(void)state;
	world_reset(&world);
	return 0;
}

#define SMALL_FLOWS 1024
#define MANY_FLOWS 3000
#define OPENING_TICKS 32 /* for which a first packet waits for the second */

static struct frame_spec flow_number(int i, bool v6, uint8_t tcp_flags)
{
	return (struct frame_spec){
		.v6 = v6,
		.sport = 1024 + i,
		.tcp_flags = tcp_flags,
	};
}

struct lookup {
	uint16_t sport;
	struct flow *flow;
	bool found;
};

static void look_at(void *context, uint16_t sport, uint16_t dport, struct flow *flow)
{
	struct lookup *lookup = context;

	if (sport != lookup->sport || dport != VIP_PORT)
		return;
	*lookup->flow = *flow;
	lookup->found = true;
}

static bool flow_lookup(int i, bool v6, struct flow *flow)
{
	struct lookup lookup = { .sport = 1024 + i, .flow = flow };

	world_each_flow(&world, v6, look_at, &lookup);
	return lookup.found;
}

static void send_known(const bool *known, bool v6, uint8_t tcp_flags)
{
	struct run run;

	for (int i = 0; i < MANY_FLOWS; i++) {
		struct frame_spec spec = flow_number(i, v6, tcp_flags);

		if (known[i])
			world_send(&world, &spec, &run);
	}
}

static void mark_known(void *context, uint16_t sport, uint16_t dport, struct flow *flow)
{
	bool *known = context;

	(void)dport;
	(void)flow;
	assert_in_range(sport, 1024, 1024 + MANY_FLOWS - 1);
	known[sport - 1024] = true;
}

static unsigned int count(const bool *known)
{
	unsigned int n = 0;

	for (int i = 0; i < MANY_FLOWS; i++)
		n += known[i];
	return n;
}

/* The kernel frees a batch of entries when a full map gets a key it has. */
static void expect_no_eviction(bool v6)
{
	bool known[MANY_FLOWS] = { false }, after[MANY_FLOWS] = { false };
	struct counts counts;
	struct run run;

	for (int i = 0; i < MANY_FLOWS; i++) {
		struct frame_spec spec = flow_number(i, v6, TCP_SYN);

		world_send(&world, &spec, &run);
	}
	world_each_flow(&world, v6, mark_known, known);
	assert_in_range(count(known), SMALL_FLOWS / 2, SMALL_FLOWS);

	send_known(known, v6, TCP_ACK); /* a hit */
	send_known(known, v6, TCP_SYN); /* confirmed: chooses in place */
	send_known(known, v6, TCP_ACK);
	world_each_flow(&world, v6, mark_known, after);
	assert_memory_equal(known, after, sizeof(known));
	world_counts(&world, &counts);
	assert_int_equal(counts.vips[v6 ? V_WEB6 : V_WEB4].new_flows,
			 MANY_FLOWS + count(known));
}

static void packets_of_known_flows_evict_nothing_from_a_full_lru_map(void **state)
{
	(void)state;
	world_close(&world);
	assert_int_equal(world_open_as(&world, FLOW_FORM_LRU), 0);
	world_reset(&world);
	world_flows(&world, SMALL_FLOWS);
	expect_no_eviction(false);
	expect_no_eviction(true);
	world_close(&world);
	assert_int_equal(world_open(&world), 0);
	world_reset(&world);
}

static uint32_t coarse_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (now.tv_sec * 1000000000ULL + now.tv_nsec) >> 30;
}

/* A tick may pass meanwhile. */
static void expect_life(const struct flow *flow, uint32_t ticks)
{
	assert_in_range(FLOW_LEFT(flow->stamp, world_tick(&world)), ticks - 1, ticks);
}

static void flow_entry_says_backend_stage_and_end(void **state)
{
	for (int v6 = 0; v6 < 2; v6++) {
		struct frame_spec syn = flow_number(0, v6, TCP_SYN);
		struct frame_spec ack = flow_number(0, v6, TCP_ACK);
		struct flow flow;
		struct run run;

		world_send(&world, &syn, &run);
		assert_true(flow_lookup(0, v6, &flow));
		assert_int_equal(flow.backend, B_IPIP4);
		assert_int_equal(flow.stamp & FLOW_FLAGS, 0);
		expect_life(&flow, OPENING_TICKS);

		world_send(&world, &ack, &run);
		assert_true(flow_lookup(0, v6, &flow));
		assert_int_equal(flow.stamp & FLOW_FLAGS, FLOW_CONFIRMED);
		expect_life(&flow, FLOW_IDLE_MAX);
		assert_int_equal(world_count_flows(&world, v6), 1);
	}
	(void)state;
}

static void hit_refreshes_an_old_entry(void **state)
{
	struct frame_spec spec = flow_number(0, false, TCP_ACK);
	struct flow flow;
	struct run run;

	(void)state;
	world_send(&world, &spec, &run);
	world_send(&world, &spec, &run);
	world_age_flows(&world, 1000);
	world_send(&world, &spec, &run);
	assert_true(flow_lookup(0, false, &flow));
	expect_life(&flow, FLOW_IDLE_MAX);
}

/* This CPU's share of lookups in the maps of others, as if it were spent. */
static void spend_rescues(uint32_t tick)
{
	int cpus = libbpf_num_possible_cpus();
	struct ct_rescue { uint32_t tick, lookups; } *values;
	uint32_t zero = 0;

	values = calloc(cpus, sizeof(*values));
	assert_non_null(values);
	for (int i = 0; i < cpus; i++) {
		values[i].tick = tick;
		values[i].lookups = 1U << 30;
	}
	assert_int_equal(bpf_map_update_elem(
				 bpf_map__fd(world.skel->maps.ct_rescues), &zero,
				 values, BPF_ANY),
			 0);
	free(values);
}

static void spent_share_of_lookups_leaves_other_cpus_alone_for_a_tick(void **state)
{
	struct frame_spec spec = flow_number(0, false, TCP_ACK);
	uint32_t tick;
	struct run run;

	(void)state;
	/* Again when the tick passes meanwhile: once in a second at most. */
	do {
		world_reset(&world);
		world_send(&world, &spec, &run);
		world_flows_move(&world);
		world_table(&world, T_MAIN, WORLD_TABLE_SIZE, B_NEXT);
		tick = coarse_seconds();
		spend_rescues(tick);
		world_send(&world, &spec, &run);
	} while (tick != coarse_seconds());
	assert_int_equal(world_sent_to(&run), B_NEXT);

	world_reset(&world);
	world_send(&world, &spec, &run);
	world_flows_move(&world);
	world_table(&world, T_MAIN, WORLD_TABLE_SIZE, B_NEXT);
	spend_rescues(coarse_seconds() - 1);
	world_send(&world, &spec, &run);
	assert_int_equal(world_sent_to(&run), B_IPIP4);
}

static void packet_that_is_dropped_or_passed_leaves_no_entry(void **state)
{
	static const struct frame_spec packets[] = {
		{ .dst = OTHER4 },
		{ .dport = 80 },
		{ .ihl = 4 },
		{ .fragment = 0x0005 },
		{ .ip_len = 39 },
		{ .dst = TABLELESS4 },
	};
	struct run run;

	(void)state;
	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++)
		world_send(&world, &packets[i], &run);
	assert_int_equal(world_count_flows(&world, false), 0);
	assert_int_equal(world_count_flows(&world, true), 0);
}

#define TEST(name) cmocka_unit_test_setup(name, reset_world)

int main(void)
{
	static const struct CMUnitTest entries[] = {
		TEST(packets_of_known_flows_evict_nothing_from_a_full_lru_map),
		TEST(flow_entry_says_backend_stage_and_end),
		TEST(hit_refreshes_an_old_entry),
		TEST(spent_share_of_lookups_leaves_other_cpus_alone_for_a_tick),
		TEST(packet_that_is_dropped_or_passed_leaves_no_entry),
	};

	return world_run_tests(&world, entries, sizeof(entries) / sizeof(entries[0]));
}
