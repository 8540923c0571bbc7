/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TABLE_COMPARE_H
#define FAIRLEAD_TABLE_COMPARE_H

/*
 * What a change of a table moves. The two tables may come from different sets:
 * backends are the same when their names are.
 */

#include "table.h"

struct table_side {
	const struct table_backend *set;
	size_t n;
	const uint16_t *slots;
};

struct table_change {
	const char *name;               /* borrowed from a side's set */
	uint32_t weight_old, weight_new;
	bool in_old, in_new;            /* of the set */
	uint32_t slots_old, slots_new;
	uint32_t gained, lost;          /* slots it serves in only one table */
};

struct table_comparison {
	uint32_t size;
	uint32_t moved; /* slots whose owner differs */
	/*
	 * The fewest slots that any table with the same slots per backend as
	 * the new one differs in: the sum of what backends have to give up.
	 */
	uint32_t minimum;
	double ratio; /* moved / minimum; 1 when nothing moved, 0: no minimum */
	size_t n;
	struct table_change changes[]; /* every backend of either, by name */
};

/*
 * Both tables have `size` slots, and names are unique within each set. The
 * caller frees *out and keeps the sets until then. Errors: -EINVAL (a slot or a
 * name is bad), -ENOMEM.
 */
int table_compare(const struct table_side *old, const struct table_side *new,
		  uint32_t size, struct table_comparison **out,
		  struct err *err);

#endif
