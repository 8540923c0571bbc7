/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_ICMP_BPF_H
#define FAIRLEAD_ICMP_BPF_H

/* ICMP to a VIP address: what kind of message is it? */

#include "icmp_echo.bpf.h"
#include "icmp_error.bpf.h"
#include "icmp_too_big.bpf.h"

/* It quotes a packet, whose flow it is about. No XDP action has this number. */
#define ICMP_QUOTES 65

/* RFC 4861, section 4: types, and the hop limit that no router lets through. */
#define ND_TYPE_FIRST 133
#define ND_TYPE_LAST 137
#define ND_HOP_LIMIT 255

/* For the host, when the VIP address is on the link. */
static __always_inline bool icmp_is_discovery(struct xdp_md *ctx, const struct pkt *pkt,
					      __u8 type)
{
	struct ipv6hdr ip;

	return type >= ND_TYPE_FIRST && type <= ND_TYPE_LAST &&
	       pkt->fragment == FRAGMENT_NONE &&
	       !bpf_xdp_load_bytes(ctx, pkt->l3_off, &ip, sizeof(ip)) &&
	       ip.hop_limit == ND_HOP_LIMIT;
}

/*
 * An ICMP or ICMPv6 message, or its first fragment, to an address of ours, whose
 * address entry has the given flags. A verdict, ICMP_QUOTES, or minus a drop
 * reason.
 */
static __always_inline int icmp_handle(struct xdp_md *ctx, const struct pkt *pkt,
				       __u16 address_flags, bool v6)
{
	struct icmp_message message;

	if (!icmp_load(ctx, pkt->l3_off + pkt->l4_off, pkt->l3_off + pkt->ip_len, &message,
		       sizeof(message)))
		return -DROP_REASON_L4_TRUNCATED;
	if (message.type == (v6 ? ICMP6_ECHO : ICMP4_ECHO))
		return icmp_echo(ctx, pkt, address_flags, v6);
	if (v6 ? icmp_quotes6(message.type) : icmp_quotes4(message.type))
		return ICMP_QUOTES;
	if (v6 && icmp_is_discovery(ctx, pkt, message.type))
		return XDP_PASS;
	return -DROP_REASON_ICMP_UNHANDLED;
}

#endif
