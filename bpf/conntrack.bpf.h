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

struct ct {
	void *flows;       /* this CPU's map; NULL: remember nothing */
	struct flow *flow; /* the flow's entry, also when it is not to be used */
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

	ct_find(pkt, v6, ct);
	flow = ct->flow;
	if (!flow)
		return 0;

	if (pkt->syn && flow->flags & FLOW_CONFIRMED)
		return 0;
	if (!pkt->syn && !(flow->flags & FLOW_CONFIRMED))
		flow->flags |= FLOW_CONFIRMED;

	/* A line that is already right is not dirtied. */
	now = ct_clock();
	if (flow->seen != now)
		flow->seen = now;
	return flow->backend;
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
