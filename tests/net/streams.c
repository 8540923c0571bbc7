// SPDX-License-Identifier: GPL-2.0-only
/*
 * Long-lived connections beside new ones, for tests of changes under load.
 *
 *   streams serve PORT NAME
 *
 * answers each connection with "NAME\n" and then with whatever it is sent.
 *
 *   streams hold ADDRESS PORT HELD RATE PROGRESS-FILE
 *
 * keeps HELD connections open, each of which sends eight bytes ten times a second and
 * waits for them to come back, and opens RATE more a second, which end after their
 * first exchange. A connection that fails is counted under the name of its backend,
 * and one that was held is opened again. Runs until SIGTERM, then prints a JSON object
 * and exits with 0 when none failed. PROGRESS-FILE holds how many are held with their
 * name known, how many exchanges were good, how many new ones, how many failed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/tool.h"

#define STREAMS_MAX 4096
#define BACKENDS_MAX 16
#define NAME_MAX_BYTES 32
#define WORD 8
#define BEAT_MS 100
/* A lost SYN comes again after 1, 3 and 7 seconds, and what is sent likewise. */
#define TIMEOUT_MS 15000

static void die(const char *what)
{
	fprintf(stderr, "streams: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* serve */

static void serve_one(int fd)
{
	char bytes[4096];
	ssize_t n = recv(fd, bytes, sizeof(bytes), 0);

	if (n > 0 && send(fd, bytes, n, MSG_NOSIGNAL) == n)
		return;
	if (n < 0 && errno == EAGAIN)
		return;
	close(fd);
}

static void serve_accept(int epoll, int listener, const char *name)
{
	struct epoll_event event = { .events = EPOLLIN };
	char line[NAME_MAX_BYTES + 2];

	event.data.fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (event.data.fd < 0)
		return;
	snprintf(line, sizeof(line), "%.*s\n", NAME_MAX_BYTES, name);
	if (send(event.data.fd, line, strlen(line), MSG_NOSIGNAL) < 0 ||
	    epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event))
		close(event.data.fd);
}

static int serve(const char *port, const char *name)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6,
				    .sin6_port = htons(atoi(port)) };
	int listener = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = { .events = EPOLLIN, .data.fd = listener };
	struct epoll_event events[64];
	int i, n;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (listener < 0 || epoll < 0 || bind(listener, (void *)&any, sizeof(any)) ||
	    listen(listener, 4096) || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event))
		die("serve");
	while (!tool_stopping) {
		n = epoll_wait(epoll, events, 64, 1000);
		for (i = 0; i < n; i++) {
			if (events[i].data.fd == listener)
				serve_accept(epoll, listener, name);
			else
				serve_one(events[i].data.fd);
		}
	}
	return 0;
}

/* hold */

enum stream_state { STREAM_CLOSED, STREAM_OPENS, STREAM_NAMED, STREAM_WAITS };

struct stream {
	int fd;
	enum stream_state state;
	bool held;
	int64_t since, beat; /* of the state; when it speaks again */
	char name[NAME_MAX_BYTES + 1];
	size_t got; /* of the name, or of the word */
};

struct backend {
	char name[NAME_MAX_BYTES + 1];
	unsigned long streams, failed;
};

struct holder {
	struct sockaddr_storage to;
	socklen_t to_size;
	int epoll, progress;
	struct stream streams[STREAMS_MAX];
	size_t held, open;
	double rate;
	int64_t begun;
	unsigned long opened; /* of the new ones */
	unsigned long good, fresh, failed;
	char first_failure[160];
	struct backend backends[BACKENDS_MAX];
};

static struct backend *backend_of(struct holder *h, const char *name)
{
	size_t i;

	for (i = 0; i < BACKENDS_MAX - 1; i++) {
		if (!h->backends[i].name[0])
			strcpy(h->backends[i].name, name);
		if (!strcmp(h->backends[i].name, name))
			break;
	}
	return &h->backends[i];
}

static void stream_close(struct holder *h, struct stream *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	s->state = STREAM_CLOSED;
	h->open--;
}

static void stream_failed(struct holder *h, struct stream *s, const char *why)
{
	static const char *const steps[] = { "", "before its name", "idle",
					     "waiting for an answer" };
	const char *name = s->state == STREAM_OPENS ? "-" : s->name;

	if (!h->failed++)
		snprintf(h->first_failure, sizeof(h->first_failure), "%s %s to %s: %s",
			 s->held ? "held" : "new", steps[s->state], name, why);
	backend_of(h, name)->failed++;
	stream_close(h, s);
}

static void stream_open(struct holder *h, struct stream *s)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLRDHUP, .data.ptr = s };

	s->fd = socket(h->to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (s->fd < 0)
		die("socket");
	s->state = STREAM_OPENS;
	s->since = tool_now_ms();
	s->got = 0;
	h->open++;
	if (connect(s->fd, (struct sockaddr *)&h->to, h->to_size) && errno != EINPROGRESS)
		stream_failed(h, s, strerror(errno));
	else
		epoll_ctl(h->epoll, EPOLL_CTL_ADD, s->fd, &event);
}

/* The name has come, or the word is back. */
static void stream_answered(struct holder *h, struct stream *s)
{
	if (s->state == STREAM_OPENS) {
		backend_of(h, s->name)->streams++;
	} else {
		h->good++;
		if (!s->held) {
			h->fresh++;
			stream_close(h, s);
			return;
		}
	}
	s->state = STREAM_NAMED;
	s->got = 0;
	s->beat = tool_now_ms() + (s->held ? BEAT_MS : 0);
}

