/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CONNTRACK_CPUS_BPF_H
#define FAIRLEAD_CONNTRACK_CPUS_BPF_H

/*
 * What other CPUs know of a flow: asked for when this one knows nothing, or something
 * old; and forgotten when its tuple is used again.
 */

#include "clock.bpf.h"
#include "conntrack_entry.bpf.h"

/* Possible CPUs; the daemon sets it before loading. 0 or 1: no rescue. */
const volatile __u32 ct_cpus;

/*
 * Lookups in other CPUs' maps that a CPU may spend a second: about 3 % of it. They are
 * for flows that have moved. What is looked up only in case that a tuple is used again
 * may not bring the count over half of that; nor over a quarter, where the entry had a
 * packet in this very tick: so has each that a half-closed flow is sent, and the last
 * ACK of any connection, which nothing tells from the first packet of the next one.
 */
#define CT_RESCUE_LOOKUPS (1 << 19)
#define CT_REUSE_LOOKUPS (CT_RESCUE_LOOKUPS / 2)
#define CT_CLOSING_LOOKUPS (CT_RESCUE_LOOKUPS / 4)

struct ct_rescue {
	__u32 second, lookups;
};

/* Packets write and read. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ct_rescue);
} ct_rescues SEC(".maps");

/* False when this CPU has spent so many: a flood of strangers costs no more. */
static __always_inline bool ct_may_search(__u32 limit)
{
	__u32 zero = 0, second = clock_second();
	struct ct_rescue *r = bpf_map_lookup_elem(&ct_rescues, &zero);

	if (!r)
		return false;
	if (r->second != second) {
		r->second = second;
		r->lookups = 0;
	}
	if (r->lookups + ct_cpus > limit)
		return false;
	r->lookups += ct_cpus;
	return true;
}

/*
 * One walk over the CPUs: the entry of the one that heard of the flow last. Small,
 * since Linux 6.1 counts the stack of this and of all that is called in steps of 32.
 */
struct ct_search {
	const struct pkt *pkt;
	__u32 now;
	struct flow best;
	__u16 rank; /* of it */
	__u16 home; /* silence of the entry here; fresh: it is closing, or nobody asked */
};

#define CT_RANK_NONE (4 * FLOW_TICKS)

/*
 * The least counts: who heard of the flow last, and in the same tick, who knows it
 * best. What is closing here gives way to what only a SYN has made elsewhere, however
 * silent, and to what is confirmed there and about as fresh: the tuple is used again,
 * and it may be that the entry here was refreshed while nobody could be asked. What is
 * older is left of a connection whose end was not seen: it does not count before a
 * flow that is half closed here, and neither does a guess.
 */
__noinline __u32 ct_rank(__u32 stamp, __u32 silence, __u32 home)
{
	bool doubtful = stamp & (FLOW_CLOSING | FLOW_GUESS);

	if (silence >= FLOW_TICKS)
		return CT_RANK_NONE;
	if (home <= FLOW_FRESH && !doubtful &&
	    (!(stamp & FLOW_CONFIRMED) || silence <= home + FLOW_FRESH))
		return silence;
	return FLOW_TICKS + 2 * silence + doubtful;
}

static __always_inline long ct_search_cpu(__u32 cpu, struct ct_search *search, bool v6)
{
	struct ct ct = { .now = search->now };
	__u32 rank;

	ct_find(search->pkt, v6, &ct, cpu);
	rank = ct_rank(ct.flow.stamp, ct_silence(search->pkt, v6, ct.flow, search->now),
		       search->home);
	if (rank < search->rank) {
		search->rank = rank;
		search->best = ct.flow;
	}
	return 0;
}

/* Steps of bpf_loop. One for each map, see flow_lru.bpf.h. */
static long ct_search4(__u32 cpu, struct ct_search *search)
{
	return ct_search_cpu(cpu, search, false);
}

static long ct_search6(__u32 cpu, struct ct_search *search)
{
	return ct_search_cpu(cpu, search, true);
}

/* struct flow as a number: what a global function takes and returns. */
static __always_inline __u64 flow_pack(struct flow flow)
{
	return flow.backend | (__u64)flow.alternate << 16 | (__u64)flow.stamp << 32;
}

static __always_inline struct flow flow_unpack(__u64 packed)
{
	return (struct flow){ .backend = packed, .alternate = packed >> 16,
			      .stamp = packed >> 32 };
}

