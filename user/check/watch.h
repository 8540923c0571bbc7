/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_WATCH_H
#define FAIRLEAD_WATCH_H

/*
 * Sockets that live as long as a run. They are in an epoll set of their own, which the
 * loop watches as one file descriptor, because a uv_poll_t cannot be freed at once when
 * it is closed, and thousands are closed each second.
 */

#include <stdint.h>
#include <sys/epoll.h>

#include <uv.h>

#include "core/err.h"

#define WATCH_BATCH 128 /* more than runs begin in a turn of the loop */
#define WATCH_TURN_MS 20 /* others have their turn then: handshakes of TLS take long */

struct watch {
	int fd; /* -1: not watched */
	void (*ready)(struct watch *watch, uint32_t events);
};

struct watches {
	int epoll_fd;
	uv_poll_t poll;
	struct epoll_event batch[WATCH_BATCH];
	int n_batch;
};

int watches_open(struct watches *watches, uv_loop_t *loop, struct err *err);
void watches_close(struct watches *watches);

/* Level-triggered EPOLLIN and EPOLLOUT. The watch stays where it is. -errno. */
int watch_add(struct watches *watches, struct watch *watch, uint32_t events);
int watch_change(struct watches *watches, struct watch *watch, uint32_t events);
/* Is not called any more, also when it is ready already. The fd stays open. */
void watch_remove(struct watches *watches, struct watch *watch);
/* The same with the fd closed, and -1. One that is -1 already may be closed again. */
void watch_close(struct watches *watches, struct watch *watch);

#endif
