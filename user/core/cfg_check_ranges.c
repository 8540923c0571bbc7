// SPDX-License-Identifier: GPL-2.0-only
/*
 * VIPs of one address and protocol whose port ranges overlap in part: which of
 * them is the more specific nobody can tell. Ranges that lie inside each other
 * are fine.
 */
#include <errno.h>
#include <stdlib.h>

#include "cfg_fields.h"
#include "cleanup.h"

/* The same address and protocol together; there, the outer range first. */
static int compare(const void *a, const void *b)
{
	const struct vip_spec *x = &(*(const struct cfg_vip *const *)a)->spec;
	const struct vip_spec *y = &(*(const struct cfg_vip *const *)b)->spec;
	int order = addr_compare(&x->addr, &y->addr);

	if (!order)
		order = x->prefix_len - y->prefix_len;
	if (!order)
		order = x->protocol - y->protocol;
	if (!order)
		order = x->port - y->port;
	return order ? order : y->port_last - x->port_last;
}

static int refuse(const struct cfg *cfg, const struct cfg_vip *first,
		  const struct cfg_vip *vip, struct err *err)
{
	char text[VIP_SPEC_TEXT_MAX], other[VIP_SPEC_TEXT_MAX];

	err_set(err, -EINVAL,
		"vip '%s' shares some of its ports with vip '%s', but not all; "
		"allowed: ranges that lie apart, or one inside the other",
		vip_spec_format(&vip->spec, text), vip_spec_format(&first->spec, other));
	cfg_err_place(cfg, vip->pos, err);
	return -EINVAL;
}

static bool same_place(const struct vip_spec *a, const struct vip_spec *b)
{
	return !addr_compare(&a->addr, &b->addr) && a->prefix_len == b->prefix_len &&
	       a->protocol == b->protocol;
}

/* `open` has the ranges around the one before, from the outermost in. */
static int check_sorted(const struct cfg *cfg, const struct cfg_vip **vips,
			const struct cfg_vip **open, struct err *err)
{
	size_t i, n = 0;

	for (i = 0; i < cfg->n_vips; i++) {
		const struct vip_spec *spec = &vips[i]->spec;

		while (n && (!same_place(&open[n - 1]->spec, spec) ||
			     open[n - 1]->spec.port_last < spec->port))
			n--;
		if (n && vip_spec_clash(&open[n - 1]->spec, spec))
			return refuse(cfg, open[n - 1], vips[i], err);
		open[n++] = vips[i];
	}
	return 0;
}

int cfg_check_ranges(const struct cfg *cfg, struct err *err)
{
	_cleanup_free_ const struct cfg_vip **vips = calloc(cfg->n_vips + 1, sizeof(*vips));
	_cleanup_free_ const struct cfg_vip **open = calloc(cfg->n_vips + 1, sizeof(*open));
	size_t i;

	if (!vips || !open)
		return err_set(err, -ENOMEM, "out of memory");
	for (i = 0; i < cfg->n_vips; i++)
		vips[i] = &cfg->vips[i];
	if (cfg->n_vips)
		qsort(vips, cfg->n_vips, sizeof(*vips), compare);
	return check_sorted(cfg, vips, open, err);
}
