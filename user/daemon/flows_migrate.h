/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_FLOWS_MIGRATE_H
#define FAIRLEAD_FLOWS_MIGRATE_H

/*
 * From flow maps of one size and form into those of another, which no packet uses
 * yet. What ends meanwhile, or finds no place, is left to the lookup table.
 */

#include "core/err.h"
#include "core/plan.h"
#include "dataplane.h"

/* plan: what the ids in the flows mean. Only when dp->migrates. */
int flows_migrate(const struct dataplane *dp, const struct plan *plan, struct err *err);

#endif
