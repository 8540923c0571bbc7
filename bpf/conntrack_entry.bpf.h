/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CONNTRACK_ENTRY_BPF_H
#define FAIRLEAD_CONNTRACK_ENTRY_BPF_H

/*
 * The entry that one CPU has of a flow: finding, reading, writing and deleting it, in
 * a set or in an LRU map. What it means is in conntrack.bpf.h.
 */

#include "flow_lru.bpf.h"
#include "flow_set.bpf.h"
#include "fragment.bpf.h"
#include "maps.bpf.h"
#include "packet.bpf.h"

/* enum flow_form; the daemon sets it before loading. */
const volatile __u32 flow_form;

/* Global functions: the verifier walks each once, and not from every state before. */
__noinline __u32 ct_life(__u32 tcp, __u32 idle, __u32 flags)
{
	return flow_life(tcp, idle, flags);
}

__noinline __u32 ct_silent(__u32 stamp, __u32 now, __u32 life)
{
	return flow_silence(stamp, now, life);
}

/* Where a flow's entry is, or may be made, and what it says. Small: it is on stacks. */
struct ct {
	void *set;        /* where it is due; NULL: in no set */
	void *in;         /* which has it, or one that it was due in before; NULL */
	struct flow *lru; /* NULL: not in an LRU map */
	__u32 now;        /* tick */
	__u8 way;         /* of `in` */
	bool due;         /* `in` is `set` */
	struct flow flow; /* backend 0: not known */
};

/* Two questions: clang 19 makes one of them, with an "or" of pointers, which is refused. */
static __always_inline bool ct_has_entry(const struct ct *ct)
{
	bool lru = ct->lru;

	asm volatile("" : "+r"(lru));
	return lru || ct->in;
}

/* Confirmed, in the set that it is due in. */
static __always_inline bool ct_is_settled(const struct ct *ct)
{
	return ct->due && ct->flow.stamp & FLOW_CONFIRMED;
}

/* Hashed fragments of an address are one flow, whichever of its VIPs takes them. */
static __always_inline bool ct_is_lru(const struct pkt *pkt)
{
	return flow_form == FLOW_FORM_LRU || pkt->vip.flags & VIP_WIDE ||
	       fragment_is_hashed(pkt);
}

/* False: not in the set. A way without a backend is nobody's. */
static __always_inline bool ct_in_set4(const struct flow_set4 *set,
				       const struct pkt *pkt, __u32 way)
{
	return set->backend[way] && set->sport[way] == pkt->key4.sport &&
	       set->dport[way] == pkt->key4.dport && set->src[way] == pkt->key4.src &&
	       set->vip[way] == pkt->vip.id;
}

static __always_inline bool ct_in_set6(const struct flow_set6 *set,
				       const struct pkt *pkt, __u32 way)
{
	const __u64 *src = (const __u64 *)pkt->key6.src;

	return set->backend[way] && set->sport[way] == pkt->key6.sport &&
	       set->dport[way] == pkt->key6.dport && set->src[way][0] == src[0] &&
	       set->src[way][1] == src[1] && set->vip[way] == pkt->vip.id;
}

static __always_inline __u32 ports_of(const struct pkt *pkt, bool v6)
{
	return v6 ? *(const __u32 *)&pkt->key6.sport : *(const __u32 *)&pkt->key4.sport;
}

/*
 * The way of the set that has the flow; FLOW_WAYS: none. Global functions, since
 * what comes behind them need not be walked for each way.
 */
__noinline __u32 ct_way4(const struct flow_set4 *set, const struct pkt *pkt)
{
	__u32 way = 0;

	if (!set || !pkt)
		return FLOW_WAYS;
	while (way < FLOW_WAYS && !ct_in_set4(set, pkt, way))
		way++;
	return way;
}

__noinline __u32 ct_way6(const struct flow_set6 *set, const struct pkt *pkt)
{
	__u32 way = 0;

	if (!set || !pkt)
		return FLOW_WAYS;
	while (way < FLOW_WAYS && !ct_in_set6(set, pkt, way))
		way++;
	return way;
}

/* What the way says. The fields lie alike in the sets of both families. */
static __always_inline void ct_read(struct flow_set4 *set, __u32 way, struct ct *ct)
{
	way &= FLOW_WAYS - 1;
	ct->in = set;
	ct->way = way;
	ct->flow.backend = set->backend[way];
	ct->flow.alternate = set->alternate[way];
	ct->flow.stamp = set->stamp[way];
}

/* In the set that it is due in now, or one that it was due in before. */
static __always_inline int ct_find_set(const struct pkt *pkt, bool v6, struct ct *ct,
				       __u32 cpu)
{
	__u32 mask = flow_mask[v6];
	__u64 mix = v6 ? flow_mix6(mix_key, (const __u64 *)pkt->key6.src,
				   (const __u64 *)pkt->key6.dst, ports_of(pkt, true)) :
			 flow_mix4(mix_key, pkt->key4.src, pkt->key4.dst,
				   ports_of(pkt, false));
	void *set = flow_set_at(cpu, mix, mask, v6);
	__u32 way;

	ct->set = set;
	for (int i = 0; set && i < FLOW_SET_BITS_MAX - FLOW_SET_BITS_START; i++) {
		way = v6 ? ct_way6(set, pkt) : ct_way4(set, pkt);
		if (way < FLOW_WAYS) {
			ct_read(set, way, ct);
			ct->due = i == 0;
			/* What is left of a connection before is not this one's. */
			if (ct->due || !flow_is_over(ct->flow.stamp, ct->now))
				break;
			ct->in = NULL;
			ct->flow.backend = 0;
		}
		if (mask < 1 << FLOW_SET_BITS_START)
			break;
		mask >>= 1;
		set = flow_set_at(cpu, mix, mask, v6);
	}
	return 0;
}

