/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_ENCAP_OTHER_BPF_H
#define FAIRLEAD_ENCAP_OTHER_BPF_H

/*
 * Encapsulation at offsets that are known only at run time: frames with VLAN
 * tags, which keep them, and the tunnels that are not worth code of their own
 * for each combination.
 */

#include "encap.bpf.h"

/* Return 0 or minus a drop reason, as encap_packet(). */
static __noinline int encap_other4(struct xdp_md *ctx, struct pkt *pkt,
				   const struct backend *backend)
{
	return encap_packet(ctx, pkt, backend, false);
}

static __noinline int encap_other6(struct xdp_md *ctx, struct pkt *pkt,
				   const struct backend *backend)
{
	return encap_packet(ctx, pkt, backend, true);
}

#endif
