// SPDX-License-Identifier: GPL-2.0-only
/* What holds over many packets, and so fits no scenario row. */
#include "world.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <cmocka.h>

#include "insn_budget.h"
#include "tests/lib/checksum.h"
#include "tests/lib/siphash.h"

static struct world world;

static int reset_world(void **state)
{
	(void)state;
	world_reset(&world);
	return 0;
}

/*
 * The slot that a flow falls on.
 *
 * Seven backends stand for a digit: a slot has seven digits to base 7.
 */
#define SLOT_BASE 7
#define SLOT_DIGITS 7

static uint16_t digit_owner(uint32_t slot, uint32_t unit)
{
	return 1 + slot / unit % SLOT_BASE;
}

/* Add unit * digit to the slot of each flow. */
static void read_digit(const struct frame_spec *flows, size_t n, uint32_t unit,
		       uint32_t *slots)
{
	struct run run;

	for (size_t i = 0; i < n; i++) {
		world_send(&world, &flows[i], &run);
		assert_int_equal(run.verdict, XDP_TX);
		slots[i] += unit * (world_sent_to(&run) - 1);
	}
}

static void read_slots(const struct frame_spec *flows, size_t n, uint32_t size,
		       uint32_t *slots)
{
	memset(slots, 0, n * sizeof(*slots));
	world_flows(&world, 0);
	for (uint32_t unit = 1; unit < size; unit *= SLOT_BASE) {
		world_table_by(&world, T_MAIN, size, digit_owner, unit);
		read_digit(flows, n, unit, slots);
	}
}

static void slots_are_those_of_the_published_vectors(void **state)
{
	static const struct frame_spec flows[] = {
		{ .src = "10.0.0.1", .sport = 12345, .dst = VECTOR_TCP4,
		  .dport = 443 },
		{ .src = "203.0.113.7", .sport = 40000, .dst = VECTOR_UDP4,
		  .dport = 53, .protocol = IPPROTO_UDP },
	};
	uint32_t slots[2];

	(void)state;
	read_slots(flows, 2, 65537, slots);
	assert_int_equal(slots[0], 30279);
	assert_int_equal(slots[1], 16595);
}

/* As set_hash_key in world.c. */
static const uint8_t HASH_KEY[16] = { 0, 1, 2,	3,  4,	5,  6,	7,
				      8, 9, 10, 11, 12, 13, 14, 15 };

static void siphash_of_the_tests_agrees_with_the_vectors(void **state)
{
	/* 10.0.0.1 192.0.2.1 12345 443 6 */
	uint8_t bytes[13] = { 10, 0, 0, 1, 192, 0, 2, 1, 0x30, 0x39, 1, 0xbb, 6 };

	(void)state;
	assert_true(siphash(1, 3, HASH_KEY, bytes, sizeof(bytes)) == 0x7646d8028f5f474bULL);
	memset(bytes, 0, sizeof(bytes));
	assert_true(siphash(1, 3, HASH_KEY, bytes, sizeof(bytes)) == 0x23c1a1b1aaa0af63ULL);
}

static uint32_t expected_slot(const struct frame_spec *flow, uint32_t size)
{
	size_t address = flow->v6 ? 16 : 4;
	uint8_t tuple[37];
	uint8_t *at = tuple + 2 * address;
	unsigned __int128 hash;

	frame_address(flow->src, flow->v6, tuple);
	frame_address(flow->dst, flow->v6, tuple + address);
	at[0] = flow->sport >> 8;
	at[1] = flow->sport & 0xff;
	at[2] = VIP_PORT >> 8;
	at[3] = VIP_PORT & 0xff;
	at[4] = IPPROTO_TCP;
	hash = siphash(1, 3, HASH_KEY, tuple, 2 * address + 5);
	return (uint64_t)(hash >> 32) * size >> 32;
}

#define N_FLOWS 48

