// SPDX-License-Identifier: GPL-2.0-only
/*
 * How each VIP uses a backend, where the backend alone does not say it: several VIPs
 * have it, and their checks disagree; or a VIP's pool lists it no more and others do.
 * Of such a leaver the VIP's flows that are known stay for as long as those of a
 * backend that left the configuration, whatever the checks of other pools say.
 *
 * Leavers are found by what the VIP's table had in the old plan, and go on from plan
 * to plan as entries. VIPs that went the same way (from one table to one way) lost the
 * same backends, so these are looked for once.
 */
#include "plan_verdicts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

#define IDS 65536
/* Whoever shares backends widely still finds room for what his checks say. */
#define LEAVERS_MAX (MAX_VERDICTS / 2)
#define SPARES_MAX (MAX_VERDICTS / 4)
#define USE_NONE 0xff

/* A VIP that was there before, and what it looked into then and does now. */
struct step {
	uint32_t way;
	uint16_t table, vip; /* ids, of the old plan both */
	uint32_t drain_timeout;
};

struct maker {
	struct plan *plan;
	const struct plan *old;
	const struct plan_table *ways;
	const uint32_t *of_vip;
	size_t n_ways;
	const struct plan_health *health;
	size_t room;

	/* By backend id. */
	struct plan_backend *now[IDS];
	const struct plan_backend *before[IDS];
	uint8_t kindest[IDS]; /* enum backend_use, over ways that VIPs go, or USE_NONE */
	uint32_t mark[IDS];   /* members of the way in hand have its mark */
	uint32_t last_mark;
	uint16_t lost[IDS]; /* backend ids, of the step in hand */
	size_t n_lost;
};

static int compare_verdicts(const void *a, const void *b)
{
	const struct plan_verdict *x = a, *y = b;

	if (x->vip != y->vip)
		return x->vip < y->vip ? -1 : 1;
	return (x->backend > y->backend) - (x->backend < y->backend);
}

void plan_sort_verdicts(struct plan *plan)
{
	if (plan->n_verdicts)
		qsort(plan->verdicts, plan->n_verdicts, sizeof(*plan->verdicts),
		      compare_verdicts);
}

const struct plan_verdict *plan_find_verdict(const struct plan *plan, uint16_t vip,
					     uint16_t backend)
{
	struct plan_verdict key = { .vip = vip, .backend = backend };

	return plan->n_verdicts ? bsearch(&key, plan->verdicts, plan->n_verdicts,
					  sizeof(key), compare_verdicts) : NULL;
}

