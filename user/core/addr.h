/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_ADDR_H
#define FAIRLEAD_ADDR_H

/* IP addresses as values: parse, print in canonical form, compare. */

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

#define ADDR_TEXT_MAX 46 /* INET6_ADDRSTRLEN */

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

#endif
