/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CHECK_USER_H
#define FAIRLEAD_CHECK_USER_H

#include "core/cfg.h"

/*
 * May `next` take the place of `running` (NULL: none runs), as far as the user that its
 * checks run as goes? -EINVAL with a sentence. A user that is gone while its checks run
 * is in the way of no change of something else.
 */
int check_user_allow(const struct cfg *running, const struct cfg *next, struct err *err);

#endif
