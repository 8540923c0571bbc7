// SPDX-License-Identifier: GPL-2.0-only
/* What is known of health, for those who ask. */
#include <jansson.h>

#include "checks_private.h"
#include "dp/probe.h"

/* Since its last result or tick it has decayed. */
static double penalty_now(const struct subject *s, uint64_t now)
{
	struct health health = s->health;

	health_tick(&health, &s->params, now);
	return health.penalty;
}

size_t checks_ways(const struct checks *checks, const struct cfg_pool *pool)
{
	size_t n;

	ways_of_pool(checks, pool->name, &n);
	return n;
}

static const struct subject *find(const struct checks *checks,
				  const struct cfg_pool *pool, size_t way,
				  const struct cfg_backend *backend)
{
	size_t n;
	const struct watched_way *ways = ways_of_pool(checks, pool->name, &n);

	return way < n ? subject_find(checks, &ways[way], backend->name) : NULL;
}

void checks_view(const struct checks *checks, const struct cfg_pool *pool, size_t way,
		 const struct cfg_backend *backend, struct checks_view *out)
{
	const struct subject *s = find(checks, pool, way, backend);
	uint64_t now = checks_now();

	*out = (struct checks_view){ .state = EFFECTIVE_DOWN, .why = "" };
	if (!s)
		return;
	out->vip = s->way->has_vip ? &s->way->vip : NULL;
	out->state = subject_judge(checks, s, &out->why);
	out->share = out->state == EFFECTIVE_UP ? subject_share(s) : 0;
	out->checked = s->checked;
	if (!s->checked)
		return;
	out->health = &s->health;
	out->via = s->asked ? check_via_name(s->asked->via) : NULL;
	out->since_ms = now > s->health.since ? now - s->health.since : 0;
	out->penalty = penalty_now(s, now);
	if (s->asked && s->asked->muted)
		out->problem = checks->mark_failed;
	else if (checks->checker_died[0])
		out->problem = checks->checker_died;
	else if (s->health.agent_unclear)
		out->problem = s->health.reason;
}

/* Down is worse than drain, and that than up; then the smaller share is. */
static int badness(const struct checks *checks, const struct subject *s)
{
	const char *why;
	enum effective_state state = subject_judge(checks, s, &why);

	return (state + 1) * (HEALTH_SHARE_FULL + 1) - subject_share(s);
}

size_t checks_worst(const struct checks *checks, const struct cfg_pool *pool,
		    const struct cfg_backend *backend)
{
	size_t n, i, worst = 0;
	const struct watched_way *ways = ways_of_pool(checks, pool->name, &n);
	int bad, most = 0;

	for (i = 0; i < n; i++) {
		const struct subject *s = subject_find(checks, &ways[i], backend->name);

		bad = s ? badness(checks, s) : 0;
		if (bad > most) {
			most = bad;
			worst = i;
		}
	}
	return worst;
}

struct checks_status checks_status(const struct checks *checks)
{
	struct checker_status checker = checker_status(checks->checker);

	return (struct checks_status){
		.probes = checks->n_asked,
		.backends = checks->checked_backends,
		.checker_pid = checker.pid,
		.checker_restarts = checker.restarts,
		.results = checks->results,
		.state_changes = checks->state_changes,
	};
}

json_t *checks_probes_json(const struct checks *checks)
{
	uint64_t packets[PROBE_FATE__MAX];
	json_t *list = json_array();
	int fate;

	if (!checks->probes || probes_read(checks->probes, packets, NULL))
		return list;
	for (fate = 0; fate < PROBE_FATE__MAX; fate++)
		json_array_append_new(list, json_pack("{s:s, s:I}", "probes",
						      probe_fate_name(fate), "packets",
						      (json_int_t)packets[fate]));
	return list;
}
