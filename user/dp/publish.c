// SPDX-License-Identifier: GPL-2.0-only
#include "publish.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/cleanup.h"
#include "core/plural.h"
#include "core/table_kept.h"
#include "publish_acls.h"
#include "publish_previous.h"
#include "publish_quic.h"
#include "publish_verdicts.h"
#include "publish_vips.h"
#include "sys/kmap.h"

#define IDS 65536
#define BUILDERS_MAX 15 /* threads beside the one that asks */
#define KEPT_TABLE_BYTES (64u << 20) /* some 200 of the default size */

static int out_of_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory");
}

int kernel_init(struct kernel *k, struct err *err)
{
	size_t i;

	k->table = calloc(IDS, sizeof(*k->table));
	k->backend = calloc(IDS, sizeof(*k->backend));
	k->kept_tables = table_kept_new(KEPT_TABLE_BYTES);
	if (!k->table || !k->backend || !k->kept_tables) {
		cleanup_free(&k->table);
		cleanup_free(&k->backend);
		table_kept_free(&k->kept_tables);
		return out_of_memory(err);
	}
	for (i = 0; i < IDS; i++)
		k->table[i].fd = -1;
	return 0;
}

void kernel_release(struct kernel *k)
{
	size_t i;

	for (i = 0; k->table && i < IDS; i++)
		cleanup_close(&k->table[i].fd);
	cleanup_free(&k->table);
	cleanup_free(&k->backend);
	table_kept_free(&k->kept_tables);
	vip_sets_unmap(&k->vip_sets);
}

/* Every egress interface that a backend names must be in the redirect map. */
static int write_egress(struct kernel *k, const struct backend *entries, size_t n)
{
	uint32_t last = 0;
	size_t i;
	int rc;

	for (i = 0; i < n; i++) {
		if (!(entries[i].flags & BACKEND_RESOLVED) || entries[i].ifindex == last)
			continue;
		last = entries[i].ifindex;
		rc = kmap_update(k->egress, &last, sizeof(last), &last, sizeof(last), 1);
		/* Gone meanwhile: netlink is about to say so. */
		if (rc && rc != -ENODEV && rc != -EINVAL)
			return rc;
	}
	return 0;
}

/* Some may have been written: what differs from everything is written again. */
static void forget_backends(struct kernel *k, const uint32_t *ids, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		memset(&k->backend[ids[i]], 0xff, sizeof(*k->backend));
}

static void fill_backend(const struct kernel *k, const struct plan_backend *b,
			 struct backend *out)
{
	outer_fill(&b->ident, k->hop(k->hop_context, &b->ident.addr),
		   publish_use_flags(b->use), out);
	if (b->verdicts != VERDICTS_NONE)
		out->flags |= BACKEND_VERDICTS;
	if (b->verdicts == VERDICTS_PART)
		out->flags &= ~BACKEND_PLAIN;
}

int publish_backends(struct kernel *k, const struct plan *plan, struct err *err)
{
	_cleanup_free_ uint32_t *ids = calloc(plan->n_backends + 1, sizeof(*ids));
	_cleanup_free_ struct backend *entries = calloc(plan->n_backends + 1,
							sizeof(*entries));
	size_t i, n = 0;
	int rc;

	if (!ids || !entries)
		return out_of_memory(err);

	for (i = 0; i < plan->n_backends; i++) {
		const struct plan_backend *b = &plan->backends[i];

		fill_backend(k, b, &entries[n]);
		ids[n] = b->id;
		n += memcmp(&entries[n], &k->backend[b->id], sizeof(*entries)) != 0;
	}

	rc = write_egress(k, entries, n);
	if (!rc)
		rc = kmap_update(k->backends, ids, sizeof(*ids), entries,
				 sizeof(*entries), n);
	if (rc) {
		forget_backends(k, ids, n);
		return err_set(err, rc, "cannot write %zu backend%s to the map: %s", n,
			       plural(n), strerror(-rc));
	}
	for (i = 0; i < n; i++)
		k->backend[ids[i]] = entries[i];
	k->map_writes += n;
	return 0;
}

/* Ids of `from` that `to` does not have any more. */
static int clear_backends(struct kernel *k, const struct plan *from,
			  const struct plan *to, struct err *err)
{
	static const struct backend none;
	uint32_t id;
	size_t i;
	int rc;

	for (i = 0; i < from->n_backends; i++) {
		if (plan_find_backend(to, &from->backends[i].ident))
			continue;
		id = from->backends[i].id;
		rc = kmap_update(k->backends, &id, sizeof(id), &none, sizeof(none), 1);
		if (rc)
			return err_set(err, rc, "cannot clear backend id %u: %s", id,
				       strerror(-rc));
		k->backend[id] = none;
		k->map_writes++;
	}
	return 0;
}

static int clear_counters(int fd, uint32_t id, size_t size, unsigned int cpus)
{
	_cleanup_free_ void *zeroes = calloc(cpus, size);

	if (!zeroes)
		return -ENOMEM;
	return kmap_update(fd, &id, sizeof(id), zeroes, size * cpus, 1);
}

