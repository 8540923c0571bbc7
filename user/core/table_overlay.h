/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TABLE_OVERLAY_H
#define FAIRLEAD_TABLE_OVERLAY_H

/*
 * Health laid over a table. The base table is that of the configured set; what
 * share of its slots a backend serves (percent: 0 when it is down, 100 when it is
 * up, less while it starts slowly or says that it is loaded) decides only who
 * stands in for a slot's owner. The result is a pure function of (configured set,
 * shares): a backend that goes down moves the slots that it served and no others,
 * and when it comes back it gets back exactly these.
 *
 * Backend x with share s serves slot k when
 *   ((mix64(k ^ FNV-1a 64 of its name) >> 32) * 100) >> 32 < s,
 * which is each slot at 100 and none at 0. A slot goes to the first of these that
 * serves it:
 *   - its owner in the base table, x,
 *   - its owner in the table built without x (the spare),
 *   - the base table's entry at rehash_j(slot), j = 1, 2, ..., where
 *     rehash_j(slot) =
 *     ((mix64(slot + j * 0x9e3779b97f4a7c15) >> 32) * size) >> 32.
 * When none of the first TABLE_REHASH_MAX does, which takes small shares all around,
 * part shares count as whole for this slot, in the same order; and beyond that it
 * goes to the one that is up with the lowest mix64(k ^ name). So no slot is empty
 * while a backend with weight is up.
 *
 * The order of that search depends on no share, and a share that grows only makes
 * more true. So a growing share only ever takes slots to its backend, and moves
 * none between two others.
 *
 * Finding the spares of x takes one build, or two builds those of all for ring and
 * rendezvous; they are kept, size / n of them, so that the next flap of x costs a
 * pass over the slots (table_kept.h keeps them between publications).
 *
 * One backend down is always overlaid. With two or more the overlay gives way to a
 * rebuild on the up set when above 15 % of the backends are down, or when those that
 * are down own above half of the slots; part shares are then laid over that table.
 * There is no spare in that search: a table of those that are up right now is seldom
 * asked for twice, so what takes a build for each that lends could not be kept; the
 * rehashes alone lend as evenly. Only share 0 counts as down here: part shares never
 * ask for a rebuild.
 */

#include "table.h"

#define TABLE_REBUILD_PERCENT 15
#define TABLE_SHARE_FULL 100 /* percent of a backend's slots; more is the same */
/*
 * With shares of 0 and 100 only, those that are up own at least half of the slots
 * whenever a rehash is needed: each try has an even chance, and this many never
 * all miss.
 */
#define TABLE_REHASH_MAX 128

/* Conditions that the caller must handle; the slots are not written. */
enum table_overlay_result {
	TABLE_OVERLAID = 0,
	TABLE_REBUILD = 1,  /* too much is down: table_build_up() instead */
	TABLE_ALL_DOWN = 2, /* no backend with weight is up: caller's policy */
};

struct table_overlay_report {
	size_t n_weighted; /* backends that can own a slot */
	size_t n_down;     /* of these */
	uint32_t moved;    /* slots of those that are down */
	size_t n_built;    /* tables that had to be built for this answer */
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

/* Of just these parameters and this set, in this order. */
bool table_overlay_is_of(const struct table_overlay *overlay,
			 const struct table_params *params,
			 const struct table_backend *set, size_t n);
/* Memory that it takes, about, with the spares that it has so far. */
size_t table_overlay_bytes(const struct table_overlay *overlay);

/*
 * Fill slots[0..size) for shares[0..n). Returns enum table_overlay_result or a
 * negative errno; *report (may be NULL) is written unless it fails. Keeps new
 * spares, so one overlay belongs to one thread at a time.
 */
int table_overlay_apply(struct table_overlay *overlay, const uint8_t *shares,
			uint16_t *slots, struct table_overlay_report *report,
			struct err *err);

/*
 * The same with the rebuild done: slots are filled unless the result is negative
 * or TABLE_ALL_DOWN.
 */
int table_overlay_health(struct table_overlay *overlay, const uint8_t *shares,
			 uint16_t *slots, struct table_overlay_report *report,
			 struct err *err);

/* That in one call for callers that keep nothing. */
int table_build_health(const struct table_params *params,
		       const struct table_backend *set, size_t n,
		       const uint8_t *shares, uint16_t *slots,
		       struct table_overlay_report *report, struct err *err);

/* Shares of what is up or down as a whole. */
void table_shares_of(const bool *up, size_t n, uint8_t *shares);

#endif
