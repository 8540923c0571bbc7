// SPDX-License-Identifier: GPL-2.0-only
/* What is true of all ICMP packets, and not only of those in scenarios_icmp.c. */
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>

#include "tests/lib/icmp.h"
#include "world.h"

#define LIMIT WORLD_ICMP_ANSWERS
#define FLOWS 400

static struct world world;

static int reset_world(void **state)
{
	(void)state;
	world_reset(&world);
	return 0;
}

static void run_frame(const struct frame *in, struct run *run)
{
	static const struct run_options options;

	world_run(&world, in, &options, run);
}

static void forget_answers(void)
{
	uint8_t zeros[libbpf_num_possible_cpus()][16];
	uint32_t key = 0;

	memset(zeros, 0, sizeof(zeros));
	assert_int_equal(bpf_map_update_elem(bpf_map__fd(world.skel->maps.icmp_spent),
					     &key, zeros, BPF_ANY),
			 0);
}

/* Requests whose bytes behind the checksum are 0 but for two, which are all. */
static void answer_every_sum(bool v6, uint16_t payload)
{
	uint8_t data[payload];
	struct icmp_spec spec = {
		.v6 = v6,
		.type = v6 ? 128 : 8,
		.payload = payload,
		.data = data,
	};
	static struct frame in, expected;
	static struct run run;

	memset(data, 0, sizeof(data));
	for (uint32_t word = 0; word <= 0xffff; word++) {
		if (word % (LIMIT / 2) == 0)
			forget_answers();
		data[payload - 2] = word >> 8;
		data[payload - 1] = word & 0xff;
		icmp_build(&spec, &in);
		icmp_echo_answer(&in, &expected);
		run_frame(&in, &run);
		assert_int_equal(run.verdict, XDP_TX);
		if (!frame_equal(stdout, &expected, &run.out))
			fail_msg("the answer to the request with 0x%04x is another", word);
	}
}

static void echo_checksum_is_right_for_every_sum_over_ip4(void **state)
{
	(void)state;
	answer_every_sum(false, 2);
}

static void echo_checksum_is_right_for_every_sum_over_ip6(void **state)
{
	(void)state;
	answer_every_sum(true, 2);
}

/* The zeros and what is no zero lie far apart, and the length is odd. */
static void echo_checksum_is_right_for_every_sum_of_long_payloads(void **state)
{
	(void)state;
	answer_every_sum(false, 1001);
}

static void echo_checksum_of_zeros_alone_is_not_zero(void **state)
{
	static const uint16_t lengths[] = { 0, 1, 2, 27, 28, 29, 56, 1000, 8000 };
	static const uint8_t zeros[8000];
	static struct frame in, expected;
	static struct run run;

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct icmp_spec spec = { .type = 8, .payload = lengths[i],
					  .data = zeros };

		icmp_build(&spec, &in);
		icmp_echo_answer(&in, &expected);
		run_frame(&in, &run);
		assert_int_equal(run.verdict, XDP_TX);
		assert_true(frame_equal(stdout, &expected, &run.out));
		assert_int_equal(run.out.data[ETH_SIZE + 22], 0xff);
		assert_int_equal(run.out.data[ETH_SIZE + 23], 0xff);
	}
}

static uint16_t owner_by_slot(uint32_t slot, uint32_t context)
{
	(void)context;
	return B_IPIP4 + slot % 6; /* to B_NEXT */
}

static struct frame_spec flow_number(int i, char text[INET6_ADDRSTRLEN])
{
	struct frame_spec flow = { .v6 = i & 1, .sport = 1024 + i * 7 };

	flow.protocol = i & 2 ? IPPROTO_UDP : IPPROTO_TCP;
	flow.dport = i & 2 ? 53 : VIP_PORT;
	snprintf(text, INET6_ADDRSTRLEN, flow.v6 ? "2001:db8:c::%x" : "198.51.100.%d",
		 i % 250 + 1);
	flow.src = text;
	return flow;
}

