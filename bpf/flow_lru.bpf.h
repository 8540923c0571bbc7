/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_FLOW_LRU_BPF_H
#define FAIRLEAD_FLOW_LRU_BPF_H

/*
 * Flows in one BPF LRU hash per CPU, by their whole tuple: those of VIPs that are
 * more than one address or protocol, and all when the configuration says so.
 *
 * An entry that exists is only ever changed through its pointer: updating a key
 * that is in a full LRU map evicts a batch of unrelated flows (kernel 6.18,
 * LOCAL_FREE_TARGET in bpf_lru_list.c).
 */

#include "maps.bpf.h"
#include "packet.bpf.h"

/* This CPU's map, or NULL. One map pointer a site, so that lookups are inlined. */
static __always_inline void *flow_lru_map(__u32 cpu, bool v6)
{
	return v6 ? bpf_map_lookup_elem(&flows6, &cpu) :
		    bpf_map_lookup_elem(&flows4, &cpu);
}

/* key: struct flow_key4 or flow_key6. */
static __always_inline struct flow *flow_lru_find(const void *key, bool v6, __u32 cpu)
{
	void *flows;

	if (v6) {
		flows = bpf_map_lookup_elem(&flows6, &cpu);
		return flows ? bpf_map_lookup_elem(flows, key) : NULL;
	}
	flows = bpf_map_lookup_elem(&flows4, &cpu);
	return flows ? bpf_map_lookup_elem(flows, key) : NULL;
}

/* When it fails the table still answers the same for the next packet. */
static __always_inline void flow_lru_add(const void *key, bool v6, __u32 cpu,
					 const struct flow *flow)
{
	void *flows = flow_lru_map(cpu, v6);

	if (flows)
		bpf_map_update_elem(flows, key, flow, BPF_ANY);
}

static __always_inline void flow_lru_delete(const void *key, bool v6, __u32 cpu)
{
	void *flows = flow_lru_map(cpu, v6);

	if (flows)
		bpf_map_delete_elem(flows, key);
}

#endif
