/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_ADDR_H
#define FAIRLEAD_ADDR_H

/* IP addresses and VIPs as values: parse, print in canonical form, compare. */

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "err.h"

struct addr {
	uint8_t family; /* AF_INET, AF_INET6, or 0: unset */
	union {
		struct in_addr v4;
		struct in6_addr v6;
	};
};

/* "ADDRESS:PORT/PROTOCOL" with an IPv6 address in brackets; port 0 is any. */
struct vip_spec {
	struct addr addr;
	uint16_t port;    /* host order; 0 when the VIP takes every port */
	uint8_t protocol; /* IPPROTO_TCP or IPPROTO_UDP */
};

#define ADDR_TEXT_MAX 46     /* INET6_ADDRSTRLEN */
#define VIP_SPEC_TEXT_MAX 64 /* "[v6]:65535/tcp" */

/*
 * Unicast addresses only: multicast, broadcast, unspecified and IPv4-mapped
 * IPv6 are refused with -EINVAL, since neither a VIP nor a backend can be one.
 */
int addr_parse(const char *text, const char *what, struct addr *out,
	       struct err *err);

/* Canonical text (RFC 5952 for IPv6). Returns `text`. */
const char *addr_format(const struct addr *addr, char text[ADDR_TEXT_MAX]);

/* Total order: IPv4 before IPv6, then bytes. */
int addr_compare(const struct addr *a, const struct addr *b);

/*
 * "203.0.113.10:443/tcp", "[2001:db8::10]:443/tcp", "203.0.113.10:any/udp".
 * Port 0 is refused: the word "any" is the only way to say every port.
 */
int vip_spec_parse(const char *text, struct vip_spec *out, struct err *err);
const char *vip_spec_format(const struct vip_spec *spec,
			    char text[VIP_SPEC_TEXT_MAX]);
int vip_spec_compare(const struct vip_spec *a, const struct vip_spec *b);

#endif
