// SPDX-License-Identifier: GPL-2.0-only
/* Ways: how they are found, and what the health of backends makes of one: panic, quorum. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks_private.h"

/* The first of a pool that is not below, or all of them: n_ways. */
static size_t lower_bound(const struct checks *checks, const char *pool,
			  const struct addr *addr, uint16_t port)
{
	size_t low = 0, high = checks->n_ways, middle;

	while (low < high) {
		const struct watched_way *way = &checks->ways[middle = (low + high) / 2];
		int order = strcmp(way->pool, pool);

		if (!order)
			order = way_compare(&way->addr, way->port, addr, port);
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_of(const struct checks *checks, size_t way, const char *pool)
{
	return way < checks->n_ways && !strcmp(checks->ways[way].pool, pool);
}

struct watched_way *ways_of_pool(const struct checks *checks, const char *pool, size_t *n)
{
	const struct addr unset = { 0 };
	size_t first = lower_bound(checks, pool, &unset, 0);

	*n = is_of(checks, first, pool) ? checks->ways[first].n_of_pool : 0;
	return &checks->ways[first];
}

static int compare_vips(const void *key, const void *element)
{
	return vip_spec_compare(key, &((const struct watched_vip *)element)->spec);
}

struct watched_way *way_of_vip(const struct checks *checks, const struct vip_spec *vip)
{
	const struct watched_vip *found = checks->n_vips ?
		bsearch(vip, checks->vips, checks->n_vips, sizeof(*checks->vips),
			compare_vips) : NULL;

	return found ? &checks->ways[found->way] : NULL;
}

const struct watched_way *way_before(const struct checks *checks, const char *pool,
				     const struct way *way)
{
	size_t at = lower_bound(checks, pool, &way->addr, way->port);
	const struct watched_way *found;

	if (is_of(checks, at, pool) && !way_compare(&checks->ways[at].addr,
						    checks->ways[at].port, &way->addr,
						    way->port))
		return &checks->ways[at];
	found = way->vip ? way_of_vip(checks, &way->vip->spec) : NULL;
	if (found && !strcmp(found->pool, pool))
		return found;
	/* An unset address comes before all others: the first of the pool. */
	return !way->addr.family && is_of(checks, at, pool) ? &checks->ways[at] : NULL;
}

const char *way_name(const struct watched_way *way, char text[VIP_SPEC_TEXT_MAX])
{
	return way->n_of_pool > 1 ? vip_spec_format(&way->vip, text) : NULL;
}

/* Is there nobody of whom it is not known yet whether it could serve? */
static bool is_known(const struct checks *checks, const struct watched_way *way)
{
	size_t i;

	for (i = 0; i < way->n; i++) {
		struct health_facts facts =
			subject_facts(checks, &checks->subjects[way->first + i]);

		if (facts.admin == ADMIN_UP && facts.checked && facts.reached &&
		    facts.state == HEALTH_UNKNOWN)
			return false;
	}
	return true;
}

/* Is anything known of anybody? */
static bool knows_any(const struct checks *checks, const struct watched_way *way)
{
	size_t i;

	for (i = 0; i < way->n; i++) {
		const struct subject *s = &checks->subjects[way->first + i];

		if (!s->checked || s->health.checked || s->health.state != HEALTH_UNKNOWN)
			return true;
	}
	return false;
}

void ways_presume(struct checks *checks)
{
	size_t i, j;

	for (i = 0; i < checks->n_ways; i++) {
		const struct watched_way *way = &checks->ways[i];

		if (knows_any(checks, way))
			continue;
		for (j = 0; j < way->n; j++)
			health_presume(&checks->subjects[way->first + j].health);
	}
}

static void judge_way(const struct checks *checks, const struct watched_way *way,
		      bool had_quorum, struct pool_facts *out)
{
	uint64_t weight = 0, up = 0;
	size_t i;

	for (i = 0; i < way->n; i++) {
		const struct subject *s = &checks->subjects[way->first + i];

		if (s->admin != ADMIN_UP)
			continue;
		weight += s->weight;
		up += s->told == EFFECTIVE_UP ? s->weight : 0;
	}
	pool_judge(&way->policy, weight, up, had_quorum, out);
}

/* They serve all of their slots now, and go on with these when they alone have to. */
static void end_climbs(struct checks *checks, const struct watched_way *way)
{
	size_t i;

	for (i = 0; i < way->n; i++) {
		struct subject *s = &checks->subjects[way->first + i];

		if (health_end_climb(&s->health))
			subject_reconsider(checks, s);
	}
}

/* What becomes of new connections when so few are up. */
static const char *what_panic_does(const struct watched_way *way)
{
	return way->drops && !way->facts.weight_up ?
		", and new connections are dropped" : ", and all serve";
}

static void tell_way(struct checks *checks, const struct watched_way *way,
		     enum event_kind kind)
{
	char why[128], vip[VIP_SPEC_TEXT_MAX];

	snprintf(why, sizeof(why), "%" PRIu64 " of weight %" PRIu64 " is up%s",
		 way->facts.weight_up, way->facts.weight,
		 kind == EVENT_POOL_PANIC ? what_panic_does(way) : "");
	events_emit(&checks->daemon->events,
		    &(struct event){ .kind = kind, .pool = way->pool,
				     .vip = way_name(way, vip), .why = why, .share = -1 });
}

void way_settle(struct checks *checks, struct watched_way *way)
{
	struct pool_facts before = way->facts;

	way->changed = false;
	/* Where nothing was known nothing was had, and nothing need be regained. */
	if (!way->judged)
		before = (struct pool_facts){ .quorum = true };
	judge_way(checks, way, before.quorum, &way->facts);
	if (way->facts.all_serve)
		end_climbs(checks, way);
	way->judged = way->judged || is_known(checks, way);
	if (!way->judged)
		return;
	if (way->facts.panic != before.panic)
		tell_way(checks, way,
			 way->facts.panic ? EVENT_POOL_PANIC : EVENT_POOL_CALM);
	if (way->facts.quorum != before.quorum)
		tell_way(checks, way,
			 way->facts.quorum ? EVENT_QUORUM_REGAINED : EVENT_QUORUM_LOST);
}

bool checks_vip(const struct checks *checks, const struct vip_spec *vip,
		struct checks_vip_view *out)
{
	const struct watched_way *way = way_of_vip(checks, vip);

	if (!way)
		return false;
	*out = (struct checks_vip_view){
		.facts = way->facts,
		.backends = way->n,
		.up = way->up,
	};
	return true;
}
