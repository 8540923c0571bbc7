/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TESTS_TOOL_H
#define FAIRLEAD_TESTS_TOOL_H

/* What small programs that scripts start have in common: a clock, and how to end. */

#include <signal.h>
#include <stdint.h>
#include <time.h>

static volatile sig_atomic_t tool_stopping;

static inline void tool_on_signal(int number)
{
	(void)number;
	tool_stopping = 1;
}

/* Monotonic. */
static inline int64_t tool_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

#endif
