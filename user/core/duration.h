/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_DURATION_H
#define FAIRLEAD_DURATION_H

/*
 * Times as people write them: "500ms", "5s", "2m", "1h", or digits alone, which
 * are seconds. One unit, whole numbers.
 */

#include <stdbool.h>
#include <stdint.h>

#include "err.h"

#define DURATION_TEXT_MAX 16

#define DURATION_SECOND 1000u /* ms */
#define DURATION_MINUTE (60 * DURATION_SECOND)
#define DURATION_HOUR (60 * DURATION_MINUTE)

struct duration_range {
	uint32_t min, max; /* ms, inclusive */
	bool zero;         /* 0 is allowed, too */
	bool whole;        /* seconds only */
};

/* *ms is written on success. -EINVAL (no time) or -ERANGE, with a sentence. */
int duration_parse(const char *text, const char *what,
		   const struct duration_range *range, uint32_t *ms, struct err *err);

/* In the largest unit that it is a whole number of; 0 is "0s". */
const char *duration_format(uint32_t ms, char text[DURATION_TEXT_MAX]);

#endif
