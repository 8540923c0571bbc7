/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_HEALTH_H
#define FAIRLEAD_HEALTH_H

/*
 * The health of a backend in a pool: from results of its check to whether it
 * serves. Pure: time comes in as monotonic milliseconds. Facts are kept apart, and
 * health_effective() is the one place in which they become a state:
 *
 *   admin    what the operator wants (up, drain, down)
 *   checked  what the check says (unknown, up, down), by results in a row
 *   damped   it has changed too often lately, and stays out until it has calmed down
 *   agent    what the backend says of itself (a state, a weight)
 *   reached  whether packets find the way to it (its next hop)
 *   share    how much of its slots it serves: slow start and the agent's weight
 */

#include <stdbool.h>
#include <stdint.h>

#include "cfg.h"
#include "check.h"

enum health_state {
	HEALTH_UNKNOWN, /* no check has come to a result */
	HEALTH_UP,
	HEALTH_DOWN,
	HEALTH__MAX,
};

#define HEALTH_SHARE_FULL 100 /* percent of a backend's slots */
#define HEALTH_NEVER UINT64_MAX

/* Of a pool, from the configuration. Times in ms. */
struct health_params {
	uint16_t rise, fall;
	bool initial_up;          /* what unknown counts as */
	uint32_t initial_timeout; /* after which an unknown one is down; 0: never */
	/*
	 * Flap damping after RFC 2439: each change from up to down adds 1000 to a penalty
	 * that halves every half_life. Above `suppress` it is damped, below `reuse` no
	 * longer. suppress 0: off.
	 */
	uint32_t suppress, reuse, half_life;
	uint32_t slow_start; /* from 10 % to all of its slots; 0: at once */
};

#define HEALTH_PENALTY 1000 /* of one change */
#define HEALTH_PENALTY_MAX 16000

struct health {
	/* What the check says. */
	enum health_state state;
	uint64_t since;       /* of state */
	uint32_t row;         /* results in a row that say otherwise than state */
	char reason[PROBE_REASON_MAX]; /* of the last change, or of the last failure */
	uint64_t checked;     /* when the last result came; 0: never */
	/* Flap damping. */
	double penalty;       /* at `penalised` */
	uint64_t penalised;
	bool damped;
	/* Slow start: since when it climbs; 0: it does not. */
	uint64_t climbs;
	/* What the backend says. */
	uint8_t agent;        /* enum agent_state */
	double agent_weight;  /* percent, smoothed; HEALTH_SHARE_FULL: not said */
};

/* At `now` its check was begun: unknown. */
void health_init(struct health *h, uint64_t now);

/* What a result, or time, has changed: a set of these. */
enum health_change {
	HEALTH_CHANGED_STATE = 1 << 0,
	HEALTH_CHANGED_DAMPED = 1 << 1,
	HEALTH_CHANGED_SHARE = 1 << 2,
	HEALTH_CHANGED_AGENT = 1 << 3,
};

/* A result has come. Others of the pool serve: `others`, without which no slow start. */
unsigned int health_result(struct health *h, const struct health_params *params,
			   const struct probe_result *result, bool others, uint64_t now);
/* Time has passed: unknown ones time out, penalties decay, shares climb. */
unsigned int health_tick(struct health *h, const struct health_params *params,
			 uint64_t now);
/* When health_tick() next changes something by itself; HEALTH_NEVER. */
uint64_t health_next(const struct health *h, const struct health_params *params,
		     uint64_t now);

/* Percent of its slots that it serves while it is up; 0: weight 0 by its agent. */
uint8_t health_share(const struct health *h, const struct health_params *params,
		     uint64_t now);

enum effective_state {
	EFFECTIVE_UP,
	EFFECTIVE_DRAIN, /* known flows only */
	EFFECTIVE_DOWN,
	EFFECTIVE__MAX,
};

struct health_facts {
	enum admin_state admin;
	uint32_t weight;  /* configured; 0: drains */
	bool checked;     /* it has a check; else only reached counts */
	bool reached;     /* its next hop has not failed */
	bool initial_up;
	enum health_state state;
	bool damped;
	uint8_t agent;    /* enum agent_state */
};

/* *why: a word or two for people ("check", "next hop", "damped", ...); never NULL. */
enum effective_state health_effective(const struct health_facts *facts,
				      const char **why);

/* Of a pool: what becomes of it when few are left. */
struct pool_policy {
	uint8_t panic_threshold; /* percent of weight up, below which all serve; 0: never */
	uint32_t quorum;         /* weight that must be up; 0: none */
	uint32_t quorum_hysteresis; /* more than quorum by this, to be regained */
};

struct pool_facts {
	uint64_t weight, weight_up; /* that the operator wants; of these, effectively up */
	bool panic;
	bool quorum; /* regained or not lost */
};

/* `had`: it had quorum before. Hysteresis is for coming back only. */
void pool_judge(const struct pool_policy *policy, uint64_t weight, uint64_t weight_up,
		bool had, struct pool_facts *out);

const char *health_state_name(enum health_state state);
const char *effective_state_name(enum effective_state state);

#endif
