// SPDX-License-Identifier: GPL-2.0-only
#include "task.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "checker.h"
#include "core/text.h"
#include "reason.h"
#include "sys/log.h"

#define SOON_MS 1000      /* the first run comes within that */
#define PUT_OFF_MS_MAX 10000
#define LATE_MS 100       /* a timer that is later says that this process is */
#define LATE_TOLD_MS 500  /* and an interval: a run that begins later is worth a word */
#define STARTS_A_TURN 16

static void run(struct task *task);

static const struct prober *const probers[CHECK__MAX] = {
	[CHECK_TCP] = &tcp_prober,     [CHECK_HTTP] = &http_prober,
	[CHECK_HTTPS] = &http_prober,  [CHECK_UDP] = &udp_prober,
	[CHECK_ICMP] = &icmp_prober,   [CHECK_EXEC] = &exec_prober,
};

static uint64_t now_ms(void)
{
	return uv_hrtime() / 1000000;
}

/*
 * The loop's own time is of when it last woke up. It is not renewed here: timers that
 * become due meanwhile would be called at once, and answers never be read.
 */
static void start_timer(struct task *task, uv_timer_cb callback, uint64_t delay)
{
	uint64_t now = now_ms(), loop_now = uv_now(&task->checker->loop);

	task->due = now + delay;
	uv_timer_start(&task->timer, callback, delay + (now > loop_now ? now - loop_now : 0),
		       0);
}

static void on_idle(uv_idle_t *idle)
{
	struct checker *checker = idle->data;
	struct task *task;

	for (int i = 0; i < STARTS_A_TURN && (task = TAILQ_FIRST(&checker->due)); i++) {
		TAILQ_REMOVE(&checker->due, task, next);
		run(task);
	}
	if (TAILQ_EMPTY(&checker->due))
		uv_idle_stop(idle);
}

static void make_due(struct task *task)
{
	struct checker *checker = task->checker;

	task->state = TASK_DUE;
	TAILQ_INSERT_TAIL(&checker->due, task, next);
	uv_idle_start(&checker->idle, on_idle);
}

static void on_turn(uv_timer_t *timer)
{
	make_due(timer->data);
}

int tasks_open(struct checker *checker, struct err *err)
{
	int rc = uv_idle_init(&checker->loop, &checker->idle);

	TAILQ_INIT(&checker->due);
	checker->idle.data = checker;
	return rc ? err_set(err, rc, "cannot make a queue: %s", uv_strerror(rc)) : 0;
}

void tasks_close(struct checker *checker)
{
	if (checker->idle.data)
		uv_close((uv_handle_t *)&checker->idle, NULL);
}

/* The run is over; its prober has nothing left of it. */
static void stop_run(struct task *task)
{
	uv_timer_stop(&task->timer);
	task->state = TASK_WAITS;
	task->prober->stop(task);
}

/*
 * When it comes late, an answer may have come in time and not been read yet: the run has
 * as much time again, once. It is not begun anew, for that would be yet more work for
 * who is late already.
 */
static void on_timeout(uv_timer_t *timer)
{
	struct task *task = timer->data;

	if (now_ms() > task->due + LATE_MS && !task->excused) {
		task->excused = true;
		start_timer(task, on_timeout, task->probe.check.timeout);
		return;
	}
	task_fail(task, "%s within %u ms", task->prober->missing(task),
		  task->probe.check.timeout);
}

/* Later than an interval: fewer runs than are configured. */
static void complain_if_late(struct task *task)
{
	uint64_t late = now_ms() - task->due;

	if (late <= task->probe.check.interval + LATE_TOLD_MS ||
	    !checker_complains(task->checker, COMPLAINT_LATE))
		return;
	log_warn("a check begins %llu ms late: fairlead-check has too little CPU time for all checks; they run less often than is configured",
		 (unsigned long long)late);
}

static void run(struct task *task)
{
	complain_if_late(task);
	task->state = TASK_RUNS;
	task_go_on(task);
	task->prober->start(task);
}

void task_go_on(struct task *task)
{
	task->began = now_ms();
	start_timer(task, on_timeout, task->probe.check.timeout);
}

void task_wait(struct task *task, void (*long_since)(uv_timer_t *timer))
{
	start_timer(task, long_since, task->probe.check.interval);
}

struct task *task_new(struct checker *checker, struct probe *probe)
{
	struct task *task = calloc(1, sizeof(*task));
	uint32_t soon = probe->check.interval < SOON_MS ? probe->check.interval : SOON_MS;

