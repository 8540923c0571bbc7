/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_FLOW_HASH_H
#define FAIRLEAD_FLOW_HASH_H

/*
 * The hash that chooses a slot: SipHash-1-3 (Aumasson and Bernstein, "SipHash: a
 * fast short-input PRF", 2012, with one compression and three finalisation
 * rounds) over the 5-tuple in wire order: source, destination, source port,
 * destination port, protocol; 13 bytes for IPv4 and 37 for IPv6. Protocols other
 * than TCP and UDP have ports 0. The hash mode of a VIP says which parts count;
 * the others are hashed as zero, so that the input keeps its length:
 *
 *   mode         source  destination  source port  destination port  protocol
 *   5-tuple      yes     yes          yes          yes               yes
 *   source       yes     -            -            -                 -
 *   source-dest  yes     yes          -            -                 yes
 *   dest-port    -       -            -            yes               yes
 *
 * Fragments of a VIP that hashes them have ports 0, and count as source-dest
 * where the mode says 5-tuple or dest-port.
 *
 * It is keyed so that nobody outside can aim flows at one slot, and every host
 * of a fleet must compute the same, so both sides compile this very file. The
 * BPF program runs it only when it does not know the flow.
 */

#include <linux/types.h>

#include "abi.h"

enum flow_hash_part {
	FLOW_HASH_SOURCE = 1 << 0,
	FLOW_HASH_DEST = 1 << 1,
	FLOW_HASH_SPORT = 1 << 2,
	FLOW_HASH_DPORT = 1 << 3,
	FLOW_HASH_PROTOCOL = 1 << 4,
};

/* The parts that count in a mode of enum hash_mode. */
static inline __attribute__((always_inline)) __u8 flow_hash_parts(__u8 mode)
{
	switch (mode) {
	case HASH_SOURCE:
		return FLOW_HASH_SOURCE;
	case HASH_SOURCE_DEST:
		return FLOW_HASH_SOURCE | FLOW_HASH_DEST | FLOW_HASH_PROTOCOL;
	case HASH_DEST_PORT:
		return FLOW_HASH_DPORT | FLOW_HASH_PROTOCOL;
	default:
		return FLOW_HASH_SOURCE | FLOW_HASH_DEST | FLOW_HASH_SPORT |
		       FLOW_HASH_DPORT | FLOW_HASH_PROTOCOL;
	}
}

struct flow_hash_key {
	__u64 k0, k1; /* bytes 0..7 and 8..15 of the key, little-endian */
};

/* A 32-bit word as it lies in memory, read as a little-endian number. */
static inline __u64 flow_hash_le32(__be32 in_memory)
{
	__u32 word = (__u32)in_memory;

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap32(word);
#endif
	return word;
}

static inline __u64 flow_hash_le16(__be16 in_memory)
{
	__u16 word = (__u16)in_memory;

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap16(word);
#endif
	return word;
}

#define FLOW_HASH_ROTL(x, bits) (((x) << (bits)) | ((x) >> (64 - (bits))))

struct flow_hash_state {
	__u64 v0, v1, v2, v3;
};

static inline __attribute__((always_inline)) void
flow_hash_round(struct flow_hash_state *s)
{
	s->v0 += s->v1;
	s->v1 = FLOW_HASH_ROTL(s->v1, 13) ^ s->v0;
	s->v0 = FLOW_HASH_ROTL(s->v0, 32);
	s->v2 += s->v3;
	s->v3 = FLOW_HASH_ROTL(s->v3, 16) ^ s->v2;
	s->v0 += s->v3;
	s->v3 = FLOW_HASH_ROTL(s->v3, 21) ^ s->v0;
	s->v2 += s->v1;
	s->v1 = FLOW_HASH_ROTL(s->v1, 17) ^ s->v2;
	s->v2 = FLOW_HASH_ROTL(s->v2, 32);
}

static inline __attribute__((always_inline)) struct flow_hash_state
flow_hash_start(struct flow_hash_key key)
{
	return (struct flow_hash_state){
		.v0 = key.k0 ^ 0x736f6d6570736575ULL,
		.v1 = key.k1 ^ 0x646f72616e646f6dULL,
		.v2 = key.k0 ^ 0x6c7967656e657261ULL,
		.v3 = key.k1 ^ 0x7465646279746573ULL,
	};
}

