/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_PLAIN_BPF_H
#define FAIRLEAD_PLAIN_BPF_H

/*
 * Most packets: no VLAN tag, no options, no fragment, TCP in the middle of a
 * connection or its SYN, or UDP, for a VIP in the sets, of a flow that is known or
 * begins, to a backend that is up and reached by a tunnel that straight code
 * builds. Anything else is PACKET_RARE or PACKET_RARE_OPENS: nothing of the packet has
 * been changed, and the long way in fairlead.bpf.c knows what to do, drop reasons
 * included.
 *
 * Everything is inline, and no pointer to struct pkt leaves these functions, so that
 * it lives in registers. Branches are on what is the same for most packets, never on
 * which way of a set a flow is in.
 */

#include "clock.bpf.h"
#include "conntrack.bpf.h"
#include "egress.bpf.h"
#include "encap.bpf.h"
#include "flow_set.bpf.h"
#include "maps.bpf.h"
#include "packet.bpf.h"
#include "stats.bpf.h"
#include "table.bpf.h"
#include "vip_set.bpf.h"

/* What of a plain packet the lookups need, and struct pkt has not. */
struct plain {
	__u32 ports; /* source and destination, as they lie in memory */
	struct vip_brief vip;
	__u32 now;
};

#define IP4_PLAIN 0x45 /* version 4, five words */

/* The ports, the first of the header; false: not plain. */
static __always_inline bool plain_l4(const void *l4, __u8 protocol, __u32 l4_len,
				     struct pkt *pkt, struct plain *p)
{
	__u8 flags;

	p->ports = *(const __u32 *)l4;
	pkt->syn = false;
	if (unlikely(protocol != IPPROTO_TCP))
		return protocol == IPPROTO_UDP && l4_len >= sizeof(struct udphdr);
	if (unlikely(l4_len < sizeof(struct tcphdr)))
		return false;
	/* In the middle of a connection, or its SYN. */
	flags = ((const __u8 *)l4)[13];
	if (likely((flags & (TCP_ACK | TCP_SYN | TCP_FIN | TCP_RST)) == TCP_ACK))
		return true;
	pkt->syn = true;
	return (flags & TCP_FLAGS_MASK) == TCP_SYN;
}

/*
 * The frame is asked once for all the headers that a TCP packet has: Ethernet's
 * shortest frame has them. What is shorter goes the long way.
 */
static __always_inline bool plain_read4(struct xdp_md *ctx, struct pkt *pkt,
					struct plain *p)
{
	const struct iphdr *ip = packet_l3(ctx);
	__u64 addresses;

	if (unlikely((void *)(ip + 1) + sizeof(struct tcphdr) > packet_end(ctx) ||
		     *(const __u8 *)ip != IP4_PLAIN ||
		     ip->frag_off & bpf_htons(IP4_MORE_FRAGMENTS | IP4_OFFSET_MASK)))
		return false;
	pkt->ip_len = bpf_ntohs(ip->tot_len);
	if (unlikely(packet_rest(ctx, ip) < pkt->ip_len ||
		     pkt->ip_len < sizeof(*ip) ||
		     !plain_l4(ip + 1, ip->protocol, pkt->ip_len - sizeof(*ip), pkt, p)))
		return false;
	pkt->tos = ip->tos;
	addresses = load64(&ip->saddr);
	pkt->key4.protocol = ip->protocol;
	__builtin_memcpy(&pkt->key4, &addresses, sizeof(addresses));
	pkt->key4.sport = p->ports;
	pkt->key4.dport = p->ports >> 16;
	return true;
}

static __always_inline bool plain_read6(struct xdp_md *ctx, struct pkt *pkt,
					struct plain *p)
{
	const struct ipv6hdr *ip = packet_l3(ctx);
	__u64 *src = (__u64 *)pkt->key6.src, *dst = (__u64 *)pkt->key6.dst;
	__u32 length;

	if ((void *)(ip + 1) + sizeof(struct tcphdr) > packet_end(ctx) ||
	    *(const __u8 *)ip >> 4 != 6)
		return false;
	length = sizeof(*ip) + bpf_ntohs(ip->payload_len);
	if (packet_rest(ctx, ip) < length ||
	    !plain_l4(ip + 1, ip->nexthdr, length - sizeof(*ip), pkt, p))
		return false;
	pkt->ip_len = length;
	pkt->tos = bpf_ntohs(*(__be16 *)ip) >> 4;
	pkt->key6.protocol = ip->nexthdr;
	src[0] = load64(&ip->saddr);
	src[1] = load64((void *)&ip->saddr + 8);
	dst[0] = load64(&ip->daddr);
	dst[1] = load64((void *)&ip->daddr + 8);
	pkt->key6.sport = p->ports;
	pkt->key6.dport = p->ports >> 16;
	return true;
}

static __always_inline bool plain_vip(struct pkt *pkt, bool v6, struct plain *p)
{
	__u64 dport = p->ports >> 16;

	if (v6)
		return vip_set_find6((const __u64 *)pkt->key6.dst,
				     dport | (__u64)pkt->key6.protocol << 16, &p->vip);
	return vip_set_find4(pkt->key4.dst | dport << 32 |
				     (__u64)pkt->key4.protocol << 48,
			     &p->vip);
}