	if (!task)
		return NULL;
	task->checker = checker;
	task->probe = *probe;
	probe->check = (struct check){ 0 };
	task->prober = probers[task->probe.check.kind];
	uv_timer_init(&checker->loop, &task->timer);
	task->timer.data = task;
	start_timer(task, on_turn, checker_random(checker, soon));
	return task;
}

static void on_closed(uv_handle_t *handle)
{
	struct task *task = handle->data;

	check_clear(&task->probe.check);
	free(task);
}

void task_free(struct task *task)
{
	task->checker->unsettled -= task->pace.row > 0;
	if (task->state == TASK_RUNS)
		stop_run(task);
	else if (task->state == TASK_DUE)
		TAILQ_REMOVE(&task->checker->due, task, next);
	channel_forget(&task->checker->channel, &task->untold);
	uv_close((uv_handle_t *)&task->timer, on_closed);
}

/*
 * From the beginning of one run to that of the next. All first runs come within a
 * second; those after the first settled one are anywhere in the interval, so that load
 * is even after.
 */
static uint32_t pause_of(struct task *task)
{
	const struct check *check = &task->probe.check;
	struct checker *checker = task->checker;
	uint32_t pause = check_pace_pause(&task->pace, check, checker->unsettled);
	uint32_t spread = (uint64_t)pause * check->jitter / 100;

	if (!task->spread && !task->pace.row) {
		task->spread = true;
		return 1 + checker_random(checker, check->interval);
	}
	return pause - spread + checker_random(checker, 2 * spread + 1);
}

static void count(struct task *task, bool ok)
{
	bool before = task->pace.row > 0;

	check_pace_count(&task->pace, &task->probe.check, ok);
	task->checker->unsettled += (task->pace.row > 0) - before;
}

static void schedule(struct task *task)
{
	uint64_t now = now_ms(), next = task->began + pause_of(task);

	start_timer(task, on_turn, next > now ? next - now : 1);
}

static void tell(struct task *task, const struct probe_result *result)
{
	struct err err = { 0 };
	char *line = NULL;

	if (check_wire_result(result, &line, &err)) {
		log_error("result of probe %u: %s", result->id, err.text);
		return;
	}
	channel_tell(&task->checker->channel, &task->untold, line);
}

void task_finish(struct task *task, struct probe_result *result)
{
	stop_run(task);
	result->id = task->probe.id;
	result->ms = now_ms() - task->began;
	text_clean(result->reason);
	tell(task, result);
	task->excused = false;
	count(task, result->ok);
	schedule(task);
}

static void finish(struct task *task, bool ok, const char *format, va_list args)
{
	struct probe_result result = { .ok = ok, .weight = -1 };

	vsnprintf(result.reason, sizeof(result.reason), format, args);
	task_finish(task, &result);
}

void task_pass(struct task *task, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	finish(task, true, format, args);
	va_end(args);
}

void task_fail(struct task *task, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	finish(task, false, format, args);
	va_end(args);
}

/* Where there is too little for all, more tries would leave still less. */
static uint32_t put_off_ms(const struct task *task)
{
	uint32_t interval = task->probe.check.interval;

	if (interval > PUT_OFF_MS_MAX)
		return PUT_OFF_MS_MAX;
	return interval > SOON_MS ? interval : SOON_MS;
}

static void put_off(struct task *task, const char *what, int code)
{
	if (checker_complains(task->checker, COMPLAINT_SHORT))
		log_warn("%s: %s; putting off checks", what, reason_of_errno(-code));
	stop_run(task);
	task->excused = false;
	start_timer(task, on_turn, 1 + checker_random(task->checker, put_off_ms(task)));
}

bool task_is_shortage(int code)
{
	switch (code) {
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
	case ENOSPC:        /* of epoll_ctl(): max_user_watches */
	case EAGAIN:        /* of fork(), and of send() */
	case EADDRNOTAVAIL: /* of connect(): local ports */
		return true;
	default:
		return false;
	}
}

void task_fail_here(struct task *task, const char *what, int code)
{
	if (task_is_shortage(-code))
		put_off(task, what, code);
	else
		task_fail(task, "%s: %s", what, reason_of_errno(-code));
}

void task_fail_there(struct task *task, const char *what, int code)
{
	if (task_is_shortage(-code))
		put_off(task, what, code);
	else
		task_fail(task, "%s", reason_of_errno(-code));
}

static void on_failed_here(uv_timer_t *timer)
{
	struct task *task = timer->data;

	task_fail_here(task, task->failed_what, task->failed);
}

void task_fail_here_soon(struct task *task, const char *what, int code)
{
	task->failed_what = what;
	task->failed = code;
	uv_timer_start(&task->timer, on_failed_here, 0, 0);
}
