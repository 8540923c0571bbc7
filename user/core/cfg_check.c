// SPDX-License-Identifier: GPL-2.0-only
/*
 * What crosses objects. Everything is sorted first, so that duplicates are
 * neighbours and every look-up is a binary search: 65,535 VIPs and as many
 * backends are an ordinary configuration.
 */
#include "cfg.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi.h"
#include "cfg_fields.h"
#include "cleanup.h"
#include "plural.h"
#include "quote.h"
#include "table.h"

/* Of two that are equal, the one that stands first in the file. */
static int compare_pos(struct cfg_pos a, struct cfg_pos b)
{
	if (a.line != b.line)
		return a.line < b.line ? -1 : 1;
	if (a.column != b.column)
		return a.column < b.column ? -1 : 1;
	return 0;
}

static int compare_vips(const void *a, const void *b)
{
	const struct cfg_vip *x = a, *y = b;
	int rc = vip_spec_compare(&x->spec, &y->spec);

	return rc ? rc : compare_pos(x->pos, y->pos);
}

static int compare_pools(const void *a, const void *b)
{
	const struct cfg_pool *x = a, *y = b;
	int rc = strcmp(x->name, y->name);

	return rc ? rc : compare_pos(x->pos, y->pos);
}

static int compare_names(const void *a, const void *b)
{
	const struct cfg_backend *x = a, *y = b;
	int rc = strcmp(x->name, y->name);

	return rc ? rc : compare_pos(x->pos, y->pos);
}

static int compare_addresses(const void *a, const void *b)
{
	const struct cfg_backend *const *x = a, *const *y = b;
	int rc = addr_compare(&(*x)->addr, &(*y)->addr);

	return rc ? rc : compare_pos((*x)->pos, (*y)->pos);
}

static void sort(void *array, size_t n, size_t size,
		 int (*compare)(const void *, const void *))
{
	if (n > 1)
		qsort(array, n, size, compare);
}

/* " is already on line N", or as much as is known. */
static const char *first_place(struct cfg_pos pos, char text[40])
{
	if (pos.line)
		snprintf(text, 40, "is already on line %u", pos.line);
	else
		snprintf(text, 40, "is there already");
	return text;
}

static int check_interface(const struct cfg *cfg, struct err *err)
{
	if (cfg->interface[0])
		return 0;
	err_set(err, -EINVAL,
		"interface is missing; add a line "
		"'interface: NAME' with the device that receives "
		"the traffic");
	cfg_err_place(cfg, (struct cfg_pos){ 1, 1 }, err);
	return -EINVAL;
}

static int check_vips(struct cfg *cfg, struct err *err)
{
	char text[VIP_SPEC_TEXT_MAX], place[40];

	sort(cfg->vips, cfg->n_vips, sizeof(*cfg->vips), compare_vips);
	for (size_t i = 1; i < cfg->n_vips; i++) {
		const struct cfg_vip *first = &cfg->vips[i - 1];
		const struct cfg_vip *vip = &cfg->vips[i];

		if (vip_spec_compare(&first->spec, &vip->spec))
			continue;
		err_set(err, -EINVAL, "vip '%s' %s; allowed: each vip once",
			vip_spec_format(&vip->spec, text),
			first_place(first->pos, place));
		cfg_err_place(cfg, vip->pos, err);
		return -EINVAL;
	}
	return 0;
}

/* Sentences about a pool start with what its operator calls it. */
static int pool_fail(const struct cfg *cfg, const struct cfg_pool *pool,
		     struct cfg_pos pos, struct err *err)
{
	err_prefix(err, "%s %s", pool->private ? "vip" : "pool",
		   QUOTE(pool->name));
	cfg_err_place(cfg, pos, err);
	return -EINVAL;
}

static int check_names(const struct cfg *cfg, const struct cfg_pool *pool,
		       struct err *err)
{
	char place[40];

