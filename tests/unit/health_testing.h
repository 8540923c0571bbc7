/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TESTS_HEALTH_TESTING_H
#define FAIRLEAD_TESTS_HEALTH_TESTING_H

/* A backend, its check and a clock that the test moves, for the policy of health. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/health.h"

#define SECOND 1000ULL
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

struct patient {
	struct health h;
	struct health_params params;
	uint64_t now;
	bool alone; /* nobody else of its pool serves */
	int16_t weight; /* what its agent says */
	uint8_t agent;
	bool unclear; /* it says what makes no sense */
	unsigned int changes; /* of the last result or tick */
};

/* rise 2, fall 3, and nothing else. */
static inline struct patient patient_new(void)
{
	struct patient p = {
		.params = { .rise = 2, .fall = 3 },
		.now = HOUR,
		.weight = -1,
	};

	health_init(&p.h, p.now);
	return p;
}

static inline void patient_check(struct patient *p, bool ok)
{
	struct probe_result result = {
		.ok = ok,
		.weight = p->weight,
		.agent = p->agent,
		.agent_unclear = ok && p->unclear,
	};

	snprintf(result.reason, sizeof(result.reason), "%s",
		 !ok ? "connection refused" :
		 p->unclear ? "weight or state 'x' makes no sense" : "HTTP status 200");
	p->changes = health_result(&p->h, &p->params, &result, !p->alone, p->now);
}

/* "+": a success, "-": a failure; each a second after the one before. */
static inline void patient_checks(struct patient *p, const char *results)
{
	for (; *results; results++) {
		p->now += SECOND;
		patient_check(p, *results == '+');
	}
}

static inline void patient_wait(struct patient *p, uint64_t ms)
{
	p->now += ms;
	p->changes = health_tick(&p->h, &p->params, p->now);
}

static inline uint8_t patient_share(const struct patient *p)
{
	return health_share(&p->h, &p->params);
}

static inline bool patient_serves(const struct patient *p)
{
	struct health_facts facts = {
		.weight = 1,
		.checked = true,
		.reached = true,
		.initial_up = p->params.initial_up,
		.state = p->h.state,
		.damped = p->h.damped,
		.agent = p->h.agent,
	};
	const char *why;

	return health_effective(&facts, &why) == EFFECTIVE_UP;
}

/* Penalties 1000 each, halved in a minute; above 2500 out, below 800 in again. */
static inline struct patient patient_to_be_damped(void)
{
	struct patient p = patient_new();

	p.params.rise = p.params.fall = 1;
	p.params.suppress = 2500;
	p.params.reuse = 800;
	p.params.half_life = MINUTE;
	return p;
}

/* It was down and is up again, others serve. */
static inline struct patient patient_that_climbs(void)
{
	struct patient p = patient_new();

	p.params.slow_start = 90 * SECOND;
	patient_checks(&p, "+---++");
	return p;
}

#endif
