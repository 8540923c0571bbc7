// SPDX-License-Identifier: GPL-2.0-only
/*
 * The balancer: packets for a VIP leave for a backend, everything else passes.
 *
 * A step returns 0 to go on, a positive XDP action when it has decided, or
 * minus a drop reason. Only fairlead() turns that into counters and a verdict.
 */
#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "conntrack.bpf.h"
#include "encap.bpf.h"
#include "maps.bpf.h"
#include "packet.bpf.h"
#include "stats.bpf.h"
#include "table.bpf.h"
#include "vip.bpf.h"

/* NULL: no such id is in use. */
static __always_inline const struct backend *backend_get(__u32 id)
{
	const struct backend *backend = bpf_map_lookup_elem(&backends, &id);

	return backend && backend->flags & BACKEND_VALID ? backend : NULL;
}

/*
 * The flow's own backend while it may keep it. A new connection never goes to
 * a draining one, also when its tuple is known from an old connection.
 */
static __always_inline const struct backend *
known_backend(const struct pkt *pkt, bool v6, struct ct *ct, __u16 *id)
{
	const struct backend *backend;

	*id = ct_lookup(pkt, v6, ct);
	if (!*id)
		return NULL;

	backend = backend_get(*id);
	if (!backend || backend->flags & BACKEND_DOWN ||
	    (pkt->syn && backend->flags & BACKEND_DRAINING))
		return NULL;
	if (ct->rescued)
		ct_remember(pkt, v6, ct, *id);
	return backend;
}

static __always_inline int choose_backend(const struct pkt *pkt, bool v6,
					  struct ct *ct, __u16 *id,
					  const struct backend **backend)
{
	int err = table_pick(pkt, v6, id);

	if (err)
		return err;
	*backend = backend_get(*id);
	if (!*backend)
		return -DROP_REASON_BACKEND_INVALID;

	ct_remember(pkt, v6, ct, *id);
	return 0;
}

/*
 * How a packet leaves. Asked before the packet grows: a drop counts the bytes
 * that came in.
 */
static __always_inline int egress_find(struct xdp_md *ctx, __u32 ifindex)
{
	if (ifindex == ctx->ingress_ifindex)
		return XDP_TX;
	/* With flags 0 an interface that is not in the map gives XDP_ABORTED. */
	return bpf_redirect_map(&egress, ifindex, 0) == XDP_REDIRECT ?
		       XDP_REDIRECT :
		       -DROP_REASON_EGRESS_MISSING;
}

static __always_inline int balance(struct xdp_md *ctx, struct pkt *pkt, bool v6)
{
	const struct backend *backend;
	bool new_flow = false;
	int err, verdict;
	struct ct ct;
	__u16 id;

	err = v6 ? packet_parse6(ctx, pkt) : packet_parse4(ctx, pkt);
	if (err < 0)
		return vip_address(pkt, v6) ? err : XDP_PASS;
	if (err)
		return err;

	err = vip_find(pkt, v6);
	if (err)
		return err;

	backend = known_backend(pkt, v6, &ct, &id);
	if (!backend) {
		new_flow = true;
		err = choose_backend(pkt, v6, &ct, &id, &backend);
		if (err)
			return err;
	}
	if (!(backend->flags & BACKEND_RESOLVED))
		return -DROP_REASON_BACKEND_UNRESOLVED;

	verdict = egress_find(ctx, backend->ifindex);
	if (verdict < 0)
		return verdict;
	err = encap_packet(ctx, pkt, backend, v6);
	if (err)
		return err;

	stats_forwarded(pkt, id, new_flow);
	return verdict;
}

SEC("xdp.frags")
int fairlead(struct xdp_md *ctx)
{
	const struct ethhdr *eth = (void *)(long)ctx->data;
	struct pkt pkt;
	int verdict;

	pkt.vip = NULL;
	if ((void *)(eth + 1) > packet_end(ctx))
		verdict = XDP_PASS;
	else if (eth->h_proto == bpf_htons(ETH_P_IP))
		verdict = balance(ctx, &pkt, false);
	else if (eth->h_proto == bpf_htons(ETH_P_IPV6))
		verdict = balance(ctx, &pkt, true);
	else
		verdict = XDP_PASS;

	if (verdict < 0) {
		stats_dropped(ctx, pkt.vip, -verdict);
		return XDP_DROP;
	}
	stats_verdict(verdict);
	return verdict;
}

char _license[] SEC("license") = "GPL";
