/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_BENCH_E2E_SETTINGS_H
#define FAIRLEAD_BENCH_E2E_SETTINGS_H

/* What e2e.bpf.c and e2e.c share. */

#include <linux/types.h>

#define E2E_FRAME 64

/* Of the packets that are made. */
struct e2e_packets {
	__u32 ifindex; /* out of which they go */
	__u32 flows;
	__u32 random; /* state of the generator, not 0 */
	__u32 pad;
	__u64 task; /* that makes them */
};

/* What came to the far end by one interface. */
struct e2e_arrived {
	__u64 tunnelled; /* IPIP */
	__u64 plain;
	__u64 elsewhere; /* of these, in another task than the one that makes them */
};

#define E2E_INTERFACES 64 /* more than there are in a namespace of it */

#endif
