/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_BACKEND_SETUP_H
#define FAIRLEAD_BACKEND_SETUP_H

/*
 * `fairlead backend-setup`, which makes this host a backend: it takes what a
 * balancer sends it (decap program, VIPs on lo) and keeps quiet about the VIPs
 * on the wire (sysctls). It speaks to no daemon.
 *
 *   backend_setup.c        the command line, and who does what
 *   backend_setup_apply.c  make the changes, all or none
 *   backend_setup_undo.c   take back what earlier runs made
 *   backend_setup_state.c  what was changed, on disk
 *   backend_setup_decap.c  the decap program
 */

#include "backend_setup_state.h"
#include "cli.h"

struct setup {
	struct cli *cli;
	const char *instance;
	const char *interface; /* NULL until known */
	unsigned int ifindex;
	bool no_decap, undo, show;
	uint16_t gue_port; /* 0: not given */
	struct addr *vip;
	size_t n_vip;
	struct setup_state state; /* as on disk */
};

/*
 * Each gives its answer to cli->out: what it changed, from what to what. Apply
 * undoes what it did when it fails; undo goes on past a failure and returns the
 * first, and what could not be undone stays in the state.
 */
int setup_apply(struct setup *setup, struct err *err);
int setup_undo(struct setup *setup, struct err *err);

/* One change in the answer. */
void setup_report(struct setup *setup, const char *what, const char *before,
		  const char *after);
void setup_report_sysctl(struct setup *setup, const char *path, int before,
			 int after);

#endif
