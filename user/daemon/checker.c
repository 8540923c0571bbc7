// SPDX-License-Identifier: GPL-2.0-only
#include "checker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/cleanup.h"
#include "sys/log.h"
#include "sys/log_relay.h"
#include "sys/strays.h"

#define PROGRAM "fairlead-check"
#define RESTART_MS_MIN 100
#define RESTART_MS_MAX 10000
#define LONG_LIFE_MS 60000 /* after which the next start is soon again */
#define PING_MS 2000
/* Without an answer: it hangs, and no machine is that slow. */
#define PINGS_UNANSWERED_MAX 10
/* It does not read what it is told. */
#define BACKLOG_MAX (64 * 1024 * 1024)
/* It ends when its channel does, and kills what it has started; then it is killed. */
#define END_MS 2000
/* What it has left behind is killed, again and again, since it may go on forking. */
#define SWEEP_MS 20
#define SWEEPS_MAX 250

struct checker {
	uv_loop_t *loop;
	const struct checker_events *events;
	void *context;

	bool wanted, exec, closing;
	char user[33];

	/* All that are not freed yet, and of them the one that is to run. */
	LIST_HEAD(, child) children;
	struct child *child;
	uint64_t restarts, started_ms;
	unsigned int restart_ms;

	uv_timer_t timer; /* the next start, or the next ping */
	uint32_t seq;
	unsigned int unanswered;
};

/*
 * One process and the pipe to it. It outlives its place in `checker` until all is closed:
 * it has time to end well, and then its strays are killed.
 */
struct child {
	LIST_ENTRY(child) others;
	struct checker *checker; /* NULL: no longer its child */
	struct strays strays;
	unsigned int sweeps;
	uv_timer_t timer; /* once it was left: it must be over, or the next sweep */
	uv_process_t process;
	uv_pipe_t pipe;
	struct log_relay log; /* of its stderr */
	bool exited, listed;
	unsigned int open; /* of its four handles */
	char *in;
	size_t in_length;
};

static void on_timer(uv_timer_t *timer);

static void child_handle_closed(uv_handle_t *handle)
{
	struct child *child = handle->data;

	if (--child->open)
		return;
	if (child->listed)
		LIST_REMOVE(child, others);
	free(child->in);
	free(child);
}

static void handle_close(uv_handle_t *handle)
{
	if (!uv_is_closing(handle))
		uv_close(handle, child_handle_closed);
}

static bool child_is(const void *context, pid_t pid)
{
	const struct checker *c = context;
	const struct child *child;

	LIST_FOREACH(child, &c->children, others)
		if (!child->exited && uv_process_get_pid(&child->process) == pid)
			return true;
	return false;
}

/* It has ended. */
static void child_sweep(uv_timer_t *timer)
{
	struct child *child = timer->data;
	size_t left = strays_kill(&child->strays);

	if (left && child->sweeps++ < SWEEPS_MAX) {
		uv_timer_start(timer, child_sweep, SWEEP_MS, 0);
		return;
	}
	if (left)
		log_warn("%zu processes that commands of checks have left behind were killed and do not end",
			 left);
	handle_close((uv_handle_t *)timer);
}

static void child_overdue(uv_timer_t *timer)
{
	struct child *child = timer->data;

	uv_process_kill(&child->process, SIGKILL);
}

/* Let go of it: it ends with its channel, or is killed. */
static void child_leave(struct child *child)
{
	child->checker = NULL;
	handle_close((uv_handle_t *)&child->pipe);
	handle_close((uv_handle_t *)&child->log.pipe);
	if (!child->exited)
		uv_timer_start(&child->timer, child_overdue, END_MS, 0);
	else
		child_sweep(&child->timer);
	/* Else it is closed when it has been waited for. */
	if (child->exited && child->process.loop)
		handle_close((uv_handle_t *)&child->process);
}

/* False: it has not ended within that time. */
static bool ends_within(pid_t pid, int ms)
{
	_cleanup_close_ int fd = pidfd_open(pid, 0);
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return fd < 0 || poll(&poll_fd, 1, ms) > 0;
}

