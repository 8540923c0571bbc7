/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TABLE_OVERLAY_H
#define FAIRLEAD_TABLE_OVERLAY_H

/*
 * Health laid over a table. The base table is that of the configured set; what
 * is up and down decides only who stands in for a slot's owner. The result is
 * a pure function of (configured set, up set): a backend that goes down moves
 * the slots that it served and no others, and when it comes back it gets back
 * exactly these.
 *
 * A slot whose owner x is down goes to
 *   - the slot's owner in the table built without x (the spare), or if that
 *     one is down too,
 *   - the base table's entry at rehash_j(slot), j = 1, 2, ..., the first that
 *     is up, where rehash_j(slot) =
 *     ((mix64(slot + j * 0x9e3779b97f4a7c15) >> 32) * size) >> 32.
 *
 * Finding the spares of x takes one build; they are kept, size / n of them, so
 * that the next flap of x costs a pass over the slots. One backend down is
 * always overlaid. With two or more the overlay gives way to a rebuild on the
 * up set when above 15 % of the backends are down, or when those that are down
 * own above half of the slots.
 */

#include "table.h"

#define TABLE_REBUILD_PERCENT 15

/* Conditions that the caller must handle; the slots are not written. */
enum table_overlay_result {
	TABLE_OVERLAID = 0,
	TABLE_REBUILD = 1,  /* too much is down: table_build_up() instead */
	TABLE_ALL_DOWN = 2, /* no backend with weight is up: caller's policy */
};

struct table_overlay_report {
	size_t n_weighted; /* backends that can own a slot */
	size_t n_down;     /* of these */
	uint32_t moved;    /* slots that their owner does not serve */
};

struct table_overlay;

/*
 * Takes a copy of the set and of its base table, which is built when `base` is
 * NULL. Errors as table_build(), and -ENODATA for an empty set.
 */
int table_overlay_new(const struct table_params *params,
		      const struct table_backend *set, size_t n,
		      const uint16_t *base, struct table_overlay **out,
		      struct err *err);
/* Frees *overlay and sets it to NULL. */
void table_overlay_free(struct table_overlay **overlay);
#define _cleanup_table_overlay_ __attribute__((cleanup(table_overlay_free)))

/* The base table; lives as long as the overlay. */
const uint16_t *table_overlay_base(const struct table_overlay *overlay);

/*
 * Fill slots[0..size) for up[0..n). Returns enum table_overlay_result or a
 * negative errno; *report (may be NULL) is written unless it fails. Keeps new
 * spares, so one overlay belongs to one thread at a time.
 */
int table_overlay_apply(struct table_overlay *overlay, const bool *up,
			uint16_t *slots, struct table_overlay_report *report,
			struct err *err);

/*
 * The same in one call for callers that keep nothing, and with the rebuild
 * done: slots are filled unless the result is negative or TABLE_ALL_DOWN.
 */
int table_build_health(const struct table_params *params,
		       const struct table_backend *set, size_t n,
		       const bool *up, uint16_t *slots,
		       struct table_overlay_report *report, struct err *err);

#endif
