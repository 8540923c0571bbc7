// SPDX-License-Identifier: GPL-2.0-only
/* How each VIP uses the backends that several VIPs share, or that it had before. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "plan.h"

static int compare_verdicts(const void *a, const void *b)
{
	const struct plan_verdict *x = a, *y = b;

	if (x->vip != y->vip)
		return x->vip < y->vip ? -1 : 1;
	return (x->backend > y->backend) - (x->backend < y->backend);
}

void plan_sort_verdicts(struct plan *plan)
{
	if (plan->n_verdicts)
		qsort(plan->verdicts, plan->n_verdicts, sizeof(*plan->verdicts),
		      compare_verdicts);
}

const struct plan_verdict *plan_find_verdict(const struct plan *plan, uint16_t vip,
					     uint16_t backend)
{
	struct plan_verdict key = { .vip = vip, .backend = backend };

	return plan->n_verdicts ? bsearch(&key, plan->verdicts, plan->n_verdicts,
					  sizeof(key), compare_verdicts) : NULL;
}
