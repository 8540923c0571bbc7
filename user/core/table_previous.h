/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TABLE_PREVIOUS_H
#define FAIRLEAD_TABLE_PREVIOUS_H

/*
 * Whose slots were before, in the lines behind the owners of a table's map (struct
 * table_header, previous). A packet from the middle of an unknown connection is sent
 * to the slot's owner, but the connection may have begun under the owner before.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi.h"

/* Lines that so many slots fill, the header not counted. */
size_t table_slot_lines(uint32_t size);

/*
 * `lines` is a header, the lines of its slots, and room for as many again, which are
 * filled: for a slot that changes hands with the owner in `old`, else with the
 * previous owner in `old`, if that has any. `old` is a map of the same size, all its
 * lines. Ids that are `gone` (65,536 of them, NULL: none) leave 0.
 */
void table_previous_fill(struct table_line *lines, const struct table_line *old,
			 const bool *gone);

/* Previous owners that are gone become 0. True when there were some. */
bool table_previous_forget(struct table_line *lines, const bool *gone);

#endif
