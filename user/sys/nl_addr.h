/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_NL_ADDR_H
#define FAIRLEAD_NL_ADDR_H

/*
 * Addresses of interfaces and the default route, by rtnetlink. Each call opens
 * its own socket, asks, and closes it: for commands, which ask a few times.
 */

#include <stddef.h>

#include "core/addr.h"
#include "core/err.h"

struct nl_addr {
	struct addr addr;
	unsigned int ifindex;
};

/* All addresses of all interfaces; the caller frees *out. */
int nl_addr_list(struct nl_addr **out, size_t *n, struct err *err);

/*
 * Put a VIP on an interface, so that the kernel takes packets for it, and
 * nothing more: it is a host address (/32, /128), it is not looked for on the
 * wire first, and the kernel does not choose it as the source of connections
 * that the host opens. -EEXIST when the interface has it.
 */
int nl_addr_add_vip(unsigned int ifindex, const struct addr *addr,
		    struct err *err);
/* -EADDRNOTAVAIL when the interface does not have it. */
int nl_addr_del_vip(unsigned int ifindex, const struct addr *addr,
		    struct err *err);

/*
 * The interface of the default routes of both families: -ENOENT when there is
 * none, -ENOTUNIQ when they leave by more than one.
 */
int nl_default_interface(unsigned int *ifindex, struct err *err);

#endif
