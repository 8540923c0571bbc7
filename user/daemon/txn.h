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
#include <uv.h>

#include "core/err.h"
#include "core/plan.h"

struct daemon;
struct preview;
struct txn;

/* Makes the configuration to come from the one that runs, which stays. */
typedef int txn_make(void *context, const struct cfg *running, struct cfg **next,
		     struct err *err);

struct txn_changes {
	size_t vips_added, vips_removed, backends_added, backends_removed;
	size_t tables_changed; /* for a preview: that would be built */
	uint64_t map_writes;
};

/* rc 0: committed. Called once, on the loop's thread; frees the context. */
typedef void txn_done(void *context, int rc, const struct err *err,
		      const struct txn_changes *changes);

struct txn_request {
	txn_make *make; /* NULL: the running configuration, with health as it is */
	/* Draining backends and leavers that may go now; NULL: none. */
	plan_drop *release;
	/* Not NULL: fill it and change nothing. */
	struct preview *preview;
	bool attended; /* who asked is told when the request itself is wrong */
	txn_done *done;
	void *context; /* of all three calls */
};

/* Where the time of the last transaction that changed something went. */
struct txn_times {
	double plan_ms, build_ms, commit_ms;
};

struct txn_queue {
	STAILQ_HEAD(, txn) waiting;
	struct txn *active;
	/* failed: refused by the system, or with nobody there to be told. */
	uint64_t applied, failed;
	uint64_t configured; /* configurations that came into force, the same again too */
	struct txn_times times;
	uv_timer_t refresh;
	uint64_t refreshed_ms; /* when the last txn_refresh was queued, uv_now */
	bool behind; /* the last one has failed, and is tried again */
};

void txn_queue_init(struct txn_queue *queue, uv_loop_t *loop);

/* Queue one. When it cannot be (-ENOMEM), done is called before returning. */
void txn_submit(struct daemon *d, const struct txn_request *request);

/* Run one now, on this thread, for the start. */
int txn_run(struct daemon *d, txn_make *make, void *context, struct err *err);

/*
 * Health has changed: lay it over the tables, once for changes that come together, and
 * not sooner than the configuration's publish_interval after the last time. What
 * cannot be laid now is tried again until it can.
 */
void txn_refresh(struct daemon *d);

#endif
