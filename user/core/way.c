// SPDX-License-Identifier: GPL-2.0-only
#include "way.h"

#include <errno.h>
#include <stdlib.h>

#include "cleanup.h"

uint8_t way_protocol(enum check_kind kind)
{
	switch (kind) {
	case CHECK_TCP:
	case CHECK_HTTP:
	case CHECK_HTTPS:
		return IPPROTO_TCP;
	case CHECK_UDP:
		return IPPROTO_UDP;
	default:
		return 0;
	}
}

bool way_goes_through(const struct check *check, const struct vip_spec *vip)
{
	uint8_t protocol = way_protocol(check->kind);

	if (check->via == CHECK_VIA_DIRECT || !protocol || !vip_spec_is_exact(vip) ||
	    vip->protocol != protocol)
		return false;
	return protocol == IPPROTO_TCP || check->via == CHECK_VIA_VIP;
}

uint16_t way_port(const struct check *check, const struct vip_spec *vip)
{
	if (check->kind == CHECK_ICMP)
		return 0;
	return check->port ? check->port : vip->port;
}

int way_compare(const struct addr *a, uint16_t a_port, const struct addr *b,
		uint16_t b_port)
{
	int order = addr_compare(a, b);

	return order ? order : (a_port > b_port) - (a_port < b_port);
}

/* Of one key the first VIP comes first. */
static int compare_ways(const void *a, const void *b)
{
	const struct way *x = a, *y = b;
	int order = (x->pool > y->pool) - (x->pool < y->pool);

	if (!order)
		order = way_compare(&x->addr, x->port, &y->addr, y->port);
	return order ? order : (x->vip > y->vip) - (x->vip < y->vip);
}

/* How well a VIP stands for the only way of its pool. */
static int rank(const struct cfg_pool *pool, const struct cfg_vip *vip)
{
	if (!vip || !vip_spec_is_exact(&vip->spec))
		return vip ? 1 : 0;
	return vip->spec.protocol == way_protocol(pool->check.kind) ? 3 : 2;
}

static bool has_its_own(const struct cfg_pool *pool, const struct cfg_vip *vip)
{
	return pool->check.vips == CHECK_VIPS_EACH &&
	       way_goes_through(&pool->check, &vip->spec);
}

/* only: by pool, the only way, where no VIP has one of its own. at: its pool's place. */
static void add_vip(const struct cfg *cfg, const struct cfg_vip *vip, size_t at,
		    struct ways *ways, struct way *only)
{
	const struct cfg_pool *pool = &cfg->pools[at];

	if (has_its_own(pool, vip)) {
		ways->list[ways->n++] = (struct way){
			.pool = at,
			.vip = vip,
			.addr = vip->spec.addr,
			.port = way_port(&pool->check, &vip->spec),
		};
		ways->first[at]++;
	}
	if (rank(pool, vip) > rank(pool, only[at].vip))
		only[at].vip = vip;
}

static bool is_same(const struct way *a, const struct way *b)
{
	return a->pool == b->pool && !way_compare(&a->addr, a->port, &b->addr, b->port);
}

/* Equal ones are one; and where those of each pool begin. */
static void join(const struct cfg *cfg, struct ways *ways)
{
	size_t i, n = 0, pool = 0;

	for (i = 0; i < ways->n; i++) {
		const struct way *way = &ways->list[i];

		if (n && is_same(way, &ways->list[n - 1]))
			continue;
		for (; pool <= way->pool; pool++)
			ways->first[pool] = n;
		ways->list[n++] = *way;
	}
	ways->first[cfg->n_pools] = ways->n = n;
}

/* The first from `low` on that is not below; `high`: none is. */
static size_t lower_bound(const struct ways *ways, size_t low, size_t high,
			  const struct addr *addr, uint16_t port)
{
	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct way *way = &ways->list[middle];

		if (way_compare(&way->addr, way->port, addr, port) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* That of its address and port; else the first of its address, or of the pool. */
static uint32_t way_of(const struct cfg *cfg, const struct cfg_vip *vip, size_t at,
		       const struct ways *ways)
{
	size_t first = ways->first[at], end = ways->first[at + 1];
	const uint16_t ports[] = { way_port(&cfg->pools[at].check, &vip->spec), 0 };

	for (size_t i = 0; i < 2; i++) {
		size_t place = lower_bound(ways, first, end, &vip->spec.addr, ports[i]);

		if (place < end && !addr_compare(&ways->list[place].addr, &vip->spec.addr) &&
		    (i || ways->list[place].port == ports[i]))
			return place;
	}
	return first;
}

int ways_make(const struct cfg *cfg, struct ways *out)
{
	_cleanup_ways_ struct ways ways = {
		.list = calloc(cfg->n_vips + cfg->n_pools + 1, sizeof(*ways.list)),
		.first = calloc(cfg->n_pools + 1, sizeof(*ways.first)),
		.of_vip = calloc(cfg->n_vips + 1, sizeof(*ways.of_vip)),
	};
	_cleanup_free_ struct way *only = calloc(cfg->n_pools + 1, sizeof(*only));
	size_t i;

	*out = (struct ways){ 0 };
	if (!ways.list || !ways.first || !ways.of_vip || !only)
		return -ENOMEM;
	/* Of each VIP first its pool, and then its way. */
	for (i = 0; i < cfg->n_vips; i++) {
		ways.of_vip[i] = cfg_find_pool(cfg, cfg->vips[i].pool) - cfg->pools;
		add_vip(cfg, &cfg->vips[i], ways.of_vip[i], &ways, only);
	}
	for (i = 0; i < cfg->n_pools; i++) {
		only[i].pool = i;
		if (!ways.first[i])
			ways.list[ways.n++] = only[i];
	}
	if (ways.n)
		qsort(ways.list, ways.n, sizeof(*ways.list), compare_ways);
	join(cfg, &ways);
	for (i = 0; i < cfg->n_vips; i++)
		ways.of_vip[i] = way_of(cfg, &cfg->vips[i], ways.of_vip[i], &ways);
	*out = ways;
	ways = (struct ways){ 0 };
	return 0;
}

void ways_clear(struct ways *ways)
{
	free(ways->list);
	free(ways->first);
	free(ways->of_vip);
	*ways = (struct ways){ 0 };
}
