/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_PACKET_VIEW_H
#define FAIRLEAD_PACKET_VIEW_H

/*
 * The headers of a frame, one after the other, for those who print or compare
 * them. Nothing is believed of a length before it is checked. Private to
 * packet*.c.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packet_wire.h"

/* An IP header with what is in front of its payload. */
struct view_ip {
	uint8_t family; /* AF_INET, AF_INET6; 0: it is no whole header */
	struct addr src, dst;
	uint8_t ttl, tos;
	uint8_t protocol; /* behind IPv6 extension headers */
	uint32_t label, id;
	bool df, fragment, more;
	uint16_t offset;    /* of the fragment, in bytes */
	size_t length;      /* of the packet, by its own header */
	size_t header_size; /* with options or extension headers */
	size_t n_extensions;
	bool sum_good; /* of the header; IPv6 has none */
};

struct view_eth {
	uint16_t vlan[WIRE_VLAN_TAGS_MAX];
	size_t n_vlans;
	uint16_t ethertype; /* behind the tags */
	size_t size;        /* where what it carries starts */
};

/* The frame has at least PACKET_MIN bytes. */
void view_eth(const struct packet *p, struct view_eth *out);

void view_ip(const uint8_t *data, size_t size, struct view_ip *out);

/*
 * Bytes of GUE header in front of an IP packet that fills a UDP payload (4 for
 * variant 0, 0 for variant 1), or -1: it is something else.
 */
int view_gue(const uint8_t *payload, size_t size);

/* TCP, UDP, ICMP: is the checksum of the whole segment right? */
bool view_l4_sum_good(const struct view_ip *ip, const uint8_t *l4, size_t size);

/* "SA", "none" */
const char *view_tcp_flags(uint8_t flags, char text[9]);

#endif