/* The loop turns no more: its end is waited for here, and that of what it leaves. */
static void child_end(struct child *child)
{
	pid_t pid = child->exited ? 0 : uv_process_get_pid(&child->process);

	if (pid && !ends_within(pid, END_MS)) {
		kill(pid, SIGKILL);
		ends_within(pid, END_MS);
	}
	if (pid)
		waitpid(pid, NULL, WNOHANG);
	child->exited = true;
	while (strays_kill(&child->strays) && child->sweeps++ < SWEEPS_MAX)
		poll(NULL, 0, SWEEP_MS);
	if (child->process.loop)
		handle_close((uv_handle_t *)&child->process);
	handle_close((uv_handle_t *)&child->timer);
}

/* The next start waits longer each time, unless this one had gone well. */
static void checker_lost(struct checker *c, const char *why)
{
	if (c->child)
		child_leave(TAKE_PTR(c->child));
	if (c->closing || !c->wanted)
		return;
	if (uv_now(c->loop) - c->started_ms > LONG_LIFE_MS)
		c->restart_ms = RESTART_MS_MIN;
	c->restarts++;
	uv_timer_start(&c->timer, on_timer, c->restart_ms, 0);
	c->restart_ms = 2 * c->restart_ms > RESTART_MS_MAX ? RESTART_MS_MAX :
							     2 * c->restart_ms;
	c->events->died(c->context, why);
}

static void child_exited(uv_process_t *process, int64_t status, int signal)
{
	struct child *child = process->data;
	char why[80];

	child->exited = true;
	if (!child->checker) {
		handle_close((uv_handle_t *)process);
		child_sweep(&child->timer);
		return;
	}
	log_relay_rest(&child->log); /* which may say why it has ended */
	if (signal)
		snprintf(why, sizeof(why), PROGRAM " was ended by signal %d", signal);
	else
		snprintf(why, sizeof(why), PROGRAM " has ended with exit status %d",
			 (int)status);
	checker_lost(child->checker, why);
}

/*
 * It answers in order, so what is unanswered are the pings since. Our loop may be late,
 * too, and read an answer after the next ping.
 */
static void checker_pong(struct checker *c, uint32_t seq)
{
	uint32_t since = c->seq - seq;

	if (since < c->unanswered)
		c->unanswered = since;
}

static void child_message(struct child *child, const struct check_message *message)
{
	struct checker *c = child->checker;

	if (message->op == CHECK_RESULT)
		c->events->result(c->context, &message->result);
	else if (message->op == CHECK_PONG)
		checker_pong(c, message->seq);
}

/* False: what it says is not understood. */
static bool child_line(struct child *child, const char *line, size_t length)
{
	struct check_message message = { 0 };
	char why[600];
	struct err err;

	if (!check_wire_parse(line, length, &message, &err)) {
		child_message(child, &message);
		check_clear(&message.probe.check);
		return true;
	}
	snprintf(why, sizeof(why), PROGRAM " is not understood: %s", err.text);
	checker_lost(child->checker, why);
	return false;
}

static void child_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct child *child = stream->data;
	char *line = child->in, *end;

	(void)buf;
	if (!child->checker)
		return;
	if (n < 0) {
		/* How it ended is known in a moment; when it has not, it is told to. */
		uv_process_kill(&child->process, SIGKILL);
		uv_read_stop(stream);
		return;
	}
	child->in_length += n;
	while (child->checker &&
	       (end = memchr(line, '\n', child->in + child->in_length - line))) {
		if (!child_line(child, line, end - line))
			return;
		line = end + 1;
	}
	if (!child->checker)
		return;
	child->in_length -= line - child->in;
	memmove(child->in, line, child->in_length);
	if (child->in_length == CHECK_WIRE_LINE_MAX)
		checker_lost(child->checker, PROGRAM " has sent a line without an end");
}

