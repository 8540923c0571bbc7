// SPDX-License-Identifier: GPL-2.0-only
#include "client.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#define BUFFER_FIRST 4096
#define REQUEST_ID   1 /* one request a connection */
#define NEVER_MS     INT64_MAX

struct client {
	int fd;
	const struct client_address *address;
	const char *path; /* the one of the two that answered */
	char *buffer;
	size_t used, size;
	int64_t deadline_ms; /* of the line that is awaited */
	bool streams;	     /* what comes is news, not a reply */
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int not_running(const struct client_address *a, struct err *err)
{
	return err_set(err, -ENOTCONN,
		       "fairleadd (instance '%s') is not running: no one "
		       "answers at '%s'",
		       a->instance, a->path);
}

static int denied(const struct client_address *a, struct err *err)
{
	return err_set(
		err, -EACCES,
		"permission denied at '%s' of fairleadd (instance "
		"'%s'): %s",
		a->path, a->instance,
		a->read_only_path
			? "the read-only socket beside it does not answer"
			: "only root may do this");
}

static int too_slow(const struct client *c, int timeout_ms, struct err *err)
{
	return err_set(err, -ENOTCONN,
		       "fairleadd (instance '%s') does not answer at '%s': "
		       "waited %d.%d s",
		       c->address->instance, c->path, timeout_ms / 1000,
		       timeout_ms % 1000 / 100);
}

static int went_away(const struct client *c, struct err *err)
{
	return err_set(err, -ENOTCONN,
		       "fairleadd (instance '%s') closed the connection at "
		       "'%s'%s",
		       c->address->instance, c->path,
		       c->streams ? ": it has ended, or this reader is too slow"
				  : " before it answered");
}

static int io_failed(const struct client *c, int r, struct err *err)
{
	/* Nobody is left who would want a sentence. */
	if (r == -EINTR || r == -ESHUTDOWN)
		return err_set(err, r == -EINTR ? r : -EPIPE, "stopped");

	if (r == -EPIPE || r == -ECONNRESET)
		return went_away(c, err);

	return err_set(err, -ENOTCONN, "'%s' of fairleadd (instance '%s'): %s",
		       c->path, c->address->instance, strerror(-r));
}

static int not_understood(const struct client *c, const char *why, struct err *err)
{
	return err_set(err, -EPROTO,
		       "what answers at '%s' does not speak the protocol of "
		       "fairleadd: %s",
		       c->path, why);
}

/*
 * A full backlog keeps a blocking connect to a Unix socket waiting for as long
 * as SO_SNDTIMEO says; there is no event that a non-blocking one could poll.
 */
static int open_socket(const char *path, int timeout_ms, int *out, struct err *err)
{
	_cleanup_close_ int fd = -1;
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	struct timeval timeout = {.tv_sec = timeout_ms / 1000,
				  .tv_usec = timeout_ms % 1000 * 1000};

	if (strlen(path) >= sizeof(sun.sun_path))
		return err_set(err, -ENAMETOOLONG,
			       "'%s' is too long for a socket: at most %zu "
			       "bytes",
			       path, sizeof(sun.sun_path) - 1);

	strcpy(sun.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_set(err, -errno, "cannot make a socket: %s",
			       strerror(errno));

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	if (connect(fd, (struct sockaddr *)&sun, sizeof(sun)) < 0)
		return err_set(err, -errno, "'%s': %s", path, strerror(errno));

	*out = TAKE_FD(fd);
	return 0;
}

static int connect_any(struct client *c, struct err *err)
{
	const struct client_address *a = c->address;
	int r;

	c->path = a->path;
	r = open_socket(a->path, a->connect_timeout_ms, &c->fd, err);
	if ((r == -EACCES || r == -EPERM) && a->read_only_path) {
		c->path = a->read_only_path;
		r = open_socket(c->path, a->connect_timeout_ms, &c->fd, err);
		if (r == -ENOENT || r == -ECONNREFUSED)
			r = -EACCES;
	}

	switch (r) {
	case -EACCES:
	case -EPERM:
		return denied(a, err);
	case -ENOENT:
	case -ENOTDIR:
	case -ECONNREFUSED:
		return not_running(a, err);
	case -EAGAIN:
		return too_slow(c, a->connect_timeout_ms, err);
	}
	return r;
}

static int time_left(const struct client *c)
{
	int64_t left = c->deadline_ms - now_ms();

	if (c->deadline_ms == NEVER_MS)
		return -1;

	return left > 0 ? (int)left : 0;
}

/* 0; -EINTR and -ESHUTDOWN: what may end it has; -ETIMEDOUT. */
static int wait_for(struct client *c, short events)
{
	const struct client_stop *stop = c->address->stop;

	for (;;) {
		struct pollfd pfds[] = {
			{.fd = c->fd, .events = events},
			{.fd = stop ? stop->fd : -1, .events = POLLIN},
			{.fd = stop ? stop->reader_fd : -1},
		};
		int r = poll(pfds, 3, time_left(c));

		if (r > 0 && pfds[1].revents)
			return -EINTR;
		if (r > 0 && pfds[2].revents)
			return -ESHUTDOWN;
		if (r > 0)
			return 0;
		if (r == 0)
			return -ETIMEDOUT;
		if (errno != EINTR)
			return -errno;
	}
}

static int send_all(struct client *c, const char *data, size_t length)
{
	while (length > 0) {
		int r = wait_for(c, POLLOUT);
		ssize_t n;

		if (r < 0)
			return r;

		n = send(c->fd, data, length, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (n > 0) {
			data += n;
			length -= (size_t)n;
		}
	}
	return 0;
}

static int make_room(struct client *c)
{
	size_t size = c->size ? 2 * c->size : BUFFER_FIRST;
	char *buffer;

	if (c->used < c->size)
		return 0;

	if (c->used >= CLIENT_LINE_MAX)
		return -EMSGSIZE;

	buffer = realloc(c->buffer, size);
	if (!buffer)
		return -ENOMEM;

	c->buffer = buffer;
	c->size = size;
	return 0;
}

/* Bytes read; 0 when the other side has closed. */
static ssize_t receive_some(struct client *c)
{
	for (;;) {
		ssize_t n;
		int r = make_room(c);

		if (!r)
			r = wait_for(c, POLLIN);
		if (r < 0)
			return r;

		n = recv(c->fd, c->buffer + c->used, c->size - c->used,
			 MSG_DONTWAIT);
		if (n >= 0) {
			c->used += (size_t)n;
			return n;
		}
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
	}
}

static int parse_line(struct client *c, size_t length, json_t **out,
		      struct err *err)
{
	json_error_t problem;
	json_auto_t *line =
		json_loadb(c->buffer, length, JSON_REJECT_DUPLICATES, &problem);

	c->used -= length + 1;
	memmove(c->buffer, c->buffer + length + 1, c->used);
	if (!json_is_object(line))
		return not_understood(c, "its line is not a JSON object", err);

	*out = json_incref(line);
	return 0;
}

/* One line, as an object, before the deadline. */
static int read_object(struct client *c, int timeout_ms, json_t **out,
		       struct err *err)
{
	size_t searched = 0;

	c->deadline_ms = now_ms() + timeout_ms;
	for (;;) {
		char *end = c->used > searched ? memchr(c->buffer + searched,
							'\n', c->used - searched)
					       : NULL;
		ssize_t n;

		if (end)
			return parse_line(c, (size_t)(end - c->buffer), out, err);

		searched = c->used;
		n = receive_some(c);
		if (n == 0)
			return went_away(c, err);
		if (n == -ETIMEDOUT)
			return too_slow(c, timeout_ms, err);
		if (n == -EMSGSIZE)
			return not_understood(
				c, "its line is longer than 64 MiB", err);
		if (n < 0)
			return io_failed(c, (int)n, err);
	}
}

static int check_greeting(struct client *c, struct err *err)
{
	json_auto_t *greeting = NULL;
	const json_t *protocol, *version;
	int r = read_object(c, c->address->connect_timeout_ms, &greeting, err);

	if (r < 0)
		return r;

	protocol = json_object_get(greeting, "fairlead");
	version = json_object_get(greeting, "version");
	if (!json_is_integer(protocol))
		return not_understood(c, "it does not greet", err);

	if (json_integer_value(protocol) == CLIENT_PROTOCOL)
		return 0;

	return err_set(err, -EPROTO,
		       "fairleadd %s at '%s' speaks protocol %" PRId64
		       ", and this command (fairlead %s) speaks only %d: "
		       "install the same version of both",
		       json_is_string(version) ? json_string_value(version)
					       : "of an unknown version",
		       c->path, (int64_t)json_integer_value(protocol),
		       FAIRLEAD_VERSION, CLIENT_PROTOCOL);
}

int client_open(const struct client_address *address, struct client **out,
		struct err *err)
{
	_cleanup_client_ struct client *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return err_set(err, -ENOMEM, "out of memory");

	c->fd = -1;
	c->address = address;
	r = connect_any(c, err);
	if (r < 0)
		return r;

	r = check_greeting(c, err);
	if (r < 0)
		return r;

	*out = TAKE_PTR(c);
	return 0;
}

void client_free(struct client **client)
{
	struct client *c = *client;

	if (!c)
		return;

	cleanup_close(&c->fd);
	free(c->buffer);
	free(c);
	*client = NULL;
}

static int send_request(struct client *c, const json_t *request, struct err *err)
{
	_cleanup_free_ char *text = json_dumps(request, JSON_COMPACT);
	size_t length;
	int r;

	if (!text)
		return err_set(err, -ENOMEM, "out of memory");

	length = strlen(text);
	if (length >= CLIENT_LINE_MAX)
		return err_set(err, -EMSGSIZE,
			       "the request is longer than 64 MiB");

	/* The end of the string becomes the end of the line. */
	text[length] = '\n';
	c->deadline_ms = now_ms() + c->address->reply_timeout_ms;
	r = send_all(c, text, length + 1);
	if (r == -ETIMEDOUT)
		return too_slow(c, c->address->reply_timeout_ms, err);

	/* Who closes while we still write may have said why: read on. */
	if (r == -EPIPE)
		return 0;

	return r < 0 ? io_failed(c, r, err) : 0;
}

static int take_refusal(const struct client *c, const json_t *reply,
			char code[CLIENT_CODE_MAX], struct err *err)
{
	const json_t *error = json_object_get(reply, "error");
	const char *name = json_string_value(json_object_get(error, "code"));
	const char *message =
		json_string_value(json_object_get(error, "message"));

	if (!name || !message)
		return not_understood(
			c, "its refusal has no 'code' and 'message'", err);

	snprintf(code, CLIENT_CODE_MAX, "%s", name);
	return err_set(err, -EREMOTEIO, "%s", message);
}

static int take_reply(const struct client *c, const json_t *reply,
		      json_t **result, char code[CLIENT_CODE_MAX],
		      struct err *err)
{
	const json_t *ok = json_object_get(reply, "ok");
	json_t *answer = json_object_get(reply, "result");

	if (!json_is_boolean(ok))
		return not_understood(c, "its reply does not say 'ok'", err);

	if (json_is_false(ok))
		return take_refusal(c, reply, code, err);

	if (json_integer_value(json_object_get(reply, "id")) != REQUEST_ID)
		return not_understood(c, "its reply is to another request", err);

	if (!json_is_object(answer))
		return not_understood(c, "its reply has no 'result'", err);

	*result = json_incref(answer);
	return 0;
}

int client_call(struct client *c, const char *verb, json_t *args,
		json_t **result, char code[CLIENT_CODE_MAX], struct err *err)
{
	json_auto_t *request = json_pack("{s:i, s:s, s:o}", "id", REQUEST_ID,
					 "verb", verb, "args", args);
	json_auto_t *reply = NULL;
	int r;

	if (!request)
		return err_set(err, -ENOMEM, "out of memory");

	r = send_request(c, request, err);
	if (r < 0)
		return r;

	r = read_object(c, c->address->reply_timeout_ms, &reply, err);
	if (r < 0)
		return r;

	return take_reply(c, reply, result, code, err);
}

int client_next(struct client *c, json_t **line, struct err *err)
{
	ssize_t n = 1;

	c->streams = true;
	c->deadline_ms = NEVER_MS;
	if (c->used == 0)
		n = receive_some(c);
	if (n == 0)
		return went_away(c, err);

	return n < 0 ? io_failed(c, (int)n, err)
		     : read_object(c, c->address->reply_timeout_ms, line, err);
}
