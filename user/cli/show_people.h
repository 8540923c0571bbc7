/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_SHOW_PEOPLE_H
#define FAIRLEAD_SHOW_PEOPLE_H

/*
 * VIPs and backends as a person wants to see them on one line: what they are
 * and do, how they are, and why. Every member by itself is in the other forms
 * and in --all. Both take an item of the daemon's answer that was checked.
 */

#include <jansson.h>

#include "writer.h"

void people_vip(struct writer *w, const json_t *vip);
void people_backend(struct writer *w, const json_t *backend);

#endif
