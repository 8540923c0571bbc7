/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_SERVICES_H
#define FAIRLEAD_SERVICES_H

/*
 * From the VIPs of a plan to what packets look up, so that the most specific VIP
 * is found by at most: the exact hash, the address hash, the trie of prefixes,
 * the trie of services.
 *
 *   VIP of one address, one port, a protocol    vips4, vips6
 *   every address and prefix that has VIPs      address entry --> group
 *   all the VIPs that are left                  services, under a group
 *
 * A group answers for its address alone: it has the services of the address and,
 * where these do not take the ports, those of every prefix around it. Ranges are
 * cut into prefixes of the port. Those that take ports from others either lie
 * inside them, and then the longer match is theirs, or what they take has been
 * cut out. An address without services of its own shares the group of the
 * prefix around it.
 *
 * A group keeps its id while the same VIPs have the same ports. Else it gets an
 * id that the plan before did not use, so that no packet sees it half changed.
 */

#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "vip_entries.h"

struct plan_vip;

/*
 * The entries for VIPs sorted by spec, after `old`. *last_group is where the
 * search for free ids goes on. The caller clears *out. -ENOSPC when groups or
 * services run out, -ENOMEM.
 */
int services_make(const struct plan_vip *vips, size_t n_vips,
		  const struct vip_entries *old, uint16_t *last_group,
		  struct vip_entries *out, struct err *err);

#endif