static __noinline int ct_find_set4(const struct pkt *pkt, struct ct *ct, __u32 cpu)
{
	return ct_find_set(pkt, false, ct, cpu);
}

static __noinline int ct_find_set6(const struct pkt *pkt, struct ct *ct, __u32 cpu)
{
	return ct_find_set(pkt, true, ct, cpu);
}

/* The keys are copies: Linux 6.1 takes no key from a global function's argument. */
static __noinline int ct_find_lru4(const struct pkt *pkt, struct ct *ct, __u32 cpu)
{
	struct flow_key4 key = pkt->key4;

	ct->lru = flow_lru_find(&key, false, cpu);
	return 0;
}

static __noinline int ct_find_lru6(const struct pkt *pkt, struct ct *ct, __u32 cpu)
{
	struct flow_key6 key = pkt->key6;

	ct->lru = flow_lru_find(&key, true, cpu);
	return 0;
}

static __noinline int ct_add_lru4(const struct pkt *pkt, const struct ct *ct)
{
	struct flow_key4 key = pkt->key4;
	struct flow flow = ct->flow;

	flow_lru_add(&key, false, bpf_get_smp_processor_id(), &flow);
	return 0;
}

static __noinline int ct_add_lru6(const struct pkt *pkt, const struct ct *ct)
{
	struct flow_key6 key = pkt->key6;
	struct flow flow = ct->flow;

	flow_lru_add(&key, true, bpf_get_smp_processor_id(), &flow);
	return 0;
}

static __noinline int ct_delete_lru4(const struct pkt *pkt, __u32 cpu)
{
	struct flow_key4 key = pkt->key4;

	flow_lru_delete(&key, false, cpu);
	return 0;
}

static __noinline int ct_delete_lru6(const struct pkt *pkt, __u32 cpu)
{
	struct flow_key6 key = pkt->key6;

	flow_lru_delete(&key, true, cpu);
	return 0;
}

/* The entry that a CPU has of the flow. */
static __always_inline void ct_find(const struct pkt *pkt, bool v6, struct ct *ct,
				    __u32 cpu)
{
	ct->set = NULL;
	ct->in = NULL;
	ct->due = false;
	ct->lru = NULL;
	ct->flow = (struct flow){ 0 };
	if (!ct_is_lru(pkt)) {
		if (v6)
			ct_find_set6(pkt, ct, cpu);
		else
			ct_find_set4(pkt, ct, cpu);
		return;
	}
	if (v6)
		ct_find_lru6(pkt, ct, cpu);
	else
		ct_find_lru4(pkt, ct, cpu);
	if (ct->lru)
		ct->flow = *ct->lru;
}

/* Into the way that there is, if any. */
static __always_inline void ct_write_set(const struct pkt *pkt, bool v6, struct ct *ct)
{
	struct flow_set4 *set4 = ct->in;
	struct flow_set6 *set6 = ct->in;
	__u32 way = ct->way & (FLOW_WAYS - 1);

	if (!ct->in)
		return;
	if (v6) {
		set6->sport[way] = pkt->key6.sport;
		set6->dport[way] = pkt->key6.dport;
		__builtin_memcpy(set6->src[way], pkt->key6.src, sizeof(pkt->key6.src));
		set6->vip[way] = pkt->vip.id;
		set6->alternate[way] = ct->flow.alternate;
		set6->stamp[way] = ct->flow.stamp;
		set6->backend[way] = ct->flow.backend;
	} else {
		set4->sport[way] = pkt->key4.sport;
		set4->dport[way] = pkt->key4.dport;
		set4->src[way] = pkt->key4.src;
		set4->vip[way] = pkt->vip.id;
		set4->alternate[way] = ct->flow.alternate;
		set4->stamp[way] = ct->flow.stamp;
		set4->backend[way] = ct->flow.backend;
	}
}

static __always_inline bool is_tcp(const struct pkt *pkt, bool v6)
{
	return (v6 ? pkt->key6.protocol : pkt->key4.protocol) == IPPROTO_TCP;
}

static __always_inline __u32 ct_idle(const struct pkt *pkt, bool v6)
{
	return is_tcp(pkt, v6) ? pkt->vip.tcp_idle : pkt->vip.idle;
}

/* Ticks since a packet of the flow came, as far as the entry knows. */
static __always_inline __u32 ct_silence(const struct pkt *pkt, bool v6, struct flow flow,
					__u32 now)
{
	if (!flow.backend)
		return FLOW_TICKS;
	return ct_silent(flow.stamp, now,
			 ct_life(is_tcp(pkt, v6), ct_idle(pkt, v6), flow.stamp));
}

/* The entry that ct_find has found in that CPU's maps. */
static __always_inline void ct_delete(const struct pkt *pkt, bool v6,
				      const struct ct *ct, __u32 cpu)
{
	struct flow_set4 *set = ct->in;

	if (set)
		set->backend[ct->way & (FLOW_WAYS - 1)] = 0;
	else if (ct->lru && v6)
		ct_delete_lru6(pkt, cpu);
	else if (ct->lru)
		ct_delete_lru4(pkt, cpu);
}

#endif
