/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TESTS_FLOOD_H
#define FAIRLEAD_TESTS_FLOOD_H

/* What flood.bpf.c sends: user space writes it, and `next` counts on. */

#include <linux/types.h>

/* Ethernet, IP, TCP and ten bytes of payload. */
#define FLOOD_FRAME4 64
#define FLOOD_FRAME6 84

struct flood {
	__u32 next;   /* number of the next packet's flow */
	__u32 source; /* address of flow 0, or its 32 bits before the last */
	__u32 port;   /* of flow 0; the others have every second one from there */
	__u32 tcp_flags;
};

#endif