/*
 * What all CPUs know of the flow, by the one that heard of it last: when the NIC's
 * RSS or the scheduler moves a flow, another CPU knows it, and the table may
 * meanwhile say something else. `own` is what this one knows. Not for a SYN, which
 * has no past.
 *
 * bpf_loop: the verifier walks a plain loop once for each CPU, and gives up
 * at some 800 of them.
 */
static __always_inline __u64 ct_search(const struct pkt *pkt, bool v6, __u32 now,
				       __u64 own)
{
	struct ct_search search = { .pkt = pkt, .now = now };
	struct flow flow = flow_unpack(own);

	search.home = ct_silence(pkt, v6, flow, now);
	search.rank = ct_rank(flow.stamp, search.home, search.home);
	bpf_loop(ct_cpus, v6 ? ct_search6 : ct_search4, &search, 0);
	/* The same connection has closed, if only this CPU has seen it. */
	if (search.best.backend == (__u16)own &&
	    ct_silence(search.pkt, v6, search.best, search.now) >= search.home)
		return own;
	return search.best.backend ? flow_pack(search.best) : own;
}

/* Global functions: the verifier walks each once. */
__noinline __u64 ct_search_all4(const struct pkt *pkt, __u32 now, __u64 own)
{
	return pkt ? ct_search(pkt, false, now, own) : own;
}

__noinline __u64 ct_search_all6(const struct pkt *pkt, __u32 now, __u64 own)
{
	return pkt ? ct_search(pkt, true, now, own) : own;
}

/* How many lookups may have been spent when others are asked; 0: no reason to ask. */
__noinline __u32 ct_question(__u32 silence, __u32 stamp)
{
	if (silence > FLOW_FRESH)
		return CT_RESCUE_LOOKUPS;
	if (!(stamp & FLOW_CLOSING))
		return 0;
	return silence ? CT_REUSE_LOOKUPS : CT_CLOSING_LOOKUPS;
}

/*
 * Others may have heard of the flow since, if it is silent or not known here; or of
 * the next connection with its tuple, if it is closing.
 */
static __always_inline void ct_rescue(const struct pkt *pkt, bool v6, struct ct *ct)
{
	__u32 limit = ct_question(ct_silence(pkt, v6, ct->flow, ct->now),
				  ct->flow.stamp);
	__u64 own;

	if (!limit || ct_cpus < 2 || pkt->syn || !ct_may_search(limit))
		return;
	own = flow_pack(ct->flow);
	ct->flow = flow_unpack(v6 ? ct_search_all6(pkt, ct->now, own) :
				    ct_search_all4(pkt, ct->now, own));
}

static __always_inline long ct_forget_cpu(__u32 cpu, struct ct_search *search, bool v6)
{
	struct ct ct = { .now = search->now };

	if (cpu == bpf_get_smp_processor_id())
		return 0;
	ct_find(search->pkt, v6, &ct, cpu);
	ct_delete(search->pkt, v6, &ct, cpu);
	return 0;
}

/* Steps of bpf_loop. */
static long ct_forget_cpu4(__u32 cpu, struct ct_search *search)
{
	return ct_forget_cpu(cpu, search, false);
}

static long ct_forget_cpu6(__u32 cpu, struct ct_search *search)
{
	return ct_forget_cpu(cpu, search, true);
}

/*
 * What others have of the connection before, with the same tuple: where its end was
 * not seen, it would be believed for as long as it is fresh, and each packet keeps it
 * so. A CPU that gives the way to another flow in the very moment loses that entry
 * instead, which is then found like any flow that nothing is known of.
 *
 * A SYN that comes where nothing is known of the tuple does not ask, which would
 * make every first packet pay: what others have then counts while it is fresh.
 */
static __always_inline void ct_forget_others(const struct pkt *pkt, bool v6)
{
	struct ct_search search = { .pkt = pkt, .now = clock_tick() };

	bpf_loop(ct_cpus, v6 ? ct_forget_cpu6 : ct_forget_cpu4, &search, 0);
}

__noinline int ct_forget_others4(const struct pkt *pkt)
{
	if (pkt)
		ct_forget_others(pkt, false);
	return 0;
}

__noinline int ct_forget_others6(const struct pkt *pkt)
{
	if (pkt)
		ct_forget_others(pkt, true);
	return 0;
}

/* A SYN that is not sent where an entry says begins another connection. */
static __always_inline void ct_replace_others(const struct pkt *pkt, bool v6,
					      const struct ct *ct)
{
	if (!pkt->syn || ct_cpus < 2 || !ct_has_entry(ct) ||
	    !ct_may_search(CT_REUSE_LOOKUPS))
		return;
	if (v6)
		ct_forget_others6(pkt);
	else
		ct_forget_others4(pkt);
}

#endif
