/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_NL_ROUTE_H
#define FAIRLEAD_NL_ROUTE_H

/* Which way the kernel would send a packet, by rtnetlink. */

#include "nl.h"

struct nl_route {
	unsigned char type; /* RTN_* */
	unsigned int ifindex, mtu; /* mtu 0: that of the interface */
	bool many; /* next hops behind several interfaces; the rest is of the first */
	struct addr via;    /* family 0: the address is on the link */
	struct addr source; /* family 0: the kernel has none */
};

/*
 * flags: 0, and a packet's way and source are chosen; or RTM_F_FIB_MATCH, and it is the
 * route as the table has it, with all next hops and without a source. 0 or the kernel's
 * negative errno.
 */
int nl_route_get(struct nl *nl, const struct addr *addr, unsigned int flags,
		 struct nl_route *out, struct err *err);

#endif
