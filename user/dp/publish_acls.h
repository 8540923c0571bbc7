/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_PUBLISH_ACLS_H
#define FAIRLEAD_PUBLISH_ACLS_H

/*
 * The lists of sources in a commit: entries of acls4 and acls6. They are written
 * before the VIPs that look them up, and deleted after those that looked them up
 * are gone or have no list any more.
 */

#include "publish.h"

/* Insert or change what `to` has and `from` has not, or has otherwise. */
int publish_acls_write(struct kernel *k, const struct plan *from,
		       const struct plan *to, struct err *err);
/* Delete what `from` has and `to` has not. */
int publish_acls_delete(struct kernel *k, const struct plan *from,
			const struct plan *to, struct err *err);

/* Append what the maps have to plan->acls. */
int publish_acls_adopt(const struct kernel *k, struct plan *plan, struct err *err);

#endif
