// SPDX-License-Identifier: GPL-2.0-only
#include "ctl.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/cleanup.h"
#include "ctl_private.h"
#include "sys/log.h"
#include "verbs.h"

#define PROTOCOL_VERSION 1
#define LINE_MAX_BYTES (64 * 1024 * 1024)
/* Anybody may write to the read-only socket, and needs no more to ask. */
#define LINE_MAX_READ_ONLY (64 * 1024)
#define READ_CHUNK (64 * 1024)
#define BACKLOG 64

static void client_freed(uv_handle_t *handle)
{
	struct client *client = handle->data;

	free(client->in);
	free(client);
}

static struct turns *client_turns(const struct client *client)
{
	return client->read_only ? &client->ctl->read_only_turns : &client->ctl->turns;
}

void client_close(struct client *client)
{
	if (client->closing)
		return;
	client->closing = true;
	LIST_REMOVE(client, entry);
	if (client->waiting)
		TAILQ_REMOVE(client_turns(client), client, turn_entry);
	if (client->request)
		client->request->client = NULL;
	if (client->watching)
		events_unwatch(&client->watcher);
	uv_close((uv_handle_t *)&client->pipe, client_freed);
}

/*
 * Nothing is read from a client whose request is in hand, so nothing tells the loop
 * that it is gone. One that only sends no more still reads.
 */
void client_close_if_gone(struct client *client)
{
	struct pollfd poll_fd = { 0 };

	if (uv_fileno((uv_handle_t *)&client->pipe, &poll_fd.fd) == 0 &&
	    poll(&poll_fd, 1, 0) > 0 && poll_fd.revents & (POLLHUP | POLLERR))
		client_close(client);
}

struct reply {
	uv_write_t write;
	char *text;
};

static void reply_written(uv_write_t *write, int status)
{
	struct reply *reply = write->data;
	struct client *client = write->handle->data;

	free(reply->text);
	free(reply);
	client->replies--;
	/* What was not written when the sockets closed may come back after them. */
	if (!client->closing)
		client_is_active(client);
	if (status)
		client_close(client);
	else
		client_pump(client);
}

/* Takes `message`. A client that cannot be answered is closed. */
static void client_send(struct client *client, json_t *message)
{
	struct reply *reply = calloc(1, sizeof(*reply));
	char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
	size_t length = text ? strlen(text) : 0;
	uv_buf_t buf;

	json_decref(message);
	if (!reply || !text) {
		free(reply);
		free(text);
		client_close(client);
		return;
	}
	text[length] = '\n'; /* in place of the NUL: the length is known */
	reply->text = text;
	reply->write.data = reply;
	buf = uv_buf_init(text, length + 1);
	client->replies++;
	if (uv_write(&reply->write, (uv_stream_t *)&client->pipe, &buf, 1, reply_written)) {
		free(text);
		free(reply);
		client_close(client);
	}
}

static void client_refuse(struct client *client, json_t *id, const char *code,
			  const char *message)
{
	client_send(client, json_pack("{s:O?, s:b, s:{s:s, s:o}}", "id", id, "ok", 0,
				      "error", "code", code, "message",
				      text_json(message)));
}

static const char *error_code(int rc)
{
	switch (rc) {
	case -EEXIST:
		return "exists";
	case -ENOENT:
		return "not_found";
	case -EINVAL:
	case -ERANGE:
	case -E2BIG:
	case -ENAMETOOLONG:
		return "invalid";
	case -EBUSY:
		return "busy";
	default:
		return "failed";
	}
}

void client_answer(struct client *client, json_t *id, int rc,
			  const struct err *err, json_t *result)
{
	if (rc) {
		json_decref(result);
		client_refuse(client, id, error_code(rc), err->text);
		return;
	}
	client_send(client, json_pack("{s:O?, s:b, s:o}", "id", id, "ok", 1, "result",
				      result ? result : json_object()));
}

