/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_SOCK_H
#define FAIRLEAD_SOCK_H

/* Sockets of probes: marked, non-blocking, and gone without a trace when closed. */

#include <sys/socket.h>

#include "core/check.h"

/* Where the probe goes, as the kernel wants it. Returns the length. */
socklen_t sock_address(const struct probe *probe, struct sockaddr_storage *out);

/*
 * A socket to the probe's address, not yet connected; -errno, and *what failed. One of
 * type SOCK_STREAM is reset when it is closed: of thousands a minute none may be left
 * in TIME_WAIT, neither here, where ports would run short, nor at the target.
 */
int sock_open(const struct probe *probe, int type, int protocol, const char **what);

/* 0 or the -errno that the socket has in store. */
int sock_error(int fd);

#endif
