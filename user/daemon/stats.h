/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_STATS_H
#define FAIRLEAD_STATS_H

/*
 * Counters out of the per-CPU maps, summed over the CPUs. The packets go on
 * counting while they are read, so a sum is a moment's, member by member. What
 * cannot be read is zero: a counter is never worth failing a request for.
 */

#include <stdint.h>

#include "abi.h"

struct daemon;

struct vip_counters stats_vip(const struct daemon *d, uint32_t id);
/* Packets of the VIP beyond its limit of new flows. */
uint64_t stats_unremembered(const struct daemon *d, uint32_t id);
struct backend_counters stats_backend(const struct daemon *d, uint32_t id);
struct drop_counters stats_drop(const struct daemon *d, uint32_t reason);
struct totals stats_totals(const struct daemon *d);

/* Slots of each backend id, 65536 numbers, in a table; the caller frees. */
uint32_t *stats_slots(const struct daemon *d, uint32_t table);

#endif
