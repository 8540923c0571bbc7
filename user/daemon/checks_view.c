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

void checks_view(const struct checks *checks, const struct cfg_pool *pool,
		 const struct cfg_backend *backend, struct checks_view *out)
{
	const struct subject *s = subject_find(checks, pool->name, backend->name);
	uint64_t now = checks_now();

	*out = (struct checks_view){ .state = EFFECTIVE_DOWN, .why = "" };
	if (!s)
		return;
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
	else if (s->health.agent_unclear)
		out->problem = s->health.reason;
}

struct checks_status checks_status(const struct checks *checks)
{
	struct checker_status checker = checker_status(checks->checker);

	return (struct checks_status){
		.probes = checks->n_asked,
		.backends = checks->n_checked,
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
