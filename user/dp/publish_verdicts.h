/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_PUBLISH_VERDICTS_H
#define FAIRLEAD_PUBLISH_VERDICTS_H

/*
 * How single VIPs use backends, in a commit: entries of verdicts. They are written
 * before the backends whose flags say that there are any, and deleted after the
 * backends and VIPs that had them: a flow is always treated as it was or as it is to
 * be.
 */

#include "publish.h"

/* Of enum backend_use, as packets read it: some of BACKEND_USE_FLAGS, and back. */
uint8_t publish_use_flags(uint8_t use);
uint8_t publish_use_by(uint8_t flags);

/* Insert or change what `to` has and `from` has not, or has otherwise. */
int publish_verdicts_write(struct kernel *k, const struct plan *from,
			   const struct plan *to, struct err *err);
/* Delete what `from` has and `to` has not. */
int publish_verdicts_delete(struct kernel *k, const struct plan *from,
			    const struct plan *to, struct err *err);

/*
 * Append what the map has to plan->verdicts, of those backends of the plan that say
 * that they have any: what an older program left behind is nobody's.
 */
int publish_verdicts_adopt(const struct kernel *k, struct plan *plan, struct err *err);

#endif
