// SPDX-License-Identifier: GPL-2.0-only
/* What the health of its backends makes of a pool: panic, quorum. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks_private.h"

static int compare_pools(const void *key, const void *element)
{
	return strcmp(key, ((const struct watched_pool *)element)->name);
}

struct watched_pool *pool_find(const struct checks *checks, const char *name)
{
	return checks->n_pools ? bsearch(name, checks->pools, checks->n_pools,
					 sizeof(*checks->pools), compare_pools) : NULL;
}

struct watched_pool *pool_of(const struct checks *checks, const struct subject *s)
{
	size_t at = s - checks->subjects, low = 0, high = checks->n_pools, middle;

	while (high - low > 1) {
		middle = (low + high) / 2;
		if (checks->pools[middle].first <= at)
			low = middle;
		else
			high = middle;
	}
	return &checks->pools[low];
}

/* Is there nobody of whom it is not known yet whether it could serve? */
static bool is_known(const struct checks *checks, const struct watched_pool *pool)
{
	size_t i;

	for (i = 0; i < pool->n; i++) {
		struct health_facts facts =
			subject_facts(checks, &checks->subjects[pool->first + i]);

		if (facts.admin == ADMIN_UP && facts.checked && facts.reached &&
		    facts.state == HEALTH_UNKNOWN)
			return false;
	}
	return true;
}

static void judge_pool(const struct checks *checks, const struct watched_pool *pool,
		       bool had_quorum, struct pool_facts *out)
{
	uint64_t weight = 0, up = 0;
	size_t i;

	for (i = 0; i < pool->n; i++) {
		const struct subject *s = &checks->subjects[pool->first + i];

		if (s->admin != ADMIN_UP)
			continue;
		weight += s->weight;
		up += s->told == EFFECTIVE_UP ? s->weight : 0;
	}
	pool_judge(&pool->policy, weight, up, had_quorum, out);
}

/* What a pool does when so few are up. */
static const char *what_panic_does(const struct watched_pool *pool)
{
	return pool->drops && !pool->facts.weight_up ?
		", and new connections are dropped" : ", and all serve";
}

static void tell_pool(struct checks *checks, const struct watched_pool *pool,
		      enum event_kind kind)
{
	char why[128];

	snprintf(why, sizeof(why), "%" PRIu64 " of weight %" PRIu64 " is up%s",
		 pool->facts.weight_up, pool->facts.weight,
		 kind == EVENT_POOL_PANIC ? what_panic_does(pool) : "");
	events_emit(&checks->daemon->events,
		    &(struct event){ .kind = kind, .pool = pool->name, .why = why,
				     .share = -1 });
}

void pool_settle(struct checks *checks, struct watched_pool *pool)
{
	struct pool_facts before = pool->facts;

	pool->changed = false;
	/* Where nothing was known nothing was had, and nothing need be regained. */
	if (!pool->judged)
		before = (struct pool_facts){ .quorum = true };
	judge_pool(checks, pool, before.quorum, &pool->facts);
	pool->judged = pool->judged || is_known(checks, pool);
	if (!pool->judged)
		return;
	if (pool->facts.panic != before.panic)
		tell_pool(checks, pool,
			  pool->facts.panic ? EVENT_POOL_PANIC : EVENT_POOL_CALM);
	if (pool->facts.quorum != before.quorum)
		tell_pool(checks, pool,
			  pool->facts.quorum ? EVENT_QUORUM_REGAINED : EVENT_QUORUM_LOST);
}

bool checks_pool(const struct checks *checks, const char *name,
		 struct checks_pool_view *out)
{
	const struct watched_pool *pool = pool_find(checks, name);

	if (!pool)
		return false;
	*out = (struct checks_pool_view){
		.facts = pool->facts,
		.backends = pool->n,
		.up = pool->up,
	};
	return true;
}
