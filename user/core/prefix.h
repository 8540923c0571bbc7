/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_PREFIX_H
#define FAIRLEAD_PREFIX_H

/* Sets of addresses as values: "192.0.2.0/24", "2001:db8::/32", one address. */

#include <stdbool.h>
#include <stddef.h>

#include "addr.h"

struct prefix {
	struct addr addr; /* the bits behind the length are zero */
	uint8_t length;   /* 0..32 or 0..128 */
};

/* One array, owned by whoever has the struct. */
struct prefix_list {
	struct prefix *list;
	size_t n;
};

#define PREFIX_TEXT_MAX (ADDR_TEXT_MAX + 4)

/*
 * Any address, also 0.0.0.0/0 and ::/0; without "/LENGTH" it is that address
 * alone. -EINVAL when bits behind the length are set: then nobody knows what
 * was meant. `what` names the thing in the sentence.
 */
int prefix_parse(const char *text, const char *what, struct prefix *out,
		 struct err *err);
/* Without a length when it is one address. Returns `text`. */
const char *prefix_format(const struct prefix *prefix, char text[PREFIX_TEXT_MAX]);

/* Total order: by address, then the shorter first. */
int prefix_compare(const struct prefix *a, const struct prefix *b);

/* -ENOMEM or 0. */
int prefix_list_add(struct prefix_list *list, const struct prefix *prefix);
int prefix_list_copy(const struct prefix_list *from, struct prefix_list *out);
void prefix_list_sort(struct prefix_list *list);
void prefix_list_clear(struct prefix_list *list);
#define _cleanup_prefix_list_ __attribute__((cleanup(prefix_list_clear)))

#endif