/* A fresh id starts counting at zero. */
static int clear_new_counters(struct kernel *k, const struct plan *from,
			      const struct plan *to, struct err *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < to->n_backends && !rc; i++)
		if (!plan_find_backend(from, &to->backends[i].ident))
			rc = clear_counters(k->backend_counters, to->backends[i].id,
					    sizeof(struct backend_counters), k->cpus);
	for (i = 0; i < to->n_vips && !rc; i++)
		if (!plan_find_vip(from, &to->vips[i].spec))
			rc = clear_counters(k->vip_counters, to->vips[i].id,
					    sizeof(struct vip_counters), k->cpus);
	for (i = 0; i < to->n_vips && !rc; i++)
		if (to->vips[i].options.new_flow_cap &&
		    !plan_find_vip(from, &to->vips[i].spec))
			rc = clear_counters(k->new_flow_counters, to->vips[i].id,
					    sizeof(struct new_flow_counters), k->cpus);
	if (rc)
		return err_set(err, rc, "cannot clear counters: %s", strerror(-rc));
	return 0;
}

static int build_table(const struct plan_table *table, struct table_kept *kept,
		       const struct kernel_table *old, const bool *gone,
		       struct kernel_table *out, struct err *err)
{
	_cleanup_free_ struct table_line *lines = NULL;
	struct table_header header;
	size_t n;
	int rc = plan_table_lines(table, kept, &lines, &n, err);

	if (rc)
		return rc;
	memcpy(&header, &lines[0], sizeof(header));
	*out = (struct kernel_table){
		.fd = -1,
		.size = header.size,
		.n_live = header.n_live,
		.digest = header.digest,
		.ids_digest = header.ids_digest,
	};
	if (old->fd >= 0 && old->size == header.size && old->digest == header.digest &&
	    old->ids_digest == header.ids_digest)
		return 0;

	rc = publish_previous_add(old, gone, &lines, &n);
	if (rc)
		return err_set(err, rc, "cannot read the table that goes: %s",
			       strerror(-rc));
	out->has_previous = n > 1 + table_slot_lines(header.size);
	rc = kmap_table_create(lines, n);
	if (rc < 0)
		return err_set(err, rc, "cannot make a table of %u slots: %s", table->params.size,
			       strerror(-rc));
	out->fd = rc;
	return 0;
}

/* Tables are independent of each other: every CPU takes the next one. */
struct builder {
	const struct kernel *kernel;
	struct publish *publish;
	atomic_size_t next;
	atomic_int rc;
	pthread_mutex_t lock; /* of err */
	struct err *err;      /* of the first that failed */
};

static void builder_fail(struct builder *b, int rc, const struct err *err)
{
	pthread_mutex_lock(&b->lock);
	if (!atomic_load(&b->rc) && b->err)
		*b->err = *err;
	if (!atomic_load(&b->rc))
		atomic_store(&b->rc, rc);
	pthread_mutex_unlock(&b->lock);
}

static void *builder_run(void *context)
{
	struct builder *b = context;
	struct publish *p = b->publish;
	const struct plan_table *table, *old;
	struct err err;
	size_t i;
	int rc;

	while ((i = atomic_fetch_add(&b->next, 1)) < p->to->n_tables) {
		table = &p->to->tables[i];
		old = plan_find_table(p->from, table->id);
		if (atomic_load(&b->rc) || (old && plan_table_same(old, table)))
			continue;
		rc = build_table(table, b->kernel->kept_tables,
				 &b->kernel->table[table->id], p->gone, &p->built[i],
				 &err);
		if (rc)
			builder_fail(b, rc, &err);
		p->changed[i] = p->built[i].fd >= 0;
	}
	return NULL;
}

static int build_tables(const struct kernel *k, struct publish *p, struct err *err)
{
	struct builder b = { .kernel = k, .publish = p, .err = err,
			     .lock = PTHREAD_MUTEX_INITIALIZER };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t threads[BUILDERS_MAX];
	size_t n = 0;

	/* This thread is the first; one that cannot be had is only not there. */
	while (n + 1 < (size_t)cpus && n < BUILDERS_MAX && n + 1 < p->to->n_tables &&
	       pthread_create(&threads[n], NULL, builder_run, &b) == 0)
		n++;
	builder_run(&b);
	while (n)
		pthread_join(threads[--n], NULL);
	pthread_mutex_destroy(&b.lock);
	return atomic_load(&b.rc);
}

int publish_prepare(const struct kernel *k, const struct plan *from,
		    const struct plan *to, struct publish *out, struct err *err)
{
	size_t i;
	int rc;

	*out = (struct publish){ .from = from, .to = to };
	out->built = calloc(to->n_tables + 1, sizeof(*out->built));
	out->changed = calloc(to->n_tables + 1, sizeof(*out->changed));
	out->gone = publish_gone_ids(from, to);
	if (!out->built || !out->changed || !out->gone) {
		publish_release(out);
		return out_of_memory(err);
	}
	for (i = 0; i < to->n_tables; i++)
		out->built[i].fd = -1;

	rc = build_tables(k, out, err);
	if (!rc) {
		rc = publish_previous_forget(k, from, out->gone);
		if (rc)
			err_set(err, rc, "cannot write previous owners: %s",
				strerror(-rc));
	}
	if (rc)
		publish_release(out);
	return rc;
}

