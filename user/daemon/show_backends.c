// SPDX-License-Identifier: GPL-2.0-only
/*
 * backend.show: a row for each backend of a pool, with its state by each way to it
 * (core/way.h) where there are several, and the worst of these as that of the row.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

#include "checks.h"
#include "core/cleanup.h"
#include "core/quote.h"
#include "daemon.h"
#include "show_private.h"
#include "stats.h"
#include "verbs.h"

struct backend_list {
	struct daemon *d;
	json_t *array;
	bool slots;
};

/* A pool that is listed. By backend, and slots by way and then backend, NULL: unknown. */
struct listed {
	struct daemon *d;
	const struct cfg_pool *pool;
	const struct plan_backend **planned;
	uint32_t *slots;
	size_t n_ways;
};

static void listed_clear(struct listed *l)
{
	free(l->planned);
	free(l->slots);
}

/* By one way. */
static json_t *way_json(const struct listed *l, size_t backend, size_t way)
{
	struct checks_view v;
	char vip[VIP_SPEC_TEXT_MAX];

	checks_view(l->d->checks, l->pool, way, &l->pool->backends[backend], &v);
	return json_pack("{s:o, s:s, s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "vip",
			 string_or_null(l->n_ways > 1 && v.vip ?
						vip_spec_format(v.vip, vip) : NULL),
			 "effective", effective_state_name(v.state), "why", v.why, "share",
			 v.share, "health",
			 string_or_null(v.checked ? health_state_name(v.health->state) : NULL),
			 "health_s", v.checked ? integer(v.since_ms / 1000) : json_null(),
			 "health_reason", string_or_null(v.checked ? v.health->reason : NULL),
			 "penalty", v.checked ? json_real(v.penalty) : json_null(), "via",
			 string_or_null(v.via), "check_problem",
			 string_or_null(v.problem), "slots",
			 integer(l->slots ? l->slots[way * l->pool->n_backends + backend] : 0));
}

/* That by which it is worst off; and each, where there are several. */
static json_t *health_json(const struct listed *l, size_t backend)
{
	json_t *object = way_json(l, backend, checks_worst(l->d->checks, l->pool,
							   &l->pool->backends[backend]));
	json_t *vips = l->n_ways > 1 ? json_array() : json_null();
	size_t i;

	for (i = 0; i < l->n_ways && l->n_ways > 1; i++)
		json_array_append_new(vips, way_json(l, backend, i));
	json_object_set_new(object, "vips", vips);
	return object;
}

/* Takes `health`, which may be NULL. */
static void list_append(struct backend_list *list, const char *pool, const char *name,
			const struct plan_backend *planned, const char *state,
			uint32_t weight, json_t *health)
{
	json_t *object;
	struct daemon *d = list->d;
	struct backend_counters c = stats_backend(d, planned->id);
	char address[ADDR_TEXT_MAX], hop[128];
	const char *problem;

	nexthops_describe(d->nexthops, &planned->ident.addr, hop, sizeof(hop), &problem);
	object = json_pack(
		"{s:o, s:s, s:s, s:o, s:s, s:s, s:o, s:o, s:i, s:o, s:o, s:o}", "pool",
		string_or_null(pool), "name", name, "address",
		addr_format(&planned->ident.addr, address), "weight", integer(weight),
		"encap", encap_name(planned->ident.encap), "state", state, "next_hop",
		string_or_null(hop), "problem", string_or_null(problem), "slots", 0,
		"packets", integer(c.packets), "bytes", integer(c.bytes), "new_flows",
		integer(c.new_flows));
	if (object && health)
		json_object_update(object, health);
	json_decref(health);
	json_array_append_new(list->array, object);
}

/* 0: no VIP uses it. */
static uint16_t table_of_way(const struct listed *l, size_t way)
{
	const struct plan_vip *vip;
	struct checks_view v;

	checks_view(l->d->checks, l->pool, way, &l->pool->backends[0], &v);
	vip = v.vip ? plan_find_vip(l->d->plan, v.vip) : NULL;
	return vip ? vip->table : 0;
}