/* It does not read: nobody keeps the daemon's memory that way. */
#define WATCH_QUEUE_MAX (1024 * 1024)

static void client_tell(struct watcher *watcher, json_t *event)
{
	struct client *client = (struct client *)((char *)watcher -
						  offsetof(struct client, watcher));

	if (client->closing)
		return;
	if (uv_stream_get_write_queue_size((uv_stream_t *)&client->pipe) > WATCH_QUEUE_MAX)
		client_close(client);
	else
		client_send(client, json_pack("{s:O}", "event", event));
}

/* args: "since", a sequence number; events that are kept come first from there on. */
static void client_watch(struct client *client, json_t *id, json_t *args)
{
	json_int_t since = json_integer_value(json_object_get(args, "since"));
	struct err err;
	int rc = client_find_watch_room(client, &err);

	client_answer(client, id, rc, &err, NULL);
	if (rc || client->closing)
		return;
	client->watching = true;
	client->watcher.tell = client_tell;
	events_watch(&client->ctl->daemon->events, &client->watcher, since > 0 ? since : 0);
}

static bool is_denied(const struct client *client, const struct verb *verb)
{
	return client->read_only &&
	       (verb->make || verb->secret || verb->flows == FLOWS_FLUSH);
}

static void client_dispatch(struct client *client, json_t *message)
{
	json_t *id = json_object_get(message, "id");
	json_t *args = json_object_get(message, "args");
	const struct verb *verb = verb_find(json_string_value(json_object_get(message, "verb")));
	json_t *none = NULL, *result = NULL;
	struct err err;
	int rc;

	if (!verb) {
		client_refuse(client, id, "usage", verb_list());
		return;
	}
	if (args && !json_is_object(args)) {
		client_refuse(client, id, "usage", "'args' is not an object");
		return;
	}
	if (!args)
		args = none = json_object();

	if (is_denied(client, verb)) {
		client_refuse(client, id, "denied",
			      "this is the read-only socket; changes and the configuration are for fairlead.sock");
	} else if (verb->make) {
		client_start(client, verb, id, args);
	} else if (verb->flows) {
		client_ask_flows(client, verb, id, args);
	} else if (verb->watch) {
		client_watch(client, id, args);
	} else {
		rc = verb->show(client->ctl->daemon, args, &result, &err);
		client_answer(client, id, rc, &err, result);
	}
	json_decref(none);
}

static void client_line(struct client *client, const char *line, size_t length)
{
	json_error_t error;
	json_t *message = json_loadb(line, length, 0, &error);
	char text[256];

	if (json_is_object(message)) {
		client_dispatch(client, message);
	} else {
		snprintf(text, sizeof(text), "request is not a JSON object on one line: %s",
			 message ? "it is another JSON value" : error.text);
		client_refuse(client, NULL, "usage", text);
	}
	json_decref(message);
}

/* Where the first line ends; NULL: it is not all there yet. */
static const char *client_line_end(struct client *client)
{
	const char *newline;

	if (!client->in_length)
		return NULL;
	newline = memchr(client->in + client->scanned, '\n',
			 client->in_length - client->scanned);
	client->scanned = newline ? (size_t)(newline - client->in) : client->in_length;
	return newline;
}

static void client_take_line(struct client *client)
{
	const char *newline = client_line_end(client);
	size_t length;

	if (!newline)
		return;
	length = newline - client->in;
	client_is_active(client);
	client_line(client, client->in, length);
	client->in_length -= length + 1;
	memmove(client->in, newline + 1, client->in_length);
	client->scanned = 0;
}

static void client_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	struct client *client = handle->data;
	char *grown;

	(void)suggested;
	if (client->in_size - client->in_length < READ_CHUNK) {
		grown = realloc(client->in, 2 * client->in_size + READ_CHUNK);
		if (grown) {
			client->in = grown;
			client->in_size = 2 * client->in_size + READ_CHUNK;
		}
	}
	*buf = uv_buf_init(client->in + client->in_length,
			   client->in_size - client->in_length);
}

