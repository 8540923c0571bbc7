/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_OUTER_H
#define FAIRLEAD_OUTER_H

/* From what is known of a backend to the line that the packet path reads. */

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"
#include "addr.h"

/* What makes a backend of the data plane: two with the same share one id. */
struct backend_ident {
	struct addr addr;
	uint8_t encap;     /* enum encap */
	uint16_t gue_port; /* host order; 0 unless encap is gue */
};

/* How packets to an address leave this host; `resolved` when all is known. */
struct next_hop {
	bool resolved;
	uint32_t ifindex;
	uint16_t mtu;
	uint8_t mac_src[6], mac_dst[6];
	struct addr source; /* of the outer header, same family as the backend */
};

int backend_ident_compare(const struct backend_ident *a,
			  const struct backend_ident *b);

/*
 * hop may be NULL: nothing is known yet. use_flags: BACKEND_DRAINING or
 * BACKEND_DOWN, or 0 for a backend that takes new flows.
 */
void outer_fill(const struct backend_ident *ident, const struct next_hop *hop,
		uint8_t use_flags, struct backend *out);

/* The other way, for a daemon that adopts the map. False: not in use. */
bool outer_ident(const struct backend *backend, struct backend_ident *ident);
/* The next hop that was written; its neighbour's address is not there. */
void outer_next_hop(const struct backend *backend, struct next_hop *hop);

#endif
