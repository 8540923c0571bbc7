/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_ICMP_TOO_BIG_BPF_H
#define FAIRLEAD_ICMP_TOO_BIG_BPF_H

/*
 * A packet does not fit the way to its backend: the client is told how long it
 * may be (RFC 1191, RFC 8201).
 *
 *   Ethernet | IP of our own | ICMP (8) | start of the packet
 *
 * As much of the packet as the answer has room for: 576 bytes with IPv4 (RFC
 * 1812, section 4.3.2.3), 1280 with IPv6 (RFC 4443, section 3.2).
 */

#include "icmp_limit.bpf.h"
#include "icmp_reply.bpf.h"

#define ICMP4_UNREACHABLE 3
#define ICMP4_FRAGMENTATION_NEEDED 4 /* the code */
#define ICMP6_PACKET_TOO_BIG 2

#define ICMP4_ANSWER_MAX 576
#define ICMP6_ANSWER_MAX 1280

/* What every link can carry: nothing below it is ever reported. */
#define IP4_MTU_MIN 68   /* RFC 791, section 3.2 */
#define IP6_MTU_MIN 1280 /* RFC 8200, section 5 */

/* Internetwork control: RFC 1812, section 4.3.2.5. */
#define ICMP_ERROR_TOS 0xc0

static __always_inline __u32 icmp_reported_mtu(__u32 mtu, bool v6)
{
	const __u32 least = v6 ? IP6_MTU_MIN : IP4_MTU_MIN;

	/* Less than nothing is a large number: a tunnel that leaves no room. */
	return mtu < least || mtu > 0xffff ? least : mtu;
}

static __always_inline void icmp_set_check(struct icmp_message *message,
					   const struct icmp_headers *h, __u32 length,
					   __u32 payload_sum, bool v6)
{
	__u64 sum = bpf_csum_diff(NULL, 0, (__be32 *)message, sizeof(*message),
				  payload_sum);

	/* The pseudo header, RFC 8200, section 8.1. */
	if (v6) {
		sum = (__u32)bpf_csum_diff(NULL, 0, (__be32 *)&h->ip6.saddr,
					   2 * sizeof(h->ip6.saddr), sum);
		sum = (sum & 0xffff) + (sum >> 16) + bpf_htons(length) +
		      bpf_htons(IPPROTO_ICMPV6);
	}
	message->check = ~sum_fold(sum);
}

/* What is not the same in an answer as in the packet that it answers. */
static __always_inline void icmp_own_start(struct icmp_headers *h, bool v6)
{
	if (v6) {
		*(__be32 *)&h->ip6 = bpf_htonl(6U << 28 | ICMP_ERROR_TOS << 20);
		return;
	}
	h->ip4.tos = ICMP_ERROR_TOS;
	h->ip4.id = 0;
	h->ip4.frag_off = bpf_htons(IP4_DONT_FRAGMENT);
}

static __always_inline int icmp_too_big_at(struct xdp_md *ctx, __u32 l3_off,
					   __u32 ip_len, __u32 mtu, bool v6)
{
	const __u32 grow = sizeof(struct icmp_message) +
			   (v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr));
	const __u32 room = (v6 ? ICMP6_ANSWER_MAX : ICMP4_ANSWER_MAX) - grow;
	__u32 quoted = ip_len < room ? ip_len : room;
	__u32 length = sizeof(struct icmp_message) + quoted;
	int surplus = bpf_xdp_get_buff_len(ctx) - l3_off - quoted;
	int verdict;
	struct icmp_headers headers = { 0 };
	struct icmp_message message = {
		.type = v6 ? ICMP6_PACKET_TOO_BIG : ICMP4_UNREACHABLE,
		.code = v6 ? 0 : ICMP4_FRAGMENTATION_NEEDED,
		.rest = bpf_htonl(icmp_reported_mtu(mtu, v6)),
	};

	if (!icmp_load_headers(ctx, l3_off, &headers, v6) ||
	    !icmp_may_be_answered(&headers, v6))
		return -DROP_REASON_TOO_BIG_NO_REPLY;
	if (!icmp_may_answer(ICMP_ANSWER_TOO_BIG))
		return -DROP_REASON_ICMP_LIMIT;
	icmp_own_start(&headers, v6);
	icmp_turn(&headers, length, v6);
	icmp_set_check(&message, &headers, length, icmp_sum(ctx, l3_off, quoted), v6);
	verdict = icmp_send(ctx, l3_off, grow, &headers, &message, v6);
	/* Last: what is dropped for want of room is counted as it came. */
	if (verdict == XDP_TX && surplus && bpf_xdp_adjust_tail(ctx, -surplus))
		return -DROP_REASON_TOO_BIG_NO_REPLY;
	return verdict;
}

__noinline int icmp_too_big4(struct xdp_md *ctx, __u32 l3_off, __u32 ip_len, __u32 mtu)
{
	return icmp_too_big_at(ctx, l3_off, ip_len, mtu, false);
}

__noinline int icmp_too_big6(struct xdp_md *ctx, __u32 l3_off, __u32 ip_len, __u32 mtu)
{
	return icmp_too_big_at(ctx, l3_off, ip_len, mtu, true);
}

/*
 * mtu is what the packet may have; the frame is as it came. A verdict, or minus
 * a drop reason. ICMP to a VIP that is forwarded at all is an error message.
 */
static __always_inline int icmp_too_big(struct xdp_md *ctx, const struct pkt *pkt,
					__u32 mtu, bool v6)
{
	bool icmp = v6 ? pkt->key6.protocol == IPPROTO_ICMPV6 :
			 pkt->key4.protocol == IPPROTO_ICMP;

	if (!pkt->df)
		return -DROP_REASON_TOO_BIG;
	if (icmp || pkt->fragment == FRAGMENT_LATER)
		return -DROP_REASON_TOO_BIG_NO_REPLY;
	return v6 ? icmp_too_big6(ctx, pkt->l3_off, pkt->ip_len, mtu) :
		    icmp_too_big4(ctx, pkt->l3_off, pkt->ip_len, mtu);
}

#endif
