/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_PACKET_RARE_BPF_H
#define FAIRLEAD_PACKET_RARE_BPF_H

/*
 * Reading packets that are not plain: VLAN tags (IEEE 802.1Q, 802.1ad), IPv6
 * extension headers (RFC 8200), fragments. Same results as the parsers of plain
 * packets, at offsets that are only known at run time.
 *
 * packet_rare4 and packet_rare6 are not static for the verifier's sake: it walks
 * a global function once, and takes what it writes for unknown, so that the many
 * shapes of packets do not multiply what follows. *pkt must be initialised.
 */

#include "packet.bpf.h"

#define EXTENSION_HEADERS_MAX 8
#define L4_OFFSET_MAX 0x0fff /* where a transport header is still looked for */

/*
 * RFC 8200, section 4.5. The other extension headers begin alike: their length
 * is in words of 8 bytes, without the first (section 4.3).
 */
struct fragment_header {
	__u8 next;
	__u8 words; /* reserved in this one */
	__be16 offset; /* and, in the lowest bit, whether more follow */
	__be32 id;
};

/* RFC 4302, section 2: the length is in words of 4 bytes, without two. */
#define AUTHENTICATION_HEADER_BYTES(words) (((__u32)(words) + 2) * 4)

/* The ethertype behind the tags, in pkt->l3_off where that ends. 0: too short. */
static __always_inline __be16 packet_untag(struct xdp_md *ctx, struct pkt *pkt)
{
	const __be16 *next = (void *)(long)ctx->data + 2 * ETH_ALEN;
	int i;

	pkt->l3_off = sizeof(struct ethhdr);
#pragma unroll
	for (i = 0; i < VLAN_TAGS_MAX; i++) {
		if ((void *)(next + 1) > packet_end(ctx))
			return 0;
		if (*next != bpf_htons(ETH_P_8021Q) && *next != bpf_htons(ETH_P_8021AD))
			return *next;
		if ((void *)(next + 3) > packet_end(ctx))
			return 0;
		__builtin_memcpy(&pkt->tags[i], next, VLAN_TAG_SIZE);
		pkt->l3_off += VLAN_TAG_SIZE;
		next += 2;
	}
	return (void *)(next + 1) > packet_end(ctx) ? 0 : *next;
}

static __always_inline void packet_set_fragment(struct pkt *pkt, bool later, bool more)
{
	if (later)
		pkt->fragment = FRAGMENT_LATER;
	else if (more)
		pkt->fragment = FRAGMENT_FIRST;
}

/*
 * A copy of what is behind l3 by that offset, which is at most L4_OFFSET_MAX. A
 * driver may put all behind the IP header into other pages: a helper reads that.
 */
static __always_inline bool packet_copy_at(struct xdp_md *ctx, const void *l3,
					   const struct pkt *pkt, __u32 offset, void *to,
					   __u32 size)
{
	if (l3 + offset + size <= packet_end(ctx)) {
		__builtin_memcpy(to, l3 + offset, size);
		return true;
	}
	return !bpf_xdp_load_bytes(ctx, pkt->l3_off + offset, to, size);
}

/*
 * The transport header, in any page. Ports and flags, where the packet has them:
 * other protocols have none.
 */
static __always_inline int packet_rare_l4(struct xdp_md *ctx, const void *l3,
					  __u8 protocol, struct pkt *pkt,
					  __be16 *sport, __be16 *dport)
{
	__u32 l4_len = pkt->ip_len - pkt->l4_off;
	struct tcphdr l4 = { 0 }; /* UDP has its ports in the same place */
	__u32 offset = pkt->l4_off;

	pkt->syn = false;
	pkt->tcp_flags = 0;
	if (pkt->fragment == FRAGMENT_LATER)
		return 0;
	/* The verifier wants a bound for what is added to a packet pointer. */
	if (offset > L4_OFFSET_MAX)
		return -DROP_REASON_EXTENSION_HEADERS;
	if (protocol == IPPROTO_TCP) {
		if (l4_len < sizeof(l4) ||
		    !packet_copy_at(ctx, l3, pkt, offset, &l4, sizeof(l4)))
			return -DROP_REASON_L4_TRUNCATED;
		pkt->tcp_flags = ((const __u8 *)&l4)[13];
		pkt->syn = l4.syn && !l4.ack;
	} else if (protocol == IPPROTO_UDP) {
		if (l4_len < sizeof(struct udphdr) ||
		    !packet_copy_at(ctx, l3, pkt, offset, &l4, sizeof(struct udphdr)))
			return -DROP_REASON_L4_TRUNCATED;
	}
	*sport = l4.source;
	*dport = l4.dest;
	return 0;
}

