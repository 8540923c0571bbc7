/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_ICMP_REPLY_BPF_H
#define FAIRLEAD_ICMP_REPLY_BPF_H

/*
 * What every answer of the balancer's own has in common: whom it may go to, and
 * the headers in front of its ICMP message. The answer leaves by XDP_TX the way
 * that the packet came, from the VIP address, with the packet's VLAN tags.
 *
 * Answers are rare, so they read and write the frame by helpers: it may lie in
 * pages as it likes. The functions that are not static are so for the verifier,
 * which walks a global function once and not once for each way to it.
 */

#include "encap_other.bpf.h"
#include "maps.bpf.h"
#include "packet.bpf.h"

/* RFC 792, RFC 4443. */
struct icmp_message {
	__u8 type, code;
	__sum16 check;
	__be32 rest; /* by the type */
};

#define ICMP_SUM_CHUNK 32

/* One walk over bytes of a frame. */
struct icmp_summing {
	struct xdp_md *ctx;
	__u32 offset, left;
	__u32 sum; /* as bpf_csum_diff has it, not folded */
};

/* A step of bpf_loop: 0 goes on, 1 ends. */
static long icmp_sum_step(__u32 step, struct icmp_summing *s)
{
	__u32 chunk[ICMP_SUM_CHUNK / sizeof(__u32)] = { 0 };
	__u32 length = s->left;

	(void)step;
	if (length > sizeof(chunk))
		length = sizeof(chunk);
	if (!length || bpf_xdp_load_bytes(s->ctx, s->offset, chunk, length))
		return 1;
	s->sum = bpf_csum_diff(NULL, 0, chunk, sizeof(chunk), s->sum);
	s->offset += length;
	s->left -= length;
	return 0;
}

/*
 * Ones' complement sum of `length` bytes of the frame. Not folded, so that it is
 * zero only when all bytes are.
 */
static __always_inline __u32 icmp_sum(struct xdp_md *ctx, __u32 offset, __u32 length)
{
	struct icmp_summing s = { .ctx = ctx, .offset = offset, .left = length };

	bpf_loop((length + ICMP_SUM_CHUNK - 1) / ICMP_SUM_CHUNK, icmp_sum_step, &s, 0);
	return s.sum;
}

/* The headers of the frame at hand; then of the answer, without options. */
struct icmp_headers {
	struct {
		__u8 dst[ETH_ALEN], src[ETH_ALEN];
		__u8 rest[2 + VLAN_TAGS_MAX * VLAN_TAG_SIZE]; /* tags, ethertype */
	} eth;
	union {
		struct iphdr ip4;
		struct ipv6hdr ip6;
	};
};

static __always_inline bool icmp_load_headers(struct xdp_md *ctx, __u32 l3_off,
					      struct icmp_headers *h, bool v6)
{
	if (l3_off < sizeof(struct ethhdr) || l3_off > sizeof(h->eth))
		return false;
	return !bpf_xdp_load_bytes(ctx, 0, &h->eth, l3_off) &&
	       !bpf_xdp_load_bytes(ctx, l3_off, &h->ip4,
				   v6 ? sizeof(h->ip6) : sizeof(h->ip4));
}

/* 0.0.0.0/8, 127.0.0.0/8, multicast, 240.0.0.0/4 with the broadcast address. */
static __always_inline bool icmp_is_host4(__be32 address)
{
	__u8 first = bpf_ntohl(address) >> 24;

	return first && first != 127 && first < 224;
}

/* Not multicast, ::, ::1. */
static __always_inline bool icmp_is_host6(const struct in6_addr *address)
{
	const __be32 *words = address->s6_addr32;

	if (address->s6_addr[0] == 0xff)
		return false;
	return words[0] || words[1] || words[2] || bpf_ntohl(words[3]) > 1;
}

static __always_inline bool icmp_same6(const __be32 *a, const __be32 *b)
{
	return a[0] == b[0] && a[1] == b[1] && a[2] == b[2] && a[3] == b[3];
}

/*
 * Nobody is answered who may be many, or us, nor what many were sent (RFC 1122,
 * section 3.2.2; RFC 4443, section 2.4 e).
 */
static __always_inline bool icmp_may_be_answered(const struct icmp_headers *h, bool v6)
{
	if (h->eth.dst[0] & 1 || h->eth.src[0] & 1)
		return false;
	if (v6)
		return icmp_is_host6(&h->ip6.saddr) &&
		       !icmp_same6(h->ip6.saddr.s6_addr32, h->ip6.daddr.s6_addr32);
	return icmp_is_host4(h->ip4.saddr) && h->ip4.saddr != h->ip4.daddr;
}

static __always_inline void icmp_turn_ip4(struct iphdr *ip, __u32 length)
{
	__be32 vip = ip->daddr;

	ip->ihl = sizeof(*ip) / 4;
	ip->tot_len = bpf_htons(sizeof(*ip) + length);
	ip->ttl = OUTER_TTL;
	ip->protocol = IPPROTO_ICMP;
	ip->check = 0;
	ip->daddr = ip->saddr;
	ip->saddr = vip;
	ip->check = ~sum_fold(bpf_csum_diff(NULL, 0, (__be32 *)ip, sizeof(*ip), 0));
}

static __always_inline void icmp_turn_ip6(struct ipv6hdr *ip, __u32 length)
{
	struct in6_addr vip = ip->daddr;

	ip->payload_len = bpf_htons(length);
	ip->nexthdr = IPPROTO_ICMPV6;
	ip->hop_limit = OUTER_TTL;
	ip->daddr = ip->saddr;
	ip->saddr = vip;
}

/* Headers back to the sender, of an ICMP message of that length. */
static __always_inline void icmp_turn(struct icmp_headers *h, __u32 length, bool v6)
{
	__u8 our_mac[ETH_ALEN];

	__builtin_memcpy(our_mac, h->eth.dst, ETH_ALEN);
	__builtin_memcpy(h->eth.dst, h->eth.src, ETH_ALEN);
	__builtin_memcpy(h->eth.src, our_mac, ETH_ALEN);
	if (v6)
		icmp_turn_ip6(&h->ip6, length);
	else
		icmp_turn_ip4(&h->ip4, length);
}

/*
 * Sends the headers and the message in front of what is already in its place,
 * once the front of the frame has moved by `grow` bytes, or back when negative.
 */
static __always_inline int icmp_send(struct xdp_md *ctx, __u32 l3_off, int grow,
				     struct icmp_headers *h,
				     struct icmp_message *message, bool v6)
{
	const __u32 ip_size = v6 ? sizeof(h->ip6) : sizeof(h->ip4);

	if (grow && bpf_xdp_adjust_head(ctx, -grow))
		return -DROP_REASON_HEADROOM;
	if (l3_off < sizeof(struct ethhdr) || l3_off > sizeof(h->eth) ||
	    bpf_xdp_store_bytes(ctx, 0, &h->eth, l3_off) ||
	    bpf_xdp_store_bytes(ctx, l3_off, &h->ip4, ip_size) ||
	    bpf_xdp_store_bytes(ctx, l3_off + ip_size, message, sizeof(*message)))
		return -DROP_REASON_HEADROOM;
	return XDP_TX;
}

#endif
