/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_BACKEND_SETUP_STATE_H
#define FAIRLEAD_BACKEND_SETUP_STATE_H

/*
 * What `fairlead backend-setup` has changed on this host, in
 * /run/fairlead-backend/INSTANCE.json, so that a later run can undo exactly
 * that. A change is written here before it is made: whoever undoes finds
 * changes that were never made, but never misses one that was.
 *
 * /run is emptied by a reboot, as are the settings themselves.
 */

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/addr.h"
#include "core/cleanup.h"
#include "core/err.h"
#include "sys/sysctl.h"

#define SETUP_RUN_DIR "/run/fairlead-backend"
#define SETUP_SYSCTL_MAX 8

struct setup_sysctl {
	char path[SYSCTL_PATH_MAX];
	int before; /* of the first run that changed it */
	int after;
};

struct setup_vip {
	struct addr addr;
	bool added; /* by us; false: the host had it on lo before */
};

struct setup_state {
	char interface[IF_NAMESIZE]; /* "": nothing was set up */
	uint64_t netns;              /* inode of the network namespace */
	bool decap;                  /* our program is on the interface */
	uint16_t gue_port;           /* of the program */
	struct setup_sysctl sysctl[SETUP_SYSCTL_MAX];
	size_t n_sysctl;
	struct setup_vip *vip;
	size_t n_vip;
};

void setup_state_clear(struct setup_state *state);
#define _cleanup_setup_state_ _cleanup_(setup_state_clear)

/* One run at a time: an fd that holds the instance's lock, or negative errno. */
int setup_state_lock(const char *instance, struct err *err);

/* No file: an empty state and 0. */
int setup_state_load(const char *instance, struct setup_state *out,
		     struct err *err);
int setup_state_save(const char *instance, const struct setup_state *state,
		     struct err *err);
int setup_state_remove(const char *instance, struct err *err);

/* NULL: not in the state. */
struct setup_vip *setup_state_find_vip(const struct setup_state *state,
				       const struct addr *addr);
struct setup_sysctl *setup_state_find_sysctl(struct setup_state *state,
					     const char *path);

/* Append; the caller has looked that it is not there yet. */
int setup_state_add_vip(struct setup_state *state, const struct addr *addr,
			bool added, struct err *err);
void setup_state_add_sysctl(struct setup_state *state, const char *path,
			    int before, int after);

#endif
