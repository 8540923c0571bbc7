// SPDX-License-Identifier: GPL-2.0-only
/* Reading back from the pinned maps what a daemon before this one wrote. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "core/cleanup.h"
#include "publish.h"
#include "sys/kmap.h"

static int append_vip(struct plan *plan, const struct vip_spec *spec,
		      const struct vip *vip)
{
	if (plan->n_vips >= 2 * MAX_VIPS)
		return -E2BIG;
	plan->vips[plan->n_vips++] = (struct plan_vip){
		.spec = *spec, .id = vip->id, .table = vip->table };
	return 0;
}

/* Address entries (protocol 0) follow from the others. */
static int adopt_vip4(void *context, const void *key, const void *value)
{
	const struct vip_key4 *k = key;
	struct vip_spec spec = { .addr.family = AF_INET, .port = ntohs(k->port),
				 .protocol = k->protocol };

	spec.addr.v4.s_addr = k->addr;
	return k->protocol ? append_vip(context, &spec, value) : 0;
}

static int adopt_vip6(void *context, const void *key, const void *value)
{
	const struct vip_key6 *k = key;
	struct vip_spec spec = { .addr.family = AF_INET6, .port = ntohs(k->port),
				 .protocol = k->protocol };

	memcpy(&spec.addr.v6, k->addr, sizeof(spec.addr.v6));
	return k->protocol ? append_vip(context, &spec, value) : 0;
}

struct adoption {
	struct kernel *kernel;
	struct plan *plan;
};

static int adopt_backend(void *context, const void *key, const void *value)
{
	struct adoption *a = context;
	uint32_t id = *(const uint32_t *)key;
	struct backend_ident ident;

	memcpy(&a->kernel->backend[id], value, sizeof(struct backend));
	if (!outer_ident(&a->kernel->backend[id], &ident))
		return 0;
	a->plan->backends[a->plan->n_backends++] = (struct plan_backend){
		.ident = ident,
		.id = id,
		.draining = a->kernel->backend[id].flags & BACKEND_DRAINING,
	};
	return 0;
}

/* An inner map by its place in the outer one: looking it up gives its id. */
static int open_table(const struct kernel *k, uint32_t id, struct kernel_table *out)
{
	_cleanup_close_ int fd = -1;
	struct table_header header;
	uint32_t map_id, zero = 0;

	if (bpf_map_lookup_elem(k->tables, &id, &map_id))
		return -errno;
	fd = bpf_map_get_fd_by_id(map_id);
	if (fd < 0 || bpf_map_lookup_elem(fd, &zero, &header))
		return -errno;
	*out = (struct kernel_table){
		.fd = TAKE_FD(fd),
		.size = header.size,
		.n_live = header.n_live,
		.digest = header.digest,
		.ids_digest = header.ids_digest,
	};
	return 0;
}

static int adopt_tables(struct kernel *k, struct plan *plan, struct err *err)
{
	uint16_t id;
	size_t i;
	int rc;

	for (i = 0; i < plan->n_vips; i++) {
		id = plan->vips[i].table;
		if (k->table[id].fd >= 0)
			continue;
		rc = open_table(k, id, &k->table[id]);
		if (rc)
			return err_set(err, rc, "cannot read the adopted table %u: %s", id,
				       strerror(-rc));
		plan->tables[plan->n_tables++] =
			(struct plan_table){ .id = id,
					     .params.size = k->table[id].size };
	}
	return 0;
}

struct orphans {
	const struct kernel *kernel;
	uint32_t *ids;
	size_t n;
};

static int visit_table(void *context, const void *key, const void *value)
{
	struct orphans *o = context;
	uint32_t id = *(const uint32_t *)key;

	(void)value;
	if (o->kernel->table[id].fd < 0)
		o->ids[o->n++] = id;
	return 0;
}

/*
 * What a daemon left that died in a commit: tables that no VIP names. Where it
 * takes minutes to find them they stay, and take up memory, until their ids are
 * used again.
 */
static int delete_orphans(struct kernel *k)
{
	_cleanup_free_ uint32_t *ids = calloc(MAX_TABLES + 1, sizeof(*ids));
	struct orphans o = { k, ids, 0 };
	int rc;

	if (kmap_outer_lookup_waits())
		return 0;
	if (!ids)
		return -ENOMEM;
	rc = kmap_walk(k->tables, sizeof(uint32_t), sizeof(uint32_t), MAX_TABLES + 1,
		       visit_table, &o);
	return rc ? rc : kmap_delete(k->tables, ids, sizeof(*ids), o.n);
}

static void start_after_highest(struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan->n_backends; i++)
		if (plan->backends[i].id > plan->last_backend)
			plan->last_backend = plan->backends[i].id;
	for (i = 0; i < plan->n_tables; i++)
		if (plan->tables[i].id > plan->last_table)
			plan->last_table = plan->tables[i].id;
	for (i = 0; i < plan->n_vips; i++)
		if (plan->vips[i].id > plan->last_vip)
			plan->last_vip = plan->vips[i].id;
}

static int adopt_maps(struct kernel *k, struct plan *plan)
{
	struct adoption a = { k, plan };
	int rc = kmap_walk(k->vips4, sizeof(struct vip_key4), sizeof(struct vip),
			   2 * MAX_VIPS, adopt_vip4, plan);

	if (!rc)
		rc = kmap_walk(k->vips6, sizeof(struct vip_key6), sizeof(struct vip),
			       2 * MAX_VIPS, adopt_vip6, plan);
	if (!rc)
		rc = kmap_walk(k->backends, sizeof(uint32_t), sizeof(struct backend),
			       MAX_BACKENDS + 1, adopt_backend, &a);
	return rc;
}

int kernel_adopt(struct kernel *k, struct plan **out, struct err *err)
{
	_cleanup_plan_ struct plan *plan = NULL;
	int rc = plan_new(&plan, err);

	if (rc)
		return rc;
	plan->vips = calloc(2 * MAX_VIPS, sizeof(*plan->vips));
	plan->backends = calloc(MAX_BACKENDS + 1, sizeof(*plan->backends));
	plan->tables = calloc(MAX_TABLES + 1, sizeof(*plan->tables));
	if (!plan->vips || !plan->backends || !plan->tables)
		return err_set(err, -ENOMEM, "out of memory");

	rc = adopt_maps(k, plan);
	if (rc)
		return err_set(err, rc, "cannot read the adopted maps: %s", strerror(-rc));
	rc = adopt_tables(k, plan, err);
	if (rc)
		return rc;
	rc = delete_orphans(k);
	if (rc)
		return err_set(err, rc, "cannot clean the adopted tables: %s",
			       strerror(-rc));
	start_after_highest(plan);
	plan_sort(plan);
	*out = TAKE_PTR(plan);
	return 0;
}
