/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_VERBS_H
#define FAIRLEAD_VERBS_H

/*
 * What can be asked over the control socket: one table entry a verb. A verb
 * either shows (answers at once, changes nothing), makes (the next plan of a
 * transaction), asks about flows, which takes another thread a while, or watches.
 */

#include <jansson.h>
#include <stdbool.h>

#include "core/plan.h"

struct daemon;

struct verb {
	const char *name;
	/* Exactly one of the four. *result is the caller's on success. */
	int (*show)(struct daemon *d, json_t *args, json_t **result, struct err *err);
	int (*make)(json_t *args, const struct cfg *running, struct cfg **next,
		    struct err *err);
	enum { FLOWS_NOT, FLOWS_SHOW, FLOWS_FLUSH } flows;
	bool watch; /* events from now on, until the client hangs up */
	bool tells_changes; /* the reply says what the transaction changed */
	bool secret;        /* shows the hash key: not on the read-only socket */
};

/* NULL for an unknown name, or none. */
const struct verb *verb_find(const char *name);
/* A sentence for who asked for another. */
const char *verb_list(void);

/* show.c */
int show_vips(struct daemon *d, json_t *args, json_t **result, struct err *err);
int show_backends(struct daemon *d, json_t *args, json_t **result, struct err *err);
int show_status(struct daemon *d, json_t *args, json_t **result, struct err *err);
int show_counters(struct daemon *d, json_t *args, json_t **result, struct err *err);
int show_running(struct daemon *d, json_t *args, json_t **result, struct err *err);

/*
 * JSON takes UTF-8 only. A path may be any bytes, and a sentence may be cut
 * within a character: what is not ASCII then becomes '?'.
 */
json_t *text_json(const char *text);

/* Also show.c: what a transaction changed, or would. The caller owns them. */
struct preview;
struct txn_changes;
json_t *show_changes(const struct txn_changes *c);
json_t *show_preview(const struct preview *preview, const struct txn_changes *changes);

/* The string under `key`; with `required`, -EINVAL when it is missing. */
int args_string(json_t *args, const char *key, bool required, const char **out,
		struct err *err);

#endif