static void child_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	struct child *child = handle->data;

	(void)suggested;
	*buf = uv_buf_init(child->in + child->in_length,
			   CHECK_WIRE_LINE_MAX - child->in_length);
}

/* Beside our own program, wherever that is. */
static int program_path(char *path, size_t size, struct err *err)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 1);
	char *name;

	if (n < 0)
		return err_set(err, -errno, "cannot read '/proc/self/exe': %s",
			       strerror(errno));
	path[n] = '\0';
	name = strrchr(path, '/') + 1;
	if (name + sizeof(PROGRAM) > path + size)
		return err_set(err, -ENAMETOOLONG, "the path of fairleadd is too long");
	strcpy(name, PROGRAM);
	return 0;
}

static int child_spawn(struct checker *c, struct child *child, int fd, struct err *err)
{
	char path[4096], user[40];
	char *args[] = { path, user, c->exec ? "--allow-exec" : NULL, NULL };
	uv_stdio_container_t stdio[] = {
		{ .flags = UV_IGNORE },
		{ .flags = UV_IGNORE },
		{ .flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE,
		  .data.stream = (uv_stream_t *)&child->log.pipe },
		{ .flags = UV_INHERIT_FD, .data.fd = fd },
	};
	uv_process_options_t options = { .exit_cb = child_exited, .file = path, .args = args,
					 .stdio = stdio, .stdio_count = 4 };
	int rc = program_path(path, sizeof(path), err);

	if (rc)
		return rc;
	snprintf(user, sizeof(user), "--user=%s", c->user);
	rc = uv_spawn(c->loop, &child->process, &options);
	child->process.data = child;
	child->open++; /* initialised also when it fails */
	child->exited = rc;
	if (!rc)
		return 0;
	return err_set(err, rc, "cannot start '%s': %s", path, uv_strerror(rc));
}

/* On failure whatever was opened is being closed. */
static int child_start(struct checker *c, struct child *child, struct err *err)
{
	uv_os_sock_t fds[2];
	int rc = uv_socketpair(SOCK_STREAM, 0, fds, UV_NONBLOCK_PIPE, 0);

	if (rc)
		return err_set(err, rc, "cannot open a socket pair: %s", uv_strerror(rc));
	uv_pipe_init(c->loop, &child->pipe, 0);
	uv_pipe_init(c->loop, &child->log.pipe, 0);
	uv_timer_init(c->loop, &child->timer);
	child->pipe.data = child->log.pipe.data = child->timer.data = child;
	child->open = 3;
	child->strays = (struct strays){ .uid = strays_uid(c->user),
					 .since = strays_now(),
					 .is_ours = child_is,
					 .context = c };
	LIST_INSERT_HEAD(&c->children, child, others);
	child->listed = true;
	rc = uv_pipe_open(&child->pipe, fds[0]);
	if (rc) {
		close(fds[0]);
		err_set(err, rc, "cannot use a socket pair: %s", uv_strerror(rc));
	}
	if (!rc)
		rc = child_spawn(c, child, fds[1], err);
	close(fds[1]);
	if (rc)
		return rc;
	log_relay_start(&child->log);
	return uv_read_start((uv_stream_t *)&child->pipe, child_alloc, child_read);
}

static void checker_start(struct checker *c)
{
	struct child *child = calloc(1, sizeof(*child));
	struct err err;

	if (child)
		child->in = malloc(CHECK_WIRE_LINE_MAX);
	if (!child || !child->in) {
		free(child);
		checker_lost(c, "no memory to start " PROGRAM);
		return;
	}
	c->started_ms = uv_now(c->loop);
	child->checker = c;
	child->exited = true; /* until there is a process to kill */
	c->child = child;
	c->unanswered = 0;
	if (child_start(c, child, &err)) {
		if (!child->open) {
			free(child->in);
			free(TAKE_PTR(c->child));
		}
		checker_lost(c, err.text);
		return;
	}
	uv_timer_start(&c->timer, on_timer, PING_MS, 0);
	c->events->started(c->context);
}

