/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_NEW_FLOW_BPF_H
#define FAIRLEAD_NEW_FLOW_BPF_H

/*
 * How many new flows of a VIP are remembered. A flood of packets that each look
 * like a flow of their own would push real ones out of the flow maps; beyond
 * the VIP's limit they are only forwarded, by the table, which costs nobody
 * anything.
 */

#include "maps.bpf.h"
#include "packet.bpf.h"

/* False: this CPU has remembered its share of this second. Only with a limit. */
static __noinline bool new_flow_fits(const struct pkt *pkt, __u32 now)
{
	__u32 id = pkt->vip.id;
	struct new_flow_counters *c = bpf_map_lookup_elem(&new_flow_counters, &id);

	if (!c)
		return true;
	if (c->tick < now) {
		c->tick = now;
		c->count = 0;
	}
	if (c->count < pkt->vip.new_flow_cap) {
		c->count++;
		return true;
	}
	c->unremembered++;
	return false;
}

#endif
