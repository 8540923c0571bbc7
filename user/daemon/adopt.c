// SPDX-License-Identifier: GPL-2.0-only
/* Reading back from the pinned maps what a daemon before this one wrote. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "core/cleanup.h"
#include "core/table_previous.h"
#include "dp/publish.h"
#include "dp/publish_acls.h"
#include "dp/publish_quic.h"
#include "dp/publish_verdicts.h"
#include "dp/publish_vips.h"
#include "sys/kmap.h"

#define SLOTS_READ_MAX (64 << 20) /* a tenth of a second or two */

struct adoption {
	struct kernel *kernel;
	struct plan *plan;
	enum vip_map map; /* in hand */
	size_t room;      /* for entries */
	bool *served;     /* by VIP id: among the services */
};

static int adopt_entry(void *context, const void *key, const void *value)
{
	struct adoption *a = context;
	struct vip_entries *entries = &a->plan->entries;
	size_t room = a->room ? 2 * a->room : 1024;
	struct vip_entry *list = entries->list;

	if (entries->n == a->room) {
		list = reallocarray(list, room, sizeof(*list));
		if (!list)
			return -ENOMEM;
		a->room = room;
		entries->list = list;
	}
	list[entries->n] = (struct vip_entry){ .map = a->map };
	memcpy(list[entries->n].key, key, vip_map_key_size(a->map));
	memcpy(&list[entries->n].vip, value, vip_map_value_size(a->map));
	entries->n++;
	return 0;
}

static int append_vip(struct plan *plan, const struct vip_spec *spec,
		      const struct vip *vip)
{
	struct plan_vip *out;

	if (plan->n_vips >= 2 * MAX_VIPS)
		return -E2BIG;
	out = &plan->vips[plan->n_vips++];
	*out = (struct plan_vip){ .spec = *spec, .id = vip->id, .table = vip->table,
				  .options = *vip };
	out->options.id = out->options.table = 0;
	return 0;
}

/* A VIP of one port; address entries and fragments follow from the VIPs. */
static int adopt_exact(struct plan *plan, const struct vip_entry *entry)
{
	struct prefix prefix = vip_entry_prefix(entry);
	struct vip_spec spec = { .addr = prefix.addr, .prefix_len = prefix.length };
	struct vip_key4 key4;
	struct vip_key6 key6;

	memcpy(&key4, entry->key, sizeof(key4));
	memcpy(&key6, entry->key, sizeof(key6));
	spec.port = ntohs(entry->map == VIP_MAP_VIPS4 ? key4.port : key6.port);
	spec.port_last = spec.port;
	spec.protocol = entry->map == VIP_MAP_VIPS4 ? key4.protocol : key6.protocol;
	return spec.port ? append_vip(plan, &spec, &entry->vip) : 0;
}

/* One that lies among the services in pieces; its record says what it is. */
static int adopt_service(struct plan *plan, const struct vip_entry *entry, bool *served)
{
	struct vip_entry record = { .map = VIP_MAP_RECORDS };
	const struct vip_entry *found;
	struct vip_spec spec = { 0 };
	uint32_t id = entry->vip.id;

	memcpy(record.key, &id, sizeof(id));
	found = vip_entries_find(&plan->entries, &record);
	if (!found || served[id])
		return 0;
	served[id] = true;
	spec.addr.family = found->record.v6 ? AF_INET6 : AF_INET;
	if (found->record.v6)
		memcpy(&spec.addr.v6, found->record.addr, sizeof(spec.addr.v6));
	else
		memcpy(&spec.addr.v4, found->record.addr, sizeof(spec.addr.v4));
	spec.prefix_len = found->record.prefix_len;
	spec.protocol = found->record.protocol;
	spec.port = ntohs(found->record.port);
	spec.port_last = ntohs(found->record.port_last);
	return append_vip(plan, &spec, &entry->vip);
}

static int adopt_vips(struct adoption *a)
{
	const struct vip_entries *entries = &a->plan->entries;
	size_t i;
	int rc = 0;

	vip_entries_sort(&a->plan->entries);
	for (i = 0; i < entries->n && !rc; i++) {
		if (entries->list[i].map == VIP_MAP_SERVICES)
			rc = adopt_service(a->plan, &entries->list[i], a->served);
		else if (entries->list[i].map == VIP_MAP_VIPS4 ||
			 entries->list[i].map == VIP_MAP_VIPS6)
			rc = adopt_exact(a->plan, &entries->list[i]);
	}
	return rc;
}

/* Of every map of VIPs all there is, whatever it was left by. */
static int adopt_entries(struct adoption *a)
{
	static const size_t sizes[VIP_MAP__MAX] = {
		[VIP_MAP_VIPS4] = 2 * MAX_VIPS,     [VIP_MAP_VIPS6] = 2 * MAX_VIPS,
		[VIP_MAP_PREFIXES4] = MAX_VIPS,     [VIP_MAP_PREFIXES6] = MAX_VIPS,
		[VIP_MAP_SERVICES] = MAX_SERVICES,  [VIP_MAP_RECORDS] = MAX_VIPS,
	};
	int map, rc = 0;

	for (map = 0; map < VIP_MAP__MAX && !rc; map++) {
		a->map = map;
		rc = kmap_walk(publish_vips_fd(a->kernel, map), vip_map_key_size(map),
			       vip_map_value_size(map), sizes[map], adopt_entry, a);
	}
	return rc ? rc : adopt_vips(a);
}

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
		.use = publish_use_by(a->kernel->backend[id].flags),
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
		.has_previous = header.previous,
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

