/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_PACKET_BPF_H
#define FAIRLEAD_PACKET_BPF_H

/*
 * A packet, read once. Each parser takes the frame behind its Ethernet header
 * and returns 0 with *pkt filled, XDP_PASS when not even the destination can be
 * read, or minus a drop reason with at least the addresses filled: whether that
 * is a drop depends on whose address it is, which the caller finds out.
 */

#include <stdbool.h>

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/udp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "abi.h"
#include "drop_reasons.h"

#define IP4_MORE_FRAGMENTS 0x2000
#define IP4_OFFSET_MASK 0x1fff

struct pkt {
	/* The flow, as the conntrack keys it; dst, dport, protocol name the VIP. */
	union {
		struct flow_key4 key4;
		struct flow_key6 key6;
	};
	const struct vip *vip;
	__u16 ip_len; /* of the whole IP packet, by its own header */
	__u8 tos;     /* DSCP and ECN */
	bool syn;     /* opens a TCP connection: SYN without ACK */
};

static __always_inline void *packet_end(const struct xdp_md *ctx)
{
	return (void *)(long)ctx->data_end;
}

static __always_inline void *packet_l3(const struct xdp_md *ctx)
{
	return (void *)(long)ctx->data + sizeof(struct ethhdr);
}

/*
 * Does the frame hold `length` bytes from l3 on? A frame of several pages ends
 * behind data_end, which only a helper can tell, so it is asked last.
 */
static __always_inline bool packet_holds(struct xdp_md *ctx, const void *l3,
					 __u32 length)
{
	if (l3 + length <= packet_end(ctx))
		return true;
	return sizeof(struct ethhdr) + length <= bpf_xdp_get_buff_len(ctx);
}

/* l4_len: what the IP header leaves for the transport header and payload. */
static __always_inline int packet_parse_l4(struct xdp_md *ctx, const void *l4,
					   __u32 l4_len, __u8 protocol,
					   struct pkt *pkt, __be16 *sport,
					   __be16 *dport)
{
	const struct tcphdr *tcp = l4;
	const struct udphdr *udp = l4;

	pkt->syn = false;
	if (protocol == IPPROTO_UDP) {
		if ((void *)(udp + 1) > packet_end(ctx) || l4_len < sizeof(*udp))
			return -DROP_REASON_L4_TRUNCATED;
		*sport = udp->source;
		*dport = udp->dest;
		return 0;
	}

	if (protocol != IPPROTO_TCP)
		return -DROP_REASON_PROTOCOL;
	if ((void *)(tcp + 1) > packet_end(ctx) || l4_len < sizeof(*tcp))
		return -DROP_REASON_L4_TRUNCATED;

	*sport = tcp->source;
	*dport = tcp->dest;
	pkt->syn = tcp->syn && !tcp->ack;
	return 0;
}

static __always_inline int packet_parse4(struct xdp_md *ctx, struct pkt *pkt)
{
	const struct iphdr *ip = packet_l3(ctx);
	struct flow_key4 *key = &pkt->key4;
	__u32 header_len;

	if ((void *)(ip + 1) > packet_end(ctx))
		return XDP_PASS;

	*key = (struct flow_key4){
		.src = ip->saddr,
		.dst = ip->daddr,
		.protocol = ip->protocol,
	};
	pkt->ip_len = bpf_ntohs(ip->tot_len);
	pkt->tos = ip->tos;

	header_len = ip->ihl * 4;
	if (ip->version != 4 || header_len < sizeof(*ip) ||
	    pkt->ip_len < header_len || !packet_holds(ctx, ip, pkt->ip_len))
		return -DROP_REASON_IP_MALFORMED;
	if (ip->frag_off & bpf_htons(IP4_MORE_FRAGMENTS | IP4_OFFSET_MASK))
		return -DROP_REASON_FRAGMENT;

	return packet_parse_l4(ctx, (void *)ip + header_len,
			       pkt->ip_len - header_len, key->protocol, pkt,
			       &key->sport, &key->dport);
}

static __always_inline int packet_parse6(struct xdp_md *ctx, struct pkt *pkt)
{
	const struct ipv6hdr *ip = packet_l3(ctx);
	struct flow_key6 *key = &pkt->key6;
	__u32 payload_len;

	if ((void *)(ip + 1) > packet_end(ctx))
		return XDP_PASS;

	*key = (struct flow_key6){ .protocol = ip->nexthdr };
	__builtin_memcpy(key->src, &ip->saddr, sizeof(key->src));
	__builtin_memcpy(key->dst, &ip->daddr, sizeof(key->dst));

	payload_len = bpf_ntohs(ip->payload_len);
	if (ip->version != 6 || payload_len > 0xffff - sizeof(*ip) ||
	    !packet_holds(ctx, ip, sizeof(*ip) + payload_len))
		return -DROP_REASON_IP_MALFORMED;
	pkt->ip_len = sizeof(*ip) + payload_len;
	/* The traffic class straddles the first two bytes. */
	pkt->tos = bpf_ntohs(*(__be16 *)ip) >> 4;

	if (key->protocol == IPPROTO_FRAGMENT)
		return -DROP_REASON_FRAGMENT;
	return packet_parse_l4(ctx, ip + 1, payload_len, key->protocol, pkt,
			       &key->sport, &key->dport);
}

#endif
