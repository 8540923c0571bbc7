/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_GRE_BPF_H
#define FAIRLEAD_GRE_BPF_H

/* Generic Routing Encapsulation, RFC 2784, section 2, without optional fields. */

#include <linux/types.h>

struct grehdr {
	__be16 flags_version; /* all zero: else optional fields follow */
	__be16 ethertype;     /* of the inner packet */
};

#endif
