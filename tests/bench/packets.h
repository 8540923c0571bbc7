/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_BENCH_PACKETS_H
#define FAIRLEAD_BENCH_PACKETS_H

/* What bench.bpf.c writes into the frame before each run; user space sets it. */

#include <linux/types.h>

/* Ethernet, IP, TCP and ten bytes of payload. */
#define BENCH_FRAME4 64
#define BENCH_FRAME6 84

/*
 * Numbers of flows, written before anything is measured; the driver takes one for
 * each packet, in order, in whatever case, so that it costs the same in all.
 */
#define BENCH_DRAWS_A_LINE 16
struct bench_draws {
	__u32 flow[BENCH_DRAWS_A_LINE];
};

/*
 * The n-th packet's flow is base | draw & drawn | n & in_turn: with one of the masks
 * 0 and the other all bits it is what was drawn, or another flow each packet.
 */
struct bench_stream {
	__u32 base;
	__u32 drawn, in_turn; /* masks */
	__u8 tcp_flags;
	__u8 pad[3];
};

struct bench_packets {
	struct bench_stream stream[2]; /* of even and of odd packets */
	__u32 draws_mask;	       /* draws - 1, their number being a power of two */
	__u32 next;		       /* packets so far */
	__be32 dst4;
	__be32 dst6[4];
	__be16 dport;
	__u16 pad;
};

#endif