struct message {
	uv_write_t write;
	char *line;
};

static void message_written(uv_write_t *write, int status)
{
	struct message *message = write->data;

	(void)status; /* its end is told by child_read and child_exited */
	free(message->line);
	free(message);
}

/* Takes `line`, whose NUL becomes the newline. */
static void checker_send(struct checker *c, int rc, char *line)
{
	struct message *message = rc ? NULL : calloc(1, sizeof(*message));
	size_t length;
	uv_buf_t buf;

	if (!message || !c->child) {
		free(message);
		if (!rc)
			free(line);
		return;
	}
	length = strlen(line);
	line[length] = '\n';
	message->line = line;
	message->write.data = message;
	buf = uv_buf_init(line, length + 1);
	if (uv_write(&message->write, (uv_stream_t *)&c->child->pipe, &buf, 1,
		     message_written)) {
		free(line);
		free(message);
	}
}

static void checker_ping(struct checker *c)
{
	char *line = NULL;
	int rc;

	if (++c->unanswered > PINGS_UNANSWERED_MAX ||
	    uv_stream_get_write_queue_size((uv_stream_t *)&c->child->pipe) > BACKLOG_MAX) {
		uv_process_kill(&c->child->process, SIGKILL);
		checker_lost(c, PROGRAM " hangs: it does not answer");
		return;
	}
	uv_timer_start(&c->timer, on_timer, PING_MS, 0);
	rc = check_wire_ping(++c->seq, &line, NULL);
	checker_send(c, rc, line);
}

static void on_timer(uv_timer_t *timer)
{
	struct checker *c = timer->data;

	if (c->child)
		checker_ping(c);
	else if (c->wanted)
		checker_start(c);
}

int checker_new(uv_loop_t *loop, const struct checker_events *events, void *context,
		struct checker **out, struct err *err)
{
	struct checker *c = calloc(1, sizeof(*c));

	if (!c)
		return err_set(err, -ENOMEM, "out of memory");
	*c = (struct checker){ .loop = loop, .events = events, .context = context,
			       .restart_ms = RESTART_MS_MIN };
	LIST_INIT(&c->children);
	uv_timer_init(loop, &c->timer);
	c->timer.data = c;
	strays_adopt();
	*out = c;
	return 0;
}

static void checker_freed(uv_handle_t *handle)
{
	free(handle->data);
}

void checker_close(struct checker *c)
{
	struct child *child;

	if (!c)
		return;
	c->closing = true;
	if (c->child)
		child_leave(TAKE_PTR(c->child));
	while ((child = LIST_FIRST(&c->children))) {
		LIST_REMOVE(child, others);
		child->listed = false;
		child_end(child);
	}
	uv_close((uv_handle_t *)&c->timer, checker_freed);
}

void checker_want(struct checker *c, bool wanted, const char *user, bool exec)
{
	bool same = c->exec == exec && !strcmp(c->user, user);

	if (wanted == c->wanted && same)
		return;
	c->wanted = wanted;
	c->exec = exec;
	snprintf(c->user, sizeof(c->user), "%s", user);
	if (c->child)
		child_leave(TAKE_PTR(c->child));
	uv_timer_stop(&c->timer);
	if (wanted)
		checker_start(c);
}

void checker_add(struct checker *c, const struct probe *probe)
{
	char *line = NULL;
	struct err err;
	int rc;

	if (!c->child)
		return;
	rc = check_wire_add(probe, &line, &err);
	if (rc)
		log_error("a check cannot be told to " PROGRAM ": %s", err.text);
	checker_send(c, rc, line);
}

void checker_del(struct checker *c, uint32_t id)
{
	char *line = NULL;
	int rc;

	if (!c->child)
		return;
	rc = check_wire_del(id, &line, NULL);
	checker_send(c, rc, line);
}

struct checker_status checker_status(const struct checker *c)
{
	return (struct checker_status){
		.pid = c->child ? uv_process_get_pid(&c->child->process) : 0,
		.restarts = c->restarts,
	};
}