__noinline int packet_rare4(struct xdp_md *ctx, struct pkt *pkt)
{
	const struct iphdr *ip;
	__u16 fragment;
	int err;

	if (!pkt)
		return XDP_PASS;
	ip = (void *)(long)ctx->data + (pkt->l3_off & 0x1f);
	if ((void *)(ip + 1) > packet_end(ctx))
		return XDP_PASS;
	err = packet_read4(ctx, ip, pkt->l3_off & 0x1f, pkt);
	if (err)
		return err;

	fragment = bpf_ntohs(ip->frag_off);
	packet_set_fragment(pkt, fragment & IP4_OFFSET_MASK,
			    fragment & IP4_MORE_FRAGMENTS);
	pkt->fragment_id = ip->id;
	return packet_rare_l4(ctx, ip, pkt->key4.protocol, pkt, &pkt->key4.sport,
			      &pkt->key4.dport);
}

/* One step over an extension header; 0, or minus a drop reason. */
static __always_inline int packet_step6(struct xdp_md *ctx, const void *l3,
					struct pkt *pkt, __u8 *protocol)
{
	struct fragment_header header; /* the others begin alike */
	__u32 offset = pkt->l4_off;
	__u32 length;

	if (offset > L4_OFFSET_MAX)
		return -DROP_REASON_EXTENSION_HEADERS;
	if (offset + sizeof(header) > pkt->ip_len ||
	    !packet_copy_at(ctx, l3, pkt, offset, &header, sizeof(header)))
		return -DROP_REASON_IP_MALFORMED;

	length = ((__u32)header.words + 1) * 8;
	if (*protocol == IPPROTO_AH)
		length = AUTHENTICATION_HEADER_BYTES(header.words);
	if (*protocol == IPPROTO_FRAGMENT) {
		length = sizeof(header);
		packet_set_fragment(pkt, header.offset & bpf_htons(0xfff8),
				    header.offset & bpf_htons(1));
		pkt->fragment_id = header.id;
		pkt->fragment_protocol = header.next;
	}
	if (offset + length > pkt->ip_len)
		return -DROP_REASON_IP_MALFORMED;
	*protocol = header.next;
	pkt->l4_off = offset + length;
	return 0;
}

__noinline int packet_rare6(struct xdp_md *ctx, struct pkt *pkt)
{
	const struct ipv6hdr *ip;
	__u8 protocol;
	int err, i;

	if (!pkt)
		return XDP_PASS;
	ip = (void *)(long)ctx->data + (pkt->l3_off & 0x1f);
	if ((void *)(ip + 1) > packet_end(ctx))
		return XDP_PASS;
	err = packet_read6(ctx, ip, pkt->l3_off & 0x1f, pkt);
	if (err)
		return err;

	protocol = pkt->key6.protocol;
	for (i = 0; i < EXTENSION_HEADERS_MAX && is_extension_header(protocol) &&
		    pkt->fragment != FRAGMENT_LATER; i++) {
		err = packet_step6(ctx, ip, pkt, &protocol);
		if (err)
			return err;
	}
	/* What follows in a later fragment is in the middle of something. */
	if (is_extension_header(protocol) && pkt->fragment != FRAGMENT_LATER)
		return -DROP_REASON_EXTENSION_HEADERS;
	pkt->key6.protocol = protocol;
	return packet_rare_l4(ctx, ip, protocol, pkt, &pkt->key6.sport,
			      &pkt->key6.dport);
}

#endif
