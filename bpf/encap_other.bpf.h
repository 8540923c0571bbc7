/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_ENCAP_OTHER_BPF_H
#define FAIRLEAD_ENCAP_OTHER_BPF_H

/*
 * Encapsulation at offsets that are known only at run time: frames with VLAN
 * tags, which keep them, outer sources that spread, packets that are let go
 * although they exceed the MTU, and the tunnels that are not worth straight code
 * for each combination.
 *
 *   Ethernet [| tag [| tag]] | IP | UDP (8) | GUE (4) | inner packet   GUE 0
 *                            | IP | UDP (8) |           inner packet   GUE 1
 *                            | IP | GRE (4) |           inner packet   GRE
 *                            | IP |                     inner packet   IPIP
 *                            |                          the packet     L2
 *
 * GUE variant 1 tells itself from variant 0 by the first bits of the inner
 * packet's version (draft-ietf-intarea-gue-09, section 4). GRE is RFC 2784
 * without its optional fields, over IPv6 as RFC 7676 says.
 */

#include "encap.bpf.h"
#include "outer.bpf.h"

static __always_inline int encap_any(struct xdp_md *ctx, const struct pkt *pkt,
				     const struct backend *backend, bool v6,
				     bool oversize)
{
	__u32 grow = encap_overhead(backend, v6);

	if (!encap_fits(backend, pkt->ip_len + grow, oversize))
		return -DROP_REASON_TOO_BIG;
	if (grow && bpf_xdp_adjust_head(ctx, -(int)grow))
		return -DROP_REASON_HEADROOM;
	return encap_write((void *)(long)ctx->data, packet_end(ctx), pkt, backend, v6,
			   oversize);
}

/* In L2 mode a short frame needs its padding still. */
static __always_inline int encap_finish(struct xdp_md *ctx, const struct pkt *pkt,
					const struct backend *backend, bool v6)
{
	__u32 length = pkt->l3_off + encap_overhead(backend, v6) + pkt->ip_len;

	if (backend->encap == ENCAP_L2 ||
	    encap_ends(ctx, (void *)(long)ctx->data, length))
		return 0;
	return encap_trim(ctx, length);
}

/* Return 0 or minus a drop reason, as encap_packet(). */
static __noinline int encap_other4(struct xdp_md *ctx, const struct pkt *pkt,
				   const struct backend *backend, bool oversize)
{
	int err = encap_any(ctx, pkt, backend, false, oversize);

	return err ? err : encap_finish(ctx, pkt, backend, false);
}

static __noinline int encap_other6(struct xdp_md *ctx, const struct pkt *pkt,
				   const struct backend *backend, bool oversize)
{
	int err = encap_any(ctx, pkt, backend, true, oversize);

	return err ? err : encap_finish(ctx, pkt, backend, true);
}

#endif
