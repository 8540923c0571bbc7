// SPDX-License-Identifier: GPL-2.0-only
#include "check_pace.h"

void check_pace_count(struct check_pace *pace, const struct check *check, bool ok)
{
	enum check_settled result = ok ? CHECK_PASSES : CHECK_FAILS;
	bool first = ok && pace->settled == CHECK_UNSETTLED;

	if (pace->settled != result && !first &&
	    ++pace->row < (ok ? check->rise : check->fall))
		return;
	pace->settled = result;
	pace->row = 0;
}

uint32_t check_pace_pause(const struct check_pace *pace, const struct check *check,
			  uint32_t unsettled)
{
	uint64_t fast = (uint64_t)unsettled * 1000 / CHECK_FAST_A_SECOND;

	if (!pace->row || !check->fast_interval)
		return check->interval;
	if (fast < check->fast_interval)
		fast = check->fast_interval;
	return fast < check->interval ? fast : check->interval;
}