static inline __attribute__((always_inline)) void
flow_hash_word(struct flow_hash_state *s, __u64 word)
{
	s->v3 ^= word;
	flow_hash_round(s);
	s->v0 ^= word;
}

static inline __attribute__((always_inline)) __u64
flow_hash_finish(struct flow_hash_state *s)
{
	s->v2 ^= 0xff;
	flow_hash_round(s);
	flow_hash_round(s);
	flow_hash_round(s);
	return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

/* The last word of a SipHash input ends in the input's length. */
static inline __attribute__((always_inline)) __u64
flow_hash_tail(__be16 sport, __be16 dport, __u8 protocol, __u64 length)
{
	return flow_hash_le16(sport) | flow_hash_le16(dport) << 16 |
	       (__u64)protocol << 32 | length << 56;
}

static inline __attribute__((always_inline)) __u64
flow_hash4(struct flow_hash_key key, __be32 src, __be32 dst, __be16 sport,
	   __be16 dport, __u8 protocol)
{
	struct flow_hash_state s = flow_hash_start(key);

	flow_hash_word(&s, flow_hash_le32(src) | flow_hash_le32(dst) << 32);
	flow_hash_word(&s, flow_hash_tail(sport, dport, protocol, 13));
	return flow_hash_finish(&s);
}

/* src and dst: four words each, as they lie in the packet. */
static inline __attribute__((always_inline)) __u64
flow_hash6(struct flow_hash_key key, const __be32 *src, const __be32 *dst,
	   __be16 sport, __be16 dport, __u8 protocol)
{
	struct flow_hash_state s = flow_hash_start(key);

	flow_hash_word(&s, flow_hash_le32(src[0]) | flow_hash_le32(src[1]) << 32);
	flow_hash_word(&s, flow_hash_le32(src[2]) | flow_hash_le32(src[3]) << 32);
	flow_hash_word(&s, flow_hash_le32(dst[0]) | flow_hash_le32(dst[1]) << 32);
	flow_hash_word(&s, flow_hash_le32(dst[2]) | flow_hash_le32(dst[3]) << 32);
	flow_hash_word(&s, flow_hash_tail(sport, dport, protocol, 37));
	return flow_hash_finish(&s);
}

/* The same of a VIP's hash mode. */
static inline __attribute__((always_inline)) __u64
flow_hash_mode4(struct flow_hash_key key, __u8 mode, const struct flow_key4 *flow)
{
	__u8 parts = flow_hash_parts(mode);

	return flow_hash4(key, parts & FLOW_HASH_SOURCE ? flow->src : 0,
			  parts & FLOW_HASH_DEST ? flow->dst : 0,
			  parts & FLOW_HASH_SPORT ? flow->sport : 0,
			  parts & FLOW_HASH_DPORT ? flow->dport : 0,
			  parts & FLOW_HASH_PROTOCOL ? flow->protocol : 0);
}

static inline __attribute__((always_inline)) __u64
flow_hash_mode6(struct flow_hash_key key, __u8 mode, const struct flow_key6 *flow)
{
	__u8 parts = flow_hash_parts(mode);
	__be32 src[4] = { 0 }, dst[4] = { 0 };

	if (parts & FLOW_HASH_SOURCE)
		__builtin_memcpy(src, flow->src, sizeof(src));
	if (parts & FLOW_HASH_DEST)
		__builtin_memcpy(dst, flow->dst, sizeof(dst));
	return flow_hash6(key, src, dst, parts & FLOW_HASH_SPORT ? flow->sport : 0,
			  parts & FLOW_HASH_DPORT ? flow->dport : 0,
			  parts & FLOW_HASH_PROTOCOL ? flow->protocol : 0);
}

/* Slot of a hash in a table of the given size (Lemire's multiply and shift). */
static inline __attribute__((always_inline)) __u32
flow_hash_slot(__u64 hash, __u32 table_size)
{
	return (__u32)(((hash >> 32) * table_size) >> 32);
}

#endif
