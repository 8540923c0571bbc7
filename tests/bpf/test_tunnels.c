// SPDX-License-Identifier: GPL-2.0-only
/*
 * Outer sources out of a prefix, and packets without DF: what holds over many
 * packets of a flow, or over many flows, in every kind of tunnel.
 */
#include "world.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>

#include "tests/lib/checksum.h"

#define FLOWS 1024
#define BUCKETS 16
#define PREFIX4 "10.250.0.0"
#define PREFIX6 "2001:db8:5:6::"

static struct world world;

/* The backends with a tunnel, and the inner packet's family. */
struct kind {
	const char *name;
	enum backend_id id;
	bool v6;
	unsigned int tags;
};

#define KINDS(word, id)                                                        \
	{ word " with IPv4", id, false, 0 }, { word " with IPv6", id, true, 0 }, \
	{ word " with IPv4, tag", id, false, 1 },                              \
	{ word " with IPv6, tags", id, true, 2 }

static const struct kind kinds[] = {
	KINDS("IPIP over IPv4", B_IPIP4), KINDS("IPIP over IPv6", B_IPIP6),
	KINDS("GUE over IPv4", B_GUE4),	  KINDS("GUE over IPv6", B_GUE6),
	KINDS("GUE 1 over IPv4", B_GUE1_4), KINDS("GUE 1 over IPv6", B_GUE1_6),
	KINDS("GRE over IPv4", B_GRE4),	  KINDS("GRE over IPv6", B_GRE6),
};

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static unsigned int source_bits;

static uint32_t mask_of(unsigned int bits)
{
	return bits >= 32 ? UINT32_MAX : htonl((1U << bits) - 1);
}

/* As the daemon fills it in, user/core/outer.c. */
static void spread_source(struct backend *backend)
{
	backend->flags &= ~BACKEND_PLAIN;
	backend->source_mask = mask_of(source_bits);
	if (backend->flags & BACKEND_OUTER_V6) {
		frame_address(PREFIX6, true, backend->outer.v6.src);
		return;
	}
	frame_address(PREFIX4, false, (uint8_t *)&backend->outer.v4.src);
	backend->ip4_sum = world_ip4_sum(backend);
}

static int reset_world(void **state)
{
	(void)state;
	world_reset(&world);
	world_flows(&world, 0);
	return 0;
}

/* No flow is remembered: all go to the one backend. */
static void start(const struct kind *kind, unsigned int bits)
{
	source_bits = bits;
	world_reset_backends(&world);
	world_backend(&world, kind->id, spread_source);
	world_table(&world, T_MAIN, WORLD_TABLE_SIZE, kind->id);
}

static void send_spec(const struct kind *kind, struct frame_spec spec, struct run *run,
		      struct frame *in)
{
	static const struct run_options usual;

	spec.v6 = kind->v6;
	spec.tags = kind->tags;
	frame_build(&spec, in);
	world_run(&world, in, &usual, run);
	if (run->verdict != XDP_TX || world_sent_to(run) != kind->id)
		fail_msg("%s: the packet was not sent", kind->name);
}

static const uint8_t *outer(const struct run *run)
{
	return run->out.data + frame_l3(&run->out);
}

static bool outer_is_6(const struct run *run)
{
	return outer(run)[0] >> 4 == 6;
}

/* The last 32 bits of the outer source. */
static uint32_t source_of(const struct run *run)
{
	const uint8_t *at = outer(run) + (outer_is_6(run) ? 20 : 12);

	return (uint32_t)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3];
}

/* All but the flow's part of the source is the frame for the prefix's base. */
static void expect_whole_frame(const struct kind *kind, const struct frame *in,
			       const struct run *run)
{
	struct tunnel tunnel = *world_tunnel(kind->id);
	char text[INET6_ADDRSTRLEN];
	static struct frame expected;

	inet_ntop(tunnel.outer6 ? AF_INET6 : AF_INET,
		  outer(run) + (tunnel.outer6 ? 8 : 12), text, sizeof(text));
	tunnel.src = text;
	frame_wrap(in, &tunnel, &expected);
	if (run->out.size == expected.size)
		frame_copy_entropy(&run->out, &tunnel, &expected);
	if (!frame_equal(stdout, &expected, &run->out))
		fail_msg("%s: another frame came out than expected", kind->name);
}

static void expect_in_prefix(const struct kind *kind, const struct run *run,
			     unsigned int bits)
{
	uint8_t base[16];
	bool v6 = outer_is_6(run);
	size_t fixed = v6 ? 12 : 0;
	uint32_t low;

	frame_address(v6 ? PREFIX6 : PREFIX4, v6, base);
	assert_memory_equal(outer(run) + (v6 ? 8 : 12), base, fixed);
	low = (uint32_t)base[fixed] << 24 | base[fixed + 1] << 16;
	if ((source_of(run) ^ low) & ~ntohl(mask_of(bits)))
		fail_msg("%s: source %08x is outside of the prefix", kind->name,
			 source_of(run));
}

static struct frame_spec flow_number(int i, bool v6, char text[INET6_ADDRSTRLEN])
{
	snprintf(text, INET6_ADDRSTRLEN, v6 ? "2001:db8:c::%x:%x" : "10.9.%d.%d", i >> 8,
		 i & 0xff);
	return (struct frame_spec){ .src = i % 2 ? text : NULL, .sport = 1024 + i };
}

static void each_packet_has_a_source_of_the_prefix_and_a_right_checksum(void **state)
{
	static const unsigned int lengths[] = { 1, 8, 16 };
	char text[INET6_ADDRSTRLEN];
	static struct frame in;
	struct run run;

	(void)state;
	for (size_t k = 0; k < N_KINDS; k++) {
		for (size_t l = 0; l < 3; l++) {
			start(&kinds[k], lengths[l]);
			for (int i = 0; i < 64; i++) {
				send_spec(&kinds[k], flow_number(i, kinds[k].v6, text),
					  &run, &in);
				expect_in_prefix(&kinds[k], &run, lengths[l]);
				expect_whole_frame(&kinds[k], &in, &run);
			}
		}
	}
}

