/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CALL_H
#define FAIRLEAD_CALL_H

/*
 * One question to the daemon of the instance that the options name, and its
 * answer taken apart. Failures are reported here; what comes back is the exit
 * status.
 */

#include <jansson.h>
#include <limits.h>

#include "cli.h"

enum call_kind {
	CALL_READ, /* the read-only socket will do */
	CALL_CHANGE,
};

/*
 * Takes over the reference to args. The caller owns *result, an object, which
 * is written only with EXIT_OK. EXIT_INTERRUPTED comes without a sentence, and
 * only when something is there to stop it, cli->stop.
 */
int cli_call(struct cli *cli, enum call_kind kind, const char *verb,
	     json_t *args, json_t **result);

/* For who keeps a connection: where it goes. Not to be copied; cli must outlive it. */
struct call_address {
	char path[PATH_MAX], read_only_path[PATH_MAX];
	struct client_address client;
};

void call_address_of(const struct cli *cli, enum call_kind kind,
		     struct call_address *out);
/* A failure of the client, reported. Returns the status. */
int call_report(struct cli *cli, const char *code, const struct err *err);

/* The answer to `verb` is not what the protocol says. Returns the status. */
int cli_fail_answer(struct cli *cli, const char *verb, const struct err *err);

#endif
