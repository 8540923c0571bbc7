/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CONNTRACK_BPF_H
#define FAIRLEAD_CONNTRACK_BPF_H

/*
 * Which backend has a flow? Two functions, ct_lookup and ct_remember, and the
 * struct ct that goes from one to the other: all that the rest of the program
 * knows of it. Plain packets of known flows do the same in plain.bpf.h.
 *
 * A first packet makes an unconfirmed entry, and the second one, other than a SYN,
 * confirms it. FIN and RST leave it a few minutes.
 */

#include "clock.bpf.h"
#include "flow_lru.bpf.h"
#include "flow_set.bpf.h"
#include "fragment.bpf.h"
#include "maps.bpf.h"
#include "packet.bpf.h"

/* Possible CPUs; the daemon sets it before loading. 0 or 1: no rescue. */
const volatile __u32 ct_cpus;

/* enum flow_form; the daemon sets it, too. */
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

/* Lookups in other CPUs' maps that a CPU may spend a second: about 3 % of it. */
#define CT_RESCUE_LOOKUPS (1 << 19)

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

/* Where a flow's entry is, or may be made, and what it says. */
struct ct {
	void *set;         /* where it is due; NULL: in no set */
	void *in;          /* which has it, or one that it was due in before; NULL */
	__u32 way;         /* of `in` */
	bool due;          /* `in` is `set` */
	struct flow *lru;  /* NULL: not in an LRU map */
	__u32 now;         /* tick */
	struct flow flow;  /* backend 0: not known */
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

/* False when this CPU has spent its share: a flood of strangers costs no more. */
static __always_inline bool ct_may_rescue(void)
{
	__u32 zero = 0, second = clock_second();
	struct ct_rescue *r = bpf_map_lookup_elem(&ct_rescues, &zero);

	if (!r)
		return false;
	if (r->second != second) {
		r->second = second;
		r->lookups = 0;
	}
	r->lookups += ct_cpus;
	return r->lookups <= CT_RESCUE_LOOKUPS;
}

/* Ticks since a packet of the flow came, as far as the entry knows. */
static __always_inline __u32 ct_silence(const struct pkt *pkt, bool v6,
					const struct ct *ct)
{
	__u16 stamp = ct->flow.stamp;

	if (!ct->flow.backend)
		return FLOW_TICKS;
	return ct_silent(stamp, ct->now,
			 ct_life(is_tcp(pkt, v6), ct_idle(pkt, v6), stamp));
}

/* One walk over the CPUs: the entry of the one that heard of the flow last. */
struct ct_search {
	const struct pkt *pkt;
	struct ct *ct; /* what is found at each stop */
	struct flow best;
	__u32 silence;
};

static __always_inline long ct_search_cpu(__u32 cpu, struct ct_search *search, bool v6)
{
	__u32 silence;

	ct_find(search->pkt, v6, search->ct, cpu);
	silence = ct_silence(search->pkt, v6, search->ct);
	if (silence < search->silence) {
		search->silence = silence;
		search->best = search->ct->flow;
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

/*
 * What all CPUs know of the flow, by the one that heard of it last: when the NIC's
 * RSS or the scheduler moves a flow, another CPU knows it, and the table may
 * meanwhile say something else. Not for a SYN, which has no past.
 *
 * bpf_loop: the verifier walks a plain loop once for each CPU, and gives up
 * at some 800 of them.
 */
static __always_inline void ct_search(const struct pkt *pkt, bool v6, struct ct *ct)
{
	struct ct_search search = { .pkt = pkt, .ct = ct,
				    .silence = ct_silence(pkt, v6, ct) };

	bpf_loop(ct_cpus, v6 ? ct_search6 : ct_search4, &search, 0);
	/* Home again: where the entry of this CPU is, or may be made. */
	ct_find(pkt, v6, ct, bpf_get_smp_processor_id());
	if (search.best.backend)
		ct->flow = search.best;
}

static __noinline int ct_search_all4(const struct pkt *pkt, struct ct *ct)
{
	ct_search(pkt, false, ct);
	return 0;
}

static __noinline int ct_search_all6(const struct pkt *pkt, struct ct *ct)
{
	ct_search(pkt, true, ct);
	return 0;
}

static __always_inline void ct_rescue(const struct pkt *pkt, bool v6, struct ct *ct)
{
	if (ct_cpus < 2 || pkt->syn || !ct_may_rescue())
		return;
	if (v6)
		ct_search_all6(pkt, ct);
	else
		ct_search_all4(pkt, ct);
}

/*
 * Does the entry still say where packets of the flow go? A SYN on an unconfirmed
 * one is a retransmission, on a confirmed one a new connection with an old tuple.
 */
static __always_inline bool ct_holds(const struct pkt *pkt, bool v6, const struct ct *ct)
{
	if (!ct->flow.backend)
		return false;
	if (FLOW_LEFT(ct->flow.stamp, ct->now) > FLOW_IDLE_MAX &&
	    ct_idle(pkt, v6) < FLOW_IDLE_MAX)
		return false;
	return !pkt->syn || !(ct->flow.stamp & FLOW_CONFIRMED);
}

/* What the entry says after this packet. */
static __always_inline __u16 ct_stamp(const struct pkt *pkt, bool v6,
				      const struct ct *ct, __u16 flags)
{
	bool tcp = is_tcp(pkt, v6);

	if (tcp && pkt->tcp_flags & (TCP_FIN | TCP_RST))
		flags |= FLOW_CLOSING;
	return FLOW_STAMP(ct->now + ct_life(tcp, ct_idle(pkt, v6), flags), flags);
}

static __always_inline void ct_refresh(const struct pkt *pkt, bool v6, struct ct *ct)
{
	__u16 flags = ct->flow.stamp & FLOW_FLAGS;

	ct->flow.stamp = ct_stamp(pkt, v6, ct, pkt->syn ? flags : flags | FLOW_CONFIRMED);
}

/*
 * A way of the set that the flow is due in, when it has none there. Where there is
 * none to be had, it keeps the one that it has in a set that it was due in before.
 */
static __always_inline void ct_place(const struct pkt *pkt, bool v6, struct ct *ct)
{
	struct flow_set4 *set4 = ct->set, *in = ct->in;
	bool opens = pkt->syn || !is_tcp(pkt, v6);
	__u32 way;

	if (!ct->set || ct->due)
		return;
	way = flow_victim(set4, ct->now);
	if (way >= FLOW_WAYS && !opens)
		way = flow_silent(set4, ct->now, pkt->vip.id, ct_idle(pkt, v6));
	if (way >= FLOW_WAYS)
		return;
	if (in)
		in->backend[ct->way & (FLOW_WAYS - 1)] = 0;
	ct->in = ct->set;
	ct->way = way;
	ct->due = true;
}

/* As ct->flow says, in the place of the old entry or in a new one. */
static __always_inline void ct_save(const struct pkt *pkt, bool v6, struct ct *ct)
{
	if (ct->lru) {
		*ct->lru = ct->flow;
	} else if (ct->set) {
		ct_place(pkt, v6, ct);
		ct_write_set(pkt, v6, ct);
	} else if (ct_is_lru(pkt)) {
		if (v6)
			ct_add_lru6(pkt, ct);
		else
			ct_add_lru4(pkt, ct);
	}
}

/*
 * The backend id of a known flow, or 0: choose by the table and remember. What
 * another CPU knows is taken over; so is what it knows better of a flow that has
 * been silent here.
 */
static __always_inline __u16 ct_lookup(const struct pkt *pkt, bool v6, struct ct *ct)
{
	bool settled;

	ct->now = clock_tick();
	ct_find(pkt, v6, ct, bpf_get_smp_processor_id());
	/* Others may have heard of the flow since. */
	if (ct_silence(pkt, v6, ct) > FLOW_FRESH)
		ct_rescue(pkt, v6, ct);
	if (!ct_holds(pkt, v6, ct))
		return 0;
	settled = ct_is_settled(ct);
	ct_refresh(pkt, v6, ct);
	ct_save(pkt, v6, ct);
	if (!settled && ct_is_settled(ct))
		flow_level_note(ct->in, ct->now, v6);
	return ct->flow.backend;
}

/* The same without a trace, for what only speaks of a flow. */
static __always_inline __u16 ct_peek(const struct pkt *pkt, bool v6)
{
	struct ct ct = { .now = clock_tick() };

	ct_find(pkt, v6, &ct, bpf_get_smp_processor_id());
	if (!ct.flow.backend)
		ct_rescue(pkt, v6, &ct);
	return ct.flow.backend;
}

/* The table's choice, or another backend for a flow that has an entry. */
static __always_inline void ct_remember(const struct pkt *pkt, bool v6, struct ct *ct,
					__u16 backend, __u16 alternate)
{
	bool guess = is_tcp(pkt, v6) && !pkt->syn;

	ct->flow.backend = backend;
	ct->flow.alternate = guess ? alternate : 0;
	ct->flow.stamp = ct_stamp(pkt, v6, ct, guess ? FLOW_GUESS : 0);
	ct_save(pkt, v6, ct);
}

/* The flow is as one that was never seen: its first packet has not left. */
static __always_inline void ct_forget(const struct pkt *pkt, bool v6)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct ct ct = { 0 };
	struct flow_set4 *set;

	ct_find(pkt, v6, &ct, cpu);
	set = ct.in;
	if (set)
		set->backend[ct.way & (FLOW_WAYS - 1)] = 0;
	else if (ct.lru && v6)
		ct_delete_lru6(pkt, cpu);
	else if (ct.lru)
		ct_delete_lru4(pkt, cpu);
}

/* Global functions, which the verifier walks once. */
__noinline int ct_forget4(const struct pkt *pkt)
{
	if (pkt)
		ct_forget(pkt, false);
	return 0;
}

__noinline int ct_forget6(const struct pkt *pkt)
{
	if (pkt)
		ct_forget(pkt, true);
	return 0;
}

#endif