/* The answer of the flow's server, quoted by a router. */
static void error_of(const struct frame_spec *flow, struct frame *out)
{
	struct frame_spec answer = *flow;
	struct icmp_spec spec = {
		.v6 = flow->v6,
		.src = flow->v6 ? "2001:db8:f::1" : "192.0.2.77",
		.type = flow->v6 ? 1 : 3,
		.quote = &answer,
	};

	answer.src = flow->v6 ? VIP6 : VIP4;
	answer.dst = flow->src;
	answer.sport = flow->dport;
	answer.dport = flow->sport;
	icmp_build(&spec, out);
}

static void error_of_an_unknown_flow_goes_where_its_packets_will_go(void **state)
{
	unsigned int met = 0;

	(void)state;
	world_table_by(&world, T_MAIN, WORLD_TABLE_SIZE, owner_by_slot, 0);
	for (int i = 0; i < FLOWS; i++) {
		char text[INET6_ADDRSTRLEN];
		struct frame_spec flow = flow_number(i, text);
		static struct frame error, packet;
		static struct run first, second;

		error_of(&flow, &error);
		run_frame(&error, &first);
		assert_int_equal(first.verdict, XDP_TX);
		met |= 1U << world_sent_to(&first);

		frame_build(&flow, &packet);
		run_frame(&packet, &second);
		assert_int_equal(world_sent_to(&first), world_sent_to(&second));
	}
	/* The six of the table, or the comparison says little. */
	assert_int_equal(met, 0x7e);
}

static void errors_leave_no_entry(void **state)
{
	(void)state;
	for (int i = 0; i < FLOWS; i++) {
		char text[INET6_ADDRSTRLEN];
		struct frame_spec flow = flow_number(i, text);
		static struct frame error;
		static struct run run;

		error_of(&flow, &error);
		run_frame(&error, &run);
		assert_int_equal(run.verdict, XDP_TX);
	}
	assert_int_equal(world_count_flows(&world, false), 0);
	assert_int_equal(world_count_flows(&world, true), 0);
}

struct stamps {
	uint16_t of[65536]; /* by source port */
	unsigned int n;
};

static void note_stamp(void *context, uint16_t sport, uint16_t dport, struct flow *flow)
{
	struct stamps *stamps = context;

	(void)dport;
	stamps->of[sport] += flow->stamp;
	stamps->n++;
}

/*
 * ct_peek. Anybody can send errors: they must neither confirm a flow nor keep it. The
 * flow's last packet is some ticks ago, so that a refreshed stamp would be another.
 */
static void errors_refresh_no_entry(void **state)
{
	static struct frame frame;
	static struct run run;

	(void)state;
	for (int i = 0; i < 8; i++) {
		static struct stamps before, after;
		char text[INET6_ADDRSTRLEN];
		struct frame_spec flow = flow_number(i, text);

		frame_build(&flow, &frame);
		run_frame(&frame, &run);
		world_age_flows(&world, 10);
		before = after = (struct stamps){ 0 };
		world_each_flow(&world, flow.v6, note_stamp, &before);
		error_of(&flow, &frame);
		run_frame(&frame, &run);
		assert_int_equal(run.verdict, XDP_TX);
		world_each_flow(&world, flow.v6, note_stamp, &after);
		assert_int_equal(before.n, 1);
		assert_memory_equal(&before, &after, sizeof(before));
		world_reset(&world);
	}
}

static uint32_t tick(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return ((uint64_t)now.tv_sec * 1000000000 + now.tv_nsec) >> 30;
}

/* How many of `n` are sent, all within one tick. */
static unsigned int answers_in_a_tick(const struct frame *in, unsigned int n)
{
	static struct run run;
	unsigned int sent;
	uint32_t start;

	do {
		forget_answers();
		start = tick();
		sent = 0;
		for (unsigned int i = 0; i < n; i++) {
			run_frame(in, &run);
			sent += run.verdict == XDP_TX;
		}
	} while (start != tick());
	return sent;
}

