// SPDX-License-Identifier: GPL-2.0-only
/*
 * Making a plan: backends first, since tables name their ids; then tables,
 * whose ids depend on which VIPs use them; then VIPs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "plan.h"

#define IDS 65536

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
	struct plan_table *pool_tables; /* by pool; id is an index into draft */
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

static size_t count_members(const struct cfg *cfg)
{
	size_t i, n = 0;

	for (i = 0; i < cfg->n_pools; i++)
		n += cfg->pools[i].n_backends;
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

/* The distinct backends of the configuration, ids zero; then the old ones. */
static int collect_backends(struct maker *m)
{
	struct plan *plan = m->plan;
	size_t n = count_members(m->cfg), i, j, distinct = 0;
	struct plan_backend *list;

	list = calloc(n + m->old->n_backends + 1, sizeof(*list));
	if (!list)
		return out_of_memory(m);
	plan->backends = list;

	for (i = 0, n = 0; i < m->cfg->n_pools; i++)
		for (j = 0; j < m->cfg->pools[i].n_backends; j++, n++) {
			const struct cfg_backend *b = &m->cfg->pools[i].backends[j];

			backend_ident_of(&m->cfg->pools[i], b, &list[n].ident);
			list[n].use = use_of(b->state);
		}
	if (n)
		qsort(list, n, sizeof(*list), compare_backends);
	for (i = 0; i < n; i++) {
		if (!i || compare_backends(&list[i], &list[distinct - 1]))
			list[distinct++] = list[i];
		else if (list[i].use < list[distinct - 1].use)
			list[distinct - 1].use = list[i].use;
	}
	plan->n_backends = distinct;
	return 0;
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
			m->plan->backends[n++] = (struct plan_backend){
				.ident = old->ident,
				.id = old->id,
				.draining = true,
				.use = USE_DRAIN,
			};
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

static bool is_healthy(const struct maker *m, const struct backend_ident *ident)
{
	return !m->health || m->health->is_up(m->health->context, ident);
}

/*
 * Who serves slots: those that the operator wants and that are healthy; when
 * there are none, the pool's policy may count on all that the operator wants.
 */
static void make_up_set(const struct maker *m, const struct cfg_pool *pool,
			struct plan_member *members)
{
	struct backend_ident ident;
	bool any = false;
	size_t i;

	for (i = 0; i < pool->n_backends; i++) {
		backend_ident_of(pool, &pool->backends[i], &ident);
		members[i].up = pool->backends[i].state == ADMIN_UP &&
				is_healthy(m, &ident);
		any |= members[i].up && members[i].weight;
	}
	if (any || pool->all_down == ALL_DOWN_DROP)
		return;
	for (i = 0; i < pool->n_backends; i++)
		members[i].up = pool->backends[i].state == ADMIN_UP;
}

static void make_members(struct maker *m)
{
	struct plan_member *member = m->plan->members;
	struct backend_ident ident;
	size_t i, j;

	for (i = 0; i < m->cfg->n_pools; i++) {
		const struct cfg_pool *pool = &m->cfg->pools[i];
		struct plan_table *table = &m->pool_tables[i];

		*table = (struct plan_table){
			.members = member,
			.n_members = pool->n_backends,
			.known = true,
		};
		cfg_table_params(pool, &table->params);
		for (j = 0; j < pool->n_backends; j++) {
			backend_ident_of(pool, &pool->backends[j], &ident);
			member[j] = (struct plan_member){
				.name = pool->backends[j].name,
				.weight = pool->backends[j].weight,
				.backend = plan_find_backend(m->plan, &ident)->id,
			};
		}
		make_up_set(m, pool, member);
		member += pool->n_backends;
	}
}

/* Sorts first by content and then by place, so that equals are neighbours. */
static int compare_pools(const void *a, const void *b, void *context)
{
	const struct maker *m = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = plan_table_compare(&m->pool_tables[x], &m->pool_tables[y]);

	return order ? order : (x > y) - (x < y);
}

static void mark_used_pools(struct maker *m, bool *used)
{
	size_t i;

	for (i = 0; i < m->cfg->n_vips; i++)
		used[cfg_find_pool(m->cfg, m->cfg->vips[i].pool) - m->cfg->pools] = true;
}

/* One draft table for all pools of the same content that some VIP uses. */
static int make_draft(struct maker *m)
{
	size_t n = m->cfg->n_pools, i, n_order = 0;
	_cleanup_free_ uint32_t *order = calloc(n + 1, sizeof(*order));
	_cleanup_free_ bool *used = calloc(n + 1, sizeof(*used));

	if (!order || !used)
		return out_of_memory(m);

	mark_used_pools(m, used);
	for (i = 0; i < n; i++)
		if (used[i])
			order[n_order++] = i;
	qsort_r(order, n_order, sizeof(*order), compare_pools, m);

	for (i = 0; i < n_order; i++) {
		struct plan_table *table = &m->pool_tables[order[i]];

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
		size_t pool = cfg_find_pool(m->cfg, vip->pool) - m->cfg->pools;

		old = plan_find_vip(m->old, &vip->spec);
		plan->vips[i] = (struct plan_vip){
			.spec = vip->spec,
			.id = old ? old->id : id_take(m->ids),
			.table = m->pool_tables[pool].id,
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

int plan_make(struct cfg **cfg, const struct plan *old,
	      const struct plan_health *health, struct plan **out, struct err *err)
{
	_cleanup_plan_ struct plan *plan = NULL;
	_cleanup_free_ struct plan_table *pool_tables = NULL;
	_cleanup_free_ struct plan_table *draft = NULL;
	_cleanup_free_ struct id_space *ids = NULL;
	struct maker m = { .old = old, .cfg = *cfg, .health = health, .err = err };
	int rc = plan_new(&plan, err);

	if (rc)
		return rc;

	m.plan = plan;
	m.ids = ids = calloc(1, sizeof(*ids));
	m.draft = draft = calloc(m.cfg->n_pools + 1, sizeof(*draft));
	m.pool_tables = pool_tables = calloc(m.cfg->n_pools + 1, sizeof(*pool_tables));
	plan->tables = calloc(m.cfg->n_pools + 1, sizeof(*plan->tables));
	plan->vips = calloc(m.cfg->n_vips + 1, sizeof(*plan->vips));
	plan->members = calloc(count_members(m.cfg) + 1, sizeof(*plan->members));
	if (!ids || !draft || !pool_tables || !plan->tables || !plan->vips ||
	    !plan->members)
		return out_of_memory(&m);

	rc = make_backends(&m);
	if (rc)
		return rc;
	rc = make_tables(&m);
	if (rc)
		return rc;

	plan_sort(plan);
	plan->cfg = TAKE_PTR(*cfg);
	*out = TAKE_PTR(plan);
	return 0;
}
