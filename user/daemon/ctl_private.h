/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CTL_PRIVATE_H
#define FAIRLEAD_CTL_PRIVATE_H

/* What the files of the control sockets share. */

#include <jansson.h>
#include <stdbool.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "daemon.h"
#include "flow_query.h"
#include "preview.h"
#include "verbs.h"

/* Clients that have a whole line waiting. */
TAILQ_HEAD(turns, client);

struct ctl {
	struct daemon *daemon;
	uv_pipe_t full, read_only;
	char full_path[108], read_only_path[108]; /* sun_path */
	LIST_HEAD(, client) clients;
	struct turns turns, read_only_turns;
	uv_idle_t turn;
	uint64_t activity; /* counts what clients do */
	unsigned int closed; /* of its three handles */
};

struct client {
	LIST_ENTRY(client) entry;
	TAILQ_ENTRY(client) turn_entry;
	uv_pipe_t pipe;
	struct ctl *ctl;
	bool read_only, reading, waiting, closing;
	bool refused; /* what it still sends is not looked at */
	bool ended;   /* sends no more, but may still read */
	/* Not yet written; nothing is read until they are, so each costs one. */
	unsigned int replies;
	struct request *request; /* in hand; NULL: none */
	char *in;
	size_t in_length, in_size, scanned;
	struct ucred peer;
	uint64_t last_active; /* ctl->activity when it last came, asked or read */
	bool watching; /* is told events, and asks no more */
	struct watcher watcher;
};

/* What takes a while: a write verb in a transaction, or a walk over the flows. */
struct request {
	TAILQ_ENTRY(request) walk_entry;
	struct daemon *daemon;
	struct client *client; /* NULL: it hung up meanwhile */
	const struct verb *verb;
	json_t *id, *args;
	struct ucred peer;
	bool dry_run;
	struct preview preview;
	struct flow_query *query;
	json_t *result; /* of the query */
	uv_work_t work;
	int rc;
	struct err err;
};

/* ctl.c. An answer takes `result` over; with rc, err says why there is none. */
void client_answer(struct client *client, json_t *id, int rc, const struct err *err,
		   json_t *result);
/* Go on with what the client has sent. */
void client_pump(struct client *client);
void client_close(struct client *client);
void client_close_if_gone(struct client *client);

/* ctl_room.c. It has come, asked, or read an answer. */
void client_is_active(struct client *client);
/*
 * Room for one more, which has come: another may have to go for it. -EBUSY: nobody can
 * go; err is for the client.
 */
int client_find_room(struct client *client, struct err *err);
/* -EBUSY: as many watch as may. */
int client_find_watch_room(struct client *client, struct err *err);

/* ctl_request.c: begin what takes a while. The client gets its answer by itself. */
void client_start(struct client *client, const struct verb *verb, json_t *id,
		  json_t *args);
void client_ask_flows(struct client *client, const struct verb *verb, json_t *id,
		      json_t *args);
/* Forget the walks over the flows that wait; their clients are gone. */
void flow_walks_clear(struct daemon *d);

#endif
