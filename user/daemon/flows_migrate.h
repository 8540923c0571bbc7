/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_FLOWS_MIGRATE_H
#define FAIRLEAD_FLOWS_MIGRATE_H

/*
 * From flow maps of one size and form into those of another, which no packet uses
 * yet. What ends meanwhile, or finds no place, is left to the lookup table.
 *
 * So is a flow that opens between its set being read and the exchange of the program:
 * the tables are already those of the plan, so the new program makes of its next packet
 * the choice that the old one made. To carry such flows over afterwards is not safe
 * from here: packets write the sets by then, without a lock, and an entry that a packet
 * and this process write at once may be one flow's with the other's backend.
 */

#include "core/err.h"
#include "core/plan.h"
#include "dataplane.h"

/* plan: what the ids in the flows mean. Only when dp->migrates. */
int flows_migrate(const struct dataplane *dp, const struct plan *plan, struct err *err);

#endif
