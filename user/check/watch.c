// SPDX-License-Identifier: GPL-2.0-only
#include "watch.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/*
 * Those that are removed by one that was called before them are NULL by then. What is
 * left when the time is over is ready still, and comes behind the others next time.
 */
static void on_ready(uv_poll_t *poll, int status, int events)
{
	struct watches *watches = poll->data;
	uint64_t end = uv_hrtime() + WATCH_TURN_MS * 1000000ULL;

	(void)status;
	(void)events;
	watches->n_batch = epoll_wait(watches->epoll_fd, watches->batch, WATCH_BATCH, 0);
	for (int i = 0; i < watches->n_batch && uv_hrtime() < end; i++) {
		struct watch *watch = watches->batch[i].data.ptr;

		if (watch)
			watch->ready(watch, watches->batch[i].events);
	}
	watches->n_batch = 0;
}

int watches_open(struct watches *watches, uv_loop_t *loop, struct err *err)
{
	int rc;

	watches->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (watches->epoll_fd < 0) {
		rc = -errno;
		return err_set(err, rc, "cannot watch sockets: %s", strerror(-rc));
	}
	rc = uv_poll_init(loop, &watches->poll, watches->epoll_fd);
	if (rc) {
		close(watches->epoll_fd);
		watches->epoll_fd = -1;
		return err_set(err, rc, "cannot watch sockets: %s", uv_strerror(rc));
	}
	watches->poll.data = watches;
	return uv_poll_start(&watches->poll, UV_READABLE, on_ready);
}

static void on_closed(uv_handle_t *handle)
{
	struct watches *watches = handle->data;

	close(watches->epoll_fd);
	watches->epoll_fd = -1;
}

void watches_close(struct watches *watches)
{
	if (watches->epoll_fd >= 0)
		uv_close((uv_handle_t *)&watches->poll, on_closed);
}

static int control(struct watches *watches, int what, struct watch *watch, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = watch };

	return epoll_ctl(watches->epoll_fd, what, watch->fd, &event) ? -errno : 0;
}

int watch_add(struct watches *watches, struct watch *watch, uint32_t events)
{
	return control(watches, EPOLL_CTL_ADD, watch, events);
}

int watch_change(struct watches *watches, struct watch *watch, uint32_t events)
{
	return control(watches, EPOLL_CTL_MOD, watch, events);
}

void watch_remove(struct watches *watches, struct watch *watch)
{
	if (watch->fd < 0)
		return;
	control(watches, EPOLL_CTL_DEL, watch, 0);
	for (int i = 0; i < watches->n_batch; i++)
		if (watches->batch[i].data.ptr == watch)
			watches->batch[i].data.ptr = NULL;
}

void watch_close(struct watches *watches, struct watch *watch)
{
	watch_remove(watches, watch);
	if (watch->fd >= 0)
		close(watch->fd);
	watch->fd = -1;
}
