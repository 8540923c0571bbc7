/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_PUBLISH_PREVIOUS_H
#define FAIRLEAD_PUBLISH_PREVIOUS_H

/* The previous owners that a new table takes over from the one that it replaces. */

#include "core/table_previous.h"
#include "publish.h"

/*
 * Which ids are in a pool of `from`, and in none of `to`: 65,536, the caller's to
 * free. What went earlier is nobody's previous owner already.
 */
bool *publish_gone_ids(const struct plan *from, const struct plan *to);

/*
 * *lines, of a table about to be made, grow by the previous owners, when `old` is a
 * table of as many slots. 0 or -errno.
 */
int publish_previous_add(const struct kernel_table *old, const bool *gone,
			 struct table_line **lines, size_t *n);

/*
 * Nobody's previous owner is one of the ids that are gone, also in tables that do
 * not change: it could be another's by the time that a packet asks. On any thread,
 * before the ids may be used again.
 */
int publish_previous_forget(const struct kernel *k, const struct plan *plan,
			    const bool *gone);

#endif
