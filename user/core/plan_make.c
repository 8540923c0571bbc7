// SPDX-License-Identifier: GPL-2.0-only
/*
 * Making a plan: backends first, since tables name their ids; then tables,
 * whose ids depend on which VIPs use them; then VIPs. Each way to a pool's backends
 * has members of its own, since it is a way that a backend is up or down by.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "plan.h"
#include "plan_verdicts.h"
#include "table_overlay.h"

#define IDS 65536

_Static_assert(HEALTH_SHARE_FULL == TABLE_SHARE_FULL, "a share is one thing");

/* Ids in use, one byte each: found by walking on from the last one given. */
struct id_space {
	uint8_t used[IDS];
	uint16_t last;
};

/* 0: none is free. */
static uint16_t id_take(struct id_space *space)
{
	unsigned int tries, id = space->last;

	for (tries = 1; tries < IDS; tries++) {
		id = id % (IDS - 1) + 1; /* 1..65535, around */
		if (space->used[id])
			continue;
		space->used[id] = 1;
		space->last = id;
		return id;
	}
	return 0;
}

struct maker {
	const struct plan *old;
	struct plan *plan;
	struct cfg *cfg;
	struct ways ways;
	struct plan_table *way_tables;  /* by way; id is an index into draft */
	struct plan_table *draft;       /* distinct tables, ids still to be given */
	size_t n_draft;
	struct id_space *ids;
	const struct plan_health *health;
	struct err *err;
};

static int out_of_memory(struct maker *m)
{
	return err_set(m->err, -ENOMEM, "out of memory");
}

static void ids_start(struct maker *m, uint16_t last)
{
	memset(m->ids->used, 0, sizeof(m->ids->used));
	m->ids->last = last;
}

static size_t count_backends(const struct cfg *cfg)
{
	size_t i, n = 0;

	for (i = 0; i < cfg->n_pools; i++)
		n += cfg->pools[i].n_backends;
	return n;
}

static size_t count_members(const struct maker *m)
{
	size_t i, n = 0;

	for (i = 0; i < m->ways.n; i++)
		n += m->cfg->pools[m->ways.list[i].pool].n_backends;
	return n;
}

static int compare_backends(const void *a, const void *b)
{
	const struct plan_backend *x = a, *y = b;

	return backend_ident_compare(&x->ident, &y->ident);
}

static enum backend_use use_of(enum admin_state state)
{
	switch (state) {
	case ADMIN_DRAIN:
		return USE_DRAIN;
	case ADMIN_DOWN:
		return USE_DOWN;
	default:
		return USE_UP;
	}
}

static void ask(const struct maker *m, const struct way *way,
		const struct cfg_backend *backend, struct plan_backend_health *out)
{
	const struct health_facts facts = {
		.admin = backend->state,
		.weight = backend->weight,
		.reached = true,
	};
	const char *why;

	if (m->health) {
		m->health->ask(m->health->context, &m->cfg->pools[way->pool], way, backend,
			       out);
		return;
	}
	*out = (struct plan_backend_health){
		.state = health_effective(&facts, &why),
		.share = HEALTH_SHARE_FULL,
	};
}

static enum backend_use use_when(const struct plan_backend_health *health,
				 const struct cfg_backend *backend)
{
	switch (health->state) {
	case EFFECTIVE_UP:
		return health->share ? USE_UP : USE_DRAIN;
	case EFFECTIVE_DRAIN:
		return USE_DRAIN;
	default:
		if (health->keeps_flows)
			return use_of(backend->state);
		return backend->state == ADMIN_DOWN ? USE_DOWN : USE_FAILED;
	}
}

/*
 * When few are up, the pool's policy may count on all that the operator wants:
 * its panic threshold while some are up, all_down when none is.
 */
static bool counts_on_all(const struct cfg_pool *pool, uint64_t weight, uint64_t up)
{
	const struct pool_policy policy = {
		.panic_threshold = pool->panic_threshold,
		.all_when_none = pool->all_down != ALL_DOWN_DROP,
	};
	struct pool_facts facts;

	pool_judge(&policy, weight, up, true, &facts);
	return facts.all_serve;
}

static uint8_t share_of(const struct cfg_pool *pool,
			const struct plan_backend_health *health)
{
	if (health->state == EFFECTIVE_UP)
		return health->share;
	return health->presumed && pool->all_down != ALL_DOWN_DROP ? HEALTH_SHARE_FULL : 0;
}

static void count_on_all(const struct cfg_pool *pool, struct plan_member *members)
{
	size_t i;

	for (i = 0; i < pool->n_backends; i++)
		if (pool->backends[i].state == ADMIN_UP) {
			members[i].share = HEALTH_SHARE_FULL;
			members[i].use = USE_UP;
		}
}

