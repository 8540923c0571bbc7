/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_FLOW_SET_BPF_H
#define FAIRLEAD_FLOW_SET_BPF_H

/*
 * Flows in sets of four ways, an array of them per CPU: finding one and making
 * place for one. What an entry means is in conntrack.bpf.h.
 */

#include <stddef.h>

#include "flow_mix.h"
#include "maps.bpf.h"
#include "packet.bpf.h"
#include "vip_set.bpf.h"

/*
 * How many sets are in use, less one, by family (1: IPv6). A few flows that lie
 * spread over much memory cost a TLB miss each; so no more sets are in use than the
 * flows need, from the start of the array, and twice as many once too many are
 * crowded. What is then due in another set is found by halving the number again, and
 * moved with its next packet.
 *
 * The daemon sets the most before loading, and what is in use, from flow_levels,
 * before attaching.
 */
const volatile __u32 flow_mask_max = 1;
__u32 flow_mask[2] = { 1, 1 };

static __always_inline void *flow_set_at(__u32 cpu, __u64 mix, __u32 mask, bool v6)
{
	__u32 index = flow_mix_masked(mix, mask);
	void *sets;

	if (v6) {
		sets = bpf_map_lookup_elem(&flow_sets6, &cpu);
		return sets ? bpf_map_lookup_elem(sets, &index) : NULL;
	}
	sets = bpf_map_lookup_elem(&flow_sets4, &cpu);
	return sets ? bpf_map_lookup_elem(sets, &index) : NULL;
}

#define LANES_ONE 0x0001000100010001ULL
#define LANES_TOP 0x8000800080008000ULL

/*
 * The first of four 16-bit lanes that is equal to `want`, without a branch: which
 * way a flow is in is what no branch predictor can know, and to guess wrong on what
 * comes out of memory costs more than all the rest. FLOW_WAYS: none. (Zero lanes
 * by carry: Lamport, "Multiple byte processing with full-word instructions", 1975;
 * the lowest one that it finds is right.)
 */
static __always_inline __u32 lanes_find(__u64 lanes, __u16 want)
{
	__u64 x = lanes ^ want * LANES_ONE;
	__u64 zero = (x - LANES_ONE) & ~x & LANES_TOP;

	if (!zero)
		return FLOW_WAYS;
	/* The lowest bit is 15, 31, 47 or 63. */
	zero &= -zero;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return (zero >> 15) * 0x0003000200010000ULL >> 48 & 3;
#else
	return (zero >> 15) * 0x0000000100020003ULL >> 48 & 3;
#endif
}

/* Ticks of two seconds. */
#define FLOW_OPENING 32 /* of a first packet: TCP's last wait for an answer is 64 s */
#define FLOW_CLOSED 120 /* four minutes, RFC 5382, REQ-5 */
#define FLOW_LINGER 3   /* of these, after which a closing flow is over but for strays */
#define FLOW_SILENCE 32 /* after which one that is in need may take the place */
#define FLOW_FRESH 2    /* up to which no other CPU is asked */

/* Ticks for which an entry lives on after each packet, by its flags. */
static __always_inline __u32 flow_life(bool tcp, __u32 idle, __u16 flags)
{
	if (!tcp)
		return idle;
	if (flags & FLOW_CLOSING && idle > FLOW_CLOSED)
		idle = FLOW_CLOSED;
	if (!(flags & FLOW_CONFIRMED) && idle > FLOW_OPENING)
		idle = FLOW_OPENING;
	return idle;
}

/* Ticks since the last packet of an entry of that life; FLOW_TICKS: it has ended. */
static __always_inline __u32 flow_silence(__u16 stamp, __u32 now, __u32 life)
{
	__u32 left = FLOW_LEFT(stamp, now);

	if (left > FLOW_IDLE_MAX)
		return FLOW_TICKS;
	return left < life ? life - left : 0;
}

/* Has ended, or is closing and has fallen silent. */
static __always_inline bool flow_is_over(__u16 stamp, __u32 now)
{
	__u32 left = FLOW_LEFT(stamp, now);

	return left > FLOW_IDLE_MAX ||
	       (stamp & FLOW_CLOSING && left + FLOW_LINGER < FLOW_CLOSED);
}

