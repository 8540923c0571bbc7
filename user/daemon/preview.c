// SPDX-License-Identifier: GPL-2.0-only
#include "preview.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/cleanup.h"
#include "core/table_previous.h"
#include "flow_hash.h"
#include "flows.h"
#include "sys/kmap.h"

/* What becomes of one old table's VIPs that are to use one new table. */
struct moved_slots {
	uint16_t from, to; /* table ids */
	uint32_t size, moved;
	uint8_t *bits;
};

static uint16_t slot_id(const struct table_line *lines, uint32_t slot)
{
	return lines[1 + slot / TABLE_LINE_SLOTS].ids[slot % TABLE_LINE_SLOTS];
}

/* The slot of a table of `size` that has the middle of slot s out of `of`. */
static uint32_t same_place(uint32_t s, uint32_t of, uint32_t size)
{
	return size == of ? s : (2ULL * s + 1) * size / (2ULL * of);
}

static int read_lines(const struct kernel_table *table, struct table_line **lines)
{
	size_t n = 1 + table_slot_lines(table->size);

	*lines = calloc(n, sizeof(**lines));
	if (!*lines)
		return -ENOMEM;
	return kmap_lines_read(table->fd, *lines, n);
}

static int compare_tables(const struct kernel *k, const struct plan_table *to,
			  struct moved_slots *moved, struct err *err)
{
	const struct kernel_table *from = &k->table[moved->from];
	_cleanup_free_ struct table_line *old = NULL;
	_cleanup_free_ struct table_line *new = NULL;
	uint32_t slot;
	size_t n;
	int rc = plan_table_lines(to, k->kept_tables, &new, &n, err);

	if (rc)
		return rc;
	rc = read_lines(from, &old);
	if (rc)
		return err_set(err, rc, "cannot read table %u: %s", moved->from,
			       strerror(-rc));
	moved->size = to->params.size;
	moved->bits = calloc(1, moved->size / 8 + 1);
	if (!moved->bits)
		return err_set(err, -ENOMEM, "out of memory");

	for (slot = 0; slot < moved->size; slot++) {
		if (slot_id(new, slot) ==
		    slot_id(old, same_place(slot, moved->size, from->size)))
			continue;
		moved->bits[slot / 8] |= 1 << slot % 8;
		moved->moved++;
	}
	return 0;
}

/* The comparison of two tables, made when it is first asked for. */
static int find_moved(const struct kernel *k, const struct plan *from,
		      const struct plan *to, uint16_t from_id, uint16_t to_id,
		      struct preview *p, const struct moved_slots **out, struct err *err)
{
	const struct plan_table *old = plan_find_table(from, from_id);
	const struct plan_table *new = plan_find_table(to, to_id);
	struct moved_slots *entry;
	size_t i;
	int rc;

	for (i = 0; i < p->n_tables; i++) {
		*out = &p->tables[i];
		if ((*out)->from == from_id && (*out)->to == to_id)
			return 0;
	}
	entry = &p->tables[p->n_tables];
	*entry = (struct moved_slots){ .from = from_id, .to = to_id,
				       .size = new->params.size };
	if (!plan_table_same(old, new)) {
		rc = compare_tables(k, new, entry, err);
		if (rc)
			return rc;
	}
	p->n_tables++;
	*out = entry;
	return 0;
}

static int preview_kept(const struct kernel *k, const struct plan *from,
			const struct plan *to, const struct plan_vip *old,
			const struct plan_vip *new, struct preview *p,
			struct preview_vip *vip, struct err *err)
{
	const struct moved_slots *moved;
	int rc = find_moved(k, from, to, old->table, new->table, p, &moved, err);

	if (rc)
		return rc;
	vip->slots = moved->size;
	vip->moved = moved->moved;
	vip->moved_bits = moved->bits;
	vip->change = moved->moved ? PREVIEW_CHANGED : PREVIEW_SAME;
	return 0;
}

static int compare_vips(const void *a, const void *b)
{
	const struct preview_vip *x = a, *y = b;

	return vip_spec_compare(&x->spec, &y->spec);
}

static int preview_vips(const struct kernel *k, const struct plan *from,
			const struct plan *to, struct preview *p, struct err *err)
{
	const struct plan_vip *old;
	struct preview_vip *vip;
	size_t i;
	int rc;

	for (i = 0; i < to->n_vips; i++) {
		old = plan_find_vip(from, &to->vips[i].spec);
		vip = &p->vips[p->n_vips++];
		*vip = (struct preview_vip){ .spec = to->vips[i].spec,
					     .hash_mode = to->vips[i].options.hash_mode,
					     .change = PREVIEW_ADDED };
		rc = old ? preview_kept(k, from, to, old, &to->vips[i], p, vip, err) : 0;
		if (rc)
			return rc;
	}
	for (i = 0; i < from->n_vips; i++)
		if (!plan_find_vip(to, &from->vips[i].spec))
			p->vips[p->n_vips++] = (struct preview_vip){
				.spec = from->vips[i].spec, .change = PREVIEW_REMOVED };
	if (p->n_vips)
		qsort(p->vips, p->n_vips, sizeof(*p->vips), compare_vips);
	return 0;
}

