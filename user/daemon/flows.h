/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_FLOWS_H
#define FAIRLEAD_FLOWS_H

/* Reading the flow maps of all CPUs while packets go on using them. */

#include <linux/types.h>

#include "dataplane.h"

/* value is a struct flow. A negative return ends the walk. */
typedef int flows_visit(void *context, const void *key, const void *value);

/* Calls visit4 with struct flow_key4, visit6 with struct flow_key6. */
int flows_walk(const struct dataplane *dp, flows_visit *visit4, flows_visit *visit6,
	       void *context);

/*
 * The same over one family, with `start` called before each CPU's map: its file
 * descriptor is good until the next.
 */
int flows_walk_maps(const struct dataplane *dp, bool v6, flows_visit *visit,
		    void (*start)(void *context, int fd), void *context);

#endif
