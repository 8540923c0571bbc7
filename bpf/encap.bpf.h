/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_ENCAP_BPF_H
#define FAIRLEAD_ENCAP_BPF_H

/*
 * Wrap the packet for its backend, from the header that the daemon prepared.
 *
 *   Ethernet | IPv4 or IPv6 |                        inner packet   IPIP
 *   Ethernet | IPv4 or IPv6 | UDP (8) | GUE (4) |    inner packet   GUE
 *
 * DSCP and ECN are copied outward (RFC 6040, normal mode; RFC 2983, uniform
 * model). The packet is known to fit, so IPv4 leaves with DF set and id 0,
 * which RFC 6864 allows for it. A GUE packet's UDP checksum is zero, over IPv6
 * as RFC 6935 allows for tunnels: the inner checksums protect what matters.
 */

#include "gue.bpf.h"
#include "maps.bpf.h"
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

/*
 * Ethernet pads short frames, and the padding must not travel in the tunnel:
 * receivers take a packet's length from its tunnel's, and middle boxes drop what
 * has bytes to spare. For frames that do not end where their IP packet does, and
 * for those of several pages, of which only a helper knows the end.
 */
static __noinline int encap_trim(struct xdp_md *ctx, __u32 length)
{
	__u32 size = bpf_xdp_get_buff_len(ctx);

	if (size > length && bpf_xdp_adjust_tail(ctx, (int)length - (int)size))
		return -DROP_REASON_IP_MALFORMED;
	return 0;
}

/* `packet`, where the outgoing IP packet starts, and its length. */
static __always_inline bool encap_ends(struct xdp_md *ctx, const void *packet,
				       __u32 length)
{
	return packet_rest(ctx, packet) == length;
}

/*
 * The three flags are constants at every call, so each combination becomes
 * straight code with constant offsets. Returns 0 or minus a drop reason.
 */
static __always_inline int encap_as(struct xdp_md *ctx, const struct pkt *pkt,
				    const struct backend *backend, bool v6,
				    bool outer6, bool gue)
{
	const __u32 ip_size = outer6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
	const __u32 gue_size = gue ? sizeof(struct udphdr) + sizeof(struct guehdr) : 0;
	const __u8 inner_protocol = v6 ? IPPROTO_IPV6 : IPPROTO_IPIP;
	const __u8 protocol = gue ? IPPROTO_UDP : inner_protocol;
	__u32 entropy = outer6 || gue ? encap_entropy(pkt, v6) : 0;
	__u32 total_len = pkt->ip_len + ip_size + gue_size;
	void *data, *ip;

	if (unlikely(total_len > backend->mtu))
		return -DROP_REASON_TOO_BIG;
	if (unlikely(bpf_xdp_adjust_head(ctx, -(int)(ip_size + gue_size))))
		return -DROP_REASON_HEADROOM;

	data = (void *)(long)ctx->data;
	ip = data + sizeof(struct ethhdr);
	if (unlikely(ip + ip_size + gue_size > packet_end(ctx)))
		return -DROP_REASON_HEADROOM;

	encap_macs(data, backend);
	if (outer6)
		encap_ip6(ip, pkt, backend, pkt->ip_len + gue_size, protocol, entropy);
	else
		encap_ip4(ip, pkt, backend, total_len, protocol);
	if (gue)
		encap_gue(ip + ip_size, backend, pkt->ip_len + gue_size,
			  inner_protocol, entropy);
	return likely(encap_ends(ctx, ip, total_len)) ?
		       0 :
		       encap_trim(ctx, sizeof(struct ethhdr) + total_len);
}

/* For a backend with BACKEND_PLAIN. */
static __always_inline int encap_packet(struct xdp_md *ctx,
					const struct pkt *pkt,
					const struct backend *backend, bool v6)
{
	bool outer6 = backend->flags & BACKEND_OUTER_V6;

	if (backend->encap == ENCAP_IPIP)
		return outer6 ? encap_as(ctx, pkt, backend, v6, true, false) :
				encap_as(ctx, pkt, backend, v6, false, false);
	return outer6 ? encap_as(ctx, pkt, backend, v6, true, true) :
			encap_as(ctx, pkt, backend, v6, false, true);
}

#endif
