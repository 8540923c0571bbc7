/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_PREVIEW_H
#define FAIRLEAD_PREVIEW_H

/*
 * What a plan would move, without doing it: for each VIP the slots that would
 * change owner, and how many of the flows that are tracked now lie on them.
 * Those flows would keep their backend; the number tells what depends on it.
 */

#include <stddef.h>
#include <stdint.h>

#include "core/err.h"
#include "core/plan.h"
#include "dataplane.h"
#include "publish.h"

enum preview_change { PREVIEW_SAME, PREVIEW_CHANGED, PREVIEW_ADDED, PREVIEW_REMOVED };

struct preview_vip {
	struct vip_spec spec;
	enum preview_change change;
	uint32_t slots, moved; /* of the table to come */
	uint64_t flows, flows_on_moved;
	const uint8_t *moved_bits; /* one bit a slot; NULL: none moves */
};

struct preview {
	struct preview_vip *vips; /* of either plan, sorted by spec */
	size_t n_vips;
	struct moved_slots *tables; /* owns the bits */
	size_t n_tables;
};

/* Reads maps and walks the flows: not on the loop's thread. */
int preview_make(const struct kernel *k, const struct dataplane *dp,
		 const struct plan *from, const struct plan *to, struct preview *out,
		 struct err *err);
void preview_release(struct preview *preview);

#endif
