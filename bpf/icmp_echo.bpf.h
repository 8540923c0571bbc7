/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_ICMP_ECHO_BPF_H
#define FAIRLEAD_ICMP_ECHO_BPF_H

/*
 * Echo requests to a VIP address, answered in place: the payload stays where it
 * is and only headers are touched. IPv4 options and IPv6 extension headers are
 * left out of the answer: nobody on the way back can be told by them to send it
 * anywhere but to the client.
 */

#include "icmp_limit.bpf.h"
#include "icmp_reply.bpf.h"

#define ICMP4_ECHO_REPLY 0
#define ICMP4_ECHO 8
#define ICMP6_ECHO 128
#define ICMP6_ECHO_REPLY 129

/* A __u16 of the message as it lies in memory. */
static __always_inline __u16 icmp_first_word(const struct icmp_message *message)
{
	return bpf_htons(message->type << 8 | message->code);
}

/*
 * Turns the request at that place into its reply, by RFC 1624, equation 3. The
 * one sum that the equation cannot tell from 0xffff is that of an IPv4 message of
 * zeros alone: its checksum is 0xffff, and not 0. IPv6 sums the addresses too,
 * which are never zero.
 */
static __always_inline void icmp_echo_reply(struct xdp_md *ctx,
					    struct icmp_message *message,
					    __u32 offset, __u32 length, bool v6)
{
	__u32 sum = (__u16)~message->check + (__u16)~icmp_first_word(message);

	message->type = v6 ? ICMP6_ECHO_REPLY : ICMP4_ECHO_REPLY;
	message->check = ~sum_fold(sum + icmp_first_word(message));
	if (!message->check && !icmp_first_word(message) && length > sizeof(__be32) &&
	    !icmp_sum(ctx, offset + sizeof(__be32), length - sizeof(__be32)))
		message->check = 0xffff;
}

/*
 * What the client's NIC put behind the packet is no part of the answer, but for
 * what ours would put there: not every driver does so on the way that XDP sends.
 */
static __always_inline void icmp_cut_padding(struct xdp_md *ctx, __u32 end)
{
	__u32 length = bpf_xdp_get_buff_len(ctx);

	if (end < ETH_ZLEN)
		end = ETH_ZLEN;
	if (length > end)
		bpf_xdp_adjust_tail(ctx, (int)end - (int)length);
}

static __always_inline int icmp_echo_at(struct xdp_md *ctx, __u32 l3_off, __u32 l4_off,
					__u32 length, bool v6)
{
	const __u32 ip_size = v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
	struct icmp_headers headers = { 0 };
	struct icmp_message message;
	int verdict;

	if (!icmp_load_headers(ctx, l3_off, &headers, v6) || l4_off < ip_size ||
	    bpf_xdp_load_bytes(ctx, l3_off + l4_off, &message, sizeof(message)))
		return -DROP_REASON_L4_TRUNCATED;
	if (!icmp_may_be_answered(&headers, v6))
		return -DROP_REASON_ICMP_UNHANDLED;
	if (!icmp_may_answer(ICMP_ANSWER_ECHO))
		return -DROP_REASON_ICMP_LIMIT;
	icmp_echo_reply(ctx, &message, l3_off + l4_off, length, v6);
	icmp_turn(&headers, length, v6);
	verdict = icmp_send(ctx, l3_off, (int)ip_size - (int)l4_off, &headers, &message, v6);
	if (verdict == XDP_TX)
		icmp_cut_padding(ctx, l3_off + ip_size + length);
	return verdict;
}

/* An echo request of `length` bytes, not of fragments. */
__noinline int icmp_echo4(struct xdp_md *ctx, __u32 l3_off, __u32 l4_off, __u32 length)
{
	return icmp_echo_at(ctx, l3_off, l4_off, length, false);
}

__noinline int icmp_echo6(struct xdp_md *ctx, __u32 l3_off, __u32 l4_off, __u32 length)
{
	return icmp_echo_at(ctx, l3_off, l4_off, length, true);
}

/* A verdict, or minus a drop reason. */
static __always_inline int icmp_echo(struct xdp_md *ctx, const struct pkt *pkt,
				     __u16 address_flags, bool v6)
{
	__u32 length = pkt->ip_len - pkt->l4_off;
	int err;

	if (address_flags & VIP_NO_ECHO)
		return -DROP_REASON_ECHO_OFF;
	if (pkt->fragment != FRAGMENT_NONE)
		return -DROP_REASON_FRAGMENT;
	err = v6 ? icmp_echo6(ctx, pkt->l3_off, pkt->l4_off, length) :
		   icmp_echo4(ctx, pkt->l3_off, pkt->l4_off, length);
	/* The verifier knows nothing of what a global function returns. */
	return err < 0 ? err : XDP_TX;
}

#endif
