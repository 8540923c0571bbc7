// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks of pools: what crosses them and the VIPs that they are for. A check
 * whose port is that of the VIP needs VIPs with one, and the same one; a probe on
 * the way of packets needs an address.
 */
#include <errno.h>
#include <stdlib.h>

#include "cfg_fields.h"
#include "cleanup.h"
#include "quote.h"

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
	return rc;
}