/* Ways next to each other often share a table, which is read once for them. */
static void read_slots(struct listed *l)
{
	size_t n = l->pool->n_backends, way, i;
	_cleanup_free_ uint32_t *read = NULL;
	uint16_t table, last = 0;

	l->slots = n && l->n_ways ? calloc(l->n_ways * n + 1, sizeof(*l->slots)) : NULL;
	for (way = 0; l->slots && way < l->n_ways; way++) {
		table = table_of_way(l, way);
		if (table != last) {
			free(read);
			read = table ? stats_slots(l->d, table) : NULL;
		}
		last = table;
		for (i = 0; i < n && read; i++)
			l->slots[way * n + i] = read[l->planned[i]->id];
	}
}

static int append_pool(struct backend_list *list, const struct cfg_pool *pool)
{
	_cleanup_(listed_clear) struct listed l = {
		.d = list->d,
		.pool = pool,
		.planned = calloc(pool->n_backends + 1, sizeof(const struct plan_backend *)),
		.n_ways = checks_ways(list->d->checks, pool),
	};
	struct backend_ident ident;
	size_t i;

	if (!l.planned)
		return -ENOMEM;
	for (i = 0; i < pool->n_backends; i++) {
		backend_ident_of(pool, &pool->backends[i], &ident);
		l.planned[i] = plan_find_backend(list->d->plan, &ident);
	}
	if (list->slots)
		read_slots(&l);
	for (i = 0; i < pool->n_backends; i++) {
		const struct cfg_backend *b = &pool->backends[i];

		list_append(list, pool->name, b->name, l.planned[i],
			    admin_state_name(b->state), b->weight, health_json(&l, i));
	}
	return 0;
}

/* In no pool any more, or beside the rows of its pools not in that of some VIP. */
static int append_draining(struct backend_list *list)
{
	const struct plan *plan = list->d->plan;
	_cleanup_free_ bool *left = calloc(MAX_BACKENDS + 1, sizeof(*left));
	char name[ADDR_TEXT_MAX];
	size_t i;

	if (!left)
		return -ENOMEM;
	for (i = 0; i < plan->n_verdicts; i++)
		left[plan->verdicts[i].backend] |= plan->verdicts[i].left;
	for (i = 0; i < plan->n_backends; i++)
		if (plan->backends[i].draining || left[plan->backends[i].id])
			list_append(list, NULL,
				    addr_format(&plan->backends[i].ident.addr, name),
				    &plan->backends[i], "draining", 0, NULL);
	return 0;
}

int show_backend_list(struct daemon *d, const struct cfg_pool *only, bool slots,
		      json_t **array, struct err *err)
{
	const struct cfg *cfg = d->plan->cfg;
	struct backend_list list = { .d = d, .array = json_array(), .slots = slots };
	int rc = 0;
	size_t i;

	for (i = 0; i < cfg->n_pools && !rc; i++)
		if (!only || only == &cfg->pools[i])
			rc = append_pool(&list, &cfg->pools[i]);
	if (!rc && !only)
		rc = append_draining(&list);
	if (rc) {
		json_decref(list.array);
		return err_set(err, rc, "out of memory");
	}
	*array = list.array;
	return 0;
}

/* A pool by its name, or that of a VIP. */
static int find_target(const struct cfg *cfg, const char *target,
		       const struct cfg_pool **out, struct err *err)
{
	const struct cfg_vip *vip;
	struct vip_spec spec;

	*out = cfg_find_pool(cfg, target);
	if (*out)
		return 0;
	if (vip_spec_parse(target, &spec, NULL) == 0) {
		vip = cfg_find_vip(cfg, &spec);
		*out = vip ? cfg_find_pool(cfg, vip->pool) : NULL;
	}
	if (*out)
		return 0;
	return err_set(err, -ENOENT, "no VIP and no pool is called %s", QUOTE(target));
}

int show_backends(struct daemon *d, json_t *args, json_t **result, struct err *err)
{
	const struct cfg_pool *only = NULL;
	const char *target;
	json_t *list;
	int rc = args_string(args, "target", false, &target, err);

	if (!rc && target)
		rc = find_target(d->plan->cfg, target, &only, err);
	if (!rc)
		rc = show_backend_list(d, only, true, &list, err);
	if (rc)
		return rc;
	*result = json_pack("{s:o}", "backends", list);
	return 0;
}
