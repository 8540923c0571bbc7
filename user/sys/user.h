/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_USER_H
#define FAIRLEAD_USER_H

/* Users of this host, out of whatever database it asks for them (nsswitch.conf). */

#include "core/err.h"

/*
 * May checks run as this user? -EINVAL with a sentence: there is no such user here, or
 * it is root by another name. 0 also when the database cannot be asked now: then nobody
 * knows, and fairlead-check finds out.
 */
int user_check(const char *name, struct err *err);

#endif
