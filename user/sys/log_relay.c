// SPDX-License-Identifier: GPL-2.0-only
#include "sys/log_relay.h"

#include <string.h>
#include <unistd.h>

#include "core/text.h"
#include "sys/log.h"

static struct log_relay *relay_of(void *pipe)
{
	return (struct log_relay *)((char *)pipe - offsetof(struct log_relay, pipe));
}

static size_t room(const struct log_relay *relay)
{
	return sizeof(relay->said) - 1 - relay->length;
}

static void say(char *line)
{
	text_clean(line);
	log_warn("%s", line);
}

static void say_lines(struct log_relay *relay)
{
	char *line = relay->said, *end;

	relay->said[relay->length] = '\0';
	while ((end = strchr(line, '\n'))) {
		*end = '\0';
		say(line);
		line = end + 1;
	}
	relay->length = strlen(line);
	memmove(relay->said, line, relay->length);
	if (!room(relay)) {
		relay->said[relay->length] = '\0';
		say(relay->said);
		relay->length = 0;
	}
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct log_relay *relay = relay_of(stream);

	(void)buf;
	if (n < 0) {
		uv_read_stop(stream);
		return;
	}
	relay->length += n;
	say_lines(relay);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	struct log_relay *relay = relay_of(handle);

	(void)suggested;
	*buf = uv_buf_init(relay->said + relay->length, room(relay));
}

void log_relay_start(struct log_relay *relay)
{
	uv_read_start((uv_stream_t *)&relay->pipe, on_alloc, on_read);
}

void log_relay_rest(struct log_relay *relay)
{
	uv_os_fd_t fd;
	ssize_t n;

	if (uv_fileno((uv_handle_t *)&relay->pipe, &fd))
		return;
	while ((n = read(fd, relay->said + relay->length, room(relay))) > 0) {
		relay->length += n;
		say_lines(relay);
	}
}
