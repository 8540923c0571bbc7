/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_ENCAP_OTHER_BPF_H
#define FAIRLEAD_ENCAP_OTHER_BPF_H

/*
 * Encapsulation at offsets that are known only at run time: frames with VLAN
 * tags, which keep them, outer sources that spread, packets that are let go
 * although they exceed the MTU, and the tunnels that are not worth straight code
 * for each combination.
 *
 *   Ethernet [| tag [| tag]] | IP | UDP (8) | GUE (4) | inner packet   GUE 0
 *                            | IP | UDP (8) |           inner packet   GUE 1
 *                            | IP | GRE (4) |           inner packet   GRE
 *                            | IP |                     inner packet   IPIP
 *                            |                          the packet     L2
 *
 * GUE variant 1 tells itself from variant 0 by the first bits of the inner
 * packet's version (draft-ietf-intarea-gue-09, section 4). GRE is RFC 2784
 * without its optional fields, over IPv6 as RFC 7676 says.
 */

#include "encap.bpf.h"
#include "gre.bpf.h"

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
static __always_inline bool encap_ethernet(struct xdp_md *ctx, const struct pkt *pkt,
					   const struct backend *backend)
{
	void *data = (void *)(long)ctx->data;
	struct ethhdr *eth = data;
	__u32 *tags = data + 2 * ETH_ALEN;

	if (data + sizeof(*eth) + VLAN_TAGS_MAX * VLAN_TAG_SIZE > packet_end(ctx))
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

static __always_inline int encap_shim(struct xdp_md *ctx, void *shim,
				      const struct pkt *pkt,
				      const struct backend *backend, __u32 shim_size,
				      __u32 entropy, bool v6)
{
	struct grehdr *gre = shim;
	struct udphdr *udp = shim;
	__u16 udp_len = pkt->ip_len + shim_size;

	switch (backend->encap) {
	case ENCAP_GUE:
		if (shim + sizeof(*udp) + sizeof(struct guehdr) > packet_end(ctx))
			return -DROP_REASON_HEADROOM;
		encap_gue(udp, backend, udp_len, v6 ? IPPROTO_IPV6 : IPPROTO_IPIP, entropy);
		return 0;
	case ENCAP_GUE1:
		if (shim + sizeof(*udp) > packet_end(ctx))
			return -DROP_REASON_HEADROOM;
		encap_udp(udp, backend, udp_len, entropy);
		return 0;
	case ENCAP_GRE:
		if (shim + sizeof(*gre) > packet_end(ctx))
			return -DROP_REASON_HEADROOM;
		gre->flags_version = 0;
		gre->ethertype = v6 ? bpf_htons(ETH_P_IPV6) : bpf_htons(ETH_P_IP);
		return 0;
	default:
		return 0;
	}
}

/* MAC addresses only: the backend is on the same segment and has the VIP. */
static __always_inline int encap_l2(struct xdp_md *ctx, const struct pkt *pkt,
				    const struct backend *backend)
{
	void *data = (void *)(long)ctx->data;

	if (pkt->ip_len > backend->mtu)
		return -DROP_REASON_TOO_BIG;
	if (data + sizeof(struct ethhdr) > packet_end(ctx))
		return -DROP_REASON_HEADROOM;
	__builtin_memcpy(data, backend, 2 * ETH_ALEN);
	return 0;
}

/* `length`: of the outer packet. What is fragmented on the way has a length, too. */
static __always_inline bool encap_fits(const struct backend *backend, __u32 length,
				       bool oversize)
{
	return length <= (oversize ? 0xffff : backend->mtu);
}

static __always_inline int encap_any(struct xdp_md *ctx, const struct pkt *pkt,
				     const struct backend *backend, bool v6,
				     bool oversize)
{
	struct outer_shape shape = encap_shape(backend->encap, v6);
	bool outer6 = backend->flags & BACKEND_OUTER_V6;
	__u32 ip_size = outer6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
	__u32 grow = ip_size + shape.shim_size;
	__u32 entropy = encap_entropy(pkt, v6);
	struct ipv6hdr *ip6;
	struct iphdr *ip4;
	void *l3;

	if (backend->encap == ENCAP_L2)
		return encap_l2(ctx, pkt, backend);
	if (!encap_fits(backend, pkt->ip_len + grow, oversize))
		return -DROP_REASON_TOO_BIG;
	if (bpf_xdp_adjust_head(ctx, -(int)grow) ||
	    !encap_ethernet(ctx, pkt, backend))
		return -DROP_REASON_HEADROOM;

	l3 = (void *)(long)ctx->data + (pkt->l3_off & 0x1f);
	if (outer6) {
		ip6 = l3;
		if ((void *)(ip6 + 1) > packet_end(ctx))
			return -DROP_REASON_HEADROOM;
		encap_ip6(ip6, pkt, backend, pkt->ip_len + shape.shim_size,
			  shape.protocol, entropy);
		ip6->saddr.s6_addr32[3] |= bpf_htonl(entropy) & backend->source_mask;
		return encap_shim(ctx, ip6 + 1, pkt, backend, shape.shim_size, entropy, v6);
	}
	ip4 = l3;
	if ((void *)(ip4 + 1) > packet_end(ctx))
		return -DROP_REASON_HEADROOM;
	encap_ip4(ip4, pkt, backend, pkt->ip_len + grow, shape.protocol);
	encap_adjust4(ip4, backend, entropy, oversize);
	return encap_shim(ctx, ip4 + 1, pkt, backend, shape.shim_size, entropy, v6);
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

/* In L2 mode a short frame needs its padding still. */
static __always_inline int encap_finish(struct xdp_md *ctx, const struct pkt *pkt,
					const struct backend *backend, bool v6)
{
	__u32 length = pkt->l3_off + encap_overhead(backend, v6) + pkt->ip_len;

	if (backend->encap == ENCAP_L2 ||
	    encap_ends(ctx, (void *)(long)ctx->data, length))
		return 0;
	return encap_trim(ctx, length);
}

/* Return 0 or minus a drop reason, as encap_packet(). */
static __noinline int encap_other4(struct xdp_md *ctx, const struct pkt *pkt,
				   const struct backend *backend, bool oversize)
{
	int err = encap_any(ctx, pkt, backend, false, oversize);

	return err ? err : encap_finish(ctx, pkt, backend, false);
}

static __noinline int encap_other6(struct xdp_md *ctx, const struct pkt *pkt,
				   const struct backend *backend, bool oversize)
{
	int err = encap_any(ctx, pkt, backend, true, oversize);

	return err ? err : encap_finish(ctx, pkt, backend, true);
}

#endif
