/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_OUTER_BPF_H
#define FAIRLEAD_OUTER_BPF_H

/*
 * What is in front of an encapsulated packet, written into memory. Whose memory it
 * is, an XDP frame or a socket buffer, and how it grew, is the callers' matter.
 *
 * DSCP and ECN are copied outward (RFC 6040, normal mode; RFC 2983, uniform
 * model). A packet that is known to fit leaves over IPv4 with DF set and id 0,
 * which RFC 6864 allows for it. A GUE packet's UDP checksum is zero, over IPv6
 * as RFC 6935 allows for tunnels: the inner checksums protect what matters.
 */

#include "gre.bpf.h"
#include "gue.bpf.h"
#include "packet.bpf.h"

#define OUTER_TTL 64

/* 2^64 over the golden ratio: a multiplier that reaches every bit above. */
#define ENTROPY_MULTIPLIER 0x9e3779b97f4a7c15ULL

/*
 * 20 bits that are the same for all packets of a flow, and spread: receivers
 * and ECMP hops hash them. They need not agree between hosts. A product carries
 * only upwards, and what differs between clients lies at the top of an address
 * loaded as a number: hence the fold, and the top bits of the result.
 */
static __always_inline __u32 encap_entropy(const struct pkt *pkt, bool v6)
{
	const __u64 *src = (const __u64 *)pkt->key6.src;
	const __u64 *dst = (const __u64 *)pkt->key6.dst;
	__u64 mix, ports;

	if (v6) {
		mix = src[0] ^ src[1] * 3 ^ dst[0] * 5 ^ dst[1] * 7;
		ports = *(const __u32 *)&pkt->key6.sport;
	} else {
		mix = *(const __u64 *)&pkt->key4;
		ports = *(const __u32 *)&pkt->key4.sport;
	}
	mix ^= ports * ENTROPY_MULTIPLIER;
	mix = (mix ^ mix >> 32) * ENTROPY_MULTIPLIER;
	return mix >> 44;
}

/*
 * Headers are put together in registers and written eight bytes at a time. To the
 * compiler a packet has no alignment, so that it would copy byte by byte.
 */
static __always_inline void put64(void *to, __u64 value)
{
	*(__u64 *)to = value;
}

/* Both MAC addresses and the ethertype are the first bytes of the backend. */
static __always_inline void encap_macs(void *to, const struct backend *backend)
{
	put64(to, *(const __u64 *)backend);
	*(__u32 *)(to + 8) = *(const __u32 *)((const void *)backend + 8);
	*(__be16 *)(to + 12) = backend->ethertype;
}

static __always_inline void encap_ip4(struct iphdr *ip, const struct pkt *pkt,
				      const struct backend *backend,
				      __u16 total_len, __u8 protocol)
{
	__u32 sum = backend->ip4_sum + bpf_htons(pkt->tos) +
		    bpf_htons(total_len) + bpf_htons(protocol);

	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	/* Version and words, TOS, length; id 0, DF. */
	put64(ip, bpf_cpu_to_be64(0x45ULL << 56 | (__u64)pkt->tos << 48 |
				  (__u64)total_len << 32 | IP4_DONT_FRAGMENT));
	*(__be16 *)&ip->ttl = bpf_htons(OUTER_TTL << 8 | protocol);
	ip->check = ~sum;
	put64(&ip->saddr, *(const __u64 *)&backend->outer.v4);
}

static __always_inline void encap_ip6(struct ipv6hdr *ip, const struct pkt *pkt,
				      const struct backend *backend,
				      __u16 payload_len, __u8 protocol,
				      __u32 entropy)
{
	const __u64 *addresses = (const __u64 *)backend->outer.v6.src;

	/* Version, traffic class, flow label (RFC 6438: the flow's entropy). */
	put64(ip, bpf_cpu_to_be64((6ULL << 28 | (__u32)pkt->tos << 20 | entropy) << 32 |
				  (__u32)payload_len << 16 | protocol << 8 | OUTER_TTL));
	put64((void *)ip + 8, addresses[0]);
	put64((void *)ip + 16, addresses[1]);
	put64((void *)ip + 24, addresses[2]);
	put64((void *)ip + 32, addresses[3]);
}

