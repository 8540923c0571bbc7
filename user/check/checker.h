/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CHECKER_H
#define FAIRLEAD_CHECKER_H

/*
 * fairlead-check in one piece: one thread, one loop. fairleadd tells through the
 * channel which probes there are. Each is a task, which runs its probe every interval
 * by the prober of its kind, and tells the result.
 *
 *   channel --add, del--> tasks --start, stop--> prober (tcp, udp, http, icmp, exec)
 *           <--results---       <-pass, fail---
 *
 * What runs here is told by fairleadd, which is trusted; what answers is not: all that
 * a server or a command can make it keep is bounded for each task.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <uv.h>

#include "channel.h"
#include "commands.h"
#include "core/check.h"
#include "watch.h"

#define CHECKER_BUCKETS 16384

struct task;
struct http;
struct pings;

/* What is said once a minute, of each. */
enum complaint {
	COMPLAINT_SHORT, /* something is short, and checks are put off */
	COMPLAINT_LATE,  /* checks begin late */
	COMPLAINT_TURN,  /* commands wait for long */
	COMPLAINT__MAX
};

LIST_HEAD(task_list, task);
TAILQ_HEAD(task_queue, task);

struct checker {
	uv_loop_t loop;
	struct watches watches;
	struct channel channel;
	struct channel_slot pong;
	struct commands commands;
	struct http *http;   /* NULL until the first HTTP check */
	struct pings *pings; /* NULL until prepared, or the first echo */
	struct task_list tasks[CHECKER_BUCKETS]; /* by id */
	struct task_queue due;
	uint32_t unsettled; /* tasks; core/check_pace.h */
	uv_idle_t idle; /* takes them */
	uv_signal_t sigterm, sigint;
	uint64_t random;
	uint64_t complained[COMPLAINT__MAX]; /* when each was last said; monotonic ms */
	bool allow_exec;
	int status; /* to exit with */
};

int checker_start(struct checker *checker, bool allow_exec, struct err *err);
/* Until the channel ends, or a signal. */
void checker_run(struct checker *checker);
/* All that was started is stopped and given back, also after a failed start. */
void checker_stop(struct checker *checker);
/* The loop is left; to be called from within it. */
void checker_end(struct checker *checker, int status);

/* A message has come; -EINVAL with a sentence when it makes no sense. */
int checker_take(struct checker *checker, struct check_message *message,
		 struct err *err);

/* Whether it is to be said now; counts as said then. */
bool checker_complains(struct checker *checker, enum complaint complaint);

/* Below `limit`, which is not 0. For the times of runs, no secret. */
uint32_t checker_random(struct checker *checker, uint32_t limit);

/* Of probe_icmp.c and http.c: what they have in common for all tasks. */
void pings_prepare(struct checker *checker); /* as root; what fails is tried later */
void pings_free(struct checker *checker);
void http_free(struct checker *checker);

#endif