	sort(pool->backends, pool->n_backends, sizeof(*pool->backends),
	     compare_names);
	for (size_t i = 1; i < pool->n_backends; i++) {
		const struct cfg_backend *first = &pool->backends[i - 1];
		const struct cfg_backend *backend = &pool->backends[i];

		if (strcmp(first->name, backend->name))
			continue;
		err_set(err, -EINVAL,
			"backend %s %s; allowed: each name once in a pool",
			QUOTE(backend->name), first_place(first->pos, place));
		return pool_fail(cfg, pool, backend->pos, err);
	}
	return 0;
}

static int check_addresses(const struct cfg *cfg, const struct cfg_pool *pool,
			   struct err *err)
{
	_cleanup_free_ const struct cfg_backend **sorted = NULL;
	char text[ADDR_TEXT_MAX], place[40];

	if (pool->n_backends < 2)
		return 0;
	sorted = calloc(pool->n_backends, sizeof(*sorted));
	if (!sorted)
		return err_set(err, -ENOMEM, "out of memory");

	for (size_t i = 0; i < pool->n_backends; i++)
		sorted[i] = &pool->backends[i];
	sort(sorted, pool->n_backends, sizeof(*sorted), compare_addresses);
	for (size_t i = 1; i < pool->n_backends; i++) {
		if (addr_compare(&sorted[i - 1]->addr, &sorted[i]->addr))
			continue;
		err_set(err, -EINVAL,
			"backend address '%s' %s; allowed: each address once "
			"in a pool",
			addr_format(&sorted[i]->addr, text),
			first_place(sorted[i - 1]->pos, place));
		return pool_fail(cfg, pool, sorted[i]->pos, err);
	}
	return 0;
}

/* What only the algorithm's builder knows: tables that would take too long. */
static int check_table(const struct cfg *cfg, const struct cfg_pool *pool,
		       struct err *err)
{
	_cleanup_free_ struct table_backend *set =
		calloc(pool->n_backends + 1, sizeof(*set));
	struct table_params params;
	int rc;

	if (!set)
		return err_set(err, -ENOMEM, "out of memory");
	if (!pool->n_backends)
		return 0;

	cfg_table_params(pool, &params);
	for (size_t i = 0; i < pool->n_backends; i++)
		set[i] = (struct table_backend){ pool->backends[i].name,
						 pool->backends[i].weight };
	rc = table_check(&params, set, pool->n_backends, err);
	return rc ? pool_fail(cfg, pool, pool->pos, err) : 0;
}

static int check_pool(const struct cfg *cfg, const struct cfg_pool *pool,
		      struct err *err)
{
	int rc = cfg_table_size_check(pool->table_size, err);

	if (rc < 0)
		return pool_fail(cfg, pool, pool->pos, err);
	if (pool->n_backends >= pool->table_size) {
		err_set(err, -EINVAL,
			"table_size %u is not above the number of backends, "
			"%zu; allowed: a prime above that",
			pool->table_size, pool->n_backends);
		return pool_fail(cfg, pool, pool->pos, err);
	}

	rc = check_names(cfg, pool, err);
	if (!rc)
		rc = check_addresses(cfg, pool, err);
	return rc ? rc : check_table(cfg, pool, err);
}