static void all_packets_of_a_flow_have_the_same_source(void **state)
{
	static const struct frame_spec packets[] = {
		{ .tcp_flags = TCP_SYN },
		{ .payload = 0 },
		{ .payload = 900, .tos = 0xb8 },
		{ .tcp_flags = TCP_FIN | TCP_ACK, .padding = 3 },
	};
	static struct frame in;
	uint32_t first = 0;
	struct run run;

	(void)state;
	for (size_t k = 0; k < N_KINDS; k++) {
		start(&kinds[k], 16);
		send_spec(&kinds[k], packets[0], &run, &in);
		first = source_of(&run);
		world_flows(&world, WORLD_FLOWS);
		for (size_t i = 0; i < 4; i++) {
			send_spec(&kinds[k], packets[i], &run, &in);
			assert_int_equal(source_of(&run), first);
		}
		world_flows(&world, 0);
	}
}

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Random numbers collide n^2 / 2m times; twice that is allowed. */
static void expect_spread(const struct kind *kind, uint32_t *sources)
{
	unsigned int buckets[BUCKETS] = { 0 }, distinct = 1, mean = FLOWS / BUCKETS;

	for (int i = 0; i < FLOWS; i++)
		buckets[sources[i] % BUCKETS]++;
	for (int i = 0; i < BUCKETS; i++)
		if (buckets[i] < mean / 2 || buckets[i] > mean * 2)
			fail_msg("%s: %u of %u sources end in %x", kind->name, buckets[i],
				 FLOWS, i);
	qsort(sources, FLOWS, sizeof(*sources), compare_u32);
	for (int i = 1; i < FLOWS; i++)
		distinct += sources[i] != sources[i - 1];
	if (distinct + FLOWS * FLOWS / 65536 + 2 < FLOWS)
		fail_msg("%s: only %u sources for %u flows", kind->name, distinct, FLOWS);
}

static void flows_spread_over_the_prefix(void **state)
{
	static uint32_t sources[FLOWS];
	char text[INET6_ADDRSTRLEN];
	static struct frame in;
	struct run run;

	(void)state;
	for (size_t k = 0; k < N_KINDS; k++) {
		start(&kinds[k], 16);
		for (int i = 0; i < FLOWS; i++) {
			send_spec(&kinds[k], flow_number(i, kinds[k].v6, text), &run, &in);
			sources[i] = source_of(&run);
		}
		expect_spread(&kinds[k], sources);
	}
}

static void one_address_is_the_source_of_every_flow(void **state)
{
	char text[INET6_ADDRSTRLEN];
	static struct frame in;
	struct run run;

	(void)state;
	for (size_t k = 0; k < N_KINDS; k++) {
		start(&kinds[k], 0);
		for (int i = 0; i < 16; i++) {
			send_spec(&kinds[k], flow_number(i, kinds[k].v6, text), &run, &in);
			expect_in_prefix(&kinds[k], &run, 0);
			expect_whole_frame(&kinds[k], &in, &run);
		}
	}
}

static void send_oversize(struct vip *vip)
{
	vip->flags |= VIP_OVERSIZE;
}

/* DF is off, the checksum is right; returns the id. */
static uint16_t expect_fragmentable(const struct run *run)
{
	const uint8_t *ip = outer(run);

	assert_int_equal(ip[6], 0);
	assert_int_equal(ip[7], 0);
	assert_int_equal(checksum_finish(checksum_add(0, ip, 20)), 0);
	assert_int_equal(ip[2] << 8 | ip[3], run->out.size - frame_l3(&run->out));
	return (uint16_t)(ip[4] << 8 | ip[5]);
}

/* RFC 6864, section 4.2: what may be fragmented needs ids that differ. */
static void expect_ids_differ(const struct kind *kind, unsigned int bits)
{
	uint32_t ids[64];
	unsigned int distinct = 1;
	static struct frame in;
	struct run run;

	start(kind, bits);
	world_vips(&world, send_oversize);
	for (int i = 0; i < 64; i++) {
		send_spec(kind, (struct frame_spec){ .payload = 1460 }, &run, &in);
		expect_in_prefix(kind, &run, bits);
		ids[i] = expect_fragmentable(&run);
	}
	qsort(ids, 64, sizeof(*ids), compare_u32);
	for (int i = 1; i < 64; i++)
		distinct += ids[i] != ids[i - 1];
	/* 64 random numbers of 16 bits: not once in 10^9 runs do 8 collide. */
	if (distinct < 56)
		fail_msg("%s: only %u ids in 64 packets", kind->name, distinct);
	world_vips(&world, NULL);
}

static void oversize_packets_have_no_df_and_ids_that_differ(void **state)
{
	(void)state;
	for (size_t k = 0; k < N_KINDS; k++) {
		if (kinds[k].v6 || world_tunnel(kinds[k].id)->outer6)
			continue;
		expect_ids_differ(&kinds[k], 0);
		expect_ids_differ(&kinds[k], 16);
	}
}

#define TEST(name) cmocka_unit_test_setup(name, reset_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_packet_has_a_source_of_the_prefix_and_a_right_checksum),
		TEST(all_packets_of_a_flow_have_the_same_source),
		TEST(flows_spread_over_the_prefix),
		TEST(one_address_is_the_source_of_every_flow),
		TEST(oversize_packets_have_no_df_and_ids_that_differ),
	};

	return world_run_tests(&world, tests, sizeof(tests) / sizeof(tests[0]));
}