/* For a start, the kindest word counts; plan_verdicts.c knows of VIPs. */
static void use_at_least(struct plan_backend *backend, enum backend_use use)
{
	if (use < backend->use)
		backend->use = use;
}

/* Who serves slots by one way, and what becomes of flows that are known. */
static void judge_way(const struct maker *m, const struct way *way,
		      struct plan_member *members, struct plan_backend *backends)
{
	const struct cfg_pool *pool = &m->cfg->pools[way->pool];
	uint64_t weight = 0, up = 0;
	size_t i;

	for (i = 0; i < pool->n_backends; i++) {
		const struct cfg_backend *backend = &pool->backends[i];
		struct plan_backend_health health;

		ask(m, way, backend, &health);
		members[i].share = share_of(pool, &health);
		members[i].use = use_when(&health, backend);
		weight += backend->state == ADMIN_UP ? backend->weight : 0;
		up += health.state == EFFECTIVE_UP && health.share ? backend->weight : 0;
	}
	if (counts_on_all(pool, weight, up))
		count_on_all(pool, members);
	for (i = 0; i < pool->n_backends; i++)
		use_at_least(&backends[i], members[i].use);
}

/* All ways of a pool; returns how many members these have together. */
static size_t judge_pool(const struct maker *m, size_t pool, struct plan_member *members,
			 struct plan_backend *backends)
{
	size_t i, n_backends = m->cfg->pools[pool].n_backends, n = 0;

	for (i = 0; i < n_backends; i++)
		backends[i].use = USE_DOWN;
	for (i = m->ways.first[pool]; i < m->ways.first[pool + 1]; i++, n += n_backends)
		judge_way(m, &m->ways.list[i], &members[n], backends);
	return n;
}

/* Of a backend that two pools list: what the kinder of them says. */
static void be_kind(struct plan_backend *backend, const struct plan_backend *other)
{
	use_at_least(backend, other->use);
	if (!other->drain_timeout || !backend->drain_timeout)
		backend->drain_timeout = 0;
	else if (other->drain_timeout > backend->drain_timeout)
		backend->drain_timeout = other->drain_timeout;
}

/*
 * The distinct backends of the configuration, ids zero; then the old ones. The
 * members of each way, in the order of the ways, get their shares meanwhile.
 */
static int collect_backends(struct maker *m)
{
	struct plan *plan = m->plan;
	size_t n = count_backends(m->cfg), i, j, distinct = 0;
	struct plan_member *members = plan->members;
	struct plan_backend *list;

	list = calloc(n + m->old->n_backends + 1, sizeof(*list));
	if (!list)
		return out_of_memory(m);
	plan->backends = list;

	for (i = 0, n = 0; i < m->cfg->n_pools; i++) {
		const struct cfg_pool *pool = &m->cfg->pools[i];

		members += judge_pool(m, i, members, &list[n]);
		for (j = 0; j < pool->n_backends; j++, n++) {
			backend_ident_of(pool, &pool->backends[j], &list[n].ident);
			list[n].drain_timeout = pool->drain_timeout;
		}
	}
	if (n)
		qsort(list, n, sizeof(*list), compare_backends);
	for (i = 0; i < n; i++) {
		if (!i || compare_backends(&list[i], &list[distinct - 1]))
			list[distinct++] = list[i];
		else
			be_kind(&list[distinct - 1], &list[i]);
	}
	plan->n_backends = distinct;
	return 0;
}

/*
 * In no pool any more. What is known to be dead or was taken out does not come back to
 * its flows by being removed.
 */
static struct plan_backend removed(const struct maker *m, const struct plan_backend *old)
{
	struct plan_backend backend = *old;

	backend.draining = true;
	if (old->use < USE_DRAIN)
		backend.use = USE_DRAIN;
	if (m->health && m->health->has_drained &&
	    m->health->has_drained(m->health->context, 0, old->id))
		backend.use = USE_DOWN;
	return backend;
}

static int make_backends(struct maker *m)
{
	size_t i, n;
	int rc = collect_backends(m);

	if (rc)
		return rc;

	ids_start(m, m->old->last_backend);
	n = m->plan->n_backends;
	for (i = 0; i < m->old->n_backends; i++) {
		const struct plan_backend *old = &m->old->backends[i];
		struct plan_backend *same = m->plan->n_backends ?
			bsearch(old, m->plan->backends, m->plan->n_backends,
				sizeof(*old), compare_backends) : NULL;

		m->ids->used[old->id] = 1;
		if (same)
			same->id = old->id;
		else
			m->plan->backends[n++] = removed(m, old);
	}

	for (i = 0; i < m->plan->n_backends; i++) {
		struct plan_backend *backend = &m->plan->backends[i];

		if (!backend->id)
			backend->id = id_take(m->ids);
		if (!backend->id)
			return err_set(m->err, -ENOSPC,
				       "more than %d backends, counting removed ones whose connections live",
				       MAX_BACKENDS);
	}
	m->plan->n_backends = n;
	m->plan->last_backend = m->ids->last;
	plan_sort(m->plan); /* members look their backends up */
	return 0;
}

