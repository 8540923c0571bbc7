/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TABLE_KEPT_H
#define FAIRLEAD_TABLE_KEPT_H

/*
 * Overlays kept from one publication to the next. Who stands in for whom takes a
 * build for each backend that lends slots: a second of a CPU when all of a thousand
 * start slowly. It depends on no share, and shares are all that health changes; so
 * it is found once for a set, and later tables of the set are a pass over the slots.
 *
 * Nothing that is kept shows in a result: slots are those of table_build_health(),
 * which keeps nothing. An overlay is found by all that it depends on (parameters,
 * names and weights, in order), never by a digest of these. What was used last
 * stays, within a number of bytes and of overlays.
 *
 * Any thread may call: whoever uses an overlay has taken it out, and another who
 * needs the same meanwhile builds one.
 */

#include "table_overlay.h"

/* Fewer builds than these are not worth keeping, nor looking for. */
#define TABLE_KEPT_BUILDS_MIN 8
#define TABLE_KEPT_MAX 256

struct table_kept;

/* NULL: no memory. */
struct table_kept *table_kept_new(size_t bytes_max);
/* Frees *kept, which may be NULL and is afterwards, with all that it keeps. */
void table_kept_free(struct table_kept **kept);
/* What is kept now, at most bytes_max. */
size_t table_kept_bytes(struct table_kept *kept);

/* As table_build_health(); kept may be NULL. */
int table_kept_build(struct table_kept *kept, const struct table_params *params,
		     const struct table_backend *set, size_t n, const uint8_t *shares,
		     uint16_t *slots, struct table_overlay_report *report,
		     struct err *err);

#endif
