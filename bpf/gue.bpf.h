/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_GUE_BPF_H
#define FAIRLEAD_GUE_BPF_H

/* Generic UDP Encapsulation, draft-ietf-intarea-gue-09, section 3.1. */

#include <linux/types.h>

/* Of the first byte: the rest is variant (2 bits) and control (1 bit). */
#define GUE_HLEN_MASK 0x1f

struct guehdr {
	__u8 variant_c_hlen; /* hlen: words behind these four bytes */
	__u8 protocol;       /* of the inner packet */
	__be16 flags;
};

#endif
