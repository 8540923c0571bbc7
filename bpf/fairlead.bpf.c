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

#include "acl.bpf.h"
#include "conntrack.bpf.h"
#include "encap.bpf.h"
#include "encap_other.bpf.h"
#include "fragment.bpf.h"
#include "icmp.bpf.h"
#include "maps.bpf.h"
#include "new_flow.bpf.h"
#include "packet.bpf.h"
#include "packet_rare.bpf.h"
#include "quic.bpf.h"
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
known_backend(struct pkt *pkt, bool v6, struct ct *ct)
{
	const struct backend *backend;

	pkt->backend_id = ct_lookup(pkt, v6, ct);
	if (!pkt->backend_id)
		return NULL;

	backend = backend_get(pkt->backend_id);
	if (!backend || backend->flags & BACKEND_DOWN ||
	    (pkt->syn && backend->flags & BACKEND_DRAINING))
		return NULL;
	if (ct->rescued)
		ct_remember(pkt, v6, ct, pkt->backend_id);
	return backend;
}

static __always_inline int choose_backend(struct pkt *pkt, bool v6, struct ct *ct,
					  const struct backend **backend)
{
	int err = table_pick(pkt, v6, &pkt->backend_id);

	if (err)
		return err;
	*backend = backend_get(pkt->backend_id);
	if (!*backend)
		return -DROP_REASON_BACKEND_INVALID;

	/* A flow that is known already takes no place of another. */
	if (ct->flow || !pkt->vip->new_flow_cap || new_flow_fits(pkt, ct_clock()))
		ct_remember(pkt, v6, ct, pkt->backend_id);
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

/* All but the lookups of a VIP's own options, which most VIPs have none of. */
static __always_inline int vip_admits(const struct pkt *pkt, bool v6)
{
	__u8 protocol = v6 ? pkt->key6.protocol : pkt->key4.protocol;

	if (protocol == IPPROTO_TCP && !tcp_flags_known(pkt->tcp_flags) &&
	    pkt->fragment != FRAGMENT_LATER && !(pkt->vip->flags & VIP_TCP_JUNK))
		return -DROP_REASON_TCP_FLAGS;
	if (pkt->vip->flags & VIP_ACL)
		return acl_check(pkt, v6);
	return 0;
}

/*
 * What does not fit is still as it came. Without DF, a VIP may have it sent all
 * the same, for a router to fragment, which none does to IPv6 or for L2 mode;
 * else the client hears of the MTU.
 */
static __noinline int too_big4(struct xdp_md *ctx, struct pkt *pkt,
			       const struct backend *backend)
{
	if (!pkt->df && pkt->vip && pkt->vip->flags & VIP_OVERSIZE &&
	    backend->encap != ENCAP_L2 && !(backend->flags & BACKEND_OUTER_V6))
		return encap_other4(ctx, pkt, backend, true);
	return icmp_too_big(ctx, pkt, backend->mtu - encap_overhead(backend, false), false);
}

static __noinline int too_big6(struct xdp_md *ctx, struct pkt *pkt,
			       const struct backend *backend)
{
	return icmp_too_big(ctx, pkt, backend->mtu - encap_overhead(backend, true), true);
}

/* To the backend that was found; pkt says for which VIP, and as which id. */
static __always_inline int deliver(struct xdp_md *ctx, struct pkt *pkt, bool v6,
				   bool plain, const struct backend *backend)
{
	int err, verdict;

	if (!(backend->flags & BACKEND_RESOLVED))
		return -DROP_REASON_BACKEND_UNRESOLVED;
	verdict = egress_find(ctx, backend->ifindex);
	if (verdict < 0)
		return verdict;
	if (!plain && pkt->fragment == FRAGMENT_FIRST && pkt->vip &&
	    !fragment_is_hashed(pkt))
		fragment_note(pkt, v6);
	if (plain && backend->flags & BACKEND_PLAIN)
		err = encap_packet(ctx, pkt, backend, v6);
	else
		err = v6 ? encap_other6(ctx, pkt, backend, false) :
			   encap_other4(ctx, pkt, backend, false);
	if (err == -DROP_REASON_TOO_BIG)
		err = v6 ? too_big6(ctx, pkt, backend) : too_big4(ctx, pkt, backend);
	if (err)
		return err;

	stats_forwarded(pkt);
	return verdict;
}

/* The same for what is not chosen by its own flow: pkt has the ids. */
static __always_inline int deliver_rare(struct xdp_md *ctx, struct pkt *pkt, bool v6)
{
	const struct backend *backend = backend_get(pkt->backend_id);

	pkt->new_flow = false;
	return backend ? deliver(ctx, pkt, v6, false, backend) :
			 -DROP_REASON_BACKEND_INVALID;
}

static __noinline int deliver_rare4(struct xdp_md *ctx, struct pkt *pkt)
{
	return deliver_rare(ctx, pkt, false);
}

static __noinline int deliver_rare6(struct xdp_md *ctx, struct pkt *pkt)
{
	return deliver_rare(ctx, pkt, true);
}

/* A packet of a VIP that was found, from its flow to the wire. */
static __always_inline int forward(struct xdp_md *ctx, struct pkt *pkt, bool v6,
				   bool plain)
{
	const struct backend *backend = NULL;
	struct ct ct;
	int err;

	err = vip_admits(pkt, v6);
	if (err)
		return err;

	pkt->vip_id = pkt->vip->id;
	pkt->new_flow = false;
	if (!plain && fragment_is_hashed(pkt))
		fragment_drop_ports(pkt, v6);
	if (!plain && pkt->vip->flags & VIP_QUIC)
		backend = quic_backend(ctx, pkt);
	if (!backend)
		backend = known_backend(pkt, v6, &ct);
	if (!backend) {
		pkt->new_flow = true;
		err = choose_backend(pkt, v6, &ct, &backend);
		if (err)
			return err;
	}
	return deliver(ctx, pkt, v6, plain, backend);
}

static __noinline int forward_rare4(struct xdp_md *ctx, struct pkt *pkt)
{
	return forward(ctx, pkt, false, false);
}

static __noinline int forward_rare6(struct xdp_md *ctx, struct pkt *pkt)
{
	return forward(ctx, pkt, true, false);
}

/* Plain packets: everything inline, and at constant offsets. */
static __always_inline int balance(struct xdp_md *ctx, struct pkt *pkt, bool v6)
{
	int err = v6 ? packet_parse6(ctx, pkt) : packet_parse4(ctx, pkt);

	if (err < 0)
		return vip_address(pkt, v6) ? err : XDP_PASS;
	if (err)
		return err;
	err = vip_find(pkt, v6);
	if (err)
		return err;
	/* Not here, or the verifier would walk all of forward() twice. */
	if (pkt->vip->flags & VIP_QUIC)
		return PACKET_RARE;
	return forward(ctx, pkt, v6, true);
}

/*
 * What is left to do with a rare packet once its VIP or backend is known. No XDP
 * action has these numbers. balance_rare() returns before it is done: the stack
 * frames of all that call each other share 512 bytes.
 */
enum rare_step {
	RARE_FORWARD4 = 80,
	RARE_FORWARD6,
	RARE_DELIVER4,
	RARE_DELIVER6,
};

/* A later fragment goes where the first went, or by its VIP's policy. */
static __always_inline int find_fragment(struct pkt *pkt, bool v6)
{
	const struct fragment_note *note = fragment_find(pkt, v6);
	int err;

	if (!note || !backend_get(note->backend)) {
		/* Of an echo request, and of errors only the first says whose. */
		if ((v6 ? pkt->key6.protocol == IPPROTO_ICMPV6 :
			  pkt->key4.protocol == IPPROTO_ICMP))
			return -DROP_REASON_FRAGMENT_UNKNOWN;
		err = vip_find_fragment(pkt, v6);
		if (err)
			return err;
		return v6 ? RARE_FORWARD6 : RARE_FORWARD4;
	}
	pkt->vip_id = note->vip;
	pkt->backend_id = note->backend;
	return v6 ? RARE_DELIVER6 : RARE_DELIVER4;
}

/*
 * Which backend has the flow that pkt->key is, for now: as for a packet of it,
 * but nothing is remembered. A source list speaks of the flow's client.
 */
static __always_inline int quoted_backend(struct pkt *pkt, bool v6)
{
	const struct backend *backend;
	int err;

	if (vip_find(pkt, v6))
		return -DROP_REASON_ICMP_UNHANDLED;
	pkt->vip_id = pkt->vip->id;
	if (pkt->vip->flags & VIP_ACL) {
		err = acl_check(pkt, v6);
		if (err)
			return err;
	}
	pkt->backend_id = ct_peek(pkt, v6);
	backend = backend_get(pkt->backend_id);
	if (backend && !(backend->flags & BACKEND_DOWN))
		return 0;
	return table_pick(pkt, v6, &pkt->backend_id);
}

/*
 * The same for an ICMP error. The packet is its own again before it leaves; one
 * struct pkt does for both, since stack is scarce.
 */
static __always_inline int error_backend(struct xdp_md *ctx, struct pkt *pkt, bool v6)
{
	const struct flow_key6 own = pkt->key6;
	__u8 fragment = pkt->fragment;
	int err = -DROP_REASON_ICMP_UNHANDLED;

	pkt->fragment = FRAGMENT_NONE;
	if (icmp_quoted_flow(ctx, pkt, &own, v6))
		err = quoted_backend(pkt, v6);
	pkt->key6 = own;
	pkt->fragment = fragment;
	return err;
}

static __noinline int error_backend4(struct xdp_md *ctx, struct pkt *pkt)
{
	return error_backend(ctx, pkt, false);
}

static __noinline int error_backend6(struct xdp_md *ctx, struct pkt *pkt)
{
	return error_backend(ctx, pkt, true);
}

static __always_inline int balance_icmp(struct xdp_md *ctx, struct pkt *pkt,
					__u16 address_flags, bool v6)
{
	int err = v6 ? icmp_handle6(ctx, pkt, address_flags) :
		       icmp_handle4(ctx, pkt, address_flags);

	if (err != ICMP_QUOTES)
		return err;
	err = v6 ? error_backend6(ctx, pkt) : error_backend4(ctx, pkt);
	if (err)
		return err;
	return v6 ? RARE_DELIVER6 : RARE_DELIVER4;
}

static __always_inline int balance_rare_as(struct xdp_md *ctx, struct pkt *pkt, bool v6)
{
	__u8 icmp = v6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
	int err = v6 ? packet_rare6(ctx, pkt) : packet_rare4(ctx, pkt);
	const struct vip *address;

	pkt->vip = NULL;
	if (err > 0)
		return XDP_PASS;
	address = vip_address(pkt, v6);
	if (!address)
		return XDP_PASS;
	if (err)
		return err;
	if (pkt->fragment == FRAGMENT_LATER)
		return find_fragment(pkt, v6);
	if ((v6 ? pkt->key6.protocol : pkt->key4.protocol) == icmp)
		return balance_icmp(ctx, pkt, address->flags, v6);
	err = vip_find(pkt, v6);
	if (err)
		return err;
	return v6 ? RARE_FORWARD6 : RARE_FORWARD4;
}

/*
 * Everything else: tagged frames, fragments, extension headers, ICMP, other
 * protocols. A function of its own, so that plain packets do not pay for it. A
 * verdict, minus a drop reason, or a step of enum rare_step.
 */
static __noinline int balance_rare(struct xdp_md *ctx, struct pkt *pkt)
{
	__be16 ethertype;

	__builtin_memset(pkt, 0, sizeof(*pkt));
	ethertype = packet_untag(ctx, pkt);
	if (ethertype == bpf_htons(ETH_P_IP))
		return balance_rare_as(ctx, pkt, false);
	if (ethertype == bpf_htons(ETH_P_IPV6))
		return balance_rare_as(ctx, pkt, true);
	return XDP_PASS;
}

static __always_inline int finish_rare(struct xdp_md *ctx, struct pkt *pkt, int step)
{
	if (step < RARE_FORWARD4)
		return step;
	switch (step) {
	case RARE_FORWARD4:
		return forward_rare4(ctx, pkt);
	case RARE_FORWARD6:
		return forward_rare6(ctx, pkt);
	case RARE_DELIVER4:
		return deliver_rare4(ctx, pkt);
	case RARE_DELIVER6:
		return deliver_rare6(ctx, pkt);
	default:
		return step;
	}
}

static __always_inline bool is_vlan(__be16 ethertype)
{
	return ethertype == bpf_htons(ETH_P_8021Q) || ethertype == bpf_htons(ETH_P_8021AD);
}

SEC("xdp.frags")
int fairlead(struct xdp_md *ctx)
{
	const struct ethhdr *eth = (void *)(long)ctx->data;
	struct pkt pkt;
	int verdict;

	pkt.vip = NULL;
	pkt.tags[0] = pkt.tags[1] = 0;
	if ((void *)(eth + 1) > packet_end(ctx))
		verdict = XDP_PASS;
	else if (eth->h_proto == bpf_htons(ETH_P_IP))
		verdict = balance(ctx, &pkt, false);
	else if (eth->h_proto == bpf_htons(ETH_P_IPV6))
		verdict = balance(ctx, &pkt, true);
	else
		verdict = is_vlan(eth->h_proto) ? PACKET_RARE : XDP_PASS;

	if (verdict == PACKET_RARE)
		verdict = finish_rare(ctx, &pkt, balance_rare(ctx, &pkt));
	if (verdict < 0) {
		stats_dropped(ctx, pkt.vip, -verdict);
		return XDP_DROP;
	}
	stats_verdict(verdict);
	return verdict;
}

char _license[] SEC("license") = "GPL";
