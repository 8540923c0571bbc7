/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_PUBLISH_VIPS_H
#define FAIRLEAD_PUBLISH_VIPS_H

/*
 * The VIP part of a commit: entries of vips4 and vips6, among them the one of
 * each address (include/abi.h). Only what differs between the plans is written.
 */

#include "publish.h"

/* Insert or change what `to` has and `from` has not, or has otherwise. */
int publish_vips_write(struct kernel *k, const struct plan *from,
		       const struct plan *to, struct err *err);
/* Delete what `from` has and `to` has not. */
int publish_vips_delete(struct kernel *k, const struct plan *from,
			const struct plan *to, struct err *err);

#endif
