/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CALL_H
#define FAIRLEAD_CALL_H

/*
 * One question to the daemon of the instance that the options name, and its
 * answer taken apart. Failures are reported here; what comes back is the exit
 * status.
 */

#include <jansson.h>

#include "cli.h"

enum call_kind {
	CALL_READ, /* the read-only socket will do */
	CALL_CHANGE,
};

/*
 * Takes over the reference to args. The caller owns *result, an object, which
 * is written only with EXIT_OK.
 */
int cli_call(struct cli *cli, enum call_kind kind, const char *verb,
	     json_t *args, json_t **result);

/* The answer to `verb` is not what the protocol says. Returns the status. */
int cli_fail_answer(struct cli *cli, const char *verb, const struct err *err);

#endif