/* The place of the VIP's first entry, or where it would be. */
static size_t first_of_vip(const struct plan *plan, uint16_t vip)
{
	size_t low = 0, high = plan->n_verdicts, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (plan->verdicts[middle].vip < vip)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Flows that are known stay, stay where their VIP says so, or are chosen again. */
static unsigned int fate(uint8_t use)
{
	switch (use) {
	case USE_FAILED:
		return 1;
	case USE_DOWN:
		return 2;
	default:
		return 0;
	}
}

static int append(struct maker *m, const struct plan_verdict *verdict, size_t max)
{
	struct plan *plan = m->plan;
	struct plan_verdict *grown;

	if (plan->n_verdicts >= max) {
		plan->verdicts_left_out++;
		return 0;
	}
	if (plan->n_verdicts == m->room) {
		m->room = m->room ? 2 * m->room : 16;
		grown = reallocarray(plan->verdicts, m->room, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		plan->verdicts = grown;
	}
	plan->verdicts[plan->n_verdicts++] = *verdict;
	return 0;
}

static void be_kind(struct maker *m, uint16_t backend, uint8_t use)
{
	if (use < m->kindest[backend])
		m->kindest[backend] = use;
}

/* In no pool at all, it drains as long for this VIP as for all. */
static bool drains_for_all(const struct maker *m, const struct plan_verdict *leaver)
{
	const struct plan_backend *now = m->now[leaver->backend];

	return now->draining && now->drain_timeout == leaver->drain_timeout;
}

static bool has_drained(const struct maker *m, const struct plan_verdict *leaver)
{
	const struct plan_health *health = m->health;

	if (!health || !health->has_drained)
		return false;
	return health->has_drained(health->context, leaver->vip, leaver->backend) ||
	       (drains_for_all(m, leaver) &&
		health->has_drained(health->context, 0, leaver->backend));
}

/* It fares as it would without this entry. */
static bool is_spare(const struct maker *m, const struct plan_verdict *leaver)
{
	return drains_for_all(m, leaver) &&
	       fate(m->now[leaver->backend]->use) == fate(leaver->use);
}

static int append_leaver(struct maker *m, struct plan_verdict leaver)
{
	if (leaver.use < USE_DRAIN)
		leaver.use = USE_DRAIN;
	leaver.left = true;
	if (has_drained(m, &leaver))
		leaver.use = USE_DOWN;
	/* Where no VIP has it, what its pools say is as good as ever. */
	if (m->kindest[leaver.backend] != USE_NONE)
		be_kind(m, leaver.backend, leaver.use);
	/* So it is known, should a pool of others list the backend again. */
	if (is_spare(m, &leaver) && m->plan->n_verdicts >= SPARES_MAX)
		return 0;
	return append(m, &leaver, LEAVERS_MAX);
}

/* Left before; or, in a plan that was read from the maps, perhaps just now. */
static int carry_leavers(struct maker *m, uint16_t vip, bool table_known)
{
	const struct plan *old = m->old;
	size_t i;
	int rc = 0;

	for (i = first_of_vip(old, vip); i < old->n_verdicts && !rc; i++) {
		const struct plan_verdict *verdict = &old->verdicts[i];

		if (verdict->vip != vip)
			break;
		if (m->mark[verdict->backend] != m->last_mark && m->now[verdict->backend] &&
		    (verdict->left || !table_known))
			rc = append_leaver(m, *verdict);
	}
	return rc;
}

/* It has just left. What an unknown table may have had is carried on already. */
static int add_leaver(struct maker *m, const struct step *step, uint16_t backend,
		      bool table_known)
{
	const struct plan_verdict *known = plan_find_verdict(m->old, step->vip, backend);

	if (known && !table_known)
		return 0;
	return append_leaver(m, (struct plan_verdict){
		.vip = step->vip,
		.backend = backend,
		.use = known ? known->use : m->before[backend]->use,
		.drain_timeout = step->drain_timeout,
	});
}

static void mark_way(struct maker *m, const struct plan_table *way)
{
	size_t i;

	m->last_mark++;
	for (i = 0; i < way->n_members; i++)
		m->mark[way->members[i].backend] = m->last_mark;
}

/* Whom the old table had and the way has not; those with an id, which flows may name. */
static void find_lost(struct maker *m, const struct plan_table *table)
{
	size_t i;
	uint16_t id;

	m->n_lost = 0;
	for (i = 0; table && i < table->n_members; i++) {
		id = table->members[i].backend;
		if (m->mark[id] != m->last_mark && m->now[id] && m->before[id])
			m->lost[m->n_lost++] = id;
	}
}

static int compare_steps(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	if (x->table != y->table)
		return x->table < y->table ? -1 : 1;
	if (x->way != y->way)
		return x->way < y->way ? -1 : 1;
	return (x->vip > y->vip) - (x->vip < y->vip);
}

static size_t collect_steps(const struct maker *m, struct step *steps)
{
	const struct plan_vip *old;
	size_t i, n = 0;

	for (i = 0; i < m->plan->n_vips; i++) {
		old = plan_find_vip(m->old, &m->plan->vips[i].spec);
		if (old)
			steps[n++] = (struct step){ m->of_vip[i], old->table, old->id,
						    old->drain_timeout };
	}
	if (n)
		qsort(steps, n, sizeof(*steps), compare_steps);
	return n;
}

static int make_leavers(struct maker *m)
{
	_cleanup_free_ struct step *steps = calloc(m->plan->n_vips + 1, sizeof(*steps));
	const struct plan_table *table = NULL;
	size_t i, j, n;
	bool known;
	int rc = 0;

	if (!steps)
		return -ENOMEM;
	n = collect_steps(m, steps);
	for (i = 0; i < n && !rc; i++) {
		if (!i || steps[i].table != steps[i - 1].table ||
		    steps[i].way != steps[i - 1].way) {
			table = plan_find_table(m->old, steps[i].table);
			mark_way(m, &m->ways[steps[i].way]);
			find_lost(m, table);
		}
		known = table && table->known;
		rc = carry_leavers(m, steps[i].vip, known);
		for (j = 0; j < m->n_lost && !rc; j++)
			rc = add_leaver(m, &steps[i], m->lost[j], known);
	}
	return rc;
}

/* Of the ways that VIPs go; the others have nobody's flows. */
static void judge_ways(struct maker *m, bool *used)
{
	size_t i, j;

	memset(m->kindest, USE_NONE, sizeof(m->kindest));
	for (i = 0; i < m->plan->n_vips; i++)
		used[m->of_vip[i]] = true;
	for (i = 0; i < m->n_ways; i++)
		for (j = 0; used[i] && j < m->ways[i].n_members; j++)
			be_kind(m, m->ways[i].members[j].backend,
				m->ways[i].members[j].use);
}

static void settle_backends(struct maker *m)
{
	size_t i;

	for (i = 0; i < m->plan->n_backends; i++) {
		struct plan_backend *backend = &m->plan->backends[i];

		if (m->kindest[backend->id] != USE_NONE)
			backend->use = m->kindest[backend->id];
	}
}

static bool disagrees(const struct maker *m, const struct plan_member *member)
{
	return fate(member->use) != fate(m->now[member->backend]->use);
}

static void find_disagreeing_ways(const struct maker *m, bool *disagreeing)
{
	size_t i, j;

	for (i = 0; i < m->n_ways; i++)
		for (j = 0; j < m->ways[i].n_members && !disagreeing[i]; j++)
			disagreeing[i] = disagrees(m, &m->ways[i].members[j]);
}

/* What the checks by a VIP's way say, where another's are kinder. */
static int make_members(struct maker *m)
{
	_cleanup_free_ bool *disagreeing = calloc(m->n_ways + 1, sizeof(*disagreeing));
	size_t i, j;
	int rc = 0;

	if (!disagreeing)
		return -ENOMEM;
	find_disagreeing_ways(m, disagreeing);
	for (i = 0; i < m->plan->n_vips; i++) {
		const struct plan_table *way = &m->ways[m->of_vip[i]];
		struct plan_verdict verdict = { .vip = m->plan->vips[i].id };

		for (j = 0; disagreeing[m->of_vip[i]] && j < way->n_members && !rc; j++) {
			if (!disagrees(m, &way->members[j]))
				continue;
			verdict.backend = way->members[j].backend;
			verdict.use = way->members[j].use;
			rc = append(m, &verdict, MAX_VERDICTS);
		}
	}
	return rc;
}

static void tell_backends(struct maker *m)
{
	size_t i;

	for (i = 0; i < m->plan->n_verdicts; i++) {
		const struct plan_verdict *verdict = &m->plan->verdicts[i];
		struct plan_backend *backend = m->now[verdict->backend];

		if (fate(verdict->use) != fate(backend->use))
			backend->verdicts = VERDICTS_PART;
		else if (backend->verdicts == VERDICTS_NONE)
			backend->verdicts = VERDICTS_ALIKE;
	}
}

int plan_fill_verdicts(struct plan *plan, const struct plan_table *ways, size_t n_ways,
		       const uint32_t *of_vip, const struct plan *old,
		       const struct plan_health *health, struct err *err)
{
	_cleanup_free_ struct maker *m = calloc(1, sizeof(*m));
	_cleanup_free_ bool *used = calloc(n_ways + 1, sizeof(*used));
	size_t i;
	int rc;

	if (!m || !used)
		return err_set(err, -ENOMEM, "out of memory");
	m->plan = plan;
	m->old = old;
	m->ways = ways;
	m->n_ways = n_ways;
	m->of_vip = of_vip;
	m->health = health;
	for (i = 0; i < plan->n_backends; i++) {
		plan->backends[i].verdicts = VERDICTS_NONE;
		m->now[plan->backends[i].id] = &plan->backends[i];
	}
	for (i = 0; i < old->n_backends; i++)
		m->before[old->backends[i].id] = &old->backends[i];

	judge_ways(m, used);
	rc = make_leavers(m);
	settle_backends(m);
	if (!rc)
		rc = make_members(m);
	if (rc)
		return err_set(err, rc, "out of memory");
	plan_sort_verdicts(plan);
	tell_backends(m);
	return 0;
}

int plan_copy_verdicts(struct plan *plan, const struct plan *old, plan_drop *drop,
		       void *context)
{
	size_t i;

	plan->verdicts = calloc(old->n_verdicts + 1, sizeof(*plan->verdicts));
	if (!plan->verdicts)
		return -ENOMEM;
	for (i = 0; i < old->n_verdicts; i++) {
		const struct plan_verdict *verdict = &old->verdicts[i];

		if (!verdict->left || !drop(context, verdict->vip, verdict->backend))
			plan->verdicts[plan->n_verdicts++] = *verdict;
	}
	return 0;
}