static __always_inline void encap_udp(struct udphdr *udp,
				      const struct backend *backend, __u16 udp_len,
				      __u32 entropy)
{
	/* From the dynamic port range (RFC 6335, section 6); checksum 0. */
	put64(udp, bpf_cpu_to_be64((0xc000ULL | (entropy & 0x3fff)) << 48 |
				   (__u64)bpf_ntohs(backend->gue_port) << 32 |
				   (__u32)udp_len << 16));
}

static __always_inline void encap_gue(struct udphdr *udp,
				      const struct backend *backend,
				      __u16 udp_len, __u8 inner_protocol,
				      __u32 entropy)
{
	struct guehdr *gue = (void *)(udp + 1);

	encap_udp(udp, backend, udp_len, entropy);
	*(__be32 *)gue = bpf_htonl((__u32)inner_protocol << 16);
}

/* Everything about the outer packet that the backend's encap decides. */
struct outer_shape {
	__u32 shim_size; /* between the outer IP header and the inner packet */
	__u8 protocol;
};

static __always_inline struct outer_shape encap_shape(__u8 encap, bool v6)
{
	switch (encap) {
	case ENCAP_GUE:
		return (struct outer_shape){ sizeof(struct udphdr) + sizeof(struct guehdr),
					     IPPROTO_UDP };
	case ENCAP_GUE1:
		return (struct outer_shape){ sizeof(struct udphdr), IPPROTO_UDP };
	case ENCAP_GRE:
		return (struct outer_shape){ sizeof(struct grehdr), IPPROTO_GRE };
	default:
		return (struct outer_shape){ 0, v6 ? IPPROTO_IPV6 : IPPROTO_IPIP };
	}
}

/* Addresses, the tags that the packet came with, and the ethertype. */
static __always_inline bool encap_ethernet(void *data, const void *end,
					   const struct pkt *pkt, const struct backend *backend)
{
	struct ethhdr *eth = data;
	__u32 *tags = data + 2 * ETH_ALEN;

	if (data + sizeof(*eth) + VLAN_TAGS_MAX * VLAN_TAG_SIZE > end)
		return false;
	__builtin_memcpy(data, backend, 2 * ETH_ALEN);
	if (pkt->l3_off == sizeof(*eth)) {
		eth->h_proto = backend->ethertype;
	} else if (pkt->l3_off == sizeof(*eth) + VLAN_TAG_SIZE) {
		tags[0] = pkt->tags[0];
		*(__be16 *)(tags + 1) = backend->ethertype;
	} else {
		tags[0] = pkt->tags[0];
		tags[1] = pkt->tags[1];
		*(__be16 *)(tags + 2) = backend->ethertype;
	}
	return true;
}