/* Not among the sets: somebody else's, or a VIP of the long way. */
static __always_inline int plain_not_vip(const struct pkt *pkt, bool v6)
{
	bool ours = v6 ? vip_filter_has6((const __u64 *)pkt->key6.dst) :
			 vip_filter_has4(pkt->key4.dst);

	return ours ? PACKET_RARE : XDP_PASS;
}

/*
 * Of a backend that may have the packet. A SYN, which opens, may not go to one
 * that is draining.
 */
static __always_inline const struct backend *plain_backend(__u32 id, bool syn)
{
	const __u8 wanted = BACKEND_VALID | BACKEND_RESOLVED | BACKEND_PLAIN;
	const __u8 mask = wanted | BACKEND_DOWN | (syn ? BACKEND_DRAINING : 0);
	const struct backend *backend = bpf_map_lookup_elem(&backends, &id);

	return likely(backend && (backend->flags & mask) == wanted) ? backend : NULL;
}

/* False: there is more to ask than whether the entry lives. set: NULL or its set. */
static __always_inline bool plain_refresh(__u16 *stamp, const void *set,
					  const struct pkt *pkt, bool v6,
					  const struct plain *p)
{
	__u16 fresh = FLOW_STAMP(p->now + p->vip.idle, FLOW_CONFIRMED);
	__u16 old = *stamp;
	__u32 life;

	if (likely((old & ~FLOW_GUESS) == fresh))
		return true;
	/* Silent for long, so that others may know better; or at its end. */
	life = flow_life(is_tcp(pkt, v6), p->vip.idle, old);
	if (old & FLOW_CLOSING || flow_silence(old, p->now, life) > FLOW_FRESH)
		return false;
	*stamp = fresh | (old & FLOW_GUESS);
	if (set && !(old & FLOW_CONFIRMED))
		flow_level_note(set, p->now, v6);
	return true;
}

/* What a set has of a flow. */
struct plain_way {
	__u32 way; /* FLOW_WAYS: nothing */
	__u64 other; /* 0: all of the flow is there, and not its port only */
};

static __always_inline struct plain_way plain_find4(const struct flow_set4 *set,
						    const struct pkt *pkt,
						    const struct plain *p)
{
	struct plain_way found = { .way = lanes_find(load64(set->sport), p->ports) };
	__u32 way = found.way & (FLOW_WAYS - 1);

	/* One branch for all that can differ. */
	found.other = (set->src[way] ^ pkt->key4.src) |
		      (set->dport[way] ^ p->ports >> 16) | (set->vip[way] ^ p->vip.id);
	return found;
}

static __always_inline struct plain_way plain_find6(const struct flow_set6 *set,
						    const struct pkt *pkt,
						    const struct plain *p)
{
	struct plain_way found = { .way = lanes_find(load64(set->sport), p->ports) };
	const __u64 *src = (const __u64 *)pkt->key6.src;
	__u32 way = found.way & (FLOW_WAYS - 1);

	found.other = (set->src[way][0] ^ src[0]) | (set->src[way][1] ^ src[1]) |
		      (set->dport[way] ^ p->ports >> 16) | (set->vip[way] ^ p->vip.id);
	return found;
}

static __always_inline __u16 plain_first_stamp(const struct plain *p)
{
	__u32 idle = p->vip.idle < FLOW_OPENING ? p->vip.idle : FLOW_OPENING;

	return FLOW_STAMP(p->now + idle, 0);
}

static __always_inline bool plain_add4(struct flow_set4 *set, const struct pkt *pkt,
				       const struct plain *p)
{
	__u32 way = flow_victim((const struct flow_set4 *)set, p->now);

	if (way >= FLOW_WAYS)
		return false;
	set->sport[way] = p->ports;
	set->dport[way] = p->ports >> 16;
	set->src[way] = pkt->key4.src;
	set->vip[way] = p->vip.id;
	set->alternate[way] = 0;
	set->stamp[way] = plain_first_stamp(p);
	set->backend[way] = pkt->backend_id;
	return true;
}

static __always_inline bool plain_add6(struct flow_set6 *set, const struct pkt *pkt,
				       const struct plain *p)
{
	__u32 way = flow_victim((const struct flow_set4 *)set, p->now);

	if (way >= FLOW_WAYS)
		return false;
	set->sport[way] = p->ports;
	set->dport[way] = p->ports >> 16;
	__builtin_memcpy(set->src[way], pkt->key6.src, sizeof(pkt->key6.src));
	set->vip[way] = p->vip.id;
	set->alternate[way] = 0;
	set->stamp[way] = plain_first_stamp(p);
	set->backend[way] = pkt->backend_id;
	return true;
}

