/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_QUIC_BPF_H
#define FAIRLEAD_QUIC_BPF_H

/* Routing by what a QUIC server has written into its connection ids. */

#include "maps.bpf.h"
#include "packet.bpf.h"

/*
 * The backend that the connection id names, with pkt->backend_id set; NULL: by the tuple,
 * as any other packet. Only for VIPs with VIP_QUIC.
 */
static __noinline const struct backend *quic_backend(struct xdp_md *ctx,
						     struct pkt *pkt)
{
	(void)ctx;
	(void)pkt;
	return NULL;
}

#endif