static __always_inline __u16 sum_fold(__u32 sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

/*
 * The flow's own outer source, out of the prefix that the backend has; and DF
 * off, with an id of its own (RFC 6864), for a packet that is to be fragmented.
 */
static __always_inline void encap_adjust4(struct iphdr *ip, const struct backend *backend,
					  __u32 entropy, bool oversize)
{
	__be32 spread = bpf_htonl(entropy) & backend->source_mask;
	__u32 sum = (__u16)~ip->check;

	ip->saddr |= spread;
	sum += (spread & 0xffff) + (spread >> 16);
	if (oversize) {
		ip->id = (__u16)bpf_get_prandom_u32();
		ip->frag_off = 0;
		sum += ip->id + (__u16)~bpf_htons(IP4_DONT_FRAGMENT);
	}
	ip->check = ~sum_fold(sum);
}

static __always_inline int encap_shim(void *shim, const void *end,
				      const struct pkt *pkt,
				      const struct backend *backend, __u32 shim_size,
				      __u32 entropy, bool v6)
{
	struct grehdr *gre = shim;
	struct udphdr *udp = shim;
	__u16 udp_len = pkt->ip_len + shim_size;

	switch (backend->encap) {
	case ENCAP_GUE:
		if (shim + sizeof(*udp) + sizeof(struct guehdr) > end)
			return -DROP_REASON_HEADROOM;
		encap_gue(udp, backend, udp_len, v6 ? IPPROTO_IPV6 : IPPROTO_IPIP, entropy);
		return 0;
	case ENCAP_GUE1:
		if (shim + sizeof(*udp) > end)
			return -DROP_REASON_HEADROOM;
		encap_udp(udp, backend, udp_len, entropy);
		return 0;
	case ENCAP_GRE:
		if (shim + sizeof(*gre) > end)
			return -DROP_REASON_HEADROOM;
		gre->flags_version = 0;
		gre->ethertype = v6 ? bpf_htons(ETH_P_IPV6) : bpf_htons(ETH_P_IP);
		return 0;
	default:
		return 0;
	}
}

/* Bytes that the backend's tunnel puts in front of a packet. */
static __always_inline __u32 encap_overhead(const struct backend *backend, bool v6)
{
	if (backend->encap == ENCAP_L2)
		return 0;
	return encap_shape(backend->encap, v6).shim_size +
	       (backend->flags & BACKEND_OUTER_V6 ? sizeof(struct ipv6hdr) :
						    sizeof(struct iphdr));
}

/* `length`: of the outer packet. What is fragmented on the way has a length, too. */
static __always_inline bool encap_fits(const struct backend *backend, __u32 length,
				       bool oversize)
{
	return length <= (oversize ? 0xffff : backend->mtu);
}

/* MAC addresses only: the backend is on the same segment and has the VIP. */
static __always_inline int encap_write_l2(void *data, const void *end,
					  const struct backend *backend)
{
	if (data + sizeof(struct ethhdr) > end)
		return -DROP_REASON_HEADROOM;
	__builtin_memcpy(data, backend, 2 * ETH_ALEN);
	return 0;
}

/*
 * Everything in front of the packet, at `data`, where there are encap_overhead()
 * bytes more of room than its own Ethernet header and tags took. Returns 0 or minus a
 * drop reason.
 */
static __always_inline int encap_write(void *data, const void *end,
				       const struct pkt *pkt,
				       const struct backend *backend, bool v6,
				       bool oversize)
{
	struct outer_shape shape = encap_shape(backend->encap, v6);
	__u32 entropy = encap_entropy(pkt, v6);
	void *l3 = data + (pkt->l3_off & 0x1f);
	struct ipv6hdr *ip6 = l3;
	struct iphdr *ip4 = l3;

	if (backend->encap == ENCAP_L2)
		return encap_write_l2(data, end, backend);
	if (!encap_ethernet(data, end, pkt, backend))
		return -DROP_REASON_HEADROOM;
	if (backend->flags & BACKEND_OUTER_V6) {
		if ((void *)(ip6 + 1) > end)
			return -DROP_REASON_HEADROOM;
		encap_ip6(ip6, pkt, backend, pkt->ip_len + shape.shim_size,
			  shape.protocol, entropy);
		ip6->saddr.s6_addr32[3] |= bpf_htonl(entropy) & backend->source_mask;
		return encap_shim(ip6 + 1, end, pkt, backend, shape.shim_size, entropy, v6);
	}
	if ((void *)(ip4 + 1) > end)
		return -DROP_REASON_HEADROOM;
	encap_ip4(ip4, pkt, backend, pkt->ip_len + sizeof(*ip4) + shape.shim_size,
		  shape.protocol);
	encap_adjust4(ip4, backend, entropy, oversize);
	return encap_shim(ip4 + 1, end, pkt, backend, shape.shim_size, entropy, v6);
}

#endif
