/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_PLURAL_H
#define FAIRLEAD_PLURAL_H

#include <stdint.h>

/* What follows a noun after that number: "%zu VIP%s". */
static inline const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

#endif
