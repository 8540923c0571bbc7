// SPDX-License-Identifier: GPL-2.0-only
#include "health.h"

#include <math.h>
#include <stdio.h>

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* For times of which 0 says that there is none. */
static uint64_t stamp(uint64_t now)
{
	return now ? now : 1;
}

void health_init(struct health *h, uint64_t now)
{
	*h = (struct health){
		.state = HEALTH_UNKNOWN,
		.since = now,
		.penalised = now,
		.climb = HEALTH_SHARE_FULL,
		.agent = AGENT_SILENT,
		.agent_weight = HEALTH_SHARE_FULL,
		.agent_share = HEALTH_SHARE_FULL,
	};
}

void health_presume(struct health *h)
{
	h->presumed = h->state == HEALTH_UNKNOWN && !h->checked;
}

/* What a caller is told of when it changes. */
struct sight {
	enum health_state state;
	bool presumed, damped;
	uint8_t agent, share;
};

static struct sight look(const struct health *h, const struct health_params *params)
{
	return (struct sight){
		h->state, h->presumed, h->damped, h->agent, health_share(h, params)
	};
}

static unsigned int compare(struct sight before, struct sight after)
{
	unsigned int changes = 0;

	if (before.state != after.state)
		changes |= HEALTH_CHANGED_STATE;
	if (before.damped != after.damped)
		changes |= HEALTH_CHANGED_DAMPED;
	if (before.share != after.share)
		changes |= HEALTH_CHANGED_SHARE;
	if (before.agent != after.agent)
		changes |= HEALTH_CHANGED_AGENT;
	if (before.presumed != after.presumed)
		changes |= HEALTH_CHANGED_PRESUMED;
	return changes;
}

/* Its check passes, and yet it takes no new flows. */
static bool is_held(const struct health *h)
{
	return h->damped || h->agent == AGENT_DRAIN || h->agent == AGENT_DOWN;
}

static void climb_begin(struct health *h, const struct health_params *params,
			bool others, uint64_t now)
{
	if (!others || !params->slow_start)
		return;
	h->climbs = stamp(now);
	h->climb = HEALTH_CLIMB_STEP;
}

static void climb_end(struct health *h)
{
	h->climbs = 0;
	h->climb = HEALTH_SHARE_FULL;
}

bool health_end_climb(struct health *h)
{
	bool climbed = h->climbs;

	climb_end(h);
	return climbed;
}

static uint32_t climb_interval(const struct health_params *params)
{
	uint32_t steps = HEALTH_SHARE_FULL / HEALTH_CLIMB_STEP - 1;

	return params->slow_start > steps ? params->slow_start / steps : 1;
}

/* One step at most, so that a tick that comes late leaps over none. */
static void climb_on(struct health *h, const struct health_params *params, uint64_t now)
{
	if (!h->climbs)
		return;
	if (!params->slow_start) {
		climb_end(h);
		return;
	}
	if (now < h->climbs + climb_interval(params))
		return;
	h->climbs = stamp(now);
	h->climb += HEALTH_CLIMB_STEP;
	if (h->climb >= HEALTH_SHARE_FULL)
		climb_end(h);
}

static bool damping_is_on(const struct health_params *params)
{
	return params->suppress && params->half_life;
}

/* At least 1, since a penalty that halves never comes to 0. */
static double reuse_limit(const struct health_params *params)
{
	uint32_t limit = params->reuse < params->suppress ? params->reuse :
							    params->suppress;

	return limit ? limit : 1;
}

static void penalty_decay(struct health *h, const struct health_params *params,
			  uint64_t now)
{
	if (damping_is_on(params))
		h->penalty *= exp2(-(double)(now - h->penalised) / params->half_life);
	else
		h->penalty = 0;
	h->penalised = now;
	if (h->damped && (!damping_is_on(params) || h->penalty < reuse_limit(params)))
		h->damped = false;
}

static void penalise(struct health *h, const struct health_params *params)
{
	if (!damping_is_on(params))
		return;
	h->penalty += HEALTH_PENALTY;
	if (h->penalty > HEALTH_PENALTY_MAX)
		h->penalty = HEALTH_PENALTY_MAX;
	if (h->penalty > params->suppress)
		h->damped = true;
}

/* A result, or the want of one, says what the state says. */
static void confirm(struct health *h, const char *reason)
{
	snprintf(h->cause, sizeof(h->cause), "%.*s", PROBE_REASON_MAX - 1, reason);
}

static void turn(struct health *h, enum health_state state, uint64_t now)
{
	h->state = state;
	h->since = now;
	h->row = 0;
	h->presumed = false;
}

static void initial_time_out(struct health *h, const struct health_params *params,
			     uint64_t now)
{
	if (h->state != HEALTH_UNKNOWN || !params->initial_timeout ||
	    now - h->since < params->initial_timeout)
		return;
	turn(h, HEALTH_DOWN, now);
	/* One that has failed says better why. */
	if (!h->checked)
		snprintf(h->reason, sizeof(h->reason), "no result within %u ms",
			 params->initial_timeout);
	confirm(h, h->reason);
}

