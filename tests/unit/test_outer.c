// SPDX-License-Identifier: GPL-2.0-only
/*
 * The line that the packet path reads for a backend: its checksum is that of
 * the header which is built from it, and what it says can be read back.
 */
#include "cfg_testing.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>

#include "core/outer.h"
#include "tests/lib/random.h"

static struct random random_numbers;

static uint32_t random32(void)
{
	return random_next(&random_numbers) >> 32;
}

static struct addr random_addr(int family)
{
	struct addr addr = { .family = family };
	size_t i;

	if (family == AF_INET)
		addr.v4.s_addr = random32();
	for (i = 0; family == AF_INET6 && i < 16; i++)
		addr.v6.s6_addr[i] = random32();
	return addr;
}

static struct backend_ident random_ident(void)
{
	struct backend_ident ident = { .addr = random_addr(random32() % 2 ? AF_INET : AF_INET6) };

	ident.encap = random32() % ENCAP__MAX;
	if (ident.encap == ENCAP_GUE)
		ident.gue_port = 1 + random32() % 65535;
	return ident;
}

static struct next_hop random_hop(int family)
{
	struct next_hop hop = { .resolved = random32() % 2, .ifindex = 1 + random32() % 100,
				.mtu = random32(), .source = random_addr(family) };
	size_t i;

	for (i = 0; i < 6; i++) {
		hop.mac_src[i] = random32();
		hop.mac_dst[i] = random32();
	}
	return hop;
}

/* RFC 1071, section 4.1, word by word over the bytes on the wire. */
static uint16_t internet_sum(const uint8_t *bytes, size_t n)
{
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i < n; i += 2)
		sum += bytes[i] << 8 | bytes[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static void put16(uint8_t *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = value;
}

/* The outer header, byte by byte as RFC 791 draws it. */
static void build_ip4(const struct backend *b, uint8_t tos, uint16_t length,
		      uint8_t protocol, uint16_t checksum, uint8_t header[20])
{
	memset(header, 0, 20);
	header[0] = 0x45;
	header[1] = tos;
	put16(header + 2, length);
	header[6] = 0x40; /* don't fragment */
	header[8] = 64;
	header[9] = protocol;
	put16(header + 10, checksum);
	memcpy(header + 12, &b->outer.v4.src, 4);
	memcpy(header + 16, &b->outer.v4.dst, 4);
}

/* As bpf/encap.bpf.h completes it: the packet's words added, and folded. */
static uint16_t complete_sum(const struct backend *b, uint8_t tos, uint16_t length,
			     uint8_t protocol)
{
	uint32_t sum = b->ip4_sum + htons(tos) + htons(length) + htons(protocol);

	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return ntohs((uint16_t)~sum);
}

static void check_header(const struct backend *b, uint8_t tos, uint16_t length,
			 uint8_t protocol)
{
	uint8_t header[20];

	build_ip4(b, tos, length, protocol, complete_sum(b, tos, length, protocol), header);
	/* Over a header with a right checksum the sum is all ones. */
	assert_int_equal(internet_sum(header, sizeof(header)), 0xffff);
}

static void ip4_sum_completes_to_the_checksum_of_the_header(void **state)
{
	static const uint32_t corners[] = { 0, 1, 0xffff, 0x10000, 0xffff0000,
					    0xffffffff, 0x0100007f };
	struct backend_ident ident = { .addr.family = AF_INET };
	struct next_hop hop = { .source.family = AF_INET };
	struct backend b;
	size_t i, j;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(corners); i++) {
		for (j = 0; j < ARRAY_SIZE(corners); j++) {
			ident.addr.v4.s_addr = htonl(corners[i]);
			hop.source.v4.s_addr = htonl(corners[j]);
			outer_fill(&ident, &hop, 0, &b);
			check_header(&b, 0, 20, 4);
			check_header(&b, 0xff, 0xffff, 41);
		}
	}
	random_numbers.state = 1;
	for (i = 0; i < 100000; i++) {
		ident.addr = random_addr(AF_INET);
		hop.source = random_addr(AF_INET);
		outer_fill(&ident, &hop, 0, &b);
		check_header(&b, random32(), random32(), random32());
	}
}

