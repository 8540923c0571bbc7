/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_PRIVILEGES_H
#define FAIRLEAD_PRIVILEGES_H

/*
 * What this process may do: send and receive raw packets (echoes) and mark its own, and
 * else what any user may. For good, also for programs that it runs.
 */

#include "core/err.h"

/*
 * Root becomes `user`, and keeps CAP_NET_RAW, and CAP_NET_ADMIN where the kernel wants
 * that for SO_MARK (before 5.17). Others stay who they are.
 */
int privileges_drop(const char *user, struct err *err);

#endif
