// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hash of a flow against golden values, and against SipHash-1-3 over a
 * plain string of bytes.
 */
#include "table_vectors.h"

#include <arpa/inet.h>
#include <endian.h>
#include <string.h>

#include "flow_hash.h"
#include "tests/lib/siphash.h"

/* Bytes 00 01 .. 0f, as two little-endian numbers. */
static const struct flow_hash_key golden_key = { 0x0706050403020100ULL,
						 0x0f0e0d0c0b0a0908ULL };

/* The example of the SipHash paper, appendix A: 15 bytes, 2-4 rounds. */
static void the_judge_computes_the_example_of_the_paper(void **state)
{
	uint8_t key[16], message[15];

	(void)state;
	for (uint8_t i = 0; i < 16; i++)
		key[i] = i;
	memcpy(message, key, sizeof(message));
	assert_int_equal(siphash(2, 4, key, message, 15), 0xa129ca6149be45e5ULL);
}

static struct flow_hash_key key_words(const uint8_t key[16])
{
	uint64_t halves[2];

	memcpy(halves, key, sizeof(halves));
	return (struct flow_hash_key){ le64toh(halves[0]), le64toh(halves[1]) };
}

static __be32 parse_address(const char *text)
{
	struct in_addr addr;

	assert_int_equal(inet_pton(AF_INET, text, &addr), 1);
	return addr.s_addr;
}

static void ipv4_hashes_are_the_golden_ones(void **state)
{
	json_t *root = vectors_load(), *row;
	size_t i;

	(void)state;
	assert_int_equal(json_array_size(vectors_get(root, "flow_hash")), 3);
	json_array_foreach(vectors_get(root, "flow_hash"), i, row) {
		uint64_t hash = flow_hash4(
			golden_key,
			parse_address(json_string_value(vectors_get(row, "src"))),
			parse_address(json_string_value(vectors_get(row, "dst"))),
			htons(vectors_number(row, "sport")),
			htons(vectors_number(row, "dport")),
			vectors_number(row, "proto"));

		assert_int_equal(hash, vectors_hex(row, "siphash13"));
		assert_int_equal(flow_hash_slot(hash, 65537),
				 vectors_number(row, "slot65537"));
	}
	json_decref(root);
}

static uint64_t random_state = 99;

static uint8_t random_byte(void)
{
	random_state = random_state * 6364136223846793005ULL +
		       1442695040888963407ULL;
	return random_state >> 56;
}

static void fill(uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = random_byte();
}

/* The tuple lies in `wire` as in the packet; loads copy it as the BPF does. */
static void ipv4_hash_is_siphash_over_13_bytes(void **state)
{
	(void)state;
	for (int i = 0; i < 2000; i++) {
		uint8_t key[16], wire[13];
		struct flow_hash_key words;
		__be32 src, dst;
		__be16 sport, dport;

		fill(key, sizeof(key));
		fill(wire, sizeof(wire));
		words = key_words(key);
		memcpy(&src, wire, 4);
		memcpy(&dst, wire + 4, 4);
		memcpy(&sport, wire + 8, 2);
		memcpy(&dport, wire + 10, 2);
		assert_int_equal(flow_hash4(words, src, dst, sport, dport,
					    wire[12]),
				 siphash(1, 3, key, wire, sizeof(wire)));
	}
}

static void ipv6_hash_is_siphash_over_37_bytes(void **state)
{
	(void)state;
	for (int i = 0; i < 2000; i++) {
		uint8_t key[16], wire[37];
		struct flow_hash_key words;
		__be32 src[4], dst[4];
		__be16 sport, dport;

		fill(key, sizeof(key));
		fill(wire, sizeof(wire));
		words = key_words(key);
		memcpy(src, wire, 16);
		memcpy(dst, wire + 16, 16);
		memcpy(&sport, wire + 32, 2);
		memcpy(&dport, wire + 34, 2);
		assert_int_equal(flow_hash6(words, src, dst, sport, dport,
					    wire[36]),
				 siphash(1, 3, key, wire, sizeof(wire)));
	}
}

static void slots_cover_the_table_and_stay_within_it(void **state)
{
	static const uint32_t sizes[] = { 251, 65537, 655373 };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		uint32_t size = sizes[i];

		assert_int_equal(flow_hash_slot(0, size), 0);
		assert_int_equal(flow_hash_slot(UINT64_MAX, size), size - 1);
		for (uint32_t slot = 0; slot < size; slot += 7) {
			uint64_t middle = (((uint64_t)slot << 32) + (1U << 31)) /
					  size << 32;

			assert_int_equal(flow_hash_slot(middle, size), slot);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_judge_computes_the_example_of_the_paper),
		cmocka_unit_test(ipv4_hashes_are_the_golden_ones),
		cmocka_unit_test(ipv4_hash_is_siphash_over_13_bytes),
		cmocka_unit_test(ipv6_hash_is_siphash_over_37_bytes),
		cmocka_unit_test(slots_cover_the_table_and_stay_within_it),
	};

	return cmocka_run_group_tests_name("flow hash", tests, NULL, NULL);
}