/* The table's choice for a connection that opens. */
static __always_inline const struct backend *plain_choose(struct pkt *pkt, bool v6,
							  const struct plain *p)
{
	if (!pkt->syn || p->vip.flags & (VIP_CAP | VIP_HASH_MODE))
		return NULL;
	if (table_find(p->vip.table, table_hash_tuple(pkt, v6), &pkt->backend_id, NULL))
		return NULL;
	pkt->new_flow = true;
	return plain_backend(pkt->backend_id, true);
}

/* The flow's backend, remembered; NULL: the long way knows. */
static __always_inline const struct backend *plain_flow4(struct pkt *pkt,
							 struct plain *p)
{
	__u64 mix = flow_mix4(mix_key, pkt->key4.src, pkt->key4.dst, p->ports);
	struct flow_set4 *set = flow_set_at(bpf_get_smp_processor_id(), mix, flow_mask[0],
					    false);
	const struct backend *backend;
	struct plain_way found;

	if (!set)
		return NULL;
	found = plain_find4(set, pkt, p);
	if (unlikely(found.way >= FLOW_WAYS)) {
		backend = plain_choose(pkt, false, p);
		return backend && plain_add4(set, pkt, p) ? backend : NULL;
	}
	if (found.other || pkt->syn ||
	    !plain_refresh(&set->stamp[found.way], set, pkt, false, p))
		return NULL;
	pkt->backend_id = set->backend[found.way];
	return plain_backend(pkt->backend_id, false);
}

static __always_inline const struct backend *plain_flow6(struct pkt *pkt,
							 struct plain *p)
{
	__u64 mix = flow_mix6(mix_key, (const __u64 *)pkt->key6.src,
			      (const __u64 *)pkt->key6.dst, p->ports);
	struct flow_set6 *set = flow_set_at(bpf_get_smp_processor_id(), mix, flow_mask[1],
					    true);
	const struct backend *backend;
	struct plain_way found;

	if (!set)
		return NULL;
	found = plain_find6(set, pkt, p);
	if (unlikely(found.way >= FLOW_WAYS)) {
		backend = plain_choose(pkt, true, p);
		return backend && plain_add6(set, pkt, p) ? backend : NULL;
	}
	if (found.other || pkt->syn ||
	    !plain_refresh(&set->stamp[found.way], set, pkt, true, p))
		return NULL;
	pkt->backend_id = set->backend[found.way];
	return plain_backend(pkt->backend_id, false);
}

/*
 * The packet that takes the long way, one on each CPU at a time. Not on the stack,
 * of which all functions that call each other have 512 bytes.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pkt);
} rare_packet SEC(".maps");

/* The same by a BPF LRU hash, whose key is a copy: pkt has no address. */
static __always_inline const struct backend *plain_flow_lru(struct pkt *pkt, bool v6,
							    struct plain *p)
{
	__u32 cpu = bpf_get_smp_processor_id(), zero = 0;
	struct pkt *copy = bpf_map_lookup_elem(&rare_packet, &zero);
	struct flow *flow, first = { 0 };
	const struct backend *backend;
	void *key;

	if (!copy)
		return NULL;
	if (v6)
		copy->key6 = pkt->key6;
	else
		copy->key4 = pkt->key4;
	key = &copy->key6;
	flow = flow_lru_find(key, v6, cpu);
	if (!flow) {
		backend = plain_choose(pkt, v6, p);
		if (!backend)
			return NULL;
		first.backend = pkt->backend_id;
		first.stamp = plain_first_stamp(p);
		flow_lru_add(key, v6, cpu, &first);
		return backend;
	}
	if (pkt->syn || !plain_refresh(&flow->stamp, NULL, pkt, v6, p))
		return NULL;
	pkt->backend_id = flow->backend;
	return plain_backend(pkt->backend_id, false);
}

static __always_inline int plain_give_up(const struct pkt *pkt)
{
	return pkt->new_flow ? PACKET_RARE_OPENS : PACKET_RARE;
}

static __always_inline int plain(struct xdp_md *ctx, bool v6)
{
	const struct backend *backend;
	struct plain p = { 0 };
	struct pkt pkt = { 0 };
	int err, verdict;

	if (unlikely(v6 ? !plain_read6(ctx, &pkt, &p) : !plain_read4(ctx, &pkt, &p)))
		return PACKET_RARE;
	if (unlikely(!plain_vip(&pkt, v6, &p)))
		return plain_not_vip(&pkt, v6);
	pkt.vip_id = p.vip.id;
	pkt.new_flow = false;
	p.now = clock_tick();
	if (flow_form == FLOW_FORM_LRU)
		backend = plain_flow_lru(&pkt, v6, &p);
	else
		backend = v6 ? plain_flow6(&pkt, &p) : plain_flow4(&pkt, &p);
	if (unlikely(!backend))
		return PACKET_RARE;
	verdict = egress_find(ctx, backend->ifindex);
	if (verdict < 0)
		return plain_give_up(&pkt);
	err = encap_packet(ctx, &pkt, backend, v6);
	if (err == -DROP_REASON_TOO_BIG || err == -DROP_REASON_HEADROOM)
		return plain_give_up(&pkt);
	if (unlikely(err))
		return err;
	stats_forwarded(&pkt);
	return verdict;
}

#endif
