/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CHECKS_H
#define FAIRLEAD_CHECKS_H

/*
 * The health of every backend of every pool: asks fairlead-check, keeps what it
 * answers (core/health.h says what that means), tells changes as events, and has
 * the tables follow. Knows backends by pool, way (core/way.h) and name, so that they
 * keep their health over any change of the configuration, and over a restart by a file
 * in the run directory.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"
#include "core/health.h"
#include "core/plan.h"

struct checks;
struct daemon;

/* The data plane is open. */
int checks_open(struct daemon *d, struct checks **out, struct err *err);
void checks_close(struct checks *checks);

/*
 * For the first plan, which is made of cfg: what the daemon before this one knew. Asks
 * nobody yet. -ENOMEM.
 */
int checks_begin(struct checks *checks, const struct cfg *cfg, struct err *err);
/* The configuration that runs is another: its plan is in the maps. */
void checks_follow(struct checks *checks, const struct cfg *cfg);
/* Next hops have failed or come back. */
void checks_reconsider(struct checks *checks);
/* Routes may have: the way that checks go is looked at anew, soon. */
void checks_follow_routes(struct checks *checks);

/* For struct plan_health; the context is a struct checks. */
void checks_ask(void *context, const struct cfg_pool *pool, const struct way *way,
		const struct cfg_backend *backend, struct plan_backend_health *out);

/* ms of CLOCK_BOOTTIME, which a daemon after this one goes on with. */
uint64_t checks_now(void);

/*
 * Removed backends whose pools had a drain_timeout, also of a VIP; the plan is another,
 * which was made at `planned`: what has ended since is not in it.
 */
void checks_follow_drains(struct checks *checks, uint64_t planned);
/* Also for struct plan_health. */
bool checks_has_drained(void *context, uint16_t vip, uint16_t backend);

/* What is known of a backend by one way, for people. */
struct checks_view {
	const struct vip_spec *vip; /* NULL: no VIP uses the pool */
	enum effective_state state;
	const char *why;
	uint8_t share; /* percent of its slots that it serves */
	bool checked;
	/* Only of those that are checked; valid until the loop turns, as the VIP is. */
	const struct health *health;
	const char *via; /* "vip" or "direct" */
	uint64_t since_ms; /* ago */
	double penalty;
	/* Why the check is not made, or what it says that makes no sense; NULL: nothing. */
	const char *problem;
};

/* How many ways lead to the backends of a pool that runs; they are counted from 0. */
size_t checks_ways(const struct checks *checks, const struct cfg_pool *pool);
void checks_view(const struct checks *checks, const struct cfg_pool *pool, size_t way,
		 const struct cfg_backend *backend, struct checks_view *out);
/* The way by which it is worst off; of equals the first. */
size_t checks_worst(const struct checks *checks, const struct cfg_pool *pool,
		    const struct cfg_backend *backend);

/* What the backends of a VIP's pool are to it. */
struct checks_vip_view {
	struct pool_facts facts;
	size_t up, backends;
};

/* False: not a VIP of the running configuration. */
bool checks_vip(const struct checks *checks, const struct vip_spec *vip,
		struct checks_vip_view *out);

struct checks_status {
	size_t probes, backends; /* distinct checks; backends that are checked */
	int checker_pid;         /* 0: none runs */
	uint64_t checker_restarts, results, state_changes;
};

/* Packets of checks through the tunnel: [{"probes": what became of them, "packets"}...] */
struct json_t;
struct json_t *checks_probes_json(const struct checks *checks);

struct checks_status checks_status(const struct checks *checks);

#endif