static void slot_is_the_keyed_hash_scaled_to_the_size_swapped_in(void **state)
{
	static const uint32_t sizes[] = { 65537, 251, 655373, 509 };
	static char text[N_FLOWS][40];
	struct frame_spec flows[N_FLOWS] = { 0 };
	uint32_t slots[N_FLOWS];

	(void)state;
	for (int i = 0; i < N_FLOWS; i++) {
		flows[i].v6 = i % 2;
		flows[i].dst = i % 2 ? VIP6 : VIP4;
		flows[i].src = text[i];
		flows[i].sport = 1024 + i * 1237;
		snprintf(text[i], sizeof(text[i]),
			 i % 2 ? "2001:db8:c::%d" : "198.51.100.%d", i + 1);
	}
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		read_slots(flows, N_FLOWS, sizes[s], slots);
		for (int i = 0; i < N_FLOWS; i++)
			assert_int_equal(slots[i], expected_slot(&flows[i], sizes[s]));
	}
}

/* What outer headers carry for receivers to hash. */

#define ENTROPY_FLOWS 1024
#define ENTROPY_BUCKETS 16

struct entropy {
	uint32_t label; /* 0 when the outer header is IPv4 */
	uint16_t port;  /* 0 when it is IPIP */
};

static struct entropy entropy_of(const struct frame_spec *spec,
				 enum backend_id id)
{
	const struct tunnel *tunnel = world_tunnel(id);
	struct entropy entropy = { 0 };
	struct run run;

	world_send(&world, spec, &run);
	assert_int_equal(run.verdict, XDP_TX);
	assert_int_equal(world_sent_to(&run), id);
	if (tunnel->outer6)
		entropy.label = frame_flow_label(&run.out);
	if (tunnel->gue_port)
		entropy.port = frame_udp_source(&run.out, tunnel->outer6);
	return entropy;
}

static void expect_stable(enum backend_id id, bool v6)
{
	const struct frame_spec packets[] = {
		{ .v6 = v6, .tcp_flags = TCP_SYN },
		{ .v6 = v6 },
		{ .v6 = v6, .payload = 900, .tos = 0xb8 },
		{ .v6 = v6, .tcp_flags = TCP_FIN | TCP_ACK, .padding = 3 },
	};
	struct entropy first = entropy_of(&packets[0], id);

	for (size_t i = 1; i < sizeof(packets) / sizeof(packets[0]); i++) {
		struct entropy other = entropy_of(&packets[i], id);

		assert_int_equal(other.label, first.label);
		assert_int_equal(other.port, first.port);
	}
}

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Few flows share a number, and their low bits pick queues evenly. */
static void expect_spread(const char *what, uint32_t *values, uint32_t space)
{
	unsigned int buckets[ENTROPY_BUCKETS] = { 0 };
	unsigned int distinct = 1, mean = ENTROPY_FLOWS / ENTROPY_BUCKETS;

	for (int i = 0; i < ENTROPY_FLOWS; i++)
		buckets[values[i] % ENTROPY_BUCKETS]++;
	for (int i = 0; i < ENTROPY_BUCKETS; i++) {
		if (buckets[i] < mean / 2 || buckets[i] > mean * 2)
			fail_msg("%s: %u of %u flows end in %x", what,
				 buckets[i], ENTROPY_FLOWS, i);
	}

	qsort(values, ENTROPY_FLOWS, sizeof(*values), compare_u32);
	for (int i = 1; i < ENTROPY_FLOWS; i++)
		distinct += values[i] != values[i - 1];
	/* Random numbers collide n^2 / 2m times; twice that is allowed. */
	if (distinct + ENTROPY_FLOWS * (ENTROPY_FLOWS / (double)space) + 2 <
	    ENTROPY_FLOWS)
		fail_msg("%s: only %u numbers for %u flows", what, distinct,
			 ENTROPY_FLOWS);
}

static void expect_entropy(enum backend_id id, bool v6, bool by_port)
{
	const struct tunnel *tunnel = world_tunnel(id);
	static uint32_t labels[ENTROPY_FLOWS], ports[ENTROPY_FLOWS];
	char src[40];

	for (int i = 0; i < ENTROPY_FLOWS; i++) {
		struct frame_spec spec = { .v6 = v6 };
		struct entropy entropy;

		snprintf(src, sizeof(src), v6 ? "2001:db8:c::%x:%x" : "10.9.%d.%d",
			 i >> 8, i & 0xff);
		if (by_port)
			spec.sport = 1024 + i;
		else
			spec.src = src;
		entropy = entropy_of(&spec, id);
		labels[i] = entropy.label;
		ports[i] = entropy.port;
		if (tunnel->gue_port)
			assert_in_range(entropy.port, 0xc000, 0xffff);
	}
	if (tunnel->outer6)
		expect_spread("flow label", labels, 1 << 20);
	if (tunnel->gue_port)
		expect_spread("UDP source port", ports, 1 << 14);
}

