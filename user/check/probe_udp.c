// SPDX-License-Identifier: GPL-2.0-only
/*
 * udp: a datagram goes out and one comes back. The socket is connected, so the kernel
 * takes only what comes from the target, and tells when the target has refused.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checker.h"
#include "core/quote.h"
#include "sock.h"
#include "task.h"

struct udp_run {
	struct watch watch;
	struct task *task;
};

static void fail_by_errno(struct task *task, const char *what, int code)
{
	if (code == ECONNREFUSED)
		task_fail(task, "connection refused: nothing listens on the UDP port");
	else
		task_fail_there(task, what, -code);
}

static void on_ready(struct watch *watch, uint32_t events)
{
	struct udp_run *run = (struct udp_run *)watch;
	const char *expected = run->task->probe.check.receive;
	char buffer[CHECK_TEXT_MAX];
	ssize_t n = recv(watch->fd, buffer, sizeof(buffer), 0);

	(void)events;
	if (n < 0 && errno == EAGAIN)
		return;
	if (n < 0)
		fail_by_errno(run->task, "cannot receive", errno);
	else if (expected && ((size_t)n < strlen(expected) ||
			      memcmp(buffer, expected, strlen(expected)) != 0))
		task_fail(run->task, "the answer does not begin with %s", QUOTE(expected));
	else
		task_pass(run->task, "answered");
}

static int begin(struct udp_run *run, const char **what)
{
	const struct probe *probe = &run->task->probe;
	int rc = run->watch.fd = sock_open(probe, SOCK_DGRAM, 0, what);

	if (rc < 0)
		return rc;
	*what = "cannot watch a socket";
	return watch_add(&run->task->checker->watches, &run->watch, EPOLLIN);
}

static void udp_start(struct task *task)
{
	const char *text = task->probe.check.send ? task->probe.check.send : "";
	struct udp_run *run = task->run = calloc(1, sizeof(*run));
	const char *what = "cannot begin";
	struct sockaddr_storage address;
	int rc = -ENOMEM;

	if (run) {
		run->task = task;
		run->watch.ready = on_ready;
		rc = begin(run, &what);
	}
	if (rc < 0) {
		task_fail_here(task, what, rc);
		return;
	}
	/* EAGAIN is what the kernel says here when no local port is free. */
	if (connect(run->watch.fd, (struct sockaddr *)&address,
		    sock_address(&task->probe, &address)))
		fail_by_errno(task, "cannot connect",
			      errno == EAGAIN ? EADDRNOTAVAIL : errno);
	else if (send(run->watch.fd, text, strlen(text), MSG_NOSIGNAL) < 0)
		fail_by_errno(task, "cannot send", errno);
}

static void udp_stop(struct task *task)
{
	struct udp_run *run = task->run;

	task->run = NULL;
	if (!run)
		return;
	watch_close(&task->checker->watches, &run->watch);
	free(run);
}

static const char *udp_missing(const struct task *task)
{
	(void)task;
	return "no answer";
}

const struct prober udp_prober = { udp_start, udp_stop, udp_missing };
