// SPDX-License-Identifier: GPL-2.0-only
/* From facts to states: of a backend, and of a pool. */
#include "health.h"

static const char *const state_names[] = {
	[HEALTH_UNKNOWN] = "unknown",
	[HEALTH_UP] = "up",
	[HEALTH_DOWN] = "down",
};
_Static_assert(sizeof(state_names) / sizeof(*state_names) == HEALTH__MAX,
	       "every state has a name");

static const char *const effective_names[] = {
	[EFFECTIVE_UP] = "up",
	[EFFECTIVE_DRAIN] = "drain",
	[EFFECTIVE_DOWN] = "down",
};
_Static_assert(sizeof(effective_names) / sizeof(*effective_names) == EFFECTIVE__MAX,
	       "every effective state has a name");

const char *health_state_name(enum health_state state)
{
	return state < HEALTH__MAX ? state_names[state] : "invalid";
}

const char *effective_state_name(enum effective_state state)
{
	return state < EFFECTIVE__MAX ? effective_names[state] : "invalid";
}

/* NULL: its check has nothing against it. */
static const char *why_check_says_down(const struct health_facts *facts)
{
	if (!facts->checked)
		return NULL;
	if (facts->state == HEALTH_DOWN)
		return "check";
	if (facts->damped)
		return "damped";
	return facts->agent == AGENT_DOWN ? "agent" : NULL;
}

static bool waits(const struct health_facts *facts)
{
	return facts->checked && facts->state == HEALTH_UNKNOWN;
}

static const char *why_down(const struct health_facts *facts)
{
	if (facts->admin == ADMIN_DOWN)
		return "admin";
	if (!facts->reached)
		return "next hop";
	if (why_check_says_down(facts))
		return why_check_says_down(facts);
	return waits(facts) && !facts->initial_up ? "no result yet" : NULL;
}

static const char *why_drain(const struct health_facts *facts)
{
	if (facts->admin == ADMIN_DRAIN)
		return "admin";
	if (!facts->weight)
		return "weight";
	if (!facts->checked)
		return NULL;
	return facts->agent == AGENT_DRAIN || facts->weightless ? "agent" : NULL;
}

enum effective_state health_effective(const struct health_facts *facts,
				      const char **why)
{
	*why = why_down(facts);
	if (*why)
		return EFFECTIVE_DOWN;
	*why = why_drain(facts);
	if (*why)
		return EFFECTIVE_DRAIN;
	*why = waits(facts) ? "no result yet" : facts->checked ? "check" : "no check";
	return EFFECTIVE_UP;
}

bool health_is_presumed(const struct health_facts *facts)
{
	struct health_facts sure = *facts;
	const char *why;

	sure.initial_up = true;
	return facts->presumed && waits(facts) && !facts->initial_up &&
	       health_effective(&sure, &why) == EFFECTIVE_UP;
}

bool health_keeps_flows(const struct health_facts *facts)
{
	return facts->admin != ADMIN_DOWN && !why_check_says_down(facts);
}

static uint64_t regain_weight(const struct pool_policy *policy, uint64_t weight)
{
	uint64_t wanted = (uint64_t)policy->quorum + policy->quorum_hysteresis;

	if (wanted > weight)
		wanted = weight;
	return wanted > policy->quorum ? wanted : policy->quorum;
}

void pool_judge(const struct pool_policy *policy, uint64_t weight, uint64_t weight_up,
		bool had, struct pool_facts *out)
{
	bool panic = weight_up * 100 < weight * policy->panic_threshold;

	*out = (struct pool_facts){
		.weight = weight,
		.weight_up = weight_up,
		.panic = panic,
		.all_serve = weight_up ? panic : policy->all_when_none,
		.quorum = weight_up >= (had ? policy->quorum :
					      regain_weight(policy, weight)),
	};
}