/* What k->table says of the tables that this change touches, to the kernel. */
static int push_tables(struct kernel *k, const struct publish *p)
{
	_cleanup_free_ uint32_t *ids = calloc(p->to->n_tables + 1, sizeof(*ids));
	_cleanup_free_ int *fds = calloc(p->to->n_tables + 1, sizeof(*fds));
	size_t i, n = 0;
	uint32_t id;
	int rc = 0;

	if (!ids || !fds)
		return -ENOMEM;
	for (i = 0; i < p->to->n_tables && !rc; i++) {
		id = p->to->tables[i].id;
		if (!p->changed[i])
			continue;
		if (k->table[id].fd < 0) {
			rc = kmap_delete(k->tables, &id, sizeof(id), 1);
			continue;
		}
		ids[n] = id;
		fds[n++] = k->table[id].fd;
	}
	if (rc)
		return rc;
	k->map_writes += n;
	return kmap_update(k->tables, ids, sizeof(*ids), fds, sizeof(*fds), n);
}

/*
 * New tables in, and the old ones into p->built: done twice, all is as it was,
 * also when the kernel took only some of them the first time.
 */
static int exchange_tables(struct kernel *k, struct publish *p, struct err *err)
{
	struct kernel_table *now, before;
	size_t i;
	int rc;

	for (i = 0; i < p->to->n_tables; i++) {
		if (!p->changed[i])
			continue;
		now = &k->table[p->to->tables[i].id];
		before = *now;
		*now = p->built[i];
		p->built[i] = before;
	}
	rc = push_tables(k, p);
	return rc ? err_set(err, rc, "cannot swap tables: %s", strerror(-rc)) : 0;
}

static int delete_tables(struct kernel *k, const struct plan *from,
			 const struct plan *to, struct err *err)
{
	uint32_t id;
	size_t i;
	int rc;

	for (i = 0; i < from->n_tables; i++) {
		id = from->tables[i].id;
		if (plan_find_table(to, id))
			continue;
		rc = kmap_delete(k->tables, &id, sizeof(id), 1);
		if (rc)
			return err_set(err, rc, "cannot delete table %u: %s", id,
				       strerror(-rc));
		cleanup_close(&k->table[id].fd);
		k->map_writes++;
	}
	return 0;
}

/* The old elements fit where they were, so this needs no memory of the maps. */
static void roll_back(struct kernel *k, struct publish *p, bool exchanged)
{
	publish_verdicts_write(k, p->to, p->from, NULL);
	publish_acls_write(k, p->to, p->from, NULL);
	publish_quic_write(k, p->to, p->from, NULL);
	publish_vips_write(k, p->to, p->from, NULL);
	publish_vips_delete(k, p->to, p->from, NULL);
	publish_acls_delete(k, p->to, p->from, NULL);
	publish_quic_delete(k, p->to, p->from, NULL);
	if (exchanged)
		exchange_tables(k, p, NULL);
	publish_backends(k, p->from, NULL);
	publish_verdicts_delete(k, p->to, p->from, NULL);
	clear_backends(k, p->to, p->from, NULL);
}

void publish_undo(struct kernel *k, struct publish *p)
{
	roll_back(k, p, true);
}

int publish_commit(struct kernel *k, struct publish *p, struct err *err)
{
	bool exchanged = false;
	int rc = clear_new_counters(k, p->from, p->to, err);

	if (!rc)
		rc = publish_verdicts_write(k, p->from, p->to, err);
	if (!rc)
		rc = publish_backends(k, p->to, err);
	if (!rc) {
		exchanged = true;
		rc = exchange_tables(k, p, err);
	}
	if (!rc)
		rc = publish_acls_write(k, p->from, p->to, err);
	if (!rc)
		rc = publish_quic_write(k, p->from, p->to, err);
	if (!rc)
		rc = publish_vips_write(k, p->from, p->to, err);
	if (!rc)
		rc = publish_vips_delete(k, p->from, p->to, err);
	if (!rc)
		rc = publish_acls_delete(k, p->from, p->to, err);
	if (!rc)
		rc = publish_quic_delete(k, p->from, p->to, err);
	if (!rc)
		rc = publish_verdicts_delete(k, p->from, p->to, err);
	if (rc)
		roll_back(k, p, exchanged);
	return rc;
}

void publish_finish(struct kernel *k, const struct publish *p)
{
	delete_tables(k, p->from, p->to, NULL);
	clear_backends(k, p->from, p->to, NULL);
}

void publish_release(struct publish *p)
{
	size_t i;

	for (i = 0; p->built && i < p->to->n_tables; i++)
		cleanup_close(&p->built[i].fd);
	cleanup_free(&p->built);
	cleanup_free(&p->changed);
	cleanup_free(&p->gone);
}
