/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CLI_TABLE_DIFF_H
#define FAIRLEAD_CLI_TABLE_DIFF_H

/* How commands say what a change of a table moves. */

#include "core/table_compare.h"
#include "writer.h"

/* The fields moved, percent, minimum and ratio; NULL: there is no change. */
void put_moves(struct writer *w, const struct table_comparison *c);

#endif
