// SPDX-License-Identifier: GPL-2.0-only
#include "channel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sysexits.h>
#include <unistd.h>

#include "checker.h"
#include "core/plural.h"
#include "sys/log.h"

static void on_event(uv_poll_t *poll, int status, int events);

static void watch(struct channel *channel)
{
	int events = UV_READABLE | (channel->waits ? UV_WRITABLE : 0);

	if (uv_poll_start(&channel->poll, events, on_event))
		checker_end(channel->checker, EX_OSERR);
}

static void set_waits(struct channel *channel, bool waits)
{
	if (channel->waits == waits)
		return;
	channel->waits = waits;
	watch(channel);
	if (waits || !channel->replaced)
		return;
	log_warn("fairleadd reads again; meanwhile %llu message%s gave way to newer ones",
		 (unsigned long long)channel->replaced, plural(channel->replaced));
	channel->replaced = 0;
}

/* False: there is no room. */
static bool append(struct channel *channel, const char *line)
{
	size_t length = strlen(line);

	if (channel->n_out + length + 1 > CHANNEL_OUT_MAX)
		return false;
	memcpy(channel->out + channel->n_out, line, length);
	channel->n_out += length;
	channel->out[channel->n_out++] = '\n';
	return true;
}

void channel_forget(struct channel *channel, struct channel_slot *slot)
{
	if (!slot->line)
		return;
	TAILQ_REMOVE(&channel->slots, slot, next);
	free(slot->line);
	slot->line = NULL;
}

/* From the slots to where there is room now. */
static void refill(struct channel *channel)
{
	struct channel_slot *slot;

	while ((slot = TAILQ_FIRST(&channel->slots)) && append(channel, slot->line))
		channel_forget(channel, slot);
}

static void flush(struct channel *channel)
{
	ssize_t n;

	if (!channel->n_out)
		return;
	n = send(channel->fd, channel->out, channel->n_out, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		/* Nobody is left to be told. */
		checker_end(channel->checker, EXIT_SUCCESS);
		channel->n_out = 0;
		return;
	}
	if (n > 0) {
		channel->n_out -= n;
		memmove(channel->out, channel->out + n, channel->n_out);
		refill(channel);
	}
	set_waits(channel, channel->n_out > 0);
}

static void on_prepare(uv_prepare_t *prepare)
{
	struct channel *channel = prepare->data;

	if (!channel->waits)
		flush(channel);
}

/* In its old place when it waits already: what is newer does not wait for longer. */
static void put_into(struct channel *channel, struct channel_slot *slot, char *line)
{
	if (!slot->line)
		TAILQ_INSERT_TAIL(&channel->slots, slot, next);
	else if (!channel->replaced++)
		log_warn("fairleadd does not read; of each check the newest result waits for it");
	free(slot->line);
	slot->line = line;
}

void channel_tell(struct channel *channel, struct channel_slot *slot, char *line)
{
	if (slot->line || !TAILQ_EMPTY(&channel->slots) || !append(channel, line))
		put_into(channel, slot, line);
	else
		free(line);
}

static void take_line(struct channel *channel, const char *line, size_t length)
{
	struct check_message message;
	struct err err = { 0 };
	int rc = check_wire_parse(line, length, &message, &err);

	if (!rc)
		rc = checker_take(channel->checker, &message, &err);
	if (!rc)
		return;
	log_error("message of fairleadd: %s; ending", err.text);
	checker_end(channel->checker, EX_DATAERR);
}

/* Whole lines are taken, the rest moves to the front. */
static void take_lines(struct channel *channel)
{
	char *at = channel->in, *end = channel->in + channel->n_in, *newline;

	while ((newline = memchr(at, '\n', end - at))) {
		take_line(channel, at, newline - at);
		at = newline + 1;
	}
	channel->n_in = end - at;
	memmove(channel->in, at, channel->n_in);
	if (channel->n_in <= CHECK_WIRE_LINE_MAX)
		return;
	log_error("message of fairleadd: a line has more than %d bytes; ending",
		  CHECK_WIRE_LINE_MAX);
	checker_end(channel->checker, EX_DATAERR);
	channel->n_in = 0;
}

static void on_readable(struct channel *channel)
{
	ssize_t n = recv(channel->fd, channel->in + channel->n_in,
			 CHECK_WIRE_LINE_MAX + 1 - channel->n_in, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		log_debug("fairleadd is gone");
		checker_end(channel->checker, EXIT_SUCCESS);
		return;
	}
	channel->n_in += n;
	take_lines(channel);
}

static void on_event(uv_poll_t *poll, int status, int events)
{
	struct channel *channel = poll->data;

	/* An error is told by recv(), too. */
	if (status < 0 || events & UV_READABLE)
		on_readable(channel);
	if (events & UV_WRITABLE)
		flush(channel);
}

int channel_open(struct channel *channel, struct checker *checker, int fd, struct err *err)
{
	int rc;

	*channel = (struct channel){ .checker = checker, .fd = -1 };
	TAILQ_INIT(&channel->slots);
	channel->in = malloc(CHECK_WIRE_LINE_MAX + 1);
	channel->out = malloc(CHANNEL_OUT_MAX);
	rc = channel->in && channel->out ? 0 : -ENOMEM;
	if (!rc)
		rc = uv_poll_init(&checker->loop, &channel->poll, fd);
	if (rc) {
		free(channel->in);
		free(channel->out);
		return err_set(err, rc, "cannot listen to fairleadd: %s", uv_strerror(rc));
	}
	channel->fd = fd;
	channel->poll.data = channel->prepare.data = channel;
	uv_prepare_init(&checker->loop, &channel->prepare);
	uv_prepare_start(&channel->prepare, on_prepare);
	watch(channel);
	return 0;
}

static void on_closed(uv_handle_t *handle)
{
	struct channel *channel = handle->data;

	close(channel->fd);
	channel->fd = -1;
	free(channel->in);
	free(channel->out);
}

void channel_close(struct channel *channel)
{
	if (channel->fd < 0)
		return;
	uv_close((uv_handle_t *)&channel->prepare, NULL);
	uv_close((uv_handle_t *)&channel->poll, on_closed);
}
