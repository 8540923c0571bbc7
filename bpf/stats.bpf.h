/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_STATS_BPF_H
#define FAIRLEAD_STATS_BPF_H

/*
 * Counters. Per CPU, and XDP runs to completion on its CPU, so each has one
 * writer and a plain increment is exact. A counter that cannot be found never
 * changes a packet's fate.
 */

#include "maps.bpf.h"
#include "packet.bpf.h"

static __always_inline void stats_forwarded(const struct pkt *pkt)
{
	__u32 vip = pkt->vip_id, backend = pkt->backend_id;
	struct vip_counters *v = bpf_map_lookup_elem(&vip_counters, &vip);
	struct backend_counters *b;

	if (v) {
		v->packets++;
		v->bytes += pkt->ip_len;
		if (pkt->new_flow)
			v->new_flows++;
	}

	b = bpf_map_lookup_elem(&backend_counters, &backend);
	if (b) {
		b->packets++;
		b->bytes += pkt->ip_len;
		if (pkt->new_flow)
			b->new_flows++;
	}
}

/* vip: id, 0 when the packet is for none. */
static __always_inline void stats_dropped(struct xdp_md *ctx,
					  __u32 vip, __u32 reason)
{
	struct drop_counters *d = bpf_map_lookup_elem(&drop_counters, &reason);
	struct vip_counters *v;

	if (d) {
		d->packets++;
		d->bytes += bpf_xdp_get_buff_len(ctx);
	}
	if (!vip)
		return;

	v = bpf_map_lookup_elem(&vip_counters, &vip);
	if (v)
		v->drops++;
}

static __always_inline void stats_verdict(int verdict)
{
	__u32 zero = 0;
	struct totals *t = bpf_map_lookup_elem(&totals, &zero);

	if (!t)
		return;
	if (verdict == XDP_PASS)
		t->passed++;
	else if (verdict == XDP_TX)
		t->sent_tx++;
	else
		t->sent_redirect++;
}

#endif
