// SPDX-License-Identifier: GPL-2.0-only
/* From a configuration to the backends that are watched, with what is known of them. */
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
}

static void collect_pool(struct checks *checks, const struct checks *old,
			 const struct cfg_pool *pool)
{
	struct watched_pool *watched = &checks->pools[checks->n_pools++];
	size_t i;

	*watched = (struct watched_pool){
		.first = checks->n_subjects,
		.n = pool->n_backends,
		.policy = { pool->panic_threshold, pool->quorum, pool->quorum_hysteresis },
		.drops = pool->all_down == ALL_DOWN_DROP,
		.facts.quorum = true,
		.changed = true,
	};
	memcpy(watched->name, pool->name, sizeof(watched->name));
	for (i = 0; i < pool->n_backends; i++) {
		struct subject *s = &checks->subjects[checks->n_subjects++], *before;

		subject_init(s, pool, &pool->backends[i]);
		s->interval = pool->check.interval;
		before = subject_find(old, s->pool, s->name);
		if (before)
			subject_inherit(s, before);
		checks->n_checked += s->checked;
		watched->up += s->told == EFFECTIVE_UP;
	}
}

/* Both are sorted by name. */
static void keep_known(struct checks *checks, const struct checks *old)
{
	size_t i, j = 0;
	int order;

	for (i = 0; i < checks->n_pools; i++) {
		for (order = -1; j < old->n_pools && order < 0; j += order < 0)
			order = strcmp(old->pools[j].name, checks->pools[i].name);
		if (order)
			continue;
		checks->pools[i].facts = old->pools[j].facts;
		checks->pools[i].judged = old->pools[j].judged;
		memcpy(checks->pools[i].path_problem, old->pools[j].path_problem,
		       sizeof(old->pools[j].path_problem));
	}
}

/* Pools and backends are sorted by name, so the subjects are. */
int subjects_collect(struct checks *checks, const struct cfg *cfg, struct err *err)
{
	struct checks old = *checks;
	size_t i, n = 0;

	for (i = 0; i < cfg->n_pools; i++)
		n += cfg->pools[i].n_backends;
	checks->subjects = calloc(n + 1, sizeof(*checks->subjects));
	checks->pools = calloc(cfg->n_pools + 1, sizeof(*checks->pools));
	if (!checks->subjects || !checks->pools) {
		free(checks->subjects);
		free(checks->pools);
		*checks = old;
		return err_set(err, -ENOMEM, "out of memory");
	}
	checks->n_subjects = checks->n_pools = checks->n_checked = 0;
	for (i = 0; i < cfg->n_pools; i++)
		collect_pool(checks, &old, &cfg->pools[i]);
	keep_known(checks, &old);
	free(old.subjects);
	free(old.pools);
	return 0;
}
