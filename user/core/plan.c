// SPDX-License-Identifier: GPL-2.0-only
#include "plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "plan_verdicts.h"

int plan_new(struct plan **out, struct err *err)
{
	struct plan *plan = calloc(1, sizeof(*plan));

	if (!plan)
		return err_set(err, -ENOMEM, "out of memory");
	*out = plan;
	return 0;
}

void plan_free(struct plan **plan)
{
	struct plan *p = *plan;

	if (!p)
		return;
	cfg_free(&p->cfg);
	free(p->backends);
	free(p->tables);
	free(p->vips);
	vip_entries_clear(&p->entries);
	free(p->acls);
	free(p->servers);
	free(p->verdicts);
	free(p->members);
	free(p);
	*plan = NULL;
}

static int compare_backends(const void *a, const void *b)
{
	const struct plan_backend *x = a, *y = b;

	return backend_ident_compare(&x->ident, &y->ident);
}

static int compare_tables(const void *a, const void *b)
{
	const struct plan_table *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static int compare_vips(const void *a, const void *b)
{
	const struct plan_vip *x = a, *y = b;

	return vip_spec_compare(&x->spec, &y->spec);
}

static int compare_acls(const void *a, const void *b)
{
	return plan_acl_compare(a, b);
}

/* qsort and bsearch may not be handed NULL, which an empty array is. */
static void sort(void *base, size_t n, size_t size,
		 int (*compare)(const void *, const void *))
{
	if (n)
		qsort(base, n, size, compare);
}

static const void *find(const void *key, const void *base, size_t n, size_t size,
			int (*compare)(const void *, const void *))
{
	return n ? bsearch(key, base, n, size, compare) : NULL;
}

void plan_sort(struct plan *plan)
{
	sort(plan->backends, plan->n_backends, sizeof(*plan->backends), compare_backends);
	sort(plan->tables, plan->n_tables, sizeof(*plan->tables), compare_tables);
	sort(plan->vips, plan->n_vips, sizeof(*plan->vips), compare_vips);
	sort(plan->acls, plan->n_acls, sizeof(*plan->acls), compare_acls);
	plan_sort_servers(plan);
	plan_sort_verdicts(plan);
}

const struct plan_backend *plan_find_backend(const struct plan *plan,
					     const struct backend_ident *ident)
{
	struct plan_backend key = { .ident = *ident };

	return find(&key, plan->backends, plan->n_backends, sizeof(key),
		    compare_backends);
}

const struct plan_table *plan_find_table(const struct plan *plan, uint16_t id)
{
	struct plan_table key = { .id = id };

	return find(&key, plan->tables, plan->n_tables, sizeof(key), compare_tables);
}

const struct plan_vip *plan_find_vip(const struct plan *plan,
				     const struct vip_spec *spec)
{
	struct plan_vip key = { .spec = *spec };

	return find(&key, plan->vips, plan->n_vips, sizeof(key), compare_vips);
}

const struct plan_acl *plan_find_acl(const struct plan *plan, const struct plan_acl *acl)
{
	return find(acl, plan->acls, plan->n_acls, sizeof(*acl), compare_acls);
}

void backend_ident_of(const struct cfg_pool *pool, const struct cfg_backend *backend,
		      struct backend_ident *ident)
{
	*ident = (struct backend_ident){
		.addr = backend->addr,
		.encap = pool->encap,
		.gue_port = encap_has_port(pool->encap) ? pool->gue_port : 0,
	};
}

static int compare_numbers(uint64_t x, uint64_t y)
{
	return (x > y) - (x < y);
}

static int compare_params(const struct table_params *x, const struct table_params *y)
{
	int order = compare_numbers(x->size, y->size);

	if (!order)
		order = compare_numbers(x->algorithm, y->algorithm);
	if (!order)
		order = compare_numbers(x->slack_percent, y->slack_percent);
	return order ? order : compare_numbers(x->ring_points, y->ring_points);
}

static int compare_members(const struct plan_member *x, const struct plan_member *y)
{
	int order = compare_numbers(x->backend, y->backend);

	if (!order)
		order = compare_numbers(x->weight, y->weight);
	if (!order)
		order = compare_numbers(x->share, y->share);
	return order ? order : strcmp(x->name, y->name);
}

int plan_table_compare(const struct plan_table *x, const struct plan_table *y)
{
	int order = compare_params(&x->params, &y->params);
	size_t i;

	if (!order)
		order = compare_numbers(x->n_members, y->n_members);
	for (i = 0; i < x->n_members && !order; i++)
		order = compare_members(&x->members[i], &y->members[i]);
	return order;
}

bool plan_table_same(const struct plan_table *a, const struct plan_table *b)
{
	return a->known && b->known && plan_table_compare(a, b) == 0;
}

/* VIPs and tables of `old`; the tables go on pointing to its members. */
static int copy_vips_and_tables(const struct plan *old, struct plan *copy)
{
	copy->vips = calloc(old->n_vips + 1, sizeof(*copy->vips));
	copy->tables = calloc(old->n_tables + 1, sizeof(*copy->tables));
	if (!copy->vips || !copy->tables || vip_entries_copy(&old->entries, &copy->entries))
		return -ENOMEM;

	copy->n_vips = old->n_vips;
	copy->n_tables = old->n_tables;
	memcpy(copy->vips, old->vips, old->n_vips * sizeof(*copy->vips));
	memcpy(copy->tables, old->tables, old->n_tables * sizeof(*copy->tables));
	return 0;
}

int plan_release(const struct plan *old, const struct plan_health *health,
		 plan_drop *drop, void *context, struct plan **out, struct err *err)
{
	_cleanup_cfg_ struct cfg *cfg = NULL;
	_cleanup_plan_ struct plan *plan = NULL;
	_cleanup_plan_ struct plan *kept = NULL;
	size_t i;
	int rc;

	rc = plan_new(&kept, err);
	if (rc)
		return rc;
	kept->backends = calloc(old->n_backends + 1, sizeof(*kept->backends));
	if (!kept->backends || copy_vips_and_tables(old, kept) ||
	    plan_copy_servers(kept, old) || plan_copy_verdicts(kept, old, drop, context))
		return err_set(err, -ENOMEM, "out of memory");

	for (i = 0; i < old->n_backends; i++)
		if (!old->backends[i].draining || !drop(context, 0, old->backends[i].id))
			kept->backends[kept->n_backends++] = old->backends[i];
	/* The cursors go on, so that what was dropped is not given out at once. */
	kept->last_backend = old->last_backend;
	kept->last_table = old->last_table;
	kept->last_vip = old->last_vip;
	kept->last_group = old->last_group;

	rc = cfg_clone(old->cfg, &cfg, err);
	if (rc)
		return rc;
	rc = plan_make(&cfg, kept, health, &plan, err);
	if (rc)
		return rc;
	*out = TAKE_PTR(plan);
	return 0;
}
