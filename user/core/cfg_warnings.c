// SPDX-License-Identifier: GPL-2.0-only
/* What a configuration may say, and its operator may not mean. */
#include "cfg.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cfg_fields.h"
#include "cleanup.h"
#include "quote.h"
#include "table.h"

/* Slots a backend below which the shares differ by more than about 1 %. */
#define SLOTS_PER_BACKEND 100

struct warner {
	void (*warn)(void *context, const char *text);
	void *context;
};

__attribute__((format(printf, 2, 3))) static void
warn(const struct warner *warner, const char *format, ...)
{
	struct err message;
	va_list args;

	va_start(args, format);
	vsnprintf(message.text, sizeof(message.text), format, args);
	va_end(args);
	warner->warn(warner->context, message.text);
}

static void warn_pool(const struct warner *warner, const struct cfg_pool *pool)
{
	const char *kind = pool->private ? "vip" : "pool";

	if (pool->table_size / SLOTS_PER_BACKEND < pool->n_backends)
		warn(warner,
		     "%s %s: table_size %u is less than %u slots for each of "
		     "%zu backends; their shares of the load will differ by "
		     "more than 1 %%",
		     kind, QUOTE(pool->name), pool->table_size,
		     SLOTS_PER_BACKEND, pool->n_backends);
	if (!encap_has_port(pool->encap) && pool->gue_port != GUE_PORT_DEFAULT)
		warn(warner, "%s %s: gue_port is not used, as encap is %s",
		     kind, QUOTE(pool->name), encap_name(pool->encap));
	if (pool->algorithm != TABLE_CAPPED && pool->slack)
		warn(warner, "%s %s: slack is not used, as algorithm is %s",
		     kind, QUOTE(pool->name),
		     table_algorithm_name(pool->algorithm));
	if (pool->algorithm != TABLE_RING &&
	    pool->ring_points != TABLE_RING_POINTS_DEFAULT)
		warn(warner, "%s %s: ring_points is not used, as algorithm is %s",
		     kind, QUOTE(pool->name),
		     table_algorithm_name(pool->algorithm));
}

static void warn_unchecked(const struct warner *warner, const struct cfg_pool *pool)
{
	const char *key = NULL;

	if (pool->initial_up)
		key = "initial";
	else if (pool->initial_timeout != CFG_INITIAL_TIMEOUT_DEFAULT)
		key = "initial_timeout";
	else if (pool->slow_start)
		key = "slow_start";
	else if (pool->damping_suppress)
		key = "damping";
	if (key && pool->check.kind == CHECK_NONE)
		warn(warner, "%s %s: %s is not used, as there is no check",
		     pool->private ? "vip" : "pool", QUOTE(pool->name), key);
}

static void warn_quorum(const struct warner *warner, const struct cfg_pool *pool)
{
	const char *kind = pool->private ? "vip" : "pool";
	uint64_t weight = 0;

	for (size_t i = 0; i < pool->n_backends; i++)
		weight += pool->backends[i].weight;
	if (!pool->quorum && pool->quorum_hysteresis)
		warn(warner, "%s %s: quorum_hysteresis is not used, as there is no quorum",
		     kind, QUOTE(pool->name));
	else if (pool->quorum > weight)
		warn(warner,
		     "%s %s: quorum %u is more than the weight of all backends, %llu: the "
		     "pool never has it",
		     kind, QUOTE(pool->name), pool->quorum, (unsigned long long)weight);
	else if (pool->quorum && pool->quorum + pool->quorum_hysteresis > weight)
		warn(warner,
		     "%s %s: quorum and quorum_hysteresis are more than the weight of all "
		     "backends, %llu: a quorum that is lost never comes back",
		     kind, QUOTE(pool->name), (unsigned long long)weight);
}

/* A backend and the pool that it is in. */
struct member {
	const struct cfg_backend *backend;
	const struct cfg_pool *pool;
};

static int compare_members(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return addr_compare(&x->backend->addr, &y->backend->addr);
}

/* By address; NULL: none, or no memory. */
static struct member *sort_members(const struct cfg *cfg, size_t *n)
{
	struct member *members;
	size_t room = 0;

	for (size_t i = 0; i < cfg->n_pools; i++)
		room += cfg->pools[i].n_backends;
	members = room ? calloc(room, sizeof(*members)) : NULL;
	*n = 0;
	for (size_t i = 0; members && i < cfg->n_pools; i++)
		for (size_t j = 0; j < cfg->pools[i].n_backends; j++)
			members[(*n)++] = (struct member){ &cfg->pools[i].backends[j],
							   &cfg->pools[i] };
	if (members)
		qsort(members, *n, sizeof(*members), compare_members);
	return members;
}

/*
 * Addresses in their order, and the VIPs in theirs: a prefix comes before what
 * it covers, so the VIPs that cover an address are on a stack when it is its turn.
 */
struct cover {
	const struct cfg *cfg;
	const struct cfg_vip **stack;
	size_t n, next;
};

static void uncover(struct cover *c, const struct addr *addr)
{
	while (c->n && !vip_spec_covers(&c->stack[c->n - 1]->spec, addr))
		c->n--;
}

/* The most specific VIP with that address; NULL: none. */
static const struct cfg_vip *find_cover(struct cover *c, const struct addr *addr)
{
	while (c->next < c->cfg->n_vips) {
		const struct cfg_vip *vip = &c->cfg->vips[c->next];

		if (addr_compare(&vip->spec.addr, addr) > 0)
			break;
		uncover(c, &vip->spec.addr);
		c->stack[c->n++] = vip;
		c->next++;
	}
	uncover(c, addr);
	return c->n ? c->stack[c->n - 1] : NULL;
}

static void warn_vip_address(const struct warner *warner, const struct member *m,
			     const struct cfg_vip *vip)
{
	char spec[VIP_SPEC_TEXT_MAX], addr[ADDR_TEXT_MAX];

	warn(warner,
	     "%s %s: backend %s: its address %s is one of vip '%s', so what is "
	     "sent to it comes back to the balancer",
	     m->pool->private ? "vip" : "pool", QUOTE(m->pool->name),
	     QUOTE(m->backend->name), addr_format(&m->backend->addr, addr),
	     vip_spec_format(&vip->spec, spec));
}

static void warn_vip_addresses(const struct warner *warner, const struct cfg *cfg)
{
	size_t n;
	_cleanup_free_ struct member *members = sort_members(cfg, &n);
	_cleanup_free_ const struct cfg_vip **stack =
		calloc(cfg->n_vips + 1, sizeof(const struct cfg_vip *));
	struct cover cover = { .cfg = cfg, .stack = stack };

	for (size_t i = 0; members && stack && i < n; i++) {
		const struct cfg_vip *vip = find_cover(&cover, &members[i].backend->addr);

		if (vip)
			warn_vip_address(warner, &members[i], vip);
	}
}

void cfg_warnings(const struct cfg *cfg,
		  void (*callback)(void *context, const char *text),
		  void *context)
{
	struct warner warner = { callback, context };

	if (!cfg->has_hash_key)
		warn(&warner,
		     "hash_key is not set; hosts of a fleet choose the "
		     "same backend for a connection only when they "
		     "have the same hash_key");
	for (size_t i = 0; i < cfg->n_pools; i++) {
		warn_pool(&warner, &cfg->pools[i]);
		warn_unchecked(&warner, &cfg->pools[i]);
		warn_quorum(&warner, &cfg->pools[i]);
	}
	warn_vip_addresses(&warner, cfg);
}
