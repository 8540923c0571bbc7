/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CHANNEL_H
#define FAIRLEAD_CHANNEL_H

/*
 * The line to fairleadd: messages in, results out, in lines of core/check.h. What is
 * written is kept until the loop next waits, so that many results make one write. When
 * fairleadd does not read, results are dropped, since newer ones follow.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "core/err.h"

#define CHANNEL_OUT_MAX (1024 * 1024)

struct checker;

struct channel {
	struct checker *checker;
	int fd; /* -1: not open */
	uv_poll_t poll;
	uv_prepare_t prepare;
	char *in, *out; /* of CHECK_WIRE_LINE_MAX + 1 and CHANNEL_OUT_MAX bytes */
	size_t n_in, n_out;
	bool waits;    /* for fairleadd to read */
	uint64_t lost; /* results, since it last read */
};

/* The file descriptor stays the caller's until this succeeds. */
int channel_open(struct channel *channel, struct checker *checker, int fd,
		 struct err *err);
void channel_close(struct channel *channel);

/* A line without its newline, which is added. Dropped when there is no room. */
void channel_write(struct channel *channel, const char *line);

#endif
