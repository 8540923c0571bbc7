/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_HEALTH_H
#define FAIRLEAD_HEALTH_H

/*
 * The health of a backend in a pool: from results of its check to whether it
 * serves. Pure: time comes in as monotonic milliseconds. A clock that stands still
 * holds up what waits for it and no more; one that goes back, as it may across a
 * restart, begins the waiting anew; one that leaps ends it, but a share climbs by one
 * step all the same. Facts are kept apart, and
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
/* Slow start begins with one step, and ends with the tenth after `slow_start`. */
#define HEALTH_CLIMB_STEP 10 /* percent */
/*
 * Of an agent's weight: each result moves the smoothed one by a quarter of what they
 * differ. The first result counts at once, and so does 0, which is no noise. The
 * share follows when it is off by so many points, or at 0 and 100.
 */
#define HEALTH_AGENT_PART 4
#define HEALTH_AGENT_STEP 5

/*
 * Of a pool, from the configuration. Times in ms.
 *
 * `rise` successes in a row make a backend that is down up, and `fall` failures in a
 * row make one down that is up or unknown; a result that says otherwise begins the
 * row anew, however much later it comes. The first result of all need not be waited
 * for: as long as no check has come to a result, in time or after initial_timeout, one
 * success makes it up; and an unknown one that has failed is up after one, too.
 */
struct health_params {
	uint16_t rise, fall;
	bool initial_up;          /* what unknown counts as */
	uint32_t initial_timeout; /* after which an unknown one is down; 0: never */
	/*
	 * Flap damping after RFC 2439: each change from up to down adds 1000 to a penalty
	 * that halves every half_life. Above `suppress` it is damped, below `reuse` no
	 * longer, which is at most log2(HEALTH_PENALTY_MAX / reuse) half lives after its
	 * last change. suppress or half_life 0: off.
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
	/* Of the last change, the last failure, or the last answer that made no sense. */
	char reason[PROBE_REASON_MAX];
	/* Of the last result that says what the state says: why it is so. */
	char cause[PROBE_REASON_MAX];
	uint64_t checked;     /* when the last result came; 0: never */
	bool presumed;        /* nobody of its pool was known, and it has no result yet */
	/* Flap damping. */
	double penalty;       /* at `penalised` */
	uint64_t penalised;
	bool damped;
	/*
	 * Slow start, of what was down and comes back while others serve: when it took
	 * its last step, 0: it does not climb; and how far it is, in percent. It waits
	 * while the backend is up but out (damped, or by its agent).
	 */
	uint64_t climbs;
	uint8_t climb;
	/* What the backend says. */
	uint8_t agent;        /* enum agent_state */
	double agent_weight;  /* percent, smoothed; HEALTH_SHARE_FULL: not said */
	uint8_t agent_share;  /* what is made of it */
	bool agent_unclear;   /* it said last what makes no sense: reason has it */
};

/* At `now` its check was begun: unknown. */
void health_init(struct health *h, uint64_t now);

/*
 * Nothing is known of anybody of its pool, so that all may serve: it goes on to serve
 * until its own first result or initial_timeout, whatever is found of others before.
 * Nothing to one of which something is known.
 */
void health_presume(struct health *h);

/* What a result, or time, has changed: a set of these. */
enum health_change {
	HEALTH_CHANGED_STATE = 1 << 0,
	HEALTH_CHANGED_DAMPED = 1 << 1,
	HEALTH_CHANGED_SHARE = 1 << 2,
	HEALTH_CHANGED_AGENT = 1 << 3,
	HEALTH_CHANGED_PRESUMED = 1 << 4, /* it is no longer */
};

/*
 * A result has come. Others of the pool serve, and it does not: `others`, without which
 * no slow start.
 * An agent's state and weight stay what they were when a check fails and says none;
 * one that succeeds and says none takes them back.
 */
unsigned int health_result(struct health *h, const struct health_params *params,
			   const struct probe_result *result, bool others, uint64_t now);
/* Time has passed: unknown ones time out, penalties decay, shares climb. */
unsigned int health_tick(struct health *h, const struct health_params *params,
			 uint64_t now);
/*
 * When health_tick() next changes something by itself, not before now; HEALTH_NEVER. A
 * step of a climb may be too small to show in a small share.
 */
uint64_t health_next(const struct health *h, const struct health_params *params,
		     uint64_t now);

/*
 * All of its pool serve, and so does it, with all of its slots: it need not climb to
 * them when it is up. True: it climbed.
 */
bool health_end_climb(struct health *h);

/*
 * Percent of its slots that it serves while it is up, as of the last result or tick;
 * 0: weight 0 by its agent.
 */
uint8_t health_share(const struct health *h, const struct health_params *params);

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
	bool presumed;
	bool damped;
	uint8_t agent;    /* enum agent_state */
	bool weightless;  /* its agent says weight 0: drains, as with a weight of 0 */
};

/*
 * Down is stronger than drain, and the operator's word stronger than what is found.
 * *why: a word or two for people ("check", "next hop", "damped", ...); never NULL.
 */
enum effective_state health_effective(const struct health_facts *facts,
				      const char **why);
/*
 * Down only for want of its first result, while all serve of whom nothing is known:
 * where a pool has all serve when none is up, it does.
 */
bool health_is_presumed(const struct health_facts *facts);
/*
 * Whether known flows stay with it: not when the operator, its check, its flapping or
 * its agent says that it is down; but where only its next hop is missing, or no check
 * has come to a result yet, nobody knows that it is gone.
 */
bool health_keeps_flows(const struct health_facts *facts);

/* Of a pool: what becomes of it when few are left. */
struct pool_policy {
	uint8_t panic_threshold; /* percent of weight up, below which all serve; 0: never */
	uint32_t quorum;         /* weight that must be up; 0: none */
	uint32_t quorum_hysteresis; /* more than quorum by this, to be regained */
	bool all_when_none;         /* with none up all serve; else nobody does */
};

struct pool_facts {
	uint64_t weight, weight_up; /* that the operator wants; of these, effectively up */
	bool panic;
	bool quorum; /* regained or not lost */
	bool all_serve; /* that the operator wants, with all of their slots */
};

/*
 * `had`: it had quorum before. Hysteresis is for coming back only, and asks for no
 * more than all of the weight: a pool that is all up is never without its quorum for
 * the sake of hysteresis. Panic is said of a pool with none up, too; what becomes of
 * that one is all_when_none's to say.
 */
void pool_judge(const struct pool_policy *policy, uint64_t weight, uint64_t weight_up,
		bool had, struct pool_facts *out);

const char *health_state_name(enum health_state state);
const char *effective_state_name(enum effective_state state);

#endif
