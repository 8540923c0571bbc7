// SPDX-License-Identifier: GPL-2.0-only
/*
 * In-path probes: a packet of this host whose mark is a probe's goes to the probe's
 * backend by the way of traffic, whatever the VIP's table says. tc runs it on what
 * leaves by an interface; everything else it lets go at once.
 *
 * The packet was routed by the kernel, to wherever the VIP is; here it gets the headers
 * that XDP would put in front of it, and leaves by the backend's interface. When it
 * cannot, it is dropped: in the clear it would come to the balancer that the network
 * sends the VIP's traffic to, and prove nothing of this backend.
 *
 * A TCP segment that this host makes has no checksum yet, and may be several that the
 * device is to cut up. The kernel is told what is inside of what, so that it does both
 * for the inner packet, or has it done by a device that can.
 */
#include <stddef.h>

#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "backends.bpf.h"
#include "outer.bpf.h"
#include "packet.bpf.h"
#include "probe_abi.h"

/* Daemon writes, packets read. No entry: dropped. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROBES_MAX);
	__type(key, __u32);
	__type(value, struct probe_target);
	__uint(map_flags, BPF_F_NO_PREALLOC);
} probe_marks SEC(".maps");

/*
 * Packets by enum probe_fate. A packet leaves with softirqs off, so each counter has
 * one writer a CPU and a plain increment is exact.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PROBE_FATE__MAX);
	__type(key, __u32);
	__type(value, __u64);
} probe_counters SEC(".maps");

/* Of interfaces on which the daemon made the qdisc; packets do not read it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32); /* ifindex */
	__type(value, __u8);
} probe_qdiscs SEC(".maps");

/* Ethernet, IPv6, UDP with GUE. */
struct outer_headers {
	__u8 bytes[sizeof(struct ethhdr) + sizeof(struct ipv6hdr) + sizeof(struct udphdr) +
		   sizeof(struct guehdr)];
};

/*
 * Headers are made here and then stored by a helper: in a program that writes into
 * packets itself, the kernel first makes every one that it sees writable, others' too.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct outer_headers);
} probe_headers SEC(".maps");

/* Ethernet, IPv4 with options, the fixed part of TCP. */
#define HEADERS_MAX (sizeof(struct ethhdr) + 60 + sizeof(struct tcphdr))

static __always_inline void *skb_data(const struct __sk_buff *skb)
{
	return (void *)(long)skb->data;
}

static __always_inline void *skb_end(const struct __sk_buff *skb)
{
	return (void *)(long)skb->data_end;
}

static __always_inline bool address_is(const struct probe_target *target,
				       const struct pkt *pkt, bool v6)
{
	const __u64 *dst = (const __u64 *)pkt->key6.dst;

	if (!v6)
		return !target->v6 && *(const __be32 *)target->addr == pkt->key4.dst;
	return target->v6 && *(const __u64 *)target->addr == dst[0] &&
	       *(const __u64 *)&target->addr[8] == dst[1];
}

/* Ports, as far as the protocol has them, and whether the target has the same. */
static __always_inline int read_l4(const struct __sk_buff *skb, struct pkt *pkt, bool v6,
				   const struct probe_target *target)
{
	const void *l4 = skb_data(skb) + sizeof(struct ethhdr) + (pkt->l4_off & 0x3f);
	__u8 protocol = v6 ? pkt->key6.protocol : pkt->key4.protocol;
	__be16 sport = 0, dport = 0;

	if (protocol == IPPROTO_TCP || protocol == IPPROTO_UDP) {
		if (l4 + sizeof(struct udphdr) > skb_end(skb))
			return PROBE_FATE_MALFORMED;
		sport = ((const __be16 *)l4)[0];
		dport = ((const __be16 *)l4)[1];
	}
	if (v6) {
		pkt->key6.sport = sport;
		pkt->key6.dport = dport;
	} else {
		pkt->key4.sport = sport;
		pkt->key4.dport = dport;
	}
	if (protocol != target->protocol || dport != target->port ||
	    !address_is(target, pkt, v6))
		return PROBE_FATE_DESTINATION;
	return 0;
}

static __always_inline int read_l3(const struct __sk_buff *skb, struct pkt *pkt, bool v6)
{
	const struct iphdr *ip4 = skb_data(skb) + sizeof(struct ethhdr);
	const struct ipv6hdr *ip6 = (const void *)ip4;
	int err;

	if (v6) {
		if ((void *)(ip6 + 1) > skb_end(skb))
			return PROBE_FATE_MALFORMED;
		err = packet_head6(ip6, sizeof(struct ethhdr), pkt);
	} else {
		if ((void *)(ip4 + 1) > skb_end(skb))
			return PROBE_FATE_MALFORMED;
		err = packet_head4(ip4, sizeof(struct ethhdr), pkt);
		if (ip4->frag_off & bpf_htons(IP4_MORE_FRAGMENTS | IP4_OFFSET_MASK))
			return PROBE_FATE_MALFORMED;
	}
	/* What this host sends has no padding yet. */
	if (err || skb->len != sizeof(struct ethhdr) + pkt->ip_len)
		return PROBE_FATE_MALFORMED;
	return 0;
}

