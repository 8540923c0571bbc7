/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_ICMP_ERROR_BPF_H
#define FAIRLEAD_ICMP_ERROR_BPF_H

/*
 * ICMP errors say what became of a packet that a backend has sent from the VIP.
 * They quote its start; turned round, its addresses and ports are the flow whose
 * backend wants to know. Eight bytes behind the quoted IP header are all that
 * every sender quotes (RFC 792), and the first four of them are the ports.
 *
 *   IP | ICMP (8) | IP, from the VIP | ports ...
 *
 * The quote may lie in any page of the frame, so a helper reads it.
 */

#include "icmp_reply.bpf.h"
#include "packet_rare.bpf.h"

/* Messages that quote a packet. Source quench is none: RFC 6633. */
static __always_inline bool icmp_quotes4(__u8 type)
{
	return type == 3 ||  /* destination unreachable, and fragmentation needed */
	       type == 11 || /* time exceeded */
	       type == 12;   /* parameter problem */
}

/* Unreachable, packet too big, time exceeded, parameter problem: RFC 4443. */
static __always_inline bool icmp_quotes6(__u8 type)
{
	return type >= 1 && type <= 4;
}

/* Bytes of the frame, of which the ICMP message ends at `end`. */
static __always_inline bool icmp_load(struct xdp_md *ctx, __u32 offset, __u32 end,
				      void *to, __u32 length)
{
	return offset + length <= end && !bpf_xdp_load_bytes(ctx, offset, to, length);
}

/* The quoted packet's source port is the VIP's. */
static __always_inline bool icmp_quoted_ports(struct xdp_md *ctx, __u32 offset, __u32 end,
					      __u8 protocol, __be16 *sport, __be16 *dport)
{
	__be16 ports[2];

	if (protocol != IPPROTO_TCP && protocol != IPPROTO_UDP)
		return protocol != IPPROTO_ICMP && protocol != IPPROTO_ICMPV6;
	if (!icmp_load(ctx, offset, end, ports, sizeof(ports)))
		return false;
	*dport = ports[0];
	*sport = ports[1];
	return true;
}

/*
 * The flow that the packet quoted at `offset` of the frame belongs to, seen from
 * the client. 0: it is none, or too little of it.
 */
__noinline int icmp_quoted_flow4(struct xdp_md *ctx, __u32 offset, __u32 end,
				 struct flow_key4 *flow)
{
	struct iphdr ip;

	if (!flow || !icmp_load(ctx, offset, end, &ip, sizeof(ip)))
		return 0;
	if (ip.version != 4 || ip.ihl * 4 < sizeof(ip) ||
	    ip.frag_off & bpf_htons(IP4_OFFSET_MASK))
		return 0;
	flow->src = ip.daddr;
	flow->dst = ip.saddr;
	flow->protocol = ip.protocol;
	return icmp_quoted_ports(ctx, offset + ip.ihl * 4, end, ip.protocol, &flow->sport,
				 &flow->dport);
}

/* Over one extension header of the quoted packet. */
static __always_inline bool icmp_quote_step6(struct xdp_md *ctx, __u32 *offset, __u32 end,
					     __u8 *protocol)
{
	struct fragment_header header; /* the others begin alike */
	__u32 length;

	if (!icmp_load(ctx, *offset, end, &header, sizeof(header)))
		return false;
	length = ((__u32)header.words + 1) * 8;
	if (*protocol == IPPROTO_AH)
		length = AUTHENTICATION_HEADER_BYTES(header.words);
	if (*protocol == IPPROTO_FRAGMENT) {
		length = sizeof(header);
		if (header.offset & bpf_htons(0xfff8))
			return false;
	}
	*protocol = header.next;
	*offset += length;
	return true;
}

__noinline int icmp_quoted_flow6(struct xdp_md *ctx, __u32 offset, __u32 end,
				 struct flow_key6 *flow)
{
	struct ipv6hdr ip;
	__u8 protocol;
	int i;

	if (!flow || !icmp_load(ctx, offset, end, &ip, sizeof(ip)) || ip.version != 6)
		return 0;
	protocol = ip.nexthdr;
	offset += sizeof(ip);
	for (i = 0; i < EXTENSION_HEADERS_MAX && is_extension_header(protocol); i++) {
		if (!icmp_quote_step6(ctx, &offset, end, &protocol))
			return 0;
	}
	if (is_extension_header(protocol))
		return 0;
	flow->protocol = protocol;
	__builtin_memcpy(flow->src, &ip.daddr, sizeof(flow->src));
	__builtin_memcpy(flow->dst, &ip.saddr, sizeof(flow->dst));
	return icmp_quoted_ports(ctx, offset, end, protocol, &flow->sport, &flow->dport);
}

/*
 * Makes pkt->key the flow that an ICMP error is about; `own` is a copy of what it
 * was. False: the quoted packet is not from the address that the error came to.
 */
static __always_inline bool icmp_quoted_flow(struct xdp_md *ctx, struct pkt *pkt,
					     const struct flow_key6 *own, bool v6)
{
	const struct flow_key4 *own4 = (const struct flow_key4 *)own;
	__u32 offset = pkt->l3_off + pkt->l4_off + sizeof(struct icmp_message);
	__u32 end = pkt->l3_off + pkt->ip_len;

	if (v6)
		return icmp_quoted_flow6(ctx, offset, end, &pkt->key6) &&
		       icmp_same6((const __be32 *)pkt->key6.dst, (const __be32 *)own->dst);
	return icmp_quoted_flow4(ctx, offset, end, &pkt->key4) &&
	       pkt->key4.dst == own4->dst;
}

#endif
