// SPDX-License-Identifier: GPL-2.0-only
/*
 * The balancer: packets for a VIP leave for a backend, everything else passes.
 *
 * A step returns 0 to go on, a positive XDP action when it has decided, or
 * minus a drop reason. Only fairlead() turns that into counters and a verdict.
 */
#include <stddef.h>

#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "acl.bpf.h"
#include "backends.bpf.h"
#include "clock.bpf.h"
#include "conntrack.bpf.h"
#include "egress.bpf.h"
#include "encap.bpf.h"
#include "encap_other.bpf.h"
#include "fragment.bpf.h"
#include "icmp.bpf.h"
#include "maps.bpf.h"
#include "new_flow.bpf.h"
#include "packet.bpf.h"
#include "packet_rare.bpf.h"
#include "plain.bpf.h"
#include "quic.bpf.h"
#include "stats.bpf.h"
#include "table.bpf.h"
#include "vip.bpf.h"

/*
 * NULL: no backend that may have the packet. A new connection needs one that is
 * neither draining nor down, whatever becomes of the flows of those that are.
 */
static __always_inline const struct backend *usable_backend(const struct pkt *pkt,
							    __u32 id)
{
	const struct backend *backend = id ? backend_get(id) : NULL;
	__u8 use;

	if (!backend)
		return NULL;
	use = backend_use(backend, id, pkt->vip.id);
	if (!use_keeps_flows(use, pkt->vip.flags) ||
	    (pkt->syn && use & (BACKEND_DRAINING | BACKEND_DOWN)))
		return NULL;
	return backend;
}

/*
 * The flow's own backend while it may keep it. When it may not, a guess may have
 * been wrong: the connection lives on only where the flow's slot was before.
 */
static __always_inline const struct backend *
known_backend(struct pkt *pkt, bool v6, struct ct *ct)
{
	const struct backend *backend;

	pkt->backend_id = ct_lookup(pkt, v6, ct);
	backend = usable_backend(pkt, pkt->backend_id);
	if (backend || !pkt->backend_id || !(ct->flow.stamp & FLOW_GUESS))
		return backend;

	pkt->backend_id = ct->flow.alternate;
	backend = usable_backend(pkt, pkt->backend_id);
	if (backend)
		ct_remember(pkt, v6, ct, pkt->backend_id, 0);
	return backend;
}

static __always_inline int choose_backend(struct pkt *pkt, bool v6, struct ct *ct)
{
	__u16 previous;
	int err = table_find(pkt->vip.table, table_hash(pkt, v6), &pkt->backend_id,
			     &previous);

	if (err)
		return err;
	if (!backend_get(pkt->backend_id))
		return -DROP_REASON_BACKEND_INVALID;

	/* A flow that has an entry already takes no place of another. */
	if (ct_has_entry(ct) || !(pkt->vip.flags & VIP_CAP) ||
	    new_flow_fits(pkt, clock_second()))
		ct_remember(pkt, v6, ct, pkt->backend_id, previous);
	return 0;
}

/* All but the lookups of a VIP's own options, which most VIPs have none of. */
static __always_inline int vip_admits(const struct pkt *pkt, bool v6)
{
	__u8 protocol = v6 ? pkt->key6.protocol : pkt->key4.protocol;

	if (protocol == IPPROTO_TCP && !tcp_flags_known(pkt->tcp_flags) &&
	    pkt->fragment != FRAGMENT_LATER && !(pkt->vip.flags & VIP_TCP_JUNK))
		return -DROP_REASON_TCP_FLAGS;
	if (pkt->vip.flags & VIP_ACL)
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
	bool allowed = pkt->vip.id ? pkt->vip.flags & VIP_OVERSIZE : pkt->oversize;

	if (!pkt->df && allowed && backend->encap != ENCAP_L2 &&
	    !(backend->flags & BACKEND_OUTER_V6))
		return encap_other4(ctx, pkt, backend, true);
	return icmp_too_big(ctx, pkt, backend->mtu - encap_overhead(backend, false), false);
}

