/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_FNV_H
#define FAIRLEAD_FNV_H

/*
 * The hashes behind tables and digests: FNV-1a 64 (Fowler, Noll and Vo; RFC
 * 9923) and the finaliser of splitmix64 (Steele, Lea and Flood, "Fast
 * splittable pseudorandom number generators", 2014). Both are arithmetic on
 * values, never on memory as it lies, so they agree on every byte order.
 */

#include <stdint.h>

#define FNV64_OFFSET 0xcbf29ce484222325ULL
#define FNV64_PRIME 0x100000001b3ULL
#define GOLDEN_GAMMA 0x9e3779b97f4a7c15ULL

static inline uint64_t fnv64_byte(uint64_t hash, uint8_t byte)
{
	return (hash ^ byte) * FNV64_PRIME;
}

/* Goes on from `hash`; start with FNV64_OFFSET. */
static inline uint64_t fnv64_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = fnv64_byte(hash, (uint8_t)*text);
	return hash;
}

static inline uint64_t fnv64_le32(uint64_t hash, uint32_t word)
{
	for (int shift = 0; shift < 32; shift += 8)
		hash = fnv64_byte(hash, (uint8_t)(word >> shift));
	return hash;
}

/* A bijection of 64 bits in which every input bit moves every output bit. */
static inline uint64_t mix64(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

#endif
