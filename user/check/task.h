/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TASK_H
#define FAIRLEAD_TASK_H

/*
 * A probe at work: when it runs, for how long, and what becomes of a run. Never are
 * there two runs of one task at once.
 *
 * What is due waits in a queue, of which the loop takes a few each time that it turns:
 * however much there is to do, answers are read between, and a machine that cannot keep
 * up checks less often. A run that ends by its timeout while the loop itself was late
 * says more of this machine than of the target: it is repeated, once. One that could not
 * begin because files or memory are short here is put off, and no result is told.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <uv.h>

#include "channel.h"
#include "core/check.h"
#include "core/check_pace.h"

struct checker;
struct task;

/* How checks of one kind are run. */
struct prober {
	/*
	 * Begins a run, which ends by one of task_pass(), task_fail(), task_finish()
	 * and task_put_off(), now or later. The task must not be touched after that.
	 */
	void (*start)(struct task *task);
	/* Gives back all that the run holds; called once for each start. */
	void (*stop)(struct task *task);
	/* What has not come when time is over: "no answer". */
	const char *(*missing)(const struct task *task);
};

extern const struct prober tcp_prober, udp_prober, http_prober, icmp_prober, exec_prober;

struct task {
	LIST_ENTRY(task) others;
	TAILQ_ENTRY(task) next; /* of those that are due */
	struct checker *checker;
	struct probe probe;
	const struct prober *prober;
	struct channel_slot untold; /* its newest result, while fairleadd does not read */
	int failed; /* of task_fail_here_soon(), as is the next */
	const char *failed_what;
	uv_timer_t timer; /* until the next run, or until the run must be over */
	uint64_t due;     /* of the timer; monotonic ms, as is the next */
	uint64_t began;   /* of the run */
	enum { TASK_WAITS, TASK_DUE, TASK_RUNS } state;
	struct check_pace pace;
	bool excused, spread; /* spread: its runs are where chance has put them */
	void *run; /* of the prober, while it runs */
};

/* The queue of those that are due. */
int tasks_open(struct checker *checker, struct err *err);
void tasks_close(struct checker *checker);

/* Takes the check out of *probe. NULL: no memory. */
struct task *task_new(struct checker *checker, struct probe *probe);
/* A run is stopped; freed when the loop next turns. */
void task_free(struct task *task);

void task_pass(struct task *task, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void task_fail(struct task *task, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* As above; id, ms and what is not printable in the reason are set here. */
void task_finish(struct task *task, struct probe_result *result);

/* Of an errno: this host has too little of something. It says nothing of the backend. */
bool task_is_shortage(int code);
/*
 * The code is -errno of something that failed here, and `what` says what did. When
 * something of this host is short, the run is put off instead: no result is told.
 */
void task_fail_here(struct task *task, const char *what, int code);
/* The same where the code is mostly of the other side or the way to it, as of connect(). */
void task_fail_there(struct task *task, const char *what, int code);
/* task_fail_here() when the loop next turns. `what` stays where it is until then. */
void task_fail_here_soon(struct task *task, const char *what, int code);

/*
 * The run waits for its turn: its time has not begun. long_since() is called once when
 * it has waited for an interval.
 */
void task_wait(struct task *task, void (*long_since)(uv_timer_t *timer));
/* Its turn has come: its time begins. */
void task_go_on(struct task *task);

#endif