/* Who has slots, each once; the room is for as many as there are backends. */
static size_t distinct_ids(const struct table_line *lines, uint32_t size, uint8_t *seen,
			   uint16_t *ids)
{
	size_t n = 0, i;
	uint32_t slot;
	uint16_t id;

	for (slot = 0; slot < size; slot++) {
		id = lines[slot / TABLE_LINE_SLOTS].ids[slot % TABLE_LINE_SLOTS];
		if (id && !seen[id])
			ids[n++] = id;
		seen[id] = 1;
	}
	for (i = 0; i < n; i++)
		seen[ids[i]] = 0;
	seen[0] = 0;
	return n;
}

struct readings {
	uint8_t seen[MAX_BACKENDS + 1];
	uint16_t ids[MAX_BACKENDS + 1]; /* of the table in hand */
	struct plan_member *members;
	size_t n, room;
	uint64_t slots;
};

static int append_members(struct readings *r, size_t n)
{
	struct plan_member *grown;
	size_t i;

	while (r->n + n > r->room) {
		r->room = r->room ? 2 * r->room : 1024;
		grown = reallocarray(r->members, r->room, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		r->members = grown;
	}
	for (i = 0; i < n; i++)
		r->members[r->n++] = (struct plan_member){ .backend = r->ids[i] };
	return 0;
}

static int read_members(struct readings *r, const struct kernel_table *from,
			struct plan_table *table)
{
	_cleanup_free_ struct table_line *lines = NULL;
	size_t n = 1 + table_slot_lines(from->size);

	r->slots += from->size;
	if (from->size > TABLE_SIZE_MAX || r->slots > SLOTS_READ_MAX)
		return 0;
	lines = calloc(n, sizeof(*lines));
	if (!lines)
		return -ENOMEM;
	/* A table that is not what its header says tells nothing. */
	if (kmap_lines_read(from->fd, lines, n))
		return 0;
	table->n_members = distinct_ids(lines + 1, from->size, r->seen, r->ids);
	return append_members(r, table->n_members);
}

/*
 * Whom the VIPs sent their flows to: who of them is in a VIP's pool no more, by the
 * configuration that is to come, keeps its flows. For a while only: where there are very
 * many tables, the rest are not read.
 */
static int adopt_members(const struct kernel *k, struct plan *plan)
{
	_cleanup_free_ struct readings *r = calloc(1, sizeof(*r));
	size_t i, first = 0;
	int rc = 0;

	if (!r)
		return -ENOMEM;
	for (i = 0; i < plan->n_tables && !rc; i++)
		rc = read_members(r, &k->table[plan->tables[i].id], &plan->tables[i]);
	plan->members = r->members;
	for (i = 0; i < plan->n_tables; i++) {
		if (plan->tables[i].n_members)
			plan->tables[i].members = &plan->members[first];
		first += plan->tables[i].n_members;
	}
	return rc;
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

static uint16_t group_of(const struct vip_entry *service)
{
	return vip_entry_service_key(service).group;
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
	for (i = 0; i < plan->entries.n; i++)
		if (plan->entries.list[i].map == VIP_MAP_SERVICES &&
		    group_of(&plan->entries.list[i]) > plan->last_group)
			plan->last_group = group_of(&plan->entries.list[i]);
}

static int adopt_maps(struct kernel *k, struct plan *plan)
{
	_cleanup_free_ bool *served = calloc(MAX_VIPS + 1, sizeof(*served));
	struct adoption a = { .kernel = k, .plan = plan, .served = served };
	int rc;

	if (!served)
		return -ENOMEM;
	rc = adopt_entries(&a);
	if (rc)
		return rc;
	*k->prefixes = publish_vips_prefixes(plan);
	vip_sets_adopt(&k->vip_sets, &plan->entries);
	return kmap_walk(k->backends, sizeof(uint32_t), sizeof(struct backend),
			 MAX_BACKENDS + 1, adopt_backend, &a);
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
	rc = publish_acls_adopt(k, plan, err);
	if (!rc)
		rc = publish_quic_adopt(k, plan, err);
	if (!rc)
		rc = publish_verdicts_adopt(k, plan, err);
	if (rc)
		return rc;
	rc = adopt_tables(k, plan, err);
	if (rc)
		return rc;
	rc = adopt_members(k, plan);
	if (rc)
		return err_set(err, rc, "cannot read the adopted tables: %s", strerror(-rc));
	rc = delete_orphans(k);
	if (rc)
		return err_set(err, rc, "cannot clean the adopted tables: %s",
			       strerror(-rc));
	start_after_highest(plan);
	plan_sort(plan);
	*out = TAKE_PTR(plan);
	return 0;
}
