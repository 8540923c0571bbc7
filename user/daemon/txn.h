/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TXN_H
#define FAIRLEAD_TXN_H

/*
 * Transactions: the one way in which anything changes. Each makes the next plan
 * from the current one when its turn comes, so that two commands that arrive
 * together add up. Slow work runs on libuv's thread pool, one transaction at a
 * time; it is then committed on the loop's thread whole, or not at all.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "core/err.h"
#include "core/plan.h"

struct daemon;
struct txn;

/* Makes the plan to come; the running configuration is current->cfg. */
typedef int txn_make(void *context, const struct plan *current, struct plan **next,
		     struct err *err);

struct txn_changes {
	size_t vips_added, vips_removed, backends_added, backends_removed;
	size_t tables_changed;
	uint64_t map_writes;
};

/* rc 0: committed. Called once, on the loop's thread; frees the context. */
typedef void txn_done(void *context, int rc, const struct err *err,
		      const struct txn_changes *changes);

struct txn_queue {
	STAILQ_HEAD(, txn) waiting;
	struct txn *active;
	uint64_t applied, failed;
};

void txn_queue_init(struct txn_queue *queue);

/* Queue one. When it cannot be (-ENOMEM), done is called before returning. */
void txn_submit(struct daemon *d, txn_make *make, txn_done *done, void *context);

/* Run one now, on this thread, for the start. */
int txn_run(struct daemon *d, txn_make *make, void *context, struct err *err);

/* Most transactions are a new configuration: *cfg is taken on success. */
int txn_plan_cfg(struct cfg **cfg, const struct plan *current, struct plan **next,
		 struct err *err);

#endif