/* All that time does by itself. No time of *h is after now when it returns. */
static void pass_time(struct health *h, const struct health_params *params, uint64_t now)
{
	h->since = earlier(h->since, now);
	h->checked = earlier(h->checked, stamp(now));
	h->penalised = earlier(h->penalised, now);
	h->climbs = earlier(h->climbs, stamp(now));
	if (h->climbs && is_held(h))
		h->climbs = stamp(now);
	penalty_decay(h, params, now);
	climb_on(h, params, now);
	initial_time_out(h, params, now);
}

static void smooth(struct health *h, double said)
{
	double apart = said - h->agent_weight;

	if (!h->checked || !said || fabs(apart) < 1)
		h->agent_weight = said;
	else
		h->agent_weight += apart / HEALTH_AGENT_PART;
	/* Small steps would change the table with each result, for ever. */
	if (!h->agent_weight || h->agent_weight >= HEALTH_SHARE_FULL ||
	    fabs(h->agent_weight - h->agent_share) >= HEALTH_AGENT_STEP)
		h->agent_share = (uint8_t)lround(h->agent_weight);
}

static double bound(int16_t weight)
{
	return weight < 0 || weight > HEALTH_SHARE_FULL ? HEALTH_SHARE_FULL : weight;
}

static void hear_agent(struct health *h, const struct health_params *params,
		       const struct probe_result *result, bool others, uint64_t now)
{
	bool was_down = h->agent == AGENT_DOWN;

	if (result->ok || result->weight >= 0)
		smooth(h, bound(result->weight));
	if (result->ok || result->agent != AGENT_SILENT)
		h->agent = result->agent;
	h->agent_unclear = result->agent_unclear;
	if (was_down && h->agent != AGENT_DOWN && h->state == HEALTH_UP)
		climb_begin(h, params, others, now);
}

/* Counts the result; true when it makes the backend up or down. */
static bool ends_row(struct health *h, const struct health_params *params, bool ok)
{
	uint16_t needed = ok ? params->rise : params->fall;

	if (h->state == (ok ? HEALTH_UP : HEALTH_DOWN)) {
		h->row = 0;
		return false;
	}
	if (ok && (h->state == HEALTH_UNKNOWN || !h->checked))
		needed = 1;
	return ++h->row >= needed;
}

static void take_result(struct health *h, const struct health_params *params, bool ok,
			bool others, uint64_t now)
{
	if (!ok && h->state == HEALTH_UP)
		penalise(h, params);
	if (ok && h->state == HEALTH_DOWN && h->checked)
		climb_begin(h, params, others, now);
	else
		climb_end(h);
	turn(h, ok ? HEALTH_UP : HEALTH_DOWN, now);
}

unsigned int health_result(struct health *h, const struct health_params *params,
			   const struct probe_result *result, bool others, uint64_t now)
{
	struct sight before = look(h, params);
	bool turns, was_unclear = h->agent_unclear;

	pass_time(h, params, now);
	h->presumed = false;
	hear_agent(h, params, result, others, now);
	turns = ends_row(h, params, result->ok);
	if (turns)
		take_result(h, params, result->ok, others, now);
	if (turns || !result->ok || result->agent_unclear || was_unclear)
		snprintf(h->reason, sizeof(h->reason), "%.*s", PROBE_REASON_MAX - 1,
			 result->reason);
	if (h->state == (result->ok ? HEALTH_UP : HEALTH_DOWN))
		confirm(h, result->reason);
	h->checked = stamp(now);
	return compare(before, look(h, params));
}

unsigned int health_tick(struct health *h, const struct health_params *params,
			 uint64_t now)
{
	struct sight before = look(h, params);

	pass_time(h, params, now);
	return compare(before, look(h, params));
}

/* When the penalty has fallen under the limit. */
static uint64_t reuse_time(const struct health *h, const struct health_params *params,
			   uint64_t now)
{
	double limit = reuse_limit(params);

	if (!damping_is_on(params) || h->penalty < limit)
		return now;
	return earlier(h->penalised, now) + 1 +
	       (uint64_t)ceil(params->half_life * log2(h->penalty / limit));
}

uint64_t health_next(const struct health *h, const struct health_params *params,
		     uint64_t now)
{
	uint64_t next = HEALTH_NEVER;

	if (h->state == HEALTH_UNKNOWN && params->initial_timeout)
		next = earlier(h->since, now) + params->initial_timeout;
	if (h->damped)
		next = earlier(next, reuse_time(h, params, now));
	if (h->climbs && !is_held(h))
		next = earlier(next, earlier(h->climbs, now) + climb_interval(params));
	return next < now ? now : next;
}

uint8_t health_share(const struct health *h, const struct health_params *params)
{
	unsigned int climb = params->slow_start ? h->climb : HEALTH_SHARE_FULL;
	unsigned int share = (climb * h->agent_share + HEALTH_SHARE_FULL / 2) /
			     HEALTH_SHARE_FULL;

	return (uint8_t)(h->agent_share && !share ? 1 : share);
}
