// SPDX-License-Identifier: GPL-2.0-only
/* tcp: a connection is made; something is sent, and the answer begins as it should. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checker.h"
#include "core/quote.h"
#include "sock.h"
#include "task.h"

struct tcp_run {
	struct watch watch;
	struct task *task;
	enum { CONNECTING, SENDING, RECEIVING } state;
	size_t sent, received; /* bytes of check.send and check.receive */
};

static size_t length_of(const char *text)
{
	return text ? strlen(text) : 0;
}

static void wait_for_answer(struct tcp_run *run)
{
	int rc = watch_change(&run->task->checker->watches, &run->watch, EPOLLIN);

	run->state = RECEIVING;
	if (rc)
		task_fail_here(run->task, "cannot watch a socket", rc);
}

static void receive(struct tcp_run *run)
{
	const char *expected = run->task->probe.check.receive;
	size_t left = strlen(expected) - run->received;
	char buffer[CHECK_TEXT_MAX];
	ssize_t n;

	n = recv(run->watch.fd, buffer, left < sizeof(buffer) ? left : sizeof(buffer), 0);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n < 0)
		task_fail_there(run->task, "cannot receive", -errno);
	else if (n == 0)
		task_fail(run->task, "closed the connection without the answer wanted");
	else if (memcmp(buffer, expected + run->received, n))
		task_fail(run->task, "the answer does not begin with %s", QUOTE(expected));
	else if ((size_t)n == left)
		task_pass(run->task, "answered");
	else
		run->received += n;
}

static void send_rest(struct tcp_run *run)
{
	const struct check *check = &run->task->probe.check;
	size_t left = length_of(check->send) - run->sent;
	ssize_t n = 0;

	if (left)
		n = send(run->watch.fd, check->send + run->sent, left, MSG_NOSIGNAL);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n < 0) {
		task_fail_there(run->task, "cannot send", -errno);
		return;
	}
	run->sent += n;
	if ((size_t)n < left)
		return;
	if (length_of(check->receive))
		wait_for_answer(run);
	else
		task_pass(run->task, "connected");
}

static void on_ready(struct watch *watch, uint32_t events)
{
	struct tcp_run *run = (struct tcp_run *)watch;
	int rc;

	(void)events;
	if (run->state == CONNECTING) {
		rc = sock_error(watch->fd);
		if (rc) {
			task_fail_there(run->task, "cannot connect", rc);
			return;
		}
		run->state = SENDING;
	}
	if (run->state == SENDING)
		send_rest(run);
	else
		receive(run);
}

static void tcp_start(struct task *task)
{
	struct sockaddr_storage address;
	struct tcp_run *run = task->run = calloc(1, sizeof(*run));
	socklen_t length = sock_address(&task->probe, &address);
	const char *what = "cannot begin";
	int rc = -ENOMEM;

	if (run) {
		run->task = task;
		run->watch = (struct watch){ .ready = on_ready };
		rc = run->watch.fd = sock_open(&task->probe, SOCK_STREAM, 0, &what);
	}
	if (rc >= 0 && connect(run->watch.fd, (struct sockaddr *)&address, length) &&
	    errno != EINPROGRESS) {
		task_fail_there(task, "cannot connect", -errno);
		return;
	}
	if (rc >= 0) {
		what = "cannot watch a socket";
		rc = watch_add(&task->checker->watches, &run->watch, EPOLLOUT);
	}
	if (rc < 0)
		task_fail_here(task, what, rc);
}

static void tcp_stop(struct task *task)
{
	struct tcp_run *run = task->run;

	task->run = NULL;
	if (!run)
		return;
	watch_close(&task->checker->watches, &run->watch);
	free(run);
}

static const char *tcp_missing(const struct task *task)
{
	const struct tcp_run *run = task->run;

	if (!run || run->state == CONNECTING)
		return "no answer";
	return run->received ? "no end of the answer" : "connected, but no answer";
}

const struct prober tcp_prober = { tcp_start, tcp_stop, tcp_missing };
