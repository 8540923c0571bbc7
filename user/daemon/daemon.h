/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_DAEMON_H
#define FAIRLEAD_DAEMON_H

/*
 * All that the daemon is, in one tree. The loop's thread owns it; a worker sees
 * only what a transaction hands it.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <uv.h>

#include "attach.h"
#include "core/plan.h"
#include "dataplane.h"
#include "nexthop.h"
#include "dp/publish.h"
#include "txn.h"

struct ctl;

struct daemon_options {
	const char *config;
	const char *instance;
	bool foreground, teardown, check, verbose;
};

/* Requests to walk over the flows that wait: those of the full socket go first. */
struct flow_walks {
	TAILQ_HEAD(, request) waiting, read_only;
	bool busy; /* one runs */
};

struct daemon {
	struct daemon_options options;
	char run_dir[64]; /* "/run/fairlead/" and an instance name */
	int lock_fd;
	uint64_t started_ms;

	struct dataplane dp;
	struct attachment at;
	struct kernel kernel;
	struct nexthops *nexthops;
	struct plan *plan; /* what is in the maps; its cfg is what runs */
	struct txn_queue txns;
	char last_error[512];
	bool running_saved; /* running.yaml holds commands that the file lacks */

	uv_loop_t loop;
	uv_poll_t netlink;
	uv_timer_t netlink_timer, sweep_timer;
	unsigned int sweeps_skipped; /* since the last */
	uv_signal_t sighup, sigterm, sigint;
	struct ctl *ctl;
	struct flow_walks walks;
};

/* lifecycle.c */
int daemon_start(struct daemon *d, struct err *err);
void daemon_run(struct daemon *d);
/* Also after a start that failed. */
void daemon_stop(struct daemon *d);

/* reload.c: the configuration file and what commands made of it. */
int daemon_load_config(struct daemon *d, struct cfg **out, struct err *err);
void daemon_reload(struct daemon *d);
/* What is allowed but worth a word, at a start and at a reload. */
void daemon_log_warnings(const struct cfg *cfg);
/* The same of what the running data plane does not give. */
void daemon_log_dataplane_warnings(const struct daemon *d);
/* After a change by command: keep it for a daemon that starts after a crash. */
void daemon_keep_running_config(struct daemon *d);
/* Does what runs differ from what the file says now? */
bool daemon_has_unsaved_changes(const struct daemon *d);

/* sweep.c: ids of removed backends that no flow names any more. */
void sweep_start(struct daemon *d);

#endif
