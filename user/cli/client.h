/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CLIENT_H
#define FAIRLEAD_CLIENT_H

/*
 * The client's half of the control protocol (docs/architecture.md): connect,
 * read the greeting, ask, read the reply, one line each, nothing waits for
 * ever but who asked for news. It trusts neither the length nor the form of what comes back.
 *
 * Failures, each with its sentence:
 *   -ENOTCONN   no daemon answers, or it went away
 *   -EACCES     the socket refuses us
 *   -EPROTO     what answers does not speak this protocol
 *   -EREMOTEIO  the daemon refused the request; its code is in `code`
 * and without one, of a client that has something to stop it:
 *   -EINTR      it was told to stop
 *   -EPIPE      nobody is left to read what it would tell
 */

#include <jansson.h>

#include "core/cleanup.h"
#include "core/err.h"

#define CLIENT_PROTOCOL 1
#define CLIENT_LINE_MAX (64u << 20)
#define CLIENT_CODE_MAX 32

/* What ends each wait, besides time. */
struct client_stop {
	int fd;	       /* when it is readable; -1: nothing does */
	int reader_fd; /* when what is written there has no reader; likewise */
};
#define CLIENT_STOP_NONE ((struct client_stop){.fd = -1, .reader_fd = -1})

struct client_address {
	const char *path;
	const char *read_only_path; /* tried when path refuses us; or NULL */
	const char *instance;	    /* for messages */
	int connect_timeout_ms, reply_timeout_ms;
	const struct client_stop *stop; /* NULL: time alone ends a wait */
};

struct client;

/* The address must outlive the client. */
int client_open(const struct client_address *address, struct client **out,
		struct err *err);
/* Frees *client and sets it to NULL. */
void client_free(struct client **client);
#define _cleanup_client_ _cleanup_(client_free)

/*
 * Ask once. Takes over the reference to args, also on failure. The caller owns
 * *result, which is an object.
 */
int client_call(struct client *client, const char *verb, json_t *args,
		json_t **result, char code[CLIENT_CODE_MAX], struct err *err);

/*
 * The next line that the daemon sends by itself, whenever that is: only a line
 * that has begun must end within the time of a reply. The caller owns *line.
 */
int client_next(struct client *client, json_t **line, struct err *err);

#endif