#define FLOW_CROWD 3 /* confirmed flows in a set */

static __always_inline __u32 flow_set_confirmed(const __u16 *stamp, __u32 now)
{
	__u32 n = 0;

#pragma unroll
	for (int way = 0; way < FLOW_WAYS; way++)
		n += stamp[way] & FLOW_CONFIRMED && !flow_is_over(stamp[way], now);
	return n;
}

/*
 * A flow was confirmed in the set, or moved into it. When that has made a crowd in
 * one set of eight, there is more than one flow a set, and it is time for more of
 * them. A crowd is less than a full set: of what comes all at once, first packets
 * take the last way from each other before any is confirmed.
 *
 * Global functions, here and below: the verifier walks each once. The ways' fields,
 * but for the addresses, lie alike in the sets of both families.
 */
__noinline int flow_level_note(const struct flow_set4 *set, __u32 now, __u32 family)
{
	__u32 v6 = family & 1; /* for the verifier */
	__u32 mask = flow_mask[v6], zero = 0;
	struct flow_levels *levels = bpf_map_lookup_elem(&flow_levels, &zero);

	if (!set || !levels || mask >= flow_mask_max ||
	    flow_set_confirmed(set->stamp, now) < FLOW_CROWD)
		return 0;
	if (++levels->crowds[v6] <= mask / 8)
		return 0;
	levels->crowds[v6] = 0;
	levels->mask[v6] = flow_mask[v6] = 2 * mask + 1;
	return 0;
}

_Static_assert(offsetof(struct flow_set4, vip) == offsetof(struct flow_set6, vip) &&
		       offsetof(struct flow_set4, backend) ==
			       offsetof(struct flow_set6, backend) &&
		       offsetof(struct flow_set4, stamp) ==
			       offsetof(struct flow_set6, stamp),
	       "sets of both families");

/*
 * The way for a new flow: an empty one, one that is over, the unconfirmed one that
 * ends first, the closing one that has been silent longest; FLOW_WAYS: none. Closing
 * flows would fill a busy host's ways within seconds, and connections that open would
 * find none; one that is still sent to, half closed, is the last to go.
 */
__noinline __u32 flow_victim(const struct flow_set4 *set, __u32 now)
{
	__u32 best = FLOW_WAYS, lowest = FLOW_TICKS, left, score;

	if (!set)
		return FLOW_WAYS;
	for (__u32 way = 0; way < FLOW_WAYS; way++) {
		left = FLOW_LEFT(set->stamp[way], now);
		score = left + 2;
		if (!set->backend[way])
			score = 0;
		else if (flow_is_over(set->stamp[way], now))
			score = 1;
		else if (set->stamp[way] & FLOW_CLOSING)
			score = 2 + FLOW_IDLE_MAX + (left & 0xff); /* behind all unconfirmed */
		else if (set->stamp[way] & FLOW_CONFIRMED)
			score = FLOW_TICKS;
		if (score < lowest) {
			lowest = score;
			best = way;
		}
	}
	return best;
}

/*
 * The way of the confirmed flow that has been silent longest, once that is a minute;
 * FLOW_WAYS: none. Only of the same VIP, whose timeout says how long a life was. An
 * opening packet (a SYN, a first one of UDP) costs its sender nothing, so it may not
 * ask; one from the middle of a connection may be in need.
 */
__noinline __u32 flow_silent(const struct flow_set4 *set, __u32 now, __u32 vip,
			     __u32 idle)
{
	__u32 best = FLOW_WAYS, longest = FLOW_SILENCE, silence;

	if (!set)
		return FLOW_WAYS;
	for (__u32 way = 0; way < FLOW_WAYS; way++) {
		silence = flow_silence(set->stamp[way], now,
				       flow_life(true, idle, set->stamp[way]));
		if (set->vip[way] == vip && silence > longest) {
			longest = silence;
			best = way;
		}
	}
	return best;
}

#endif