static void make_way_members(struct maker *m, const struct cfg_pool *pool,
			     struct plan_member *member)
{
	struct backend_ident ident;
	size_t i;

	for (i = 0; i < pool->n_backends; i++) {
		backend_ident_of(pool, &pool->backends[i], &ident);
		member[i].name = pool->backends[i].name;
		member[i].weight = pool->backends[i].weight;
		member[i].backend = plan_find_backend(m->plan, &ident)->id;
	}
}

static void make_members(struct maker *m)
{
	struct plan_member *member = m->plan->members;
	size_t i;

	for (i = 0; i < m->ways.n; i++) {
		const struct cfg_pool *pool = &m->cfg->pools[m->ways.list[i].pool];
		struct plan_table *table = &m->way_tables[i];

		*table = (struct plan_table){
			.members = member,
			.n_members = pool->n_backends,
			.known = true,
		};
		cfg_table_params(pool, &table->params);
		make_way_members(m, pool, member);
		member += pool->n_backends;
	}
}

/* Sorts first by content and then by place, so that equals are neighbours. */
static int compare_ways(const void *a, const void *b, void *context)
{
	const struct maker *m = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = plan_table_compare(&m->way_tables[x], &m->way_tables[y]);

	return order ? order : (x > y) - (x < y);
}

/* One draft table for all ways of the same content that have a VIP. */
static int make_draft(struct maker *m)
{
	size_t n = m->ways.n, i, n_order = 0;
	_cleanup_free_ uint32_t *order = calloc(n + 1, sizeof(*order));

	if (!order)
		return out_of_memory(m);

	for (i = 0; i < n; i++)
		if (m->ways.list[i].vip)
			order[n_order++] = i;
	qsort_r(order, n_order, sizeof(*order), compare_ways, m);

	for (i = 0; i < n_order; i++) {
		struct plan_table *table = &m->way_tables[order[i]];

		if (!i || plan_table_compare(table, &m->draft[m->n_draft - 1]))
			m->draft[m->n_draft++] = *table;
		table->id = m->n_draft - 1;
	}
	if (m->n_draft > MAX_TABLES)
		return err_set(m->err, -ENOSPC, "more than %d different tables",
			       MAX_TABLES);
	return 0;
}

static int make_vips(struct maker *m)
{
	struct plan *plan = m->plan;
	const struct plan_vip *old;
	size_t i;

	plan->n_vips = m->cfg->n_vips;
	ids_start(m, m->old->last_vip);
	for (i = 0; i < m->old->n_vips; i++)
		m->ids->used[m->old->vips[i].id] = 1;

	for (i = 0; i < plan->n_vips; i++) {
		const struct cfg_vip *vip = &m->cfg->vips[i];

		old = plan_find_vip(m->old, &vip->spec);
		plan->vips[i] = (struct plan_vip){
			.spec = vip->spec,
			.id = old ? old->id : id_take(m->ids),
			.table = m->way_tables[m->ways.of_vip[i]].id,
			.drain_timeout = cfg_find_pool(m->cfg, vip->pool)->drain_timeout,
		};
		if (!plan->vips[i].id)
			return err_set(m->err, -ENOSPC,
				       "more than %d VIPs, counting those that this change removes",
				       MAX_VIPS);
	}
	plan->last_vip = m->ids->last;
	return 0;
}

#define GOES_NOWHERE (-1) /* no VIP of the old table seen yet */
#define GOES_APART (-2)   /* its VIPs part, or one of them is removed */

/* Where do the VIPs of each old table go, as one? By old table id. */
static void follow_vips(const struct maker *m, int32_t *goes_to)
{
	const struct plan_vip *now;
	int32_t *where, table;
	size_t i;

	for (i = 0; i < IDS; i++)
		goes_to[i] = GOES_NOWHERE;
	for (i = 0; i < m->old->n_vips; i++) {
		where = &goes_to[m->old->vips[i].table];
		now = plan_find_vip(m->plan, &m->old->vips[i].spec);
		table = now ? now->table : GOES_APART;
		*where = *where == GOES_NOWHERE || *where == table ? table : GOES_APART;
	}
}

