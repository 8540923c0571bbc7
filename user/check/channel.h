/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CHANNEL_H
#define FAIRLEAD_CHANNEL_H

/*
 * The line to fairleadd: messages in, results out, in lines of core/check.h. What is
 * written is kept until the loop next waits, so that many results make one write.
 *
 * When fairleadd does not read, for it is busy, CHANNEL_OUT_MAX bytes wait for it. What
 * comes after that waits where it is of: a slot of each probe has its newest result, and
 * one more the newest pong. So what is lost is only what something newer says again, and
 * what is kept is bounded. A probe's results come in their order; the slots, in that in
 * which they were filled.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <uv.h>

#include "core/err.h"

#define CHANNEL_OUT_MAX (1024 * 1024)

struct checker;

/* A line that waits for room, in a place of its own. Zero: none. */
struct channel_slot {
	TAILQ_ENTRY(channel_slot) next;
	char *line; /* owned */
};

TAILQ_HEAD(channel_slots, channel_slot);

struct channel {
	struct checker *checker;
	int fd; /* -1: not open */
	uv_poll_t poll;
	uv_prepare_t prepare;
	char *in, *out; /* of CHECK_WIRE_LINE_MAX + 1 and CHANNEL_OUT_MAX bytes */
	size_t n_in, n_out;
	struct channel_slots slots; /* that have a line */
	bool waits;        /* for fairleadd to read */
	uint64_t replaced; /* by newer lines, since all were written */
};

/* The file descriptor stays the caller's until this succeeds. */
int channel_open(struct channel *channel, struct checker *checker, int fd,
		 struct err *err);
void channel_close(struct channel *channel);

/*
 * Takes a line without its newline, which is added. It waits in the slot when there is
 * no room, instead of the one that waits there. The slot stays where it is until then,
 * or until channel_forget().
 */
void channel_tell(struct channel *channel, struct channel_slot *slot, char *line);
/* What waits in the slot is not told. */
void channel_forget(struct channel *channel, struct channel_slot *slot);

#endif
