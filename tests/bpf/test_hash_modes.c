// SPDX-License-Identifier: GPL-2.0-only
/*
 * The slot of a packet in each hash mode, against SipHash over the bytes that
 * count in it, written down from include/flow_hash.h's table and nothing else.
 */
#include "world.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>

#include "tests/lib/siphash.h"

#define OWNERS 7 /* backends 1 to 7 are all resolved */
#define FLOWS 60

static struct world world;
static enum hash_mode mode;
static uint16_t flags;

static uint16_t owner(uint32_t slot, uint32_t context)
{
	(void)context;
	return 1 + slot % OWNERS;
}

static void set_mode(struct vip *vip)
{
	vip->hash_mode = mode;
	vip->flags |= mode == HASH_5_TUPLE ? 0 : VIP_HASH_MODE;
	vip->flags |= flags;
}

/* Parts that do not count are zero. */
static uint32_t expected_owner(const struct frame_spec *flow, bool ports)
{
	static const uint8_t key[16] = { 0, 1, 2,  3,  4,  5,  6,  7,
					 8, 9, 10, 11, 12, 13, 14, 15 };
	size_t address = flow->v6 ? 16 : 4;
	uint8_t tuple[37] = { 0 };
	uint8_t *at = tuple + 2 * address;
	enum hash_mode counts = mode;
	unsigned __int128 hash;

	if (!ports && mode != HASH_SOURCE)
		counts = HASH_SOURCE_DEST;
	if (counts != HASH_DEST_PORT)
		frame_address(flow->src, flow->v6, tuple);
	if (counts == HASH_5_TUPLE || counts == HASH_SOURCE_DEST)
		frame_address(flow->v6 ? VIP6 : VIP4, flow->v6, tuple + address);
	if (counts == HASH_5_TUPLE) {
		at[0] = flow->sport >> 8;
		at[1] = flow->sport & 0xff;
	}
	if (counts == HASH_5_TUPLE || counts == HASH_DEST_PORT) {
		at[2] = flow->dport >> 8;
		at[3] = flow->dport & 0xff;
	}
	if (counts != HASH_SOURCE)
		at[4] = flow->protocol;
	hash = siphash(1, 3, key, tuple, 2 * address + 5);
	return 1 + ((uint64_t)(hash >> 32) * WORLD_TABLE_SIZE >> 32) % OWNERS;
}

static void expect_owner(const struct frame_spec *flow, bool ports)
{
	static const struct run_options usual;
	struct frame in;
	struct run run;

	frame_build(flow, &in);
	world_run(&world, &in, &usual, &run);
	assert_int_equal(run.verdict, XDP_TX);
	assert_int_equal(world_sent_to(&run), expected_owner(flow, ports));
}

/* Nothing is known of any; with `opens` a place is there, for the short way. */
static void each_flow(bool fragments, bool opens)
{
	char src[INET6_ADDRSTRLEN];

	world_reset(&world);
	if (!opens)
		world_flows(&world, 0);
	world_vips(&world, set_mode);
	world_table_by(&world, T_MAIN, WORLD_TABLE_SIZE, owner, 0);
	for (int i = 0; i < 2 * FLOWS; i++) {
		bool udp = i / 2 % 2;
		struct frame_spec flow = {
			.v6 = i % 2,
			.src = src,
			.sport = (uint16_t)(1024 + 977 * i),
			.dport = udp ? 53 : 443,
			.protocol = udp ? IPPROTO_UDP : IPPROTO_TCP,
			.payload = 8,
			.tcp_flags = opens && !udp ? TCP_SYN : 0,
			.fragment = fragments ? 0x2000 : 0,
			.extensions = fragments ? "f" : NULL,
		};

		snprintf(src, sizeof(src), flow.v6 ? "2001:db8:%x::%x" : "198.51.%u.%u",
			 i, 200 - i);
		expect_owner(&flow, !fragments);
	}
}

static void each_mode_hashes_the_parts_that_count_and_no_other(void **state)
{
	(void)state;
	flags = 0;
	for (int i = 0; i < HASH__MAX; i++) {
		mode = i;
		each_flow(false, false);
	}
}

/* plain_choose: VIP_HASH_MODE. */
static void so_do_connections_that_open(void **state)
{
	(void)state;
	flags = 0;
	for (int i = 0; i < HASH__MAX; i++) {
		mode = i;
		each_flow(false, true);
	}
}

static void hashed_fragments_go_by_addresses_and_protocol(void **state)
{
	(void)state;
	flags = VIP_FRAGMENT_HASH;
	for (int i = 0; i < HASH__MAX; i++) {
		mode = i;
		each_flow(true, false);
	}
}

static void fragments_that_are_not_hashed_go_by_the_ports_of_the_first(void **state)
{
	(void)state;
	flags = VIP_TCP_JUNK; /* another flag changes nothing */
	mode = HASH_DEST_PORT;
	world_reset(&world);
	world_flows(&world, 0);
	world_vips(&world, set_mode);
	world_table_by(&world, T_MAIN, WORLD_TABLE_SIZE, owner, 0);
	expect_owner(&(struct frame_spec){ .src = CLIENT4, .sport = 1, .dport = 53,
					   .protocol = IPPROTO_UDP, .payload = 8,
					   .fragment = 0x2000 }, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_mode_hashes_the_parts_that_count_and_no_other),
		cmocka_unit_test(so_do_connections_that_open),
		cmocka_unit_test(hashed_fragments_go_by_addresses_and_protocol),
		cmocka_unit_test(fragments_that_are_not_hashed_go_by_the_ports_of_the_first),
	};

	return world_run_tests(&world, tests, sizeof(tests) / sizeof(tests[0]));
}
