// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks of pools: what crosses them and the VIPs that they are for. A check
 * whose port is that of the VIP needs VIPs with one, and the same one; a probe on
 * the way of packets needs an address; and of checks there may not be too many, which
 * many VIPs of many backends make.
 */
#include <errno.h>
#include <stdlib.h>

#include "cfg_fields.h"
#include "cleanup.h"
#include "quote.h"
#include "way.h"

static int check_fail(const struct cfg *cfg, const struct cfg_pool *pool, struct err *err)
{
	err_prefix(err, "%s %s", pool->private ? "vip" : "pool", QUOTE(pool->name));
	cfg_err_place(cfg, pool->check_pos.line ? pool->check_pos : pool->pos, err);
	return -EINVAL;
}

static int check_pool(const struct cfg *cfg, const struct cfg_pool *pool, struct err *err)
{
	if (pool->check.kind == CHECK_EXEC && !cfg->check_exec) {
		err_set(err, -EINVAL, "check has type exec, which runs commands; required: "
				      "'check_exec: true' at the top of the file");
		return check_fail(cfg, pool, err);
	}
	if (pool->damping_suppress && pool->damping_reuse >= pool->damping_suppress) {
		err_set(err, -EINVAL,
			"damping has reuse %u, which is not below suppress, %u; allowed: "
			"1 to %u",
			pool->damping_reuse, pool->damping_suppress,
			pool->damping_suppress - 1);
		err_prefix(err, "%s %s", pool->private ? "vip" : "pool", QUOTE(pool->name));
		cfg_err_place(cfg, pool->pos, err);
		return -EINVAL;
	}
	return 0;
}

/* The port is where it goes, and the VIP's when the check does not say it. */
static bool takes_port_of_vip(const struct check *check)
{
	switch (check->kind) {
	case CHECK_TCP:
	case CHECK_HTTP:
	case CHECK_HTTPS:
	case CHECK_UDP:
		return !check->port;
	default:
		return false;
	}
}

/* before: a VIP that has the same pool, or NULL. */
static int check_port(const struct cfg *cfg, const struct cfg_pool *pool,
		      const struct cfg_vip *vip, const struct cfg_vip *before,
		      struct err *err)
{
	char text[VIP_SPEC_TEXT_MAX], other[VIP_SPEC_TEXT_MAX];

	if (vip->spec.port != vip->spec.port_last)
		err_set(err, -EINVAL,
			"check has no port, and vip '%s' is for more than one; required: "
			"'port' in check",
			vip_spec_format(&vip->spec, text));
	else if (before && before->spec.port != vip->spec.port)
		err_set(err, -EINVAL,
			"check has no port, and vips '%s' and '%s' have different ones; "
			"required: 'port' in check",
			vip_spec_format(&before->spec, other),
			vip_spec_format(&vip->spec, text));
	else
		return 0;
	return check_fail(cfg, pool, err);
}

static int check_way(const struct cfg *cfg, const struct cfg_pool *pool,
		     const struct cfg_vip *vip, struct err *err)
{
	char text[VIP_SPEC_TEXT_MAX];

	if (vip->spec.prefix_len == addr_bits(&vip->spec.addr))
		return 0;
	err_set(err, -EINVAL,
		"check goes via vip, and vip '%s' is a prefix; allowed: via auto or direct",
		vip_spec_format(&vip->spec, text));
	return check_fail(cfg, pool, err);
}

/* Of one pool; `through`: only those that may go to VIPs. */
static size_t count_checks(const struct cfg *cfg, const struct ways *ways, size_t pool,
			   bool through)
{
	const struct way *first = &ways->list[ways->first[pool]];
	size_t n = ways->first[pool + 1] - ways->first[pool];
	const struct check *check = &cfg->pools[pool].check;

	if (!check->kind || !first->vip ||
	    (through && !way_goes_through(check, &first->vip->spec)))
		return 0;
	return n * cfg->pools[pool].n_backends;
}

/* The pool with the most of them is the one to name. */
static int check_number(const struct cfg *cfg, const struct ways *ways, bool through,
			size_t allowed, struct err *err)
{
	size_t i, n, most = 0, sum = 0, pool = 0;

	for (i = 0; i < cfg->n_pools; i++) {
		n = count_checks(cfg, ways, i, through);
		sum += n;
		if (n > most) {
			most = n;
			pool = i;
		}
	}
	if (sum <= allowed)
		return 0;
	n = ways->first[pool + 1] - ways->first[pool];
	err_set(err, -EINVAL,
		"check is made at %zu VIPs for each of %zu backends, and with it there are "
		"%zu checks%s; allowed: %zu%s",
		n, cfg->pools[pool].n_backends, sum, through ? " to VIPs" : "", allowed,
		n > 1 ? ", or 'vips: first' in check" : "");
	return check_fail(cfg, &cfg->pools[pool], err);
}

static int check_numbers(const struct cfg *cfg, struct err *err)
{
	_cleanup_ways_ struct ways ways = { 0 };
	int rc;

	if (ways_make(cfg, &ways))
		return err_set(err, -ENOMEM, "out of memory");
	rc = check_number(cfg, &ways, true, WAYS_THROUGH_MAX, err);
	return rc ? rc : check_number(cfg, &ways, false, WAYS_CHECKS_MAX, err);
}

int cfg_check_health(const struct cfg *cfg, struct err *err)
{
	_cleanup_free_ const struct cfg_vip **before =
		calloc(cfg->n_pools + 1, sizeof(const struct cfg_vip *));
	int rc = 0;

	if (!before)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < cfg->n_pools && !rc; i++)
		rc = check_pool(cfg, &cfg->pools[i], err);
	for (size_t i = 0; i < cfg->n_vips && !rc; i++) {
		const struct cfg_vip *vip = &cfg->vips[i];
		const struct cfg_pool *pool = cfg_find_pool(cfg, vip->pool);
		size_t at = pool - cfg->pools;

		if (takes_port_of_vip(&pool->check))
			rc = check_port(cfg, pool, vip, before[at], err);
		if (!rc && pool->check.via == CHECK_VIA_VIP)
			rc = check_way(cfg, pool, vip, err);
		before[at] = vip;
	}
	return rc ? rc : check_numbers(cfg, err);
}