static __always_inline int read_packet(struct __sk_buff *skb, struct pkt *pkt, bool v6,
				       const struct probe_target *target)
{
	int fate;

	if (skb->vlan_present ||
	    bpf_skb_pull_data(skb, skb->len < HEADERS_MAX ? skb->len : HEADERS_MAX))
		return PROBE_FATE_MALFORMED;
	fate = read_l3(skb, pkt, v6);
	return fate ? fate : read_l4(skb, pkt, v6, target);
}

/*
 * Of several segments in one packet each loses as many bytes as are put in front, so
 * that it stays as long as it was.
 */
static __always_inline bool fits(const struct __sk_buff *skb, const struct pkt *pkt,
				 const struct backend *backend, __u32 grow)
{
	const void *l4 = skb_data(skb) + sizeof(struct ethhdr) + (pkt->l4_off & 0x3f);
	const struct tcphdr *tcp = l4;

	if (!skb->gso_size)
		return encap_fits(backend, pkt->ip_len + grow, false);
	if ((void *)(tcp + 1) > skb_end(skb))
		return false;
	return pkt->ip_len + grow <= 0xffff &&
	       encap_fits(backend, pkt->l4_off + tcp->doff * 4 + skb->gso_size, false);
}

static __always_inline bool make_room(struct __sk_buff *skb, const struct backend *backend,
				      __u8 protocol, __u32 grow)
{
	__u64 flags = backend->flags & BACKEND_OUTER_V6 ? BPF_F_ADJ_ROOM_ENCAP_L3_IPV6 :
							 BPF_F_ADJ_ROOM_ENCAP_L3_IPV4;

	if (protocol == IPPROTO_UDP)
		flags |= BPF_F_ADJ_ROOM_ENCAP_L4_UDP;
	else if (protocol == IPPROTO_GRE)
		flags |= BPF_F_ADJ_ROOM_ENCAP_L4_GRE;
	return !bpf_skb_adjust_room(skb, grow, BPF_ADJ_ROOM_MAC, flags);
}

static __always_inline int encap_skb(struct __sk_buff *skb, const struct pkt *pkt,
				     const struct backend *backend, bool v6)
{
	__u32 grow = encap_overhead(backend, v6), zero = 0;
	struct outer_headers *outer = bpf_map_lookup_elem(&probe_headers, &zero);
	__u32 length = grow ? sizeof(struct ethhdr) + grow : 2 * ETH_ALEN;

	if (!fits(skb, pkt, backend, grow))
		return PROBE_FATE_TOO_BIG;
	if (grow && !make_room(skb, backend, encap_shape(backend->encap, v6).protocol, grow))
		return PROBE_FATE_NO_ROOM;
	if (!outer || encap_write(outer, outer + 1, pkt, backend, v6, false) ||
	    bpf_skb_store_bytes(skb, 0, outer, length, 0))
		return PROBE_FATE_NO_ROOM;
	return PROBE_FATE_SENT;
}

static __always_inline int send_as(struct __sk_buff *skb, const struct probe_target *target,
				   bool v6, __u32 *ifindex)
{
	const struct backend *backend;
	struct pkt pkt = { 0 };
	int fate = read_packet(skb, &pkt, v6, target);

	if (fate)
		return fate;
	/* One that is down or draining is probed: that is how it comes back. */
	backend = backend_get(target->backend);
	if (!backend)
		return PROBE_FATE_BACKEND_INVALID;
	if (!(backend->flags & BACKEND_RESOLVED))
		return PROBE_FATE_BACKEND_UNRESOLVED;
	*ifindex = backend->ifindex;
	return encap_skb(skb, &pkt, backend, v6);
}

static __always_inline int send(struct __sk_buff *skb, __u32 *ifindex)
{
	__u32 mark = skb->mark;
	const struct probe_target *target = bpf_map_lookup_elem(&probe_marks, &mark);

	if (!target)
		return PROBE_FATE_UNKNOWN;
	if (skb->protocol == bpf_htons(ETH_P_IP))
		return send_as(skb, target, false, ifindex);
	if (skb->protocol == bpf_htons(ETH_P_IPV6))
		return send_as(skb, target, true, ifindex);
	return PROBE_FATE_MALFORMED;
}

SEC("tc")
int fairlead_probe(struct __sk_buff *skb)
{
	__u32 fate, ifindex = 0;
	__u64 *packets;

	/* To whoever else has a filter here. */
	if (likely(!PROBE_MARK_IS_OURS(skb->mark)))
		return TC_ACT_UNSPEC;
	fate = send(skb, &ifindex);
	packets = bpf_map_lookup_elem(&probe_counters, &fate);
	if (packets)
		(*packets)++;
	if (fate != PROBE_FATE_SENT)
		return TC_ACT_SHOT;
	/* It comes by here once more when the interface is the same. */
	skb->mark = 0;
	return bpf_redirect(ifindex, 0);
}

char _license[] SEC("license") = "GPL";
