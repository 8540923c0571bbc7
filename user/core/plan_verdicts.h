/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_PLAN_VERDICTS_H
#define FAIRLEAD_PLAN_VERDICTS_H

/* For plan_make() and plan_release() only. */

#include "plan.h"

/*
 * The verdicts of a plan whose VIPs, backends and members have their ids, and the
 * backends' own `use` with them: the kindest of all that VIPs say. ways: members with
 * what the checks say of them; of_vip: by VIP of the plan, as they are sorted now, its
 * place among the ways. -ENOMEM or 0.
 */
int plan_fill_verdicts(struct plan *plan, const struct plan_table *ways, size_t n_ways,
		       const uint32_t *of_vip, const struct plan *old,
		       const struct plan_health *health, struct err *err);

/* A copy of those of `old`, without leavers that `drop` says yes to. -ENOMEM or 0. */
int plan_copy_verdicts(struct plan *plan, const struct plan *old, plan_drop *drop,
		       void *context);

#endif