static __noinline int too_big6(struct xdp_md *ctx, struct pkt *pkt,
			       const struct backend *backend)
{
	return icmp_too_big(ctx, pkt, backend->mtu - encap_overhead(backend, true), true);
}

/* Makes of it what leaves by *verdict; else a verdict, or minus a drop reason. */
static __always_inline int wrap(struct xdp_md *ctx, struct pkt *pkt, bool v6,
				int *verdict)
{
	const struct backend *backend = backend_get(pkt->backend_id);
	int err;

	if (!backend)
		return -DROP_REASON_BACKEND_INVALID;
	if (!(backend->flags & BACKEND_RESOLVED))
		return -DROP_REASON_BACKEND_UNRESOLVED;
	*verdict = egress_find(ctx, backend->ifindex);
	if (*verdict < 0)
		return *verdict;
	if (pkt->fragment == FRAGMENT_FIRST && pkt->vip.id && !fragment_is_hashed(pkt))
		fragment_note(pkt, v6);
	err = v6 ? encap_other6(ctx, pkt, backend, false) :
		   encap_other4(ctx, pkt, backend, false);
	if (err == -DROP_REASON_TOO_BIG)
		err = v6 ? too_big6(ctx, pkt, backend) : too_big4(ctx, pkt, backend);
	return err;
}

/*
 * To the backend of pkt, for its VIP. A flow is remembered before, but only if its
 * packet leaves: the next one is the first that counts.
 */
static __always_inline int deliver(struct xdp_md *ctx, struct pkt *pkt, bool v6)
{
	int verdict = 0, err = wrap(ctx, pkt, v6, &verdict);

	if (!err) {
		stats_forwarded(pkt);
		return verdict;
	}
	if (pkt->new_flow) {
		if (v6)
			ct_forget6(pkt);
		else
			ct_forget4(pkt);
	}
	return err;
}

/*
 * Global functions, here and below: the verifier walks each once, and not once for
 * every way that leads to it. It takes their pkt for any memory, so all that they
 * read of it is numbers.
 */
__noinline int deliver_rare4(struct xdp_md *ctx, struct pkt *pkt)
{
	return pkt ? deliver(ctx, pkt, false) : XDP_ABORTED;
}

__noinline int deliver_rare6(struct xdp_md *ctx, struct pkt *pkt)
{
	return pkt ? deliver(ctx, pkt, true) : XDP_ABORTED;
}

/* A backend for a packet of a VIP that was found: 0, or minus a drop reason. */
static __always_inline int assign(struct xdp_md *ctx, struct pkt *pkt, bool v6)
{
	struct ct ct;
	int err;

	err = vip_admits(pkt, v6);
	if (err)
		return err;

	pkt->vip_id = pkt->vip.id;
	if (fragment_is_hashed(pkt))
		fragment_drop_ports(pkt, v6);
	if (pkt->vip.flags & VIP_QUIC && quic_backend(ctx, pkt))
		return 0;
	if (known_backend(pkt, v6, &ct)) {
		pkt->new_flow = pkt->opens;
		return 0;
	}
	pkt->new_flow = true;
	return choose_backend(pkt, v6, &ct);
}

__noinline int assign_rare4(struct xdp_md *ctx, struct pkt *pkt)
{
	return pkt ? assign(ctx, pkt, false) : XDP_ABORTED;
}

__noinline int assign_rare6(struct xdp_md *ctx, struct pkt *pkt)
{
	return pkt ? assign(ctx, pkt, true) : XDP_ABORTED;
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
	pkt->oversize = note->oversize;
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
	pkt->vip_id = pkt->vip.id;
	if (pkt->vip.flags & VIP_ACL) {
		err = acl_check(pkt, v6);
		if (err)
			return err;
	}
	pkt->backend_id = ct_peek(pkt, v6);
	backend = backend_get(pkt->backend_id);
	if (backend && backend_keeps_flows(backend, pkt->backend_id, &pkt->vip))
		return 0;
	return table_find(pkt->vip.table, table_hash(pkt, v6), &pkt->backend_id, NULL);
}

