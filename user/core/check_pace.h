/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CHECK_PACE_H
#define FAIRLEAD_CHECK_PACE_H

/*
 * How soon a check is run again. As long as its results are what was settled, after its
 * interval; from the first that is another until `rise` or `fall` of them in a row have
 * settled it, after its fast_interval: a death is certain sooner, and a check that
 * fails for ever costs what one does that passes for ever. Pure.
 *
 * All unsettled checks together are run CHECK_FAST_A_SECOND times a second at most, the
 * more of them the less often each, though never less often than its interval: when a
 * whole network is gone, all that is checked is unsettled at once.
 */

#include <stdbool.h>
#include <stdint.h>

#include "check.h"

/* Twice what 10,000 checks are by default; of TCP less than half of a CPU. */
#define CHECK_FAST_A_SECOND 4000

enum check_settled { CHECK_UNSETTLED, CHECK_PASSES, CHECK_FAILS };

/* Of one check; all zero: it has not run. */
struct check_pace {
	enum check_settled settled; /* CHECK_UNSETTLED: no result has come to anything */
	uint16_t row; /* results in a row that say otherwise; 0: it is settled */
};

/*
 * A result has come. As in health.h, but for what is not known here: where nothing was
 * settled one success is enough, so that a start is not a rush of second runs.
 */
void check_pace_count(struct check_pace *pace, const struct check *check, bool ok);

/*
 * ms from the beginning of a run to that of the next, before jitter; `unsettled`: how
 * many checks are, this one included when it is.
 */
uint32_t check_pace_pause(const struct check_pace *pace, const struct check *check,
			  uint32_t unsettled);

#endif
