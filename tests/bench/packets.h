/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_BENCH_PACKETS_H
#define FAIRLEAD_BENCH_PACKETS_H

/* What bench.bpf.c writes into the frame before each run; bench.c sets it. */

#include <linux/types.h>

/* Ethernet, IP, TCP and ten bytes of payload. */
#define BENCH_FRAME4 64
#define BENCH_FRAME6 84

struct bench_packets {
	__u32 flow_mask; /* flows - 1, flows being a power of two */
	__u32 flow_next; /* packets so far */
	__be32 dst4;
	__be32 dst6[4];
	__be16 dport;
	__u8 tcp_flags;
	__u8 pad;
};

#endif