static void stream_take(struct holder *h, struct stream *s, const char *bytes, size_t n)
{
	size_t i;

	if (s->state == STREAM_NAMED) {
		stream_failed(h, s, "what was not asked for");
		return;
	}
	for (i = 0; i < n; i++) {
		if (s->state == STREAM_OPENS && bytes[i] == '\n') {
			s->name[s->got] = '\0';
			stream_answered(h, s);
			return;
		}
		if (s->state == STREAM_OPENS)
			s->name[s->got] = bytes[i];
		if (++s->got > NAME_MAX_BYTES) {
			stream_failed(h, s, "an answer that is too long");
			return;
		}
	}
	if (s->state == STREAM_WAITS && s->got >= WORD)
		stream_answered(h, s);
}

static void stream_read(struct holder *h, struct stream *s)
{
	char bytes[256];
	ssize_t n = recv(s->fd, bytes, sizeof(bytes), 0);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n < 0)
		stream_failed(h, s, strerror(errno));
	else if (n == 0)
		stream_failed(h, s, "the other side has closed");
	else
		stream_take(h, s, bytes, n);
}

static void stream_step(struct holder *h, struct stream *s, int64_t now)
{
	if (s->state == STREAM_NAMED && tool_stopping) {
		stream_close(h, s);
	} else if (s->state == STREAM_NAMED && now >= s->beat) {
		s->state = STREAM_WAITS;
		s->since = now;
		if (send(s->fd, "fairlead", WORD, MSG_NOSIGNAL) != WORD)
			stream_failed(h, s, strerror(errno));
	} else if ((s->state == STREAM_OPENS || s->state == STREAM_WAITS) &&
		   now - s->since > TIMEOUT_MS) {
		stream_failed(h, s, "timeout");
	}
}

/* A place for one that is not held. NULL: all are taken. */
static struct stream *free_stream(struct holder *h)
{
	size_t i;

	for (i = h->held; i < STREAMS_MAX; i++)
		if (h->streams[i].state == STREAM_CLOSED)
			return &h->streams[i];
	return NULL;
}

static void open_due(struct holder *h, int64_t now)
{
	unsigned long due = (now - h->begun) * h->rate / 1000;
	struct stream *s;
	size_t i;

	for (i = 0; i < h->held; i++)
		if (h->streams[i].state == STREAM_CLOSED)
			stream_open(h, &h->streams[i]);
	for (; h->opened < due; h->opened++) {
		s = free_stream(h);
		if (s)
			stream_open(h, s);
	}
}

static void write_progress(const struct holder *h)
{
	unsigned long named = 0;
	char text[128];
	size_t i;
	int n;

	for (i = 0; i < h->held; i++)
		named += h->streams[i].state >= STREAM_NAMED;
	n = snprintf(text, sizeof(text), "%lu %lu %lu %lu\n", named, h->good, h->fresh,
		     h->failed);
	if (pwrite(h->progress, text, n, 0) != n || ftruncate(h->progress, n))
		die("progress");
}

static void step(struct holder *h)
{
	struct epoll_event events[64];
	int i, n = epoll_wait(h->epoll, events, 64, 10);
	int64_t now = tool_now_ms();
	struct stream *s;

	for (i = 0; i < n; i++) {
		s = events[i].data.ptr;
		if (s->state != STREAM_CLOSED)
			stream_read(h, s);
	}
	for (s = h->streams; s < h->streams + STREAMS_MAX; s++)
		if (s->state != STREAM_CLOSED)
			stream_step(h, s, now);
	if (!tool_stopping)
		open_due(h, now);
	write_progress(h);
}

static int parse_address(const char *address, const char *port, struct holder *h)
{
	struct sockaddr_in *v4 = (void *)&h->to;
	struct sockaddr_in6 *v6 = (void *)&h->to;

	if (inet_pton(AF_INET, address, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(atoi(port));
		h->to_size = sizeof(*v4);
		return 0;
	}
	if (inet_pton(AF_INET6, address, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(atoi(port));
		h->to_size = sizeof(*v6);
		return 0;
	}
	return -1;
}

static int print_result(const struct holder *h)
{
	size_t i;

	printf("{\n  \"held\": %zu,\n  \"good\": %lu,\n  \"new\": %lu,\n", h->held,
	       h->good, h->fresh);
	printf("  \"failed\": %lu,\n  \"first_failure\": \"%s\",\n  \"backends\": {",
	       h->failed, h->first_failure);
	for (i = 0; i < BACKENDS_MAX && h->backends[i].name[0]; i++)
		printf("%s\n    \"%s\": { \"streams\": %lu, \"failed\": %lu }",
		       i ? "," : "", h->backends[i].name, h->backends[i].streams,
		       h->backends[i].failed);
	printf("\n  }\n}\n");
	return h->failed || !h->good;
}

static int hold(char **args)
{
	static struct holder h;
	size_t i;

	h.held = atoi(args[2]);
	h.rate = atof(args[3]);
	if (parse_address(args[0], args[1], &h) || h.held > STREAMS_MAX / 2) {
		fprintf(stderr, "streams: not an address, or more than %d held\n",
			STREAMS_MAX / 2);
		return 64;
	}
	h.progress = open(args[4], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	h.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (h.progress < 0 || h.epoll < 0)
		die(args[4]);
	for (i = 0; i < STREAMS_MAX; i++)
		h.streams[i] = (struct stream){ .fd = -1, .held = i < h.held };
	h.begun = tool_now_ms();
	while (!tool_stopping || h.open)
		step(&h);
	return print_result(&h);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = tool_on_signal };

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	if (argc == 4 && !strcmp(argv[1], "serve"))
		return serve(argv[2], argv[3]);
	if (argc == 7 && !strcmp(argv[1], "hold"))
		return hold(argv + 2);
	fprintf(stderr, "usage: streams serve PORT NAME\n"
			"       streams hold ADDRESS PORT HELD RATE PROGRESS-FILE\n");
	return 64;
}
