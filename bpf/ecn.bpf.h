/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_ECN_BPF_H
#define FAIRLEAD_ECN_BPF_H

/*
 * Congestion marks at the end of a tunnel, RFC 6040, section 4.2: a router
 * between balancer and backend can mark only the outer header, so what it said
 * moves to the inner one, which the sender's TCP hears of.
 *
 *   inner \ outer   Not-ECT   ECT(0)    ECT(1)    CE
 *   Not-ECT         Not-ECT   Not-ECT   Not-ECT   drop
 *   ECT(0)          ECT(0)    ECT(0)    ECT(1)    CE
 *   ECT(1)          ECT(1)    ECT(1)    ECT(1)    CE
 *   CE              CE        CE        CE        CE
 */

#include "packet.bpf.h"

#define ECN_MASK 3

enum ecn {
	ECN_NOT_ECT = 0,
	ECN_ECT_1 = 1,
	ECN_ECT_0 = 2,
	ECN_CE = 3,
};

/* The mark that the inner packet leaves with, or -1: drop it. */
static __always_inline int ecn_decap(__u8 outer, __u8 inner)
{
	if (inner == ECN_NOT_ECT)
		return outer == ECN_CE ? -1 : ECN_NOT_ECT;
	if (outer == ECN_CE || (outer == ECN_ECT_1 && inner == ECN_ECT_0))
		return outer;
	return inner;
}

static __always_inline void ecn_set4(struct iphdr *ip, __u8 ecn)
{
	__be16 *word = (__be16 *)ip;
	__u32 sum;

	/* RFC 1624, equation 3: ~(~sum + ~old + new) */
	sum = (__u16)~ip->check + (__u16)~*word;
	ip->tos = (ip->tos & ~ECN_MASK) | ecn;
	sum += *word;
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	ip->check = ~sum;
}

/* header: of the inner packet, IPv4 or IPv6. */
static __always_inline void ecn_set(void *header, void *end, __u8 ecn)
{
	struct iphdr *ip = header;
	__u8 *byte = header;

	if ((void *)(ip + 1) > end)
		return;
	if (ip->version == 4) {
		if ((ip->tos & ECN_MASK) != ecn)
			ecn_set4(ip, ecn);
		return;
	}
	byte[1] = (byte[1] & ~(ECN_MASK << 4)) | ecn << 4;
}

#endif
