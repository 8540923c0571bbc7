// SPDX-License-Identifier: GPL-2.0-only
#include "checker.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/random.h>

#include "core/fnv.h"
#include "task.h"

#define COMPLAIN_MS 60000 /* between two complaints of the same kind */

uint32_t checker_random(struct checker *checker, uint32_t limit)
{
	checker->random += GOLDEN_GAMMA;
	return (mix64(checker->random) >> 32) * limit >> 32;
}

bool checker_complains(struct checker *checker, enum complaint complaint)
{
	uint64_t now = uv_hrtime() / 1000000, *last = &checker->complained[complaint];

	if (*last && now - *last < COMPLAIN_MS)
		return false;
	*last = now;
	return true;
}

void checker_end(struct checker *checker, int status)
{
	if (checker->status < 0)
		checker->status = status;
	uv_stop(&checker->loop);
}

static struct task_list *bucket_of(struct checker *checker, uint32_t id)
{
	return &checker->tasks[mix64(id) % CHECKER_BUCKETS];
}

static struct task *find_task(struct checker *checker, uint32_t id)
{
	struct task *task;

	LIST_FOREACH(task, bucket_of(checker, id), others)
		if (task->probe.id == id)
			return task;
	return NULL;
}

static int add(struct checker *checker, struct probe *probe, struct err *err)
{
	struct task *task;

	if (find_task(checker, probe->id))
		return err_set(err, -EINVAL, "probe %u is there already", probe->id);
	task = task_new(checker, probe);
	if (!task)
		return err_set(err, -ENOMEM, "no memory");
	LIST_INSERT_HEAD(bucket_of(checker, task->probe.id), task, others);
	return 0;
}

static int del(struct checker *checker, uint32_t id, struct err *err)
{
	struct task *task = find_task(checker, id);

	if (!task)
		return err_set(err, -EINVAL, "there is no probe %u", id);
	LIST_REMOVE(task, others);
	task_free(task);
	return 0;
}

static int pong(struct checker *checker, uint32_t seq, struct err *err)
{
	char *line = NULL;
	int rc = check_wire_pong(seq, &line, err);

	if (rc)
		return rc;
	channel_tell(&checker->channel, &checker->pong, line);
	return 0;
}

int checker_take(struct checker *checker, struct check_message *message, struct err *err)
{
	int rc;

	switch (message->op) {
	case CHECK_ADD:
		rc = add(checker, &message->probe, err);
		check_clear(&message->probe.check); /* when it was not taken */
		return rc;
	case CHECK_DEL:
		return del(checker, message->id, err);
	case CHECK_PING:
		return pong(checker, message->seq, err);
	case CHECK_PONG:
	case CHECK_RESULT:
		break;
	}
	return err_set(err, -EINVAL, "it is one that fairlead-check sends");
}

static void on_signal(uv_signal_t *signal, int number)
{
	(void)number;
	checker_end(signal->data, EXIT_SUCCESS);
}

static int watch_signals(struct checker *checker, struct err *err)
{
	int rc = uv_signal_init(&checker->loop, &checker->sigterm);

	if (!rc)
		rc = uv_signal_init(&checker->loop, &checker->sigint);
	if (rc)
		return err_set(err, rc, "cannot watch signals: %s", uv_strerror(rc));
	checker->sigterm.data = checker->sigint.data = checker;
	uv_signal_start(&checker->sigterm, on_signal, SIGTERM);
	uv_signal_start(&checker->sigint, on_signal, SIGINT);
	return 0;
}

int checker_start(struct checker *checker, bool allow_exec, struct err *err)
{
	int rc;

	checker->status = -1;
	checker->allow_exec = allow_exec;
	checker->channel.fd = checker->watches.epoll_fd = -1;
	for (int i = 0; i < CHECKER_BUCKETS; i++)
		LIST_INIT(&checker->tasks[i]);
	rc = uv_loop_init(&checker->loop);
	if (rc)
		return err_set(err, rc, "cannot make a loop: %s", uv_strerror(rc));
	if (getrandom(&checker->random, sizeof(checker->random), 0) < 0)
		checker->random = uv_hrtime();
	rc = watch_signals(checker, err);
	if (!rc)
		rc = watches_open(&checker->watches, &checker->loop, err);
	if (!rc)
		rc = tasks_open(checker, err);
	if (!rc)
		rc = commands_open(checker, err);
	if (!rc)
		rc = channel_open(&checker->channel, checker, CHECK_WIRE_FD, err);
	return rc;
}

void checker_run(struct checker *checker)
{
	while (checker->status < 0)
		uv_run(&checker->loop, UV_RUN_DEFAULT);
}

static void free_tasks(struct checker *checker)
{
	struct task *task;

	for (int i = 0; i < CHECKER_BUCKETS; i++) {
		while ((task = LIST_FIRST(&checker->tasks[i]))) {
			LIST_REMOVE(task, others);
			task_free(task);
		}
	}
}

static void close_signal(uv_signal_t *signal)
{
	if (signal->data)
		uv_close((uv_handle_t *)signal, NULL);
}

void checker_stop(struct checker *checker)
{
	free_tasks(checker);
	tasks_close(checker);
	commands_close(checker);
	channel_forget(&checker->channel, &checker->pong);
	http_free(checker);
	pings_free(checker);
	channel_close(&checker->channel);
	watches_close(&checker->watches);
	close_signal(&checker->sigterm);
	close_signal(&checker->sigint);
	uv_run(&checker->loop, UV_RUN_DEFAULT);
	uv_loop_close(&checker->loop);
}
