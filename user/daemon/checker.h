/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CHECKER_H
#define FAIRLEAD_CHECKER_H

/*
 * The process that checks, fairlead-check, as the daemon sees it: started when there
 * is something to check, and again when it dies or hangs. It knows nothing that the
 * daemon does not, so that a new one is told everything anew and nothing is lost.
 */

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "core/check.h"
#include "core/err.h"

struct checker;

/* All are called on the loop's thread, with the context. */
struct checker_events {
	/* It runs, and knows no probe. */
	void (*started)(void *context);
	void (*result)(void *context, const struct probe_result *result);
	/* It is gone, or could not be started, and is tried again; `why`: a sentence. */
	void (*died)(void *context, const char *why);
};

/* Starts nothing yet. The events and the context must outlive it. -ENOMEM. */
int checker_new(uv_loop_t *loop, const struct checker_events *events, void *context,
		struct checker **out, struct err *err);
/*
 * The process ends, and so does all that its commands have started; that is waited for,
 * for some seconds at most. The rest is freed once the loop has turned. NULL is fine.
 */
void checker_close(struct checker *checker);

/*
 * Whether one is to run, as which user, and whether commands may be checks. One that
 * runs otherwise is replaced.
 */
void checker_want(struct checker *checker, bool wanted, const char *user, bool exec);

/* Nothing happens while none runs: events->started says when to tell everything. */
void checker_add(struct checker *checker, const struct probe *probe);
void checker_del(struct checker *checker, uint32_t id);

struct checker_status {
	int pid; /* 0: none runs */
	uint64_t restarts;
};

struct checker_status checker_status(const struct checker *checker);

#endif