static size_t client_line_max(const struct client *client)
{
	return client->read_only ? LINE_MAX_READ_ONLY : LINE_MAX_BYTES;
}

/* Closed now, it might not come to read why: the rest of the line would fail. */
static void client_refuse_line(struct client *client)
{
	char text[64];

	snprintf(text, sizeof(text), "request is longer than %zu bytes",
		 client_line_max(client));
	client->refused = true;
	client->in_length = client->scanned = 0;
	client_refuse(client, NULL, "usage", text);
}

static void client_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct client *client = stream->data;

	(void)buf;
	client->ended = n < 0;
	if (n > 0 && !client->refused && !client->watching)
		client->in_length += n;
	client_pump(client);
	/* What is not searched yet may be several lines. */
	if (!client->closing && client->scanned == client->in_length &&
	    client->in_length > client_line_max(client))
		client_refuse_line(client);
}

static void client_set_reading(struct client *client, bool reading)
{
	uv_stream_t *stream = (uv_stream_t *)&client->pipe;

	if (reading && !client->reading)
		uv_read_start(stream, client_alloc, client_read);
	else if (!reading && client->reading)
		uv_read_stop(stream);
	client->reading = reading;
}

/*
 * One request a turn of the loop, each client after the other: whoever sends a
 * thousand at once keeps neither the others nor the network's events waiting.
 * The read-only socket is everybody's, so its clients come last.
 */
static void on_turn(uv_idle_t *idle)
{
	struct ctl *ctl = idle->data;
	struct client *client = TAILQ_FIRST(&ctl->turns);

	if (!client)
		client = TAILQ_FIRST(&ctl->read_only_turns);
	if (!client) {
		uv_idle_stop(idle);
		return;
	}
	TAILQ_REMOVE(client_turns(client), client, turn_entry);
	client->waiting = false;
	client_take_line(client);
	client_pump(client);
}

static void client_wait_for_turn(struct client *client)
{
	if (client->waiting)
		return;
	client->waiting = true;
	TAILQ_INSERT_TAIL(client_turns(client), client, turn_entry);
	uv_idle_start(&client->ctl->turn, on_turn);
}

/* Go on with what is there, and read more exactly while that makes sense. */
void client_pump(struct client *client)
{
	bool ready;

	if (client->closing)
		return;
	if (client->ended && (client->watching || !client->replies)) {
		client_close(client);
		return;
	}
	if (client->watching) {
		client_set_reading(client, true); /* for its end */
		return;
	}
	ready = !client->ended && !client->request && !client->replies;
	if (ready && client_line_end(client)) {
		client_wait_for_turn(client);
		ready = false;
	}
	client_set_reading(client, ready);
}

static void client_greet(struct client *client)
{
	const struct daemon *d = client->ctl->daemon;

	client_send(client, json_pack("{s:i, s:s, s:s}", "fairlead", PROTOCOL_VERSION,
				      "version", FAIRLEAD_VERSION, "instance",
				      d->options.instance));
}

static void peer_credentials(struct client *client)
{
	socklen_t size = sizeof(client->peer);
	uv_os_fd_t fd;

	if (uv_fileno((uv_handle_t *)&client->pipe, &fd) == 0)
		getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &client->peer, &size);
}

/* It hears why, and nothing that it sends is read. */
static void client_turn_away(struct client *client, const struct err *err)
{
	if (client->closing)
		return;
	client->ended = true;
	client_answer(client, NULL, -EBUSY, err, NULL);
}

