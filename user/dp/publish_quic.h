/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_PUBLISH_QUIC_H
#define FAIRLEAD_PUBLISH_QUIC_H

/*
 * The server ids of QUIC VIPs in a commit: entries of quic_servers. They are
 * written before the VIPs that look them up, and deleted when no packet may look
 * them up any more.
 */

#include "publish.h"

/* Insert or change what `to` has and `from` has not, or has otherwise. */
int publish_quic_write(struct kernel *k, const struct plan *from,
		       const struct plan *to, struct err *err);
/* Delete what `from` has and `to` has not. */
int publish_quic_delete(struct kernel *k, const struct plan *from,
			const struct plan *to, struct err *err);

/* Append what the map has to plan->servers. */
int publish_quic_adopt(const struct kernel *k, struct plan *plan, struct err *err);

#endif
