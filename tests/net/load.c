// SPDX-License-Identifier: GPL-2.0-only
/*
 * A steady load of HTTP requests, each on a new connection, that misses no
 * failure: what is refused, reset, cut short or slow is counted and the first
 * of it is told.
 *
 *   load ADDRESS PORT CONCURRENCY PROGRESS-FILE
 *
 * runs until SIGTERM, lets the open requests finish, prints a JSON object and
 * exits with 0 when none failed. PROGRESS-FILE holds the number of good
 * answers so far, for those who wait for some.
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

#define CONCURRENCY_MAX 256
#define BACKENDS_MAX 16
#define REPLY_MAX 1024
/* A lost SYN comes again after 1, 3 and 7 seconds: one of these is a failure. */
#define TIMEOUT_MS 15000

struct request {
	int fd; /* -1: idle */
	bool sent;
	int64_t start_ms;
	size_t got;
	char reply[REPLY_MAX];
};

struct backend {
	char name[16];
	unsigned long requests;
};

struct load {
	struct sockaddr_storage to;
	socklen_t to_size;
	int epoll, progress;
	struct request request[CONCURRENCY_MAX];
	size_t concurrency, open;
	unsigned long ok, failed;
	int64_t longest_ms;
	char first_failure[128];
	struct backend backend[BACKENDS_MAX];
};

static void write_progress(const struct load *load)
{
	char text[32];
	int length = snprintf(text, sizeof(text), "%lu\n", load->ok);

	if (pwrite(load->progress, text, length, 0) != length)
		perror("load: progress");
}

static void request_close(struct load *load, struct request *r)
{
	int64_t took = tool_now_ms() - r->start_ms;

	if (took > load->longest_ms)
		load->longest_ms = took;
	close(r->fd);
	r->fd = -1;
	load->open--;
}

static void request_failed(struct load *load, struct request *r,
			   const char *step, const char *why)
{
	if (!load->failed++)
		snprintf(load->first_failure, sizeof(load->first_failure),
			 "%s: %s", step, why);
	request_close(load, r);
}

static void count_backend(struct load *load, const char *name, size_t length)
{
	for (size_t i = 0; i < BACKENDS_MAX; i++) {
		struct backend *b = &load->backend[i];

		if (!b->requests)
			snprintf(b->name, sizeof(b->name), "%.*s", (int)length, name);
		if (strlen(b->name) == length && !memcmp(b->name, name, length)) {
			b->requests++;
			return;
		}
	}
}

/* The body is one line, the name of the backend. */
static void request_done(struct load *load, struct request *r)
{
	static const char good[] = "HTTP/1.1 200 ";
	char *body;

	r->reply[r->got] = '\0';
	body = strstr(r->reply, "\r\n\r\n");
	if (strncmp(r->reply, good, strlen(good)) || !body ||
	    r->reply[r->got - 1] != '\n' || body[4] == '\0') {
		request_failed(load, r, "answer", r->got ? "cut short or not 200" : "empty");
		return;
	}

	count_backend(load, body + 4, strcspn(body + 4, "\n"));
	load->ok++;
	request_close(load, r);
	if (load->ok % 50 == 0)
		write_progress(load);
}

static void request_start(struct load *load, struct request *r)
{
	struct epoll_event event = { .events = EPOLLOUT, .data.ptr = r };

	r->sent = false;
	r->got = 0;
	r->start_ms = tool_now_ms();
	r->fd = socket(load->to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (r->fd < 0) {
		perror("load: socket");
		exit(1);
	}
	load->open++;
	if (connect(r->fd, (struct sockaddr *)&load->to, load->to_size) &&
	    errno != EINPROGRESS) {
		request_failed(load, r, "connect", strerror(errno));
		return;
	}
	epoll_ctl(load->epoll, EPOLL_CTL_ADD, r->fd, &event);
}

static void request_send(struct load *load, struct request *r)
{
	static const char text[] = "GET / HTTP/1.0\r\nHost: vip\r\n\r\n";
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = r };
	socklen_t size = sizeof(int);
	int error = 0;

	getsockopt(r->fd, SOL_SOCKET, SO_ERROR, &error, &size);
	if (error) {
		request_failed(load, r, "connect", strerror(error));
		return;
	}
	if (send(r->fd, text, strlen(text), MSG_NOSIGNAL) != (ssize_t)strlen(text)) {
		request_failed(load, r, "send", strerror(errno));
		return;
	}
	r->sent = true;
	epoll_ctl(load->epoll, EPOLL_CTL_MOD, r->fd, &event);
}

static void request_receive(struct load *load, struct request *r)
{
	ssize_t n = recv(r->fd, r->reply + r->got, REPLY_MAX - 1 - r->got, 0);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n < 0)
		request_failed(load, r, "receive", strerror(errno));
	else if (n == 0)
		request_done(load, r);
	else
		r->got += n;
}

static void step(struct load *load)
{
	struct epoll_event events[64];
	int n = epoll_wait(load->epoll, events, 64, 100);
	int64_t now = tool_now_ms();

	for (int i = 0; i < n; i++) {
		struct request *r = events[i].data.ptr;

		if (r->sent)
			request_receive(load, r);
		else
			request_send(load, r);
	}
	for (size_t i = 0; i < load->concurrency; i++) {
		struct request *r = &load->request[i];

		if (r->fd >= 0 && now - r->start_ms > TIMEOUT_MS)
			request_failed(load, r, r->sent ? "answer" : "connect", "timeout");
		if (r->fd < 0 && !tool_stopping)
			request_start(load, r);
	}
}

static int parse_address(const char *address, const char *port, struct load *load)
{
	struct sockaddr_in *v4 = (void *)&load->to;
	struct sockaddr_in6 *v6 = (void *)&load->to;
	in_port_t port_be = htons(atoi(port));

	if (inet_pton(AF_INET, address, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = port_be;
		load->to_size = sizeof(*v4);
		return 0;
	}
	if (inet_pton(AF_INET6, address, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = port_be;
		load->to_size = sizeof(*v6);
		return 0;
	}
	return -1;
}

static void print_result(const struct load *load)
{
	printf("{\n  \"ok\": %lu,\n  \"failed\": %lu,\n", load->ok, load->failed);
	printf("  \"first_failure\": \"%s\",\n", load->first_failure);
	printf("  \"longest_ms\": %lld,\n  \"backends\": {", (long long)load->longest_ms);
	for (size_t i = 0; i < BACKENDS_MAX && load->backend[i].requests; i++)
		printf("%s\n    \"%s\": %lu", i ? "," : "", load->backend[i].name,
		       load->backend[i].requests);
	printf("\n  }\n}\n");
}

int main(int argc, char **argv)
{
	static struct load load;
	struct sigaction action = { .sa_handler = tool_on_signal };

	if (argc != 5 || parse_address(argv[1], argv[2], &load)) {
		fprintf(stderr, "usage: load ADDRESS PORT CONCURRENCY PROGRESS-FILE\n");
		return 64;
	}
	load.concurrency = atoi(argv[3]);
	if (load.concurrency < 1 || load.concurrency > CONCURRENCY_MAX) {
		fprintf(stderr, "load: concurrency is 1 to %d\n", CONCURRENCY_MAX);
		return 64;
	}
	load.progress = open(argv[4], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	load.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (load.progress < 0 || load.epoll < 0) {
		perror("load");
		return 1;
	}
	for (size_t i = 0; i < CONCURRENCY_MAX; i++)
		load.request[i].fd = -1;
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);

	while (!tool_stopping || load.open)
		step(&load);
	write_progress(&load);
	print_result(&load);
	return load.failed || !load.ok;
}