static void each_kind_of_answer_has_its_own_limit(void **state)
{
	static const struct icmp_spec request = { .type = 8 };
	static const struct frame_spec big = { .fragment = 0x4000, .payload = 1441 };
	static struct frame echo, too_big;
	static struct run run;
	uint32_t start;

	(void)state;
	icmp_build(&request, &echo);
	frame_build(&big, &too_big);
	do {
		start = tick();
		assert_int_equal(answers_in_a_tick(&echo, LIMIT + 10), LIMIT);
		run_frame(&too_big, &run);
	} while (tick() - start > 1);
	assert_int_equal(run.verdict, XDP_TX);
	assert_int_equal(answers_in_a_tick(&too_big, LIMIT + 10), LIMIT);
}

static void next_tick_has_answers_again(void **state)
{
	static const struct icmp_spec request = { .type = 8 };
	static struct frame echo;
	static struct run run;
	uint32_t start;

	(void)state;
	icmp_build(&request, &echo);
	world_spend_icmp(&world);
	start = tick();
	while (tick() == start)
		;
	run_frame(&echo, &run);
	assert_int_equal(run.verdict, XDP_TX);
}

/* RFC 1122, section 3.2.2: not what the link has sent to many. */
static void frame_to_a_group_of_hosts_is_not_answered(void **state)
{
	static const struct icmp_spec request = { .type = 8 };
	static const struct frame_spec big = { .fragment = 0x4000, .payload = 1441 };
	static struct frame frame;
	static struct run run;

	(void)state;
	icmp_build(&request, &frame);
	frame.data[0] |= 1;
	run_frame(&frame, &run);
	assert_int_equal(run.verdict, XDP_DROP);

	frame_build(&big, &frame);
	frame.data[0] |= 1;
	run_frame(&frame, &run);
	assert_int_equal(run.verdict, XDP_DROP);
}

/* Whatever is in a quote: it is dropped or forwarded, and leaves no trace. */
static void no_quote_of_random_bytes_is_answered(void **state)
{
	uint32_t random = 1;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint8_t data[96];
		struct icmp_spec spec = { .v6 = i & 1, .type = i & 1 ? 1 : 3,
					  .payload = random % sizeof(data), .data = data };
		static struct frame in;
		static struct run run;

		for (size_t b = 0; b < sizeof(data); b++) {
			random = random * 1664525 + 1013904223;
			data[b] = random >> 24;
		}
		/* Close to what it takes, so that the walk gets further. */
		data[0] = spec.v6 ? 0x60 : 0x40 | (data[0] & 0xf);
		if (spec.v6)
			frame_address(VIP6, true, data + 8);
		else
			frame_address(VIP4, false, data + 12);
		icmp_build(&spec, &in);
		run_frame(&in, &run);
		assert_true(run.verdict == XDP_DROP || world_sent_to(&run) == B_IPIP4);
	}
	assert_int_equal(world_count_flows(&world, false), 0);
	assert_int_equal(world_count_flows(&world, true), 0);
}

#define TEST(name) cmocka_unit_test_setup(name, reset_world)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(echo_checksum_is_right_for_every_sum_over_ip4),
		TEST(echo_checksum_is_right_for_every_sum_over_ip6),
		TEST(echo_checksum_is_right_for_every_sum_of_long_payloads),
		TEST(echo_checksum_of_zeros_alone_is_not_zero),
		TEST(error_of_an_unknown_flow_goes_where_its_packets_will_go),
		TEST(errors_leave_no_entry),
		TEST(errors_refresh_no_entry),
		TEST(each_kind_of_answer_has_its_own_limit),
		TEST(next_tick_has_answers_again),
		TEST(frame_to_a_group_of_hosts_is_not_answered),
		TEST(no_quote_of_random_bytes_is_answered),
	};

	return world_run_tests(&world, tests, sizeof(tests) / sizeof(tests[0]));
}
