/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_BENCH_DRAWS_H
#define FAIRLEAD_BENCH_DRAWS_H

/*
 * The flow numbers that all drivers read, in one map. Drawn at random, since a
 * sequence that comes again after a few thousand packets is one that a branch
 * predictor learns; but the same in every run of the bench.
 */

#include <stdint.h>

#include "user/core/err.h"

struct bench_draws;

struct draws {
	int fd;
	struct bench_draws *lines;
	uint32_t n; /* a power of two */
};

#define DRAWS_NONE { .fd = -1 }

int draws_open(struct draws *draws, uint32_t n, struct err *err);
void draws_close(struct draws *draws);

/* 0, 1, 2 ... flows - 1, and again, each so many times in a row. */
void draws_in_turn(struct draws *draws, uint32_t flows, uint32_t times);
/* Each flow as likely as any other. */
void draws_evenly(struct draws *draws, uint32_t flows);
/*
 * The flow of rank r as 1 / r^1.1, by a law of Zipf; ranks lie scattered over the
 * numbers, so flows (a power of two) that were begun together are not as likely.
 */
int draws_zipf(struct draws *draws, uint32_t flows, struct err *err);

#endif
