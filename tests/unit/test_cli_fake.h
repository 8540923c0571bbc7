/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TEST_CLI_FAKE_H
#define FAIRLEAD_TEST_CLI_FAKE_H

/*
 * A daemon that says what it is told to: a child that takes one connection in
 * a directory of its own, greets, reads one line, and replies. What it read is
 * kept in a file, so that the test can look at it when the child has ended.
 */

#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "test_cli_all.h"

#define FAKE_GREETING \
	"{\"fairlead\": 1, \"version\": \"0.1.0\", \"instance\": \"main\"}\n"
#define FAKE_LIFE_S 60 /* if all else fails */

struct fake {
	char dir[64], path[96], request_path[96];
	pid_t pid;
	/* What it does after a reply. */
	int late_ms;
	const char *late; /* says this, so much later */
	int signal;	  /* sends it to the test; 0: none */
	int last_signal;  /* likewise, after the last reply only */
	bool holds;	  /* stays until the client goes */
};

static void fake_say(int fd, const char *text)
{
	size_t left = strlen(text);

	while (left > 0) {
		ssize_t n = send(fd, text, left, MSG_NOSIGNAL);

		if (n < 0)
			return;
		text += n;
		left -= (size_t)n;
	}
}

/* Keeps the line that comes, after those before it; 0 when the client goes away first. */
static int fake_listen(const struct fake *f, int fd)
{
	FILE *in = fdopen(dup(fd), "r"), *out = fopen(f->request_path, "a");
	int c = EOF;

	while ((c = getc(in)) != EOF && c != '\n')
		putc(c, out);
	if (c == '\n')
		putc(c, out);
	fclose(out);
	fclose(in);
	return c == '\n';
}

/* Whatever else comes is nobody's. */
static void fake_hold(int fd)
{
	char bytes[256];

	while (recv(fd, bytes, sizeof(bytes), 0) > 0)
		;
}

static void fake_after_reply(const struct fake *f, int fd)
{
	if (f->late) {
		usleep(1000 * f->late_ms);
		fake_say(fd, f->late);
	}
	if (f->signal)
		kill(getppid(), f->signal);
	if (f->holds)
		fake_hold(fd);
}

static void fake_serve(const struct fake *f, int listener, const char *greeting,
		       const char *reply)
{
	int fd = accept(listener, NULL, NULL);

	if (greeting)
		fake_say(fd, greeting);
	if ((!greeting || *greeting) && fake_listen(f, fd)) {
		if (reply) {
			fake_say(fd, reply);
			fake_after_reply(f, fd);
		} else {
			fake_listen(f, fd); /* silent until the client goes */
		}
	}
	close(fd);
}

/*
 * No greeting: silent. An empty one: hangs up at once. No reply: silent after
 * the request. A connection for each reply.
 */
static void fake_start_replies(struct fake *f, const char *greeting,
			       const char *const *replies, size_t n)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(f->dir, sizeof(f->dir), "/tmp/fairlead-test-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->path, sizeof(f->path), "%s/sock", f->dir);
	snprintf(f->request_path, sizeof(f->request_path), "%s/request", f->dir);
	strcpy(sun.sun_path, f->path);
	assert_int_equal(bind(listener, (struct sockaddr *)&sun, sizeof(sun)), 0);
	assert_int_equal(listen(listener, 1), 0);

	f->pid = fork();
	assert_true(f->pid >= 0);
	if (f->pid == 0) {
		/* A failed test jumps out and cleans nothing up. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(FAKE_LIFE_S);
		for (size_t i = 0; i < n; i++)
			fake_serve(f, listener, greeting, replies[i]);
		if (f->last_signal)
			kill(getppid(), f->last_signal);
		_exit(0);
	}
	close(listener);
}

static inline void fake_start(struct fake *f, const char *greeting,
			      const char *reply)
{
	fake_start_replies(f, greeting, &reply, 1);
}

static void fake_wait(struct fake *f)
{
	if (f->pid > 0)
		waitpid(f->pid, NULL, 0);
	f->pid = 0;
}

static void fake_stop(struct fake *f)
{
	if (f->pid > 0)
		kill(f->pid, SIGKILL);
	fake_wait(f);
	unlink(f->path);
	unlink(f->request_path);
	rmdir(f->dir);
}
#define _cleanup_fake_ _cleanup_(fake_stop)

/* All that the child was asked, once it has ended: a list. */
static inline json_t *fake_requests(struct fake *f)
{
	json_t *requests = json_array(), *request;
	FILE *file;

	fake_wait(f);
	file = fopen(f->request_path, "r");
	assert_non_null(file);
	while ((request = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL)))
		json_array_append_new(requests, request);
	fclose(file);
	assert_true(json_array_size(requests) > 0);
	return requests;
}

/* The last one. */
static inline json_t *fake_request(struct fake *f)
{
	json_auto_t *requests = fake_requests(f);

	return json_incref(
		json_array_get(requests, json_array_size(requests) - 1));
}

/* The reply that says so. */
#define FAKE_OK(result) "{\"id\": 1, \"ok\": true, \"result\": " result "}\n"

#endif