/* Let the new tables of VIPs take over the ids of the old ones, where safe. */
static void claim_ids(struct maker *m, const int32_t *goes_to, bool unchanged_only)
{
	size_t i;

	for (i = 0; i < m->plan->n_vips; i++) {
		const struct plan_vip *now = &m->plan->vips[i];
		const struct plan_vip *before = plan_find_vip(m->old, &now->spec);
		struct plan_table *table = &m->draft[now->table];
		const struct plan_table *old;

		if (!before || table->id || m->ids->used[before->table] == 2)
			continue;
		old = plan_find_table(m->old, before->table);
		if (unchanged_only ? !old || !plan_table_same(old, table) :
				     goes_to[before->table] != now->table)
			continue;
		table->id = before->table;
		m->ids->used[before->table] = 2; /* taken over */
	}
}

static int give_table_ids(struct maker *m)
{
	_cleanup_free_ int32_t *goes_to = calloc(IDS, sizeof(*goes_to));
	size_t i;

	if (!goes_to)
		return out_of_memory(m);

	follow_vips(m, goes_to);
	ids_start(m, m->old->last_table);
	for (i = 0; i < m->old->n_tables; i++)
		m->ids->used[m->old->tables[i].id] = 1;
	for (i = 0; i < m->n_draft; i++)
		m->draft[i].id = 0;
	claim_ids(m, goes_to, true);
	claim_ids(m, goes_to, false);

	for (i = 0; i < m->n_draft; i++) {
		if (!m->draft[i].id)
			m->draft[i].id = id_take(m->ids);
		if (!m->draft[i].id)
			return err_set(m->err, -ENOSPC,
				       "more than %d tables, counting those that this change replaces",
				       MAX_TABLES);
	}
	m->plan->last_table = m->ids->last;
	return 0;
}

static int make_tables(struct maker *m)
{
	size_t i;
	int rc;

	make_members(m);
	rc = make_draft(m);
	if (rc)
		return rc;
	rc = make_vips(m);
	if (rc)
		return rc;
	rc = give_table_ids(m);
	if (rc)
		return rc;

	for (i = 0; i < m->plan->n_vips; i++)
		m->plan->vips[i].table = m->draft[m->plan->vips[i].table].id;
	memcpy(m->plan->tables, m->draft, m->n_draft * sizeof(*m->draft));
	m->plan->n_tables = m->n_draft;
	return 0;
}

/* What a plan is made of, before it is. */
static int maker_start(struct maker *m)
{
	struct plan *plan = m->plan;

	if (ways_make(m->cfg, &m->ways))
		return out_of_memory(m);
	m->ids = calloc(1, sizeof(*m->ids));
	m->draft = calloc(m->ways.n + 1, sizeof(*m->draft));
	m->way_tables = calloc(m->ways.n + 1, sizeof(*m->way_tables));
	plan->tables = calloc(m->ways.n + 1, sizeof(*plan->tables));
	plan->vips = calloc(m->cfg->n_vips + 1, sizeof(*plan->vips));
	plan->members = calloc(count_members(m) + 1, sizeof(*plan->members));
	if (!m->ids || !m->draft || !m->way_tables || !plan->tables || !plan->vips ||
	    !plan->members)
		return out_of_memory(m);
	return 0;
}

static void maker_end(struct maker *m)
{
	ways_clear(&m->ways);
	free(m->ids);
	free(m->draft);
	free(m->way_tables);
}

static int make_all(struct maker *m)
{
	struct plan *plan = m->plan;
	int rc = maker_start(m);

	if (!rc)
		rc = make_backends(m);
	if (!rc)
		rc = make_tables(m);
	if (!rc)
		rc = plan_fill_options(plan, m->cfg, m->err);
	if (!rc)
		rc = plan_fill_verdicts(plan, m->way_tables, m->ways.n, m->ways.of_vip,
					m->old, m->health, m->err);
	if (!rc)
		rc = plan_fill_servers(plan, m->cfg, m->old, m->err);
	if (rc)
		return rc;

	plan_sort(plan);
	plan->last_group = m->old->last_group;
	return services_make(plan->vips, plan->n_vips, &m->old->entries, &plan->last_group,
			     &plan->entries, m->err);
}

int plan_make(struct cfg **cfg, const struct plan *old,
	      const struct plan_health *health, struct plan **out, struct err *err)
{
	_cleanup_plan_ struct plan *plan = NULL;
	_cleanup_(maker_end) struct maker m = {
		.old = old, .cfg = *cfg, .health = health, .err = err,
	};
	int rc = plan_new(&plan, err);

	if (rc)
		return rc;
	m.plan = plan;
	rc = make_all(&m);
	if (rc)
		return rc;
	plan->cfg = TAKE_PTR(*cfg);
	*out = TAKE_PTR(plan);
	return 0;
}
