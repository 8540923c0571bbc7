/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TESTS_PLAN_HEALTH_TESTING_H
#define FAIRLEAD_TESTS_PLAN_HEALTH_TESTING_H

/* Plans that ask of health, and are told what a test wants. */

#include "plan_testing.h"

#define THREE "{address: 10.0.0.1}, {address: 10.0.0.2}, {address: 10.0.0.3}"

/* Of backends by the last byte of their address; two masks, and what is told. */
struct news {
	unsigned int unreached, told;
	struct plan_backend_health said[8];
};

static inline unsigned int number_of(const struct addr *addr)
{
	return ntohl(addr->v4.s_addr) & 7;
}

static inline void ask(void *context, const struct cfg_pool *pool, const struct way *way,
		const struct cfg_backend *backend, struct plan_backend_health *out)
{
	const struct news *news = context;
	unsigned int number = number_of(&backend->addr);
	struct health_facts facts = {
		.admin = backend->state,
		.weight = backend->weight,
		.reached = !(news->unreached >> number & 1),
	};
	const char *why;

	(void)way;
	assert_true(backend >= pool->backends &&
		    backend < pool->backends + pool->n_backends);
	*out = (struct plan_backend_health){
		.state = health_effective(&facts, &why),
		.share = HEALTH_SHARE_FULL,
		.keeps_flows = health_keeps_flows(&facts),
	};
	if (news->told >> number & 1)
		*out = news->said[number];
}

static inline struct plan *plan_in(const char *yaml, struct news *news, const struct plan *old)
{
	struct plan_health health = { .ask = ask, .context = news };
	struct cfg *cfg = must_parse(yaml);
	struct plan *plan = NULL;

	assert_int_equal(plan_make(&cfg, old, &health, &plan, NULL), 0);
	return plan;
}

static inline uint8_t use_of(const struct plan *plan, unsigned int number)
{
	for (size_t i = 0; i < plan->n_backends; i++)
		if (number_of(&plan->backends[i].ident.addr) == number)
			return plan->backends[i].use;
	fail_msg("no backend %u", number);
	return 0;
}

static inline void tell(struct news *news, unsigned int number, enum effective_state state,
		 uint8_t share)
{
	news->told |= 1U << number;
	news->said[number] = (struct plan_backend_health){ .state = state, .share = share };
}

#endif