static void each_entropy(void (*check)(enum backend_id id, bool v6))
{
	static const enum backend_id ids[] = { B_IPIP6, B_GUE4, B_GUE6 };

	for (size_t i = 0; i < 3; i++) {
		world_table(&world, T_MAIN, WORLD_TABLE_SIZE, ids[i]);
		world_flows(&world, WORLD_FLOWS);
		check(ids[i], false);
		check(ids[i], true);
	}
}

static void spread_over_ports(enum backend_id id, bool v6)
{
	expect_entropy(id, v6, true);
}

static void spread_over_addresses(enum backend_id id, bool v6)
{
	expect_entropy(id, v6, false);
}

static void label_and_source_port_stay_with_the_flow(void **state)
{
	(void)state;
	each_entropy(expect_stable);
}

static void label_and_source_port_spread_over_client_ports(void **state)
{
	(void)state;
	each_entropy(spread_over_ports);
}

static void label_and_source_port_spread_over_clients(void **state)
{
	(void)state;
	each_entropy(spread_over_addresses);
}

/*
 * The outer checksum is the backend's sum and a few words of the packet's. Only
 * for one destination in some 65,000 does the first fold of that carry again;
 * here it is sought out.
 */
static bool carries_twice(uint32_t sum)
{
	return (sum & 0xffff) + (sum >> 16) > 0xffff;
}

static void find_double_carry(struct backend *backend)
{
	/* As the host adds: TOS, total length, protocol of the packet below. */
	uint32_t packet = htons(0xff) + htons(20 + 40 + 200) + htons(IPPROTO_IPIP);
	uint8_t *dst = (uint8_t *)&backend->outer.v4.dst;

	for (uint32_t word = 0; word <= 0xffff; word++) {
		dst[2] = word >> 8;
		dst[3] = word & 0xff;
		backend->ip4_sum = world_ip4_sum(backend);
		if (carries_twice(backend->ip4_sum + packet))
			return;
	}
	fail_msg("no destination makes the sum carry twice");
}

static void outer_checksum_is_right_when_its_fold_carries_again(void **state)
{
	static const struct frame_spec spec = { .tos = 0xff, .payload = 200 };
	const uint8_t *ip;
	struct run run;

	(void)state;
	world_backend(&world, B_IPIP4, find_double_carry);
	world_send(&world, &spec, &run);
	assert_int_equal(run.verdict, XDP_TX);
	ip = run.out.data + ETH_SIZE;
	/* A header with its right checksum sums to zero. */
	assert_int_equal(checksum_finish(checksum_add(0, ip, 20)), 0);
}

/* The program itself. */

static bool within_budget(const char *what, unsigned int recorded,
			  unsigned int now)
{
	print_message("           %s instructions: %u, recorded %u\n", what,
		      now, recorded);
	return now <= recorded + recorded / 4;
}

static void program_has_not_grown_by_a_quarter(void **state)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);
	int fd = bpf_program__fd(world.skel->progs.fairlead);
	bool within;

	(void)state;
	assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &size), 0);
	within = within_budget("verified", INSNS_VERIFIED, info.verified_insns);
	within &= within_budget("translated", INSNS_TRANSLATED,
				info.xlated_prog_len / sizeof(struct bpf_insn));
	if (!within)
		fail_msg("the program has grown by more than a quarter; when "
			 "that is meant, see tests/bpf/insn_budget.h");
}

#define TEST(name) cmocka_unit_test_setup(name, reset_world)

int main(void)
{
	static const struct CMUnitTest properties[] = {
		TEST(siphash_of_the_tests_agrees_with_the_vectors),
		TEST(slots_are_those_of_the_published_vectors),
		TEST(slot_is_the_keyed_hash_scaled_to_the_size_swapped_in),
		TEST(label_and_source_port_stay_with_the_flow),
		TEST(label_and_source_port_spread_over_client_ports),
		TEST(label_and_source_port_spread_over_clients),
		TEST(outer_checksum_is_right_when_its_fold_carries_again),
		TEST(program_has_not_grown_by_a_quarter),
	};

	return world_run_tests(&world, properties, sizeof(properties) / sizeof(properties[0]));
}
