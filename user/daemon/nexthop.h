/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_NEXTHOP_H
#define FAIRLEAD_NEXTHOP_H

/*
 * How packets reach each backend, kept fresh from route netlink: the route to
 * the address, the interface behind it, and the neighbour's MAC. The kernel is
 * asked to resolve what it does not know and, now and then, to confirm what it
 * does, since no packet of ours passes through its own path.
 *
 * A neighbour that only disappears (`ip neigh flush`) keeps its last MAC until
 * the kernel says something better: forgetting must not stop traffic. The same
 * holds for what a daemon before this one knew. A neighbour that fails to
 * answer twice becomes unresolved. A static one is never asked, since the kernel would
 * make it a dynamic one.
 */

#include <stddef.h>

#include "core/err.h"
#include "core/outer.h"

struct nexthops;

/*
 * What netlink has changed is known when this is called; `turned`: some address
 * failed or came back (nexthops_failed).
 */
typedef void nexthops_changed(void *context, bool turned);

int nexthops_open(struct nexthops **out, nexthops_changed *changed, void *context,
		  struct err *err);
void nexthops_close(struct nexthops *nh);

/* Outer source addresses from the configuration; family 0: the route's. */
void nexthops_set_source(struct nexthops *nh, const struct tunnel_source *source4,
			 const struct tunnel_source *source6);

/* An address and the next hop that it had before this process. */
struct nexthop_seed {
	struct addr addr;
	struct next_hop hop;
};

/* Before the first call of track. Sorted and distinct by addr_compare. */
int nexthops_seed(struct nexthops *nh, const struct nexthop_seed *seeds, size_t n,
		  struct err *err);

/*
 * Track exactly these addresses, resolving them now. What has changed of those that were
 * tracked before is told at the next tick or event. Sorted and distinct by
 * addr_compare. Returns 0, or -ENOMEM with the old set still tracked.
 */
int nexthops_track(struct nexthops *nh, const struct addr *addrs, size_t n,
		   struct err *err);

/* NULL: not tracked. Valid until the next call of track or events. */
const struct next_hop *nexthops_get(const struct nexthops *nh, const struct addr *addr);

/*
 * True when packets to the address are known to lead nowhere: no route, or a
 * neighbour that does not answer. One that was not heard of yet has not failed.
 */
bool nexthops_failed(const struct nexthops *nh, const struct addr *addr);

/*
 * "10.1.0.11 dev eth0 lladdr 02:..", or "" when unresolved, and in *problem why
 * ("no route", ...), or NULL when there is none.
 */
void nexthops_describe(const struct nexthops *nh, const struct addr *addr, char *text,
		       size_t size, const char **problem);

/* The file descriptor to poll, and what to do when it is readable. */
int nexthops_fd(const struct nexthops *nh);
void nexthops_events(struct nexthops *nh);

/*
 * Milliseconds until nexthops_tick() wants to be called, 0: now. It re-reads
 * routes after events have settled and keeps the neighbours confirmed.
 */
unsigned int nexthops_wait_ms(const struct nexthops *nh, uint64_t now_ms);
void nexthops_tick(struct nexthops *nh, uint64_t now_ms);

#endif
