/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_ENCAP_BPF_H
#define FAIRLEAD_ENCAP_BPF_H

/*
 * Wrap the packet for its backend, from the header that the daemon prepared.
 *
 *   Ethernet | IPv4 or IPv6 |                        inner packet   IPIP
 *   Ethernet | IPv4 or IPv6 | UDP (8) | GUE (4) |    inner packet   GUE
 */

#include "outer.bpf.h"
#include "packet.bpf.h"

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
