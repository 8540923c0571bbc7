/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_DATAPLANE_H
#define FAIRLEAD_DATAPLANE_H

/*
 * The loaded program and its pinned maps: made new, or adopted from the daemon
 * before this one. The `config` map is pinned last and written when all the
 * others are ready, so a set without it is what is left of a start that was cut
 * short, and is made anew.
 */

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"
#include "core/cfg.h"
#include "core/err.h"
#include "dp/flow_maps.h"

struct fairlead_bpf;

struct dataplane {
	struct fairlead_bpf *skel;
	char pin_dir[128];
	bool adopted;
	unsigned int cpus; /* possible ones: entries of per-CPU values */
	struct config config;
	/*
	 * The adopted flow maps have another size or form than the configuration
	 * wants: the program was loaded on new ones, and these are the old, until
	 * dataplane_settle(). See flow_pins.h.
	 */
	bool migrates;
	int old_flows[FLOW_MAP__MAX];
	uint32_t icmp_rate; /* of the loaded program */
};

/* Load the program on new or adopted maps, and test it. Attaches nothing. */
int dataplane_open(struct dataplane *dp, const char *instance,
		   const struct cfg *cfg, struct err *err);
/*
 * The program of an adopted set runs now: its hash key is the one to go on with, and
 * its flow maps take the place of the old ones. Until then the old program may be
 * what balances, by the old key.
 */
int dataplane_settle(struct dataplane *dp, struct err *err);
/* Close what this process holds; pins, and so traffic, stay. */
void dataplane_close(struct dataplane *dp);

void dataplane_pin_dir(const char *instance, char *path, size_t size);

/* What cfg asks for and the program and maps that are there do not give. */
void dataplane_warnings(const struct dataplane *dp, const struct cfg *cfg,
			void (*warn)(void *context, const char *text), void *context);

/* How much the flow maps hold and take. */
void dataplane_log_memory(const struct dataplane *dp);

/* True when cfg asks for what only a newly loaded program can do. */
bool dataplane_needs_restart(const struct dataplane *dp, const struct cfg *cfg);

#endif
