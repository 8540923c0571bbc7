/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_ICMP_BPF_H
#define FAIRLEAD_ICMP_BPF_H

/* ICMP to a VIP address, and ICMP that the balancer itself says. */

#include "maps.bpf.h"
#include "packet.bpf.h"

/*
 * A whole ICMP or ICMPv6 message to an address of ours, whose address entry has
 * the given flags. A verdict, or minus a drop reason.
 */
static __always_inline int icmp_handle(struct xdp_md *ctx, struct pkt *pkt,
				       __u16 address_flags, bool v6)
{
	(void)ctx;
	(void)pkt;
	(void)address_flags;
	(void)v6;
	return -DROP_REASON_ICMP_UNHANDLED;
}

/*
 * A packet that does not fit the way to its backend: mtu is what the inner
 * packet may have. A verdict (the answer to the client), or minus a drop reason.
 */
static __always_inline int icmp_too_big(struct xdp_md *ctx, struct pkt *pkt,
					__u32 mtu, bool v6)
{
	(void)ctx;
	(void)pkt;
	(void)mtu;
	(void)v6;
	return -DROP_REASON_TOO_BIG;
}

#endif
