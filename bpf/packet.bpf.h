/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_PACKET_BPF_H
#define FAIRLEAD_PACKET_BPF_H

/*
 * A packet, read once. Plain packets are read in plain.bpf.h, the others in
 * packet_rare.bpf.h. The readers of IP headers return 0 with *pkt filled, or minus a
 * drop reason with at least the addresses filled: whether that is a drop depends on
 * whose address it is, which the caller finds out.
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

/* What most packets do, for the layout of the code: they fall through. */
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define IP4_DONT_FRAGMENT 0x4000
#define IP4_MORE_FRAGMENTS 0x2000
#define IP4_OFFSET_MASK 0x1fff

#define VLAN_TAGS_MAX 2
#define VLAN_TAG_SIZE 4

enum fragment_kind {
	FRAGMENT_NONE,
	FRAGMENT_FIRST, /* has the ports, and more follow */
	FRAGMENT_LATER, /* has no ports */
};

struct pkt {
	/* The flow, as the conntrack keys it; dst, dport, protocol name the VIP. */
	union {
		struct flow_key4 key4;
		struct flow_key6 key6;
	};
	struct vip vip; /* as it was when it was looked up; id 0: none */
	__u16 vip_id, backend_id; /* where it goes, once that is known */
	bool new_flow;            /* chosen by the table, and none has left before */
	bool opens;               /* its flow was remembered on the plain way */
	__u16 ip_len; /* of the whole IP packet, by its own header */
	__u16 l4_off; /* of the transport header, from the start of the IP header */
	__u8 l3_off;  /* of the IP header: 14, 18 or 22 */
	__u8 tos;     /* DSCP and ECN */
	bool syn;     /* opens a TCP connection: SYN without ACK */
	bool df;      /* IPv4 with DF set, or IPv6 */
	bool oversize; /* of a later fragment: as the VIP of the first says */
	__u8 fragment; /* enum fragment_kind */
	__u8 fragment_protocol; /* IPv6: what the fragment header says follows */
	__u8 tcp_flags;
	__be32 fragment_id;
	/* The tags as they lie in the frame, behind the MAC addresses. */
	__u32 tags[VLAN_TAGS_MAX];
	struct flow_key6 own; /* of an ICMP error, while key is what it quotes */
};

/*
 * It may be ours, but it is not plain. No XDP action has these numbers. Of the
 * second kind is a packet whose flow was remembered when it turned out.
 */
#define PACKET_RARE 64
#define PACKET_RARE_OPENS 65

static __always_inline void *packet_end(const struct xdp_md *ctx)
{
	return (void *)(long)ctx->data_end;
}

/*
 * How much of the first page lies behind p. A difference and a comparison of
 * numbers: to the verifier of Linux 6.12 and before, a length that was swapped has no
 * bound, so that it cannot be added to a packet pointer.
 */
static __always_inline __u64 packet_rest(const struct xdp_md *ctx, const void *p)
{
	return packet_end(ctx) - (void *)p;
}

static __always_inline void *packet_l3(const struct xdp_md *ctx)
{
	return (void *)(long)ctx->data + sizeof(struct ethhdr);
}

/*
 * Does the frame hold `length` bytes from l3 on, which is at l3_off? A frame of
 * several pages ends behind data_end, which only a helper can tell, so it is
 * asked last.
 */
static __always_inline bool packet_holds(struct xdp_md *ctx, const void *l3,
					 __u32 l3_off, __u32 length)
{
	if (l3 + length <= packet_end(ctx))
		return true;
	return l3_off + length <= bpf_xdp_get_buff_len(ctx);
}

/*
 * TCP flags that some sender means, by the low six bits (FIN 1, SYN 2, RST 4,
 * PSH 8, ACK 16, URG 32). Not among them: none at all, SYN with FIN or RST, FIN
 * with RST, and FIN, PSH or URG without ACK (RFC 9293, section 3.10.7).
 */
