/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_STOP_H
#define FAIRLEAD_STOP_H

/*
 * SIGINT and SIGTERM as something that a command can wait for, for those that
 * run until they are told to end. The first signal is only noted; the next one
 * has the effect that it always has, so that nobody is kept who insists.
 *
 * One that was ignored from the start stays so. One at a time in a process.
 */

#include <signal.h>

#include "client.h"
#include "core/err.h"

struct stop {
	struct client_stop ends; /* for a client; fd -1: not begun */
	struct sigaction int_before, term_before;
};

/* reader_fd: where it is worth to go on only while somebody reads; or -1. */
int stop_begin(struct stop *stop, int reader_fd, struct err *err);
/* The signals are what they were before. Does nothing when not begun. */
void stop_end(struct stop *stop);
#define STOP_NONE {.ends = CLIENT_STOP_NONE}
#define _cleanup_stop_ _cleanup_(stop_end)

/* Until a signal came (-EINTR), the reader is gone (-EPIPE) or time is up (0). */
int stop_wait(const struct stop *stop, int timeout_ms);

#endif
