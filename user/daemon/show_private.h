/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_SHOW_PRIVATE_H
#define FAIRLEAD_SHOW_PRIVATE_H

/* What the files share that tell what runs. */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/cfg.h"
#include "daemon.h"

json_t *integer(uint64_t value);
/* Null for NULL and "". */
json_t *string_or_null(const char *text);

/*
 * The backends of a pool, or, with `only` NULL, of every one and those that no pool lists
 * any more. `slots`: reading a whole table for each pool is wanted. -ENOMEM.
 */
int show_backend_list(struct daemon *d, const struct cfg_pool *only, bool slots,
		      json_t **array, struct err *err);

#endif