static void on_connection(uv_stream_t *server, int status)
{
	struct ctl *ctl = server->data;
	struct client *client;
	struct err err;

	if (status < 0)
		return;
	client = calloc(1, sizeof(*client));
	if (!client)
		return;
	client->ctl = ctl;
	client->read_only = server == (uv_stream_t *)&ctl->read_only;
	client->pipe.data = client;
	uv_pipe_init(&ctl->daemon->loop, &client->pipe, 0);
	LIST_INSERT_HEAD(&ctl->clients, client, entry);
	if (uv_accept(server, (uv_stream_t *)&client->pipe)) {
		client_close(client);
		return;
	}
	peer_credentials(client);
	client_is_active(client);
	client_greet(client);
	if (client_find_room(client, &err))
		client_turn_away(client, &err);
	client_pump(client);
}

/* A socket that is left over refuses the connection; one in use takes it. */
static int check_not_served(const char *path, struct err *err)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct ucred peer = { 0 };
	socklen_t size = sizeof(peer);

	if (fd < 0)
		return err_set(err, -errno, "cannot open a socket: %s", strerror(errno));
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return 0;
	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
	return err_set(err, -EADDRINUSE,
		       "control socket '%s' is served by another fairleadd (pid %d); stop it, or start with another --instance",
		       path, peer.pid);
}

static int listen_on(struct ctl *ctl, uv_pipe_t *pipe, const char *path, mode_t mode,
		     struct err *err)
{
	mode_t before;
	int rc = check_not_served(path, err);

	if (rc)
		return rc;
	unlink(path);
	pipe->data = ctl;
	/* Nobody gets in between bind and chmod. */
	before = umask(0777 & ~mode);
	rc = uv_pipe_bind(pipe, path);
	umask(before);
	if (!rc && chmod(path, mode))
		rc = -errno;
	if (!rc)
		rc = uv_listen((uv_stream_t *)pipe, BACKLOG, on_connection);
	if (rc)
		return err_set(err, rc, "cannot serve the control socket '%s': %s", path,
			       strerror(-rc));
	return 0;
}

int ctl_open(struct daemon *d, struct ctl **out, struct err *err)
{
	struct ctl *ctl = calloc(1, sizeof(*ctl));
	int rc;

	if (!ctl)
		return err_set(err, -ENOMEM, "out of memory");
	ctl->daemon = d;
	LIST_INIT(&ctl->clients);
	TAILQ_INIT(&ctl->turns);
	TAILQ_INIT(&ctl->read_only_turns);
	TAILQ_INIT(&d->walks.waiting);
	TAILQ_INIT(&d->walks.read_only);
	uv_idle_init(&d->loop, &ctl->turn);
	ctl->turn.data = ctl;
	uv_pipe_init(&d->loop, &ctl->full, 0);
	uv_pipe_init(&d->loop, &ctl->read_only, 0);
	snprintf(ctl->full_path, sizeof(ctl->full_path), "%s/fairlead.sock", d->run_dir);
	snprintf(ctl->read_only_path, sizeof(ctl->read_only_path), "%s/fairlead-ro.sock",
		 d->run_dir);

	rc = listen_on(ctl, &ctl->full, ctl->full_path, 0600, err);
	if (!rc)
		rc = listen_on(ctl, &ctl->read_only, ctl->read_only_path, 0666, err);
	*out = ctl;
	return rc;
}

static void ctl_freed(uv_handle_t *handle)
{
	struct ctl *ctl = handle->data;

	if (++ctl->closed == 3)
		free(ctl);
}

void ctl_close(struct ctl *ctl)
{
	struct client *client;

	if (!ctl)
		return;
	while ((client = LIST_FIRST(&ctl->clients)))
		client_close(client);
	flow_walks_clear(ctl->daemon);
	unlink(ctl->full_path);
	unlink(ctl->read_only_path);
	/* The last of the three to be closed takes the structure with it. */
	uv_close((uv_handle_t *)&ctl->turn, ctl_freed);
	uv_close((uv_handle_t *)&ctl->full, ctl_freed);
	uv_close((uv_handle_t *)&ctl->read_only, ctl_freed);
}
