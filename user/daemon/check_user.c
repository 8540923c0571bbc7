// SPDX-License-Identifier: GPL-2.0-only
#include "check_user.h"

#include <string.h>

#include "sys/user.h"

int check_user_allow(const struct cfg *running, const struct cfg *next, struct err *err)
{
	int rc;

	if (!cfg_has_checks(next))
		return 0;
	if (running && cfg_has_checks(running) &&
	    !strcmp(running->check_user, next->check_user))
		return 0;
	rc = user_check(next->check_user, err);
	if (rc)
		cfg_err_place(next, next->check_user_pos, err);
	return rc;
}
