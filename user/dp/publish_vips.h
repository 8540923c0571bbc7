/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_PUBLISH_VIPS_H
#define FAIRLEAD_PUBLISH_VIPS_H

/*
 * The VIP part of a commit: the entries by which packets find their VIP
 * (core/services.h). Only what differs between the plans is written, services
 * before the address entries that lead to them, and deleted in reverse: at each
 * moment a packet finds the VIP of the one plan or of the other.
 */

#include "publish.h"

/* Insert or change what `to` has and `from` has not, or has otherwise. */
int publish_vips_write(struct kernel *k, const struct plan *from,
		       const struct plan *to, struct err *err);
/* Delete what `from` has and `to` has not. */
int publish_vips_delete(struct kernel *k, const struct plan *from,
			const struct plan *to, struct err *err);

int publish_vips_fd(const struct kernel *k, enum vip_map map);
/* enum vip_prefixes: which tries of prefixes the plan has something in. */
uint32_t publish_vips_prefixes(const struct plan *plan);

#endif
