/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_LOG_RELAY_H
#define FAIRLEAD_LOG_RELAY_H

/*
 * What a process of ours writes to its stderr, line by line into our log: it does not
 * know where that goes. Lines are cleaned (core/text.h), since what servers have said
 * may be in them, and warnings.
 */

#include <stddef.h>
#include <uv.h>

struct log_relay {
	uv_pipe_t pipe; /* the owner opens and closes it, and has its data */
	char said[512]; /* of a line that has not ended; a longer one is said in parts */
	size_t length;
};

/* From now on, as the loop turns. */
void log_relay_start(struct log_relay *relay);
/* What is in the pipe now, at once: last words. */
void log_relay_rest(struct log_relay *relay);

#endif
