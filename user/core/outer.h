/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_OUTER_H
#define FAIRLEAD_OUTER_H

/* From what is known of a backend to the line that the packet path reads. */

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"
#include "addr.h"

struct err;

/* What makes a backend of the data plane: two with the same share one id. */
struct backend_ident {
	struct addr addr;
	uint8_t encap;     /* enum encap */
	uint16_t gue_port; /* host order; 0 unless encap is gue */
};

/* Where tunnels start: one address, or a prefix out of which each flow has its own. */
struct tunnel_source {
	struct addr addr;   /* of a prefix: the host bits are zero; family 0: unset */
	uint8_t prefix_len; /* 32 or 128: one address */
};

#define TUNNEL_SOURCE_TEXT_MAX (ADDR_TEXT_MAX + 4)

/* "10.1.0.2" or "10.250.0.0/16"; host bits of a prefix must be zero. */
int tunnel_source_parse(const char *text, const char *what, int family,
			struct tunnel_source *out, struct err *err);
const char *tunnel_source_format(const struct tunnel_source *source,
				 char text[TUNNEL_SOURCE_TEXT_MAX]);
bool tunnel_source_equal(const struct tunnel_source *a, const struct tunnel_source *b);
/* Bits of the (last) 32-bit word that a flow may fill, in network byte order. */
uint32_t tunnel_source_mask(const struct tunnel_source *source);

/* How packets to an address leave this host; `resolved` when all is known. */
struct next_hop {
	bool resolved;
	uint32_t ifindex;
	uint16_t mtu;
	uint8_t mac_src[6], mac_dst[6];
	struct addr source; /* of the outer header, same family as the backend */
	uint32_t source_mask; /* tunnel_source_mask() */
};

int backend_ident_compare(const struct backend_ident *a,
			  const struct backend_ident *b);

/*
 * hop may be NULL: nothing is known yet. use_flags: BACKEND_DRAINING,
 * BACKEND_DOWN (with BACKEND_FAILED or without), or 0 for a backend that takes new flows.
 */
void outer_fill(const struct backend_ident *ident, const struct next_hop *hop,
		uint8_t use_flags, struct backend *out);

/* The other way, for a daemon that adopts the map. False: not in use. */
bool outer_ident(const struct backend *backend, struct backend_ident *ident);
/* The next hop that was written; its neighbour's address is not there. */
void outer_next_hop(const struct backend *backend, struct next_hop *hop);

#endif
