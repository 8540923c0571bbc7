/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_FLOW_QUERY_H
#define FAIRLEAD_FLOW_QUERY_H

/*
 * What is remembered of flows: counted, listed, or forgotten. Made on the loop's
 * thread, which alone may look at the plan; run on any thread; then told as JSON.
 */

#include <jansson.h>
#include <stdbool.h>

#include "core/err.h"

struct daemon;
struct flow_query;

/*
 * args: "vip" (as in the configuration), "backend" (address), "source" (a prefix),
 * "limit" (how many to list, 0 for none). With `flush`, what matches is forgotten, and
 * a VIP or a backend has to be named.
 */
int flow_query_new(struct daemon *d, json_t *args, bool flush,
		   struct flow_query **out, struct err *err);
int flow_query_run(struct flow_query *query, struct err *err);
/* NULL: no memory. */
json_t *flow_query_result(const struct flow_query *query);
void flow_query_free(struct flow_query **query);

#endif
