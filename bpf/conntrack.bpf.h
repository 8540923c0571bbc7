/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CONNTRACK_BPF_H
#define FAIRLEAD_CONNTRACK_BPF_H

/*
 * Which backend has a flow? Two functions, ct_lookup and ct_remember, and the
 * struct ct that goes from one to the other: all that the rest of the program
 * knows of it. This form keeps one BPF LRU hash per CPU.
 *
 * An entry that exists is only ever changed through its pointer: updating a key
 * that is in a full LRU map evicts a batch of unrelated flows (kernel 6.18,
 * LOCAL_FREE_TARGET in bpf_lru_list.c).
 */

#include "maps.bpf.h"
#include "packet.bpf.h"

/* Possible CPUs; the daemon sets it before loading. 0 or 1: no rescue. */
const volatile __u32 ct_cpus;

/* Lookups in other CPUs' maps that a CPU may spend a tick: about 3 % of it. */
#define CT_RESCUE_LOOKUPS (1 << 19)

struct ct_rescue {
	__u32 tick, lookups;
};

/* Packets write and read. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ct_rescue);
} ct_rescues SEC(".maps");

struct ct {
	void *flows;       /* this CPU's map; NULL: remember nothing */
	struct flow *flow; /* the flow's entry, also when it is not to be used */
	bool rescued;      /* known, but not to this CPU: remember it */
};

static __always_inline __u32 ct_clock(void)
{
	return bpf_ktime_get_coarse_ns() >> 30;
}

static __always_inline void ct_find(const struct pkt *pkt, bool v6,
				    struct ct *ct)
{
	__u32 cpu = bpf_get_smp_processor_id();

	ct->flow = NULL;
	if (v6) {
		ct->flows = bpf_map_lookup_elem(&flows6, &cpu);
		if (ct->flows)
			ct->flow = bpf_map_lookup_elem(ct->flows, &pkt->key6);
	} else {
		ct->flows = bpf_map_lookup_elem(&flows4, &cpu);
		if (ct->flows)
			ct->flow = bpf_map_lookup_elem(ct->flows, &pkt->key4);
	}
}

/* False when this CPU has spent its share: a flood of strangers costs no more. */
static __always_inline bool ct_may_rescue(__u32 now)
{
	__u32 zero = 0;
	struct ct_rescue *r = bpf_map_lookup_elem(&ct_rescues, &zero);

	if (!r)
		return false;
	if (r->tick != now) {
		r->tick = now;
		r->lookups = 0;
	}
	r->lookups += ct_cpus;
	return r->lookups <= CT_RESCUE_LOOKUPS;
}

/* One walk over the CPUs' maps. */
struct ct_search {
	const struct pkt *pkt;
	const struct flow *flow; /* NULL: not found yet */
};

/* Steps of bpf_loop: 0 goes on, 1 ends. One for each map, see vip.bpf.h. */
static long ct_search4(__u32 cpu, struct ct_search *search)
{
	void *flows = bpf_map_lookup_elem(&flows4, &cpu);

	if (flows)
		search->flow = bpf_map_lookup_elem(flows, &search->pkt->key4);
	return search->flow != NULL;
}

static long ct_search6(__u32 cpu, struct ct_search *search)
{
	void *flows = bpf_map_lookup_elem(&flows6, &cpu);

	if (flows)
		search->flow = bpf_map_lookup_elem(flows, &search->pkt->key6);
	return search->flow != NULL;
}

/*
 * A UDP flow has no end that could be seen: whoever is silent for longer than
 * the VIP's limit begins anew. Asked at most once a tick and flow.
 */
static __always_inline bool ct_is_idle(const struct pkt *pkt, bool v6, __u32 seen,
				       __u32 now)
{
	__u8 protocol = v6 ? pkt->key6.protocol : pkt->key4.protocol;

	/* Another CPU's clock may be a tick ahead. */
	return now > seen && now - seen > pkt->vip->udp_idle && protocol == IPPROTO_UDP;
}

/*
 * A packet in the middle of a flow that this CPU does not know: when the NIC's
 * RSS or the scheduler has moved the flow here, another CPU knows it, and the
 * table may meanwhile say something else. Not for a SYN, which has no past.
 *
 * bpf_loop: the verifier walks a plain loop once for each CPU, and gives up
 * at some 800 of them.
 */
static __always_inline __u16 ct_rescue(const struct pkt *pkt, bool v6, __u32 now,
				       struct ct *ct)
{
	struct ct_search search = { .pkt = pkt };

	if (ct_cpus < 2 || pkt->syn || !ct_may_rescue(now))
		return 0;

	bpf_loop(ct_cpus, v6 ? ct_search6 : ct_search4, &search, 0);
	if (!search.flow || ct_is_idle(pkt, v6, search.flow->seen, now))
		return 0;
	ct->rescued = true;
	return search.flow->backend;
}

/*
 * The backend id of a known flow, or 0: choose by the table and remember. A SYN
 * on a flow that was only ever SYNs is a retransmission and keeps its backend;
 * on a confirmed flow it is a new connection with an old tuple.
 */
static __always_inline __u16 ct_lookup(const struct pkt *pkt, bool v6,
				       struct ct *ct)
{
	struct flow *flow;
	__u32 now;

	ct->rescued = false;
	ct_find(pkt, v6, ct);
	now = ct_clock();
	flow = ct->flow;
	if (!flow)
		return ct_rescue(pkt, v6, now, ct);

	if (pkt->syn && flow->flags & FLOW_CONFIRMED)
		return 0;
	if (!pkt->syn && !(flow->flags & FLOW_CONFIRMED))
		flow->flags |= FLOW_CONFIRMED;

	/* A line that is already right is not dirtied. */
	if (flow->seen != now) {
		if (ct_is_idle(pkt, v6, flow->seen, now))
			return 0;
		flow->seen = now;
	}
	return flow->backend;
}

/* The same without a trace, for what only speaks of a flow. */
static __always_inline __u16 ct_peek(const struct pkt *pkt, bool v6)
{
	struct ct ct;

	ct_find(pkt, v6, &ct);
	return ct.flow ? ct.flow->backend : ct_rescue(pkt, v6, ct_clock(), &ct);
}

static __always_inline void ct_remember(const struct pkt *pkt, bool v6,
					struct ct *ct, __u16 backend)
{
	struct flow flow = { .backend = backend, .seen = ct_clock() };

	if (ct->flow) {
		*ct->flow = flow;
		return;
	}

	if (!ct->flows)
		return;
	/* When it fails the table still answers the same for the next packet. */
	if (v6)
		bpf_map_update_elem(ct->flows, &pkt->key6, &flow, BPF_ANY);
	else
		bpf_map_update_elem(ct->flows, &pkt->key4, &flow, BPF_ANY);
}

#endif