#define TCP_FIN 0x01
#define TCP_SYN 0x02
#define TCP_RST 0x04
#define TCP_ACK 0x10
#define TCP_FLAGS_MASK 0x3f
#define TCP_FLAGS_KNOWN                                                        \
	(1ULL << 0x02 | 1ULL << 0x12 | 1ULL << 0x0a | 1ULL << 0x1a |           \
	 1ULL << 0x22 | 1ULL << 0x32 | 1ULL << 0x04 | 1ULL << 0x14 |           \
	 1ULL << 0x0c | 1ULL << 0x1c | 1ULL << 0x24 | 1ULL << 0x34 |           \
	 1ULL << 0x10 | 1ULL << 0x18 | 1ULL << 0x30 | 1ULL << 0x38 |           \
	 1ULL << 0x11 | 1ULL << 0x19 | 1ULL << 0x31 | 1ULL << 0x39)

static __always_inline bool tcp_flags_known(__u8 flags)
{
	return TCP_FLAGS_KNOWN >> (flags & TCP_FLAGS_MASK) & 1;
}

static __always_inline bool is_extension_header(__u8 protocol)
{
	return protocol == IPPROTO_HOPOPTS || protocol == IPPROTO_ROUTING ||
	       protocol == IPPROTO_FRAGMENT || protocol == IPPROTO_DSTOPTS ||
	       protocol == IPPROTO_AH;
}

/* What an IP header says; it is known to be whole in the first page. */
static __always_inline int packet_head4(const struct iphdr *ip, __u32 l3_off,
					struct pkt *pkt)
{
	pkt->key4 = (struct flow_key4){
		.src = ip->saddr,
		.dst = ip->daddr,
		.protocol = ip->protocol,
	};
	pkt->ip_len = bpf_ntohs(ip->tot_len);
	pkt->tos = ip->tos;
	pkt->df = !!(ip->frag_off & bpf_htons(IP4_DONT_FRAGMENT));
	pkt->l3_off = l3_off;
	pkt->l4_off = ip->ihl * 4;
	pkt->fragment = FRAGMENT_NONE;
	if (ip->version != 4 || pkt->l4_off < sizeof(*ip) || pkt->ip_len < pkt->l4_off)
		return -DROP_REASON_IP_MALFORMED;
	return 0;
}

static __always_inline int packet_head6(const struct ipv6hdr *ip, __u32 l3_off,
					struct pkt *pkt)
{
	__u32 payload_len = bpf_ntohs(ip->payload_len);

	pkt->key6 = (struct flow_key6){ .protocol = ip->nexthdr };
	__builtin_memcpy(pkt->key6.src, &ip->saddr, sizeof(pkt->key6.src));
	__builtin_memcpy(pkt->key6.dst, &ip->daddr, sizeof(pkt->key6.dst));
	/* The traffic class straddles the first two bytes. */
	pkt->tos = bpf_ntohs(*(__be16 *)ip) >> 4;
	pkt->df = true;
	pkt->l3_off = l3_off;
	pkt->l4_off = sizeof(*ip);
	pkt->fragment = FRAGMENT_NONE;
	if (ip->version != 6 || payload_len > 0xffff - sizeof(*ip))
		return -DROP_REASON_IP_MALFORMED;
	pkt->ip_len = sizeof(*ip) + payload_len;
	return 0;
}

/* The same, and the frame has all of the packet. */
static __always_inline int packet_read4(struct xdp_md *ctx, const struct iphdr *ip,
					__u32 l3_off, struct pkt *pkt)
{
	int err = packet_head4(ip, l3_off, pkt);

	if (err)
		return err;
	return packet_holds(ctx, ip, l3_off, pkt->ip_len) ? 0 : -DROP_REASON_IP_MALFORMED;
}

static __always_inline int packet_read6(struct xdp_md *ctx, const struct ipv6hdr *ip,
					__u32 l3_off, struct pkt *pkt)
{
	int err = packet_head6(ip, l3_off, pkt);

	if (err)
		return err;
	return packet_holds(ctx, ip, l3_off, pkt->ip_len) ? 0 : -DROP_REASON_IP_MALFORMED;
}

#endif
