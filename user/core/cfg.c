// SPDX-License-Identifier: GPL-2.0-only
#include "cfg.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi.h"
#include "cfg_fields.h"
#include "cleanup.h"
#include "quote.h"
#include "table.h"

static int no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory");
}

void cfg_pool_clear(struct cfg_pool *pool)
{
	free(pool->backends);
	pool->backends = NULL;
	pool->n_backends = 0;
	check_clear(&pool->check);
}

void cfg_vip_clear(struct cfg_vip *vip)
{
	prefix_list_clear(&vip->allow);
	prefix_list_clear(&vip->deny);
}

int cfg_vip_copy(const struct cfg_vip *vip, struct cfg_vip *out)
{
	struct cfg_vip copy = *vip;

	if (prefix_list_copy(&vip->allow, &copy.allow))
		return -ENOMEM;
	if (prefix_list_copy(&vip->deny, &copy.deny)) {
		prefix_list_clear(&copy.allow);
		return -ENOMEM;
	}
	*out = copy;
	return 0;
}

void cfg_free(struct cfg **cfg)
{
	if (!*cfg)
		return;

	for (size_t i = 0; i < (*cfg)->n_vips; i++)
		cfg_vip_clear(&(*cfg)->vips[i]);
	for (size_t i = 0; i < (*cfg)->n_pools; i++)
		cfg_pool_clear(&(*cfg)->pools[i]);
	free((*cfg)->pools);
	free((*cfg)->vips);
	free(*cfg);
	*cfg = NULL;
}

int cfg_new(struct cfg **out, struct err *err)
{
	struct cfg *cfg = calloc(1, sizeof(*cfg));

	if (!cfg)
		return no_memory(err);

	cfg->icmp_rate = CFG_ICMP_RATE_DEFAULT;
	cfg->publish_interval = CFG_PUBLISH_DEFAULT;
	snprintf(cfg->check_user, sizeof(cfg->check_user), "%s", CFG_CHECK_USER_DEFAULT);
	*out = cfg;
	return 0;
}

struct cfg_pool cfg_pool_default(void)
{
	return (struct cfg_pool){
		.encap = ENCAP_IPIP,
		.gue_port = GUE_PORT_DEFAULT,
		.table_size = TABLE_SIZE_DEFAULT,
		.algorithm = TABLE_MAGLEV,
		.ring_points = TABLE_RING_POINTS_DEFAULT,
		.initial_timeout = CFG_INITIAL_TIMEOUT_DEFAULT,
	};
}

struct cfg_vip cfg_vip_default(void)
{
	return (struct cfg_vip){
		.hash_mode = HASH_5_TUPLE,
		.echo = true,
		.tcp_idle_timeout = CFG_TCP_IDLE_DEFAULT,
		.udp_idle_timeout = CFG_UDP_IDLE_DEFAULT,
	};
}

struct cfg_backend cfg_backend_default(void)
{
	return (struct cfg_backend){ .weight = 1 };
}

void cfg_backend_default_name(struct cfg_backend *backend)
{
	_Static_assert(sizeof(backend->name) >= ADDR_TEXT_MAX,
		       "an address fits");
	addr_format(&backend->addr, backend->name);
}

static size_t room_for(size_t n)
{
	size_t room = 1;

	while (room < n)
		room *= 2;
	return room;
}

/* Copy of n elements with room to grow; NULL in *out when n is 0. */
static int array_copy(const void *array, size_t n, size_t size, void *out)
{
	void *copy = NULL;

	if (n) {
		copy = reallocarray(NULL, room_for(n), size);
		if (!copy)
			return -ENOMEM;
		memcpy(copy, array, n * size);
	}
	*(void **)out = copy;
	return 0;
}