static void ident_survives_the_map(void **state)
{
	struct backend_ident ident, back;
	struct next_hop hop;
	struct backend b;
	int i;

	(void)state;
	random_numbers.state = 2;
	for (i = 0; i < 20000; i++) {
		ident = random_ident();
		hop = random_hop(ident.addr.family);
		outer_fill(&ident, i % 3 ? &hop : NULL, i % 2 ? BACKEND_DRAINING : 0, &b);
		assert_true(outer_ident(&b, &back));
		assert_int_equal(backend_ident_compare(&ident, &back), 0);
		assert_int_equal(!!(b.flags & BACKEND_DRAINING), i % 2);
	}
}

static void next_hop_survives_the_map(void **state)
{
	struct backend_ident ident;
	struct next_hop hop, back;
	struct backend b, again;
	int i;

	(void)state;
	random_numbers.state = 5;
	for (i = 0; i < 20000; i++) {
		ident = random_ident();
		hop = random_hop(ident.addr.family);
		outer_fill(&ident, &hop, i % 2, &b);
		outer_next_hop(&b, &back);
		outer_fill(&ident, &back, i % 2, &again);
		assert_memory_equal(&b, &again, sizeof(b));
		assert_int_equal(hop.resolved, back.resolved);
	}
}

static void cleared_line_is_no_backend(void **state)
{
	const struct backend none = { 0 };
	struct backend_ident ident;

	(void)state;
	assert_false(outer_ident(&none, &ident));
}

static void line_has_the_next_hop(void **state)
{
	struct backend_ident ident;
	struct next_hop hop;
	struct backend b;
	int i;

	(void)state;
	random_numbers.state = 3;
	for (i = 0; i < 1000; i++) {
		ident = random_ident();
		hop = random_hop(ident.addr.family);
		outer_fill(&ident, &hop, 0, &b);
		assert_memory_equal(b.mac_dst, hop.mac_dst, 6);
		assert_memory_equal(b.mac_src, hop.mac_src, 6);
		assert_int_equal(b.ifindex, hop.ifindex);
		assert_int_equal(b.mtu, hop.mtu);
		assert_int_equal(!!(b.flags & BACKEND_RESOLVED), hop.resolved);
		if (ident.addr.family == AF_INET) {
			assert_int_equal(b.ethertype, htons(ETH_P_IP));
			assert_int_equal(b.outer.v4.src, hop.source.v4.s_addr);
			assert_int_equal(b.outer.v4.dst, ident.addr.v4.s_addr);
		} else {
			assert_int_equal(b.ethertype, htons(ETH_P_IPV6));
			assert_memory_equal(b.outer.v6.src, &hop.source.v6, 16);
			assert_memory_equal(b.outer.v6.dst, &ident.addr.v6, 16);
		}
	}
}

static void without_next_hop_a_backend_is_not_resolved(void **state)
{
	struct backend_ident ident = { .addr = { .family = AF_INET } };
	struct backend b;

	(void)state;
	outer_fill(&ident, NULL, 0, &b);
	assert_int_equal(b.flags, BACKEND_VALID);
}

/* Two that differ in any part are two backends, and the order is total. */
static void idents_are_ordered(void **state)
{
	struct backend_ident a, b;
	int i;

	(void)state;
	random_numbers.state = 4;
	for (i = 0; i < 20000; i++) {
		a = random_ident();
		b = i % 2 ? random_ident() : a;
		if (i % 4 == 0)
			b.encap = !b.encap;
		assert_int_equal(backend_ident_compare(&a, &b),
				 -backend_ident_compare(&b, &a));
		assert_int_equal(backend_ident_compare(&a, &b) == 0, i % 4 == 2);
		assert_int_equal(backend_ident_compare(&a, &a), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ip4_sum_completes_to_the_checksum_of_the_header),
		cmocka_unit_test(ident_survives_the_map),
		cmocka_unit_test(next_hop_survives_the_map),
		cmocka_unit_test(cleared_line_is_no_backend),
		cmocka_unit_test(line_has_the_next_hop),
		cmocka_unit_test(without_next_hop_a_backend_is_not_resolved),
		cmocka_unit_test(idents_are_ordered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
