// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a configuration to the ways and backends that are watched, with what is known of
 * them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks_private.h"

void subject_inherit(struct subject *s, const struct subject *old)
{
	s->fresh = false;
	s->told = old->told;
	s->told_share = old->told_share;
	s->told_admin = old->told_admin;
	s->unasked = old->unasked;
	s->unclear_told = old->unclear_told;
	if (!s->checked || addr_compare(&s->addr, &old->addr))
		return;
	if (old->checked) {
		s->health = old->health;
		s->health.row = 0;
		return;
	}
	/* It has served without being checked, so it takes failures to stop it. */
	s->health.state = HEALTH_UP;
	snprintf(s->health.reason, sizeof(s->health.reason), "not checked before");
	memcpy(s->health.cause, s->health.reason, sizeof(s->health.cause));
}

static void init_way(struct watched_way *watched, const struct cfg_pool *pool,
		     const struct way *way)
{
	*watched = (struct watched_way){
		.addr = way->addr,
		.port = way->port,
		.has_vip = way->vip,
		.policy = { pool->panic_threshold, pool->quorum, pool->quorum_hysteresis,
			    pool->all_down != ALL_DOWN_DROP },
		.drops = pool->all_down == ALL_DOWN_DROP,
		.facts.quorum = true,
		.changed = true,
		.wish = {
			.kind = pool->check.kind,
			.via = pool->check.via,
			.through = way->vip &&
				   way_goes_through(&pool->check, &way->vip->spec),
		},
	};
	memcpy(watched->pool, pool->name, sizeof(watched->pool));
	if (way->vip)
		watched->vip = way->vip->spec;
}

static void collect_way(struct checks *checks, const struct checks *old,
			const struct cfg_pool *pool, const struct way *way)
{
	struct watched_way *watched = &checks->ways[checks->n_ways++];
	const struct watched_way *before = way_before(old, pool->name, way);
	size_t i;

	init_way(watched, pool, way);
	watched->first = checks->n_subjects;
	watched->n = pool->n_backends;
	if (before) {
		watched->facts = before->facts;
		watched->judged = before->judged;
		memcpy(watched->path_problem, before->path_problem,
		       sizeof(watched->path_problem));
	}
	for (i = 0; i < pool->n_backends; i++) {
		struct subject *s = &checks->subjects[checks->n_subjects++];
		const struct subject *known =
			before ? subject_find(old, before, pool->backends[i].name) : NULL;

		subject_init(s, pool, &pool->backends[i]);
		s->way = watched;
		s->interval = pool->check.interval;
		if (known)
			subject_inherit(s, known);
		checks->n_checked += s->checked;
		watched->up += s->told == EFFECTIVE_UP;
	}
}

/* Pools and backends are sorted by name, and ways as it is said; so all of it is. */
static void collect_pool(struct checks *checks, const struct checks *old,
			 const struct cfg_pool *pool, const struct way *ways, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		collect_way(checks, old, pool, &ways[i]);
		checks->ways[checks->n_ways - 1].n_of_pool = n;
	}
	if (pool->check.kind)
		checks->checked_backends += pool->n_backends;
}

static void collect_all(struct checks *checks, const struct checks *old,
			const struct cfg *cfg, const struct ways *ways)
{
	size_t i;

	for (i = 0; i < cfg->n_pools; i++)
		collect_pool(checks, old, &cfg->pools[i], &ways->list[ways->first[i]],
			     ways->first[i + 1] - ways->first[i]);
	for (i = 0; i < cfg->n_vips; i++)
		checks->vips[checks->n_vips++] = (struct watched_vip){
			.spec = cfg->vips[i].spec,
			.way = ways->of_vip[i],
		};
}

static size_t count_subjects(const struct cfg *cfg, const struct ways *ways)
{
	size_t i, n = 0;

	for (i = 0; i < ways->n; i++)
		n += cfg->pools[ways->list[i].pool].n_backends;
	return n;
}

static void free_collected(const struct checks *checks)
{
	free(checks->subjects);
	free(checks->ways);
	free(checks->vips);
}

int subjects_collect(struct checks *checks, const struct cfg *cfg, struct err *err)
{
	_cleanup_ways_ struct ways ways = { 0 };
	struct checks old = *checks;

	if (ways_make(cfg, &ways))
		return err_set(err, -ENOMEM, "out of memory");
	checks->subjects = calloc(count_subjects(cfg, &ways) + 1, sizeof(*checks->subjects));
	checks->ways = calloc(ways.n + 1, sizeof(*checks->ways));
	checks->vips = calloc(cfg->n_vips + 1, sizeof(*checks->vips));
	if (!checks->subjects || !checks->ways || !checks->vips) {
		free_collected(checks);
		*checks = old;
		return err_set(err, -ENOMEM, "out of memory");
	}
	checks->n_subjects = checks->n_ways = checks->n_vips = 0;
	checks->n_checked = checks->checked_backends = 0;
	collect_all(checks, &old, cfg, &ways);
	free_collected(&old);
	return 0;
}