struct flow_count {
	const struct plan *plan;      /* what the flows go by */
	struct preview_vip **by_id;
	const struct vip_spec **spec; /* by VIP id */   /* its VIPs */
	struct flow_hash_key key;
};

/* The VIP of a flow; NULL: it has none any more. */
static struct preview_vip *find_vip(const struct flow_count *count,
				    const struct addr *dst, __u8 protocol, uint16_t port)
{
	const struct vip *vip = vip_entries_lookup(&count->plan->entries, dst, protocol,
						   port);

	return vip ? count->by_id[vip->id] : NULL;
}

/* What the sets leave to the VIP: the destination, and the protocol. */
static bool complete(const struct flow_count *count, struct flow_seen *flow)
{
	const struct vip_spec *spec = count->spec[flow->vip];

	if (!spec)
		return false;
	flow->dst = spec->addr;
	flow->protocol = spec->protocol;
	return true;
}

static uint64_t hash_of(const struct flow_count *count, uint8_t mode,
			const struct flow_seen *flow)
{
	struct flow_key4 key4;
	struct flow_key6 key6;

	if (flow->v6) {
		flows_key6(flow, &key6);
		return flow_hash_mode6(count->key, mode, &key6);
	}
	flows_key4(flow, &key4);
	return flow_hash_mode4(count->key, mode, &key4);
}

static int count_flow(void *context, const struct flow_seen *seen)
{
	struct flow_count *count = context;
	struct flow_seen flow = *seen;
	struct preview_vip *vip;
	uint32_t slot;

	if (!flow.by_tuple && !complete(count, &flow))
		return FLOW_KEEP;
	vip = flow.by_tuple ? find_vip(count, &flow.dst, flow.protocol, flow.dport) :
			      count->by_id[flow.vip];
	if (!vip)
		return FLOW_KEEP;
	vip->flows++;
	if (!vip->moved_bits)
		return FLOW_KEEP;
	slot = flow_hash_slot(hash_of(count, vip->hash_mode, &flow), vip->slots);
	vip->flows_on_moved += vip->moved_bits[slot / 8] >> slot % 8 & 1;
	return FLOW_KEEP;
}

static int count_flows(const struct dataplane *dp, const struct plan *from,
		       struct preview *p)
{
	_cleanup_free_ struct preview_vip **by_id = calloc(MAX_VIPS + 1, sizeof(*by_id));
	_cleanup_free_ const struct vip_spec **spec = calloc(MAX_VIPS + 1, sizeof(*spec));
	struct flow_count count = { from, by_id, spec, { dp->config.hash_key[0],
							 dp->config.hash_key[1] } };
	const struct plan_vip *vip;
	size_t i;

	if (!by_id || !spec)
		return -ENOMEM;
	for (i = 0; i < from->n_vips; i++)
		spec[from->vips[i].id] = &from->vips[i].spec;
	for (i = 0; i < p->n_vips; i++) {
		vip = plan_find_vip(from, &p->vips[i].spec);
		if (vip)
			by_id[vip->id] = &p->vips[i];
	}
	return flows_walk(dp, count_flow, &count);
}

int preview_make(const struct kernel *k, const struct dataplane *dp,
		 const struct plan *from, const struct plan *to, struct preview *out,
		 struct err *err)
{
	size_t n = from->n_vips + to->n_vips;
	int rc;

	*out = (struct preview){ 0 };
	out->vips = calloc(n + 1, sizeof(*out->vips));
	out->tables = calloc(to->n_vips + 1, sizeof(*out->tables));
	rc = out->vips && out->tables ? preview_vips(k, from, to, out, err) :
					err_set(err, -ENOMEM, "out of memory");
	if (!rc) {
		rc = count_flows(dp, from, out);
		if (rc)
			err_set(err, rc, "cannot read the flow maps: %s", strerror(-rc));
	}
	if (rc)
		preview_release(out);
	return rc;
}

void preview_release(struct preview *preview)
{
	size_t i;

	for (i = 0; i < preview->n_tables; i++)
		free(preview->tables[i].bits);
	cleanup_free(&preview->tables);
	cleanup_free(&preview->vips);
	*preview = (struct preview){ 0 };
}
