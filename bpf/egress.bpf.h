/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_EGRESS_BPF_H
#define FAIRLEAD_EGRESS_BPF_H

#include "maps.bpf.h"
#include "packet.bpf.h"

/*
 * How a packet leaves. Asked before the packet grows: a drop counts the bytes
 * that came in.
 */
static __always_inline int egress_find(struct xdp_md *ctx, __u32 ifindex)
{
	if (likely(ifindex == ctx->ingress_ifindex))
		return XDP_TX;
	/* With flags 0 an interface that is not in the map gives XDP_ABORTED. */
	return bpf_redirect_map(&egress, ifindex, 0) == XDP_REDIRECT ?
		       XDP_REDIRECT :
		       -DROP_REASON_EGRESS_MISSING;
}

#endif