/*
 * The same for an ICMP error. The packet is its own again before it leaves.
 */
static __always_inline int error_backend(struct xdp_md *ctx, struct pkt *pkt, bool v6)
{
	__u8 fragment = pkt->fragment;
	int err = -DROP_REASON_ICMP_UNHANDLED;

	pkt->own = pkt->key6;
	pkt->fragment = FRAGMENT_NONE;
	if (icmp_quoted_flow(ctx, pkt, &pkt->own, v6))
		err = quoted_backend(pkt, v6);
	pkt->key6 = pkt->own;
	pkt->fragment = fragment;
	return err;
}

__noinline int error_backend4(struct xdp_md *ctx, struct pkt *pkt)
{
	return pkt ? error_backend(ctx, pkt, false) : XDP_ABORTED;
}

__noinline int error_backend6(struct xdp_md *ctx, struct pkt *pkt)
{
	return pkt ? error_backend(ctx, pkt, true) : XDP_ABORTED;
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

	pkt->vip.id = 0;
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
	int err = 0;

	if (step < RARE_FORWARD4)
		return step;
	if (step == RARE_FORWARD4)
		err = assign_rare4(ctx, pkt);
	else if (step == RARE_FORWARD6)
		err = assign_rare6(ctx, pkt);
	if (err)
		return err;
	return step == RARE_FORWARD4 || step == RARE_DELIVER4 ? deliver_rare4(ctx, pkt) :
								deliver_rare6(ctx, pkt);
}

static __always_inline bool is_vlan(__be16 ethertype)
{
	return ethertype == bpf_htons(ETH_P_8021Q) || ethertype == bpf_htons(ETH_P_8021AD);
}

/*
 * `opens`: the entry of its flow, if there is one, is its own. The VIP's id is for
 * the drop counters.
 */
static __always_inline int rare(struct xdp_md *ctx, bool opens, __u32 *vip)
{
	__u32 zero = 0;
	struct pkt *pkt = bpf_map_lookup_elem(&rare_packet, &zero);
	int verdict;

	if (!pkt)
		return XDP_ABORTED;
	verdict = balance_rare(ctx, pkt);
	pkt->opens = opens;
	verdict = finish_rare(ctx, pkt, verdict);
	*vip = pkt->vip.id;
	return verdict;
}

SEC("xdp.frags")
int fairlead(struct xdp_md *ctx)
{
	const void *eth = (void *)(long)ctx->data;
	__be16 ethertype;
	__u32 vip = 0;
	int verdict;

	if (eth + sizeof(struct ethhdr) > packet_end(ctx))
		return XDP_PASS;
	/* struct ethhdr is packed: it would be read byte by byte. */
	ethertype = *(const __be16 *)(eth + offsetof(struct ethhdr, h_proto));
	if (likely(ethertype == bpf_htons(ETH_P_IP)))
		verdict = plain(ctx, false);
	else if (ethertype == bpf_htons(ETH_P_IPV6))
		verdict = plain(ctx, true);
	else
		verdict = is_vlan(ethertype) ? PACKET_RARE : XDP_PASS;

	if (unlikely(verdict >= PACKET_RARE))
		verdict = rare(ctx, verdict == PACKET_RARE_OPENS, &vip);
	if (unlikely(verdict < 0)) {
		stats_dropped(ctx, vip, -verdict);
		return XDP_DROP;
	}
	stats_verdict(verdict);
	return verdict;
}

/* For the daemon, which cannot read jiffies: by BPF_PROG_RUN, the tick that runs. */
SEC("xdp.frags")
int tick(struct xdp_md *ctx __attribute__((unused)))
{
	return clock_tick();
}

char _license[] SEC("license") = "GPL";