/* Opens a gap for one element at `at`; n is the number before. */
static int array_insert(void *array_pointer, size_t n, size_t size, size_t at,
			const void *element)
{
	void **array = array_pointer;
	char *grown = *array;

	if (room_for(n + 1) != room_for(n) || !n) {
		grown = reallocarray(*array, room_for(n + 1), size);
		if (!grown)
			return -ENOMEM;
		*array = grown;
	}
	memmove(grown + (at + 1) * size, grown + at * size, (n - at) * size);
	memcpy(grown + at * size, element, size);
	return 0;
}

static void array_remove(void *array, size_t n, size_t size, size_t at)
{
	char *base = array;

	memmove(base + at * size, base + (at + 1) * size, (n - at - 1) * size);
}

/* *out is a flat copy of the pool already. -ENOMEM: it owns nothing. */
static int pool_copy(const struct cfg_pool *pool, struct cfg_pool *out)
{
	if (array_copy(pool->backends, pool->n_backends, sizeof(*pool->backends),
		       &out->backends))
		return -ENOMEM;
	if (!check_copy(&pool->check, &out->check))
		return 0;
	free(out->backends);
	return -ENOMEM;
}

int cfg_clone(const struct cfg *cfg, struct cfg **out, struct err *err)
{
	_cleanup_cfg_ struct cfg *copy = calloc(1, sizeof(*copy));

	if (!copy)
		return no_memory(err);

	*copy = *cfg;
	copy->vips = NULL;
	copy->pools = NULL;
	copy->n_pools = copy->n_vips = 0;
	if (array_copy(cfg->vips, cfg->n_vips, sizeof(*cfg->vips), &copy->vips) ||
	    array_copy(cfg->pools, cfg->n_pools, sizeof(*cfg->pools),
		       &copy->pools))
		return no_memory(err);

	for (; copy->n_vips < cfg->n_vips; copy->n_vips++)
		if (cfg_vip_copy(&cfg->vips[copy->n_vips], &copy->vips[copy->n_vips]))
			return no_memory(err);
	/* n_pools counts the pools whose backends and check are the copy's own. */
	for (; copy->n_pools < cfg->n_pools; copy->n_pools++)
		if (pool_copy(&cfg->pools[copy->n_pools], &copy->pools[copy->n_pools]))
			return no_memory(err);

	*out = TAKE_PTR(copy);
	return 0;
}

