/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_PROBE_PRIVATE_H
#define FAIRLEAD_PROBE_PRIVATE_H

/* What the three files of probe.h share. */

#include "probe.h"
#include "sys/nl.h"

struct probe_bpf;

struct probes {
	struct probe_bpf *skel;
	struct nl nl;
	uint32_t filter;  /* handle of our filters, on any interface */
	uint32_t program; /* id */
	int qdiscs;       /* the map; owned by skel */
	bool pinned;
	/* Marks that are given out, by number. */
	uint8_t used[PROBES_MAX / 8];
	uint32_t next;
};

/* Handle of an instance's filters: the same in every process. */
uint32_t probe_filter_handle(const char *pin_dir);

#define PROBE_PIN_COUNTERS "probe_counters"
#define PROBE_PIN_QDISCS "probe_qdiscs"

#endif
