/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_FLOW_MIX_H
#define FAIRLEAD_FLOW_MIX_H

/*
 * The cheap hash that chooses a set of flows or of VIPs: multiply, fold, multiply
 * (the second half of a splitmix64 round, with a secret first multiplier). Both
 * multipliers are odd, so each step is a permutation of 64 bits, and the top bits,
 * which are taken, depend on all. It need not agree between hosts; the key is
 * random and secret, so that nobody outside can aim flows at one set. The daemon
 * computes the same over the pinned maps.
 */

#include <linux/types.h>

#include "abi.h"

#define FLOW_MIX_MULTIPLIER 0x94d049bb133111ebULL

/* `key` is odd. The upper bits are the good ones. */
static inline __attribute__((always_inline)) __u64 flow_mix(__u64 key, __u64 word,
							     __u32 more)
{
	word *= key;
	return (word ^ word >> 32 ^ more) * FLOW_MIX_MULTIPLIER;
}

/* Of a flow, by its addresses and both ports as they lie in memory. */
static inline __attribute__((always_inline)) __u64 flow_mix4(__u64 key, __be32 src,
							      __be32 dst, __u32 ports)
{
	return flow_mix(key, src | (__u64)ports << 32, dst);
}

static inline __attribute__((always_inline)) __u64 flow_mix6(__u64 key, const __u64 *src,
							      const __u64 *dst, __u32 ports)
{
	return flow_mix(key, flow_mix(key, src[0], ports) ^ src[1],
			dst[0] ^ dst[1] ^ dst[1] >> 32);
}

/* Of an IPv6 address, in two halves as they lie in memory, to mix with more. */
static inline __attribute__((always_inline)) __u64
flow_mix_address(__u64 key, const __u64 *halves)
{
	return flow_mix(key, halves[0], 0) ^ halves[1];
}

/* Index among 2^bits. */
static inline __attribute__((always_inline)) __u32 flow_mix_index(__u64 mix, __u32 bits)
{
	return (__u32)(mix >> (64 - bits));
}

/*
 * Which set a VIP is in, by the words of its key. Who sends packets does not choose
 * them, so for IPv4 one multiplication does.
 */
static inline __attribute__((always_inline)) __u32 vip_mix4(__u64 key, __u64 vip)
{
	return flow_mix_index(vip * key, VIP_SET_BITS);
}

static inline __attribute__((always_inline)) __u32 vip_mix6(__u64 key, const __u64 *addr,
							     __u64 service)
{
	__u64 mix = flow_mix_address(key, addr) ^ service;

	return flow_mix_index(flow_mix(key, mix, 0), VIP_SET_BITS);
}

/* Index among mask + 1, a power of two of at most 2^32. */
static inline __attribute__((always_inline)) __u32 flow_mix_masked(__u64 mix, __u32 mask)
{
	return (__u32)(mix >> 32) & mask;
}

#endif