/* Where in the sorted pools the name is or would be. */
static size_t pool_lower_bound(const struct cfg *cfg, const char *name)
{
	size_t low = 0, high = cfg->n_pools;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(cfg->pools[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static size_t vip_lower_bound(const struct cfg *cfg, const struct vip_spec *spec)
{
	size_t low = 0, high = cfg->n_vips;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (vip_spec_compare(&cfg->vips[middle].spec, spec) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool cfg_has_checks(const struct cfg *cfg)
{
	for (size_t i = 0; i < cfg->n_pools; i++)
		if (cfg->pools[i].check.kind != CHECK_NONE)
			return true;
	return false;
}

struct cfg_pool *cfg_find_pool(const struct cfg *cfg, const char *name)
{
	size_t i = cfg->sorted ? pool_lower_bound(cfg, name) : 0;

	for (; i < cfg->n_pools; i++) {
		if (!strcmp(cfg->pools[i].name, name))
			return &cfg->pools[i];
		if (cfg->sorted)
			break;
	}
	return NULL;
}

/* As many names as there is room for. */
static void list_pools(const struct cfg *cfg, char list[CFG_KEYS_MAX])
{
	list[0] = '\0';
	for (size_t i = 0; i < cfg->n_pools; i++) {
		const struct cfg_pool *pool = &cfg->pools[i];

		if (pool->private)
			continue;
		if (strlen(list) + strlen(pool->name) + 8 > CFG_KEYS_MAX) {
			cfg_keys_add(list, "...");
			return;
		}
		cfg_keys_add(list, pool->name);
	}
	if (!list[0])
		cfg_keys_add(list, "none, as the configuration has no pools");
}

int cfg_require_pool(const struct cfg *cfg, const char *name, struct err *err)
{
	char list[CFG_KEYS_MAX];

	if (cfg_find_pool(cfg, name))
		return 0;
	list_pools(cfg, list);
	return err_set(err, -ENOENT, "pool %s does not exist; allowed: %s",
		       QUOTE(name), list);
}

struct cfg_vip *cfg_find_vip(const struct cfg *cfg, const struct vip_spec *spec)
{
	size_t i = cfg->sorted ? vip_lower_bound(cfg, spec) : 0;

	for (; i < cfg->n_vips; i++) {
		if (!vip_spec_compare(&cfg->vips[i].spec, spec))
			return &cfg->vips[i];
		if (cfg->sorted)
			break;
	}
	return NULL;
}

int cfg_add_pool(struct cfg *cfg, struct cfg_pool *pool, struct err *err)
{
	size_t at = cfg->n_pools;

	if (cfg->n_pools >= MAX_TABLES)
		return err_set(
			err, -EINVAL,
			"too many pools; allowed: at most %u, those that "
			"vips have to themselves included",
			MAX_TABLES);
	if (cfg->sorted)
		at = pool_lower_bound(cfg, pool->name);
	if (array_insert(&cfg->pools, cfg->n_pools, sizeof(*pool), at, pool))
		return no_memory(err);

	cfg->n_pools++;
	pool->backends = NULL;
	pool->n_backends = 0;
	pool->check = (struct check){ 0 };
	return 0;
}

int cfg_add_vip(struct cfg *cfg, struct cfg_vip *vip, struct err *err)
{
	size_t at = cfg->n_vips;

	if (cfg->n_vips >= MAX_VIPS)
		return err_set(err, -EINVAL,
			       "too many vips; allowed: at most %u", MAX_VIPS);
	if (cfg->sorted)
		at = vip_lower_bound(cfg, &vip->spec);
	if (array_insert(&cfg->vips, cfg->n_vips, sizeof(*vip), at, vip))
		return no_memory(err);

	cfg->n_vips++;
	vip->allow = vip->deny = (struct prefix_list){ 0 };
	return 0;
}

int cfg_add_backend(struct cfg_pool *pool, const struct cfg_backend *backend,
		    struct err *err)
{
	if (pool->n_backends >= TABLE_BACKENDS_MAX)
		return err_set(
			err, -EINVAL,
			"too many backends; allowed: at most %u in a pool",
			TABLE_BACKENDS_MAX);
	if (array_insert(&pool->backends, pool->n_backends, sizeof(*backend),
			 pool->n_backends, backend))
		return no_memory(err);

	pool->n_backends++;
	return 0;
}

void cfg_remove_pool(struct cfg *cfg, struct cfg_pool *pool)
{
	cfg_pool_clear(pool);
	array_remove(cfg->pools, cfg->n_pools, sizeof(*pool), pool - cfg->pools);
	cfg->n_pools--;
}

void cfg_remove_vip(struct cfg *cfg, struct cfg_vip *vip)
{
	cfg_vip_clear(vip);
	array_remove(cfg->vips, cfg->n_vips, sizeof(*vip), vip - cfg->vips);
	cfg->n_vips--;
}

void cfg_remove_backend(struct cfg_pool *pool, struct cfg_backend *backend)
{
	array_remove(pool->backends, pool->n_backends, sizeof(*backend),
		     backend - pool->backends);
	pool->n_backends--;
}

void cfg_err_place(const struct cfg *cfg, struct cfg_pos pos, struct err *err)
{
	if (cfg->file[0] && pos.line)
		err_prefix(err, "%s:%u:%u", cfg->file, pos.line, pos.column);
}

void cfg_table_params(const struct cfg_pool *pool, struct table_params *out)
{
	*out = (struct table_params){
		.algorithm = pool->algorithm,
		.size = pool->table_size,
		.slack_percent = pool->algorithm == TABLE_CAPPED ? pool->slack : 0,
		.ring_points = pool->algorithm == TABLE_RING ? pool->ring_points : 0,
	};
}