static int check_pools(struct cfg *cfg, struct err *err)
{
	char place[40];

	sort(cfg->pools, cfg->n_pools, sizeof(*cfg->pools), compare_pools);
	for (size_t i = 0; i < cfg->n_pools; i++) {
		const struct cfg_pool *pool = &cfg->pools[i];
		int rc;

		if (i && !strcmp(pool[-1].name, pool->name)) {
			err_set(err, -EINVAL, "it %s; allowed: each pool once",
				first_place(pool[-1].pos, place));
			return pool_fail(cfg, pool, pool->pos, err);
		}
		rc = check_pool(cfg, pool, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int check_vip_pool(const struct cfg *cfg, const struct cfg_vip *vip,
			  struct err *err)
{
	const struct cfg_pool *pool = cfg_find_pool(cfg, vip->pool);
	char text[VIP_SPEC_TEXT_MAX];
	bool stolen;

	vip_spec_format(&vip->spec, text);
	stolen = pool && pool->private && strcmp(pool->name, text);
	if (pool && !stolen)
		return 0;

	if (stolen)
		err_set(err, -EINVAL, "pool %s belongs to that vip alone",
			QUOTE(vip->pool));
	else
		cfg_require_pool(cfg, vip->pool, err);
	err_prefix(err, "vip '%s'", text);
	cfg_err_place(cfg, vip->pos, err);
	return -EINVAL;
}

/*
 * VIPs are unique and each finds its pool, so private pools that no VIP owns
 * show in the numbers alone.
 */
static int check_use(const struct cfg *cfg, struct err *err)
{
	size_t n_private = 0;

	for (size_t i = 0; i < cfg->n_pools; i++)
		n_private += cfg->pools[i].private;
	for (size_t i = 0; i < cfg->n_vips; i++) {
		int rc = check_vip_pool(cfg, &cfg->vips[i], err);

		if (rc < 0)
			return rc;
		n_private -= !!strchr(cfg->vips[i].pool, '/');
	}
	if (n_private)
		return err_set(err, -EINVAL,
			       "%zu private pool%s without a vip", n_private,
			       plural(n_private));
	return 0;
}

/* What has an id of its own in the data plane. */
struct endpoint {
	struct addr addr;
	uint8_t encap;
	uint16_t gue_port;
};

static int compare_endpoints(const void *a, const void *b)
{
	const struct endpoint *x = a, *y = b;
	int rc = addr_compare(&x->addr, &y->addr);

	if (rc)
		return rc;
	if (x->encap != y->encap)
		return x->encap < y->encap ? -1 : 1;
	return (x->gue_port > y->gue_port) - (x->gue_port < y->gue_port);
}

static void collect_endpoints(const struct cfg *cfg, struct endpoint *list)
{
	for (size_t i = 0; i < cfg->n_pools; i++) {
		const struct cfg_pool *pool = &cfg->pools[i];

		for (size_t j = 0; j < pool->n_backends; j++)
			*list++ = (struct endpoint){
				.addr = pool->backends[j].addr,
				.encap = pool->encap,
				.gue_port = pool->encap == ENCAP_GUE ?
						    pool->gue_port :
						    0,
			};
	}
}

/* Pools may list the same backends, so the number of lines says little. */
static int check_backend_limit(const struct cfg *cfg, struct err *err)
{
	_cleanup_free_ struct endpoint *list = NULL;
	size_t total = 0, different = 1;

	for (size_t i = 0; i < cfg->n_pools; i++)
		total += cfg->pools[i].n_backends;
	if (total <= MAX_BACKENDS)
		return 0;

	list = calloc(total, sizeof(*list));
	if (!list)
		return err_set(err, -ENOMEM, "out of memory");
	collect_endpoints(cfg, list);
	sort(list, total, sizeof(*list), compare_endpoints);
	for (size_t i = 1; i < total; i++)
		different += !!compare_endpoints(&list[i - 1], &list[i]);
	if (different <= MAX_BACKENDS)
		return 0;

	err_set(err, -EINVAL,
		"the pools have %zu different backends; allowed: at most %u",
		different, MAX_BACKENDS);
	cfg_err_place(cfg, (struct cfg_pos){ 1, 1 }, err);
	return -EINVAL;
}

int cfg_check(struct cfg *cfg, struct err *err)
{
	int rc;

	cfg->sorted = false;
	rc = check_interface(cfg, err);
	if (!rc)
		rc = check_vips(cfg, err);
	if (!rc)
		rc = cfg_check_ranges(cfg, err);
	if (!rc)
		rc = check_pools(cfg, err);
	if (rc < 0)
		return rc;

	cfg->sorted = true;
	rc = check_use(cfg, err);
	if (!rc)
		rc = cfg_check_vip_options(cfg, err);
	if (!rc)
		rc = cfg_check_quic(cfg, err);
	if (!rc)
		rc = cfg_check_health(cfg, err);
	if (rc < 0)
		return rc;
	return check_backend_limit(cfg, err);
}
