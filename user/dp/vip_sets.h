/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_VIP_SETS_H
#define FAIRLEAD_VIP_SETS_H

/*
 * The sets in which plain packets find their VIP, and the filter of addresses, as
 * include/abi.h describes them, mapped into memory: packets read while this writes.
 * Eight bytes change in one store, a way's key last when it comes and first when it
 * goes. The hash maps have all that is in the sets, so what finds no room stays out.
 *
 * Without memory (all NULL) nothing is written.
 */

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"
#include "core/err.h"
#include "core/vip_entries.h"

struct vip_sets {
	struct vip_set4 *sets4; /* VIP_SETS of each */
	struct vip_set6 *sets6;
	struct vip_filter_line *filter; /* VIP_FILTER_LINES */
	uint64_t mix_key;
};

/* Map them from the maps' file descriptors. */
int vip_sets_map(int sets4, int sets6, int filter, uint64_t mix_key,
		 struct vip_sets *out, struct err *err);
void vip_sets_unmap(struct vip_sets *sets);

/*
 * As the entry of a hash map now is: into the sets, or out of them when it is not
 * for plain packets. True when a way is free that packets may still be reading.
 */
bool vip_sets_write(struct vip_sets *sets, const struct vip_entry *entry);
bool vip_sets_delete(struct vip_sets *sets, const struct vip_entry *entry);

/* Whatever is in the sets, afterwards they say what the entries say. */
void vip_sets_adopt(struct vip_sets *sets, const struct vip_entries *entries);

/* Addresses that have entries may get packets ... */
void vip_filter_add(struct vip_sets *sets, const struct vip_entries *entries);
/* ... and no others. */
void vip_filter_set(struct vip_sets *sets, const struct vip_entries *entries);

#endif
