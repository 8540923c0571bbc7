// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options of VIPs: what crosses them. An address answers echo requests or not,
 * and has one place for fragments without ports, so its VIPs have to agree.
 * VIPs are sorted, so those of an address are neighbours.
 */
#include <errno.h>
#include <string.h>

#include "abi.h"
#include "cfg_fields.h"

static int vip_fail(const struct cfg *cfg, const struct cfg_vip *vip, struct err *err)
{
	char text[VIP_SPEC_TEXT_MAX];

	err_prefix(err, "vip '%s'", vip_spec_format(&vip->spec, text));
	cfg_err_place(cfg, vip->pos, err);
	return -EINVAL;
}

static int check_echo(const struct cfg *cfg, const struct cfg_vip *first,
		      const struct cfg_vip *vip, struct err *err)
{
	char other[VIP_SPEC_TEXT_MAX];

	if (first->echo == vip->echo)
		return 0;
	err_set(err, -EINVAL,
		"echo is %s here and %s in vip '%s' of the same address; allowed: "
		"the same in all VIPs of an address",
		vip->echo ? "true" : "false", first->echo ? "true" : "false",
		vip_spec_format(&first->spec, other));
	return vip_fail(cfg, vip, err);
}

/* A later fragment tells neither the port nor the way that the ports lead. */
static int check_fragments(const struct cfg *cfg, const struct cfg_vip *first,
			   const struct cfg_vip *vip, struct err *err)
{
	char other[VIP_SPEC_TEXT_MAX];

	if (!strcmp(first->pool, vip->pool) && first->hash_mode == vip->hash_mode)
		return 0;
	err_set(err, -EINVAL,
		"fragments is hash here and in vip '%s' of the same address, which "
		"has another pool or hash; allowed: the same pool and hash, or "
		"'fragments: first' in one of them",
		vip_spec_format(&first->spec, other));
	return vip_fail(cfg, vip, err);
}

static int check_addresses(const struct cfg *cfg, struct err *err)
{
	const struct cfg_vip *first = NULL, *hashed = NULL;
	int rc = 0;

	for (size_t i = 0; i < cfg->n_vips && !rc; i++) {
		const struct cfg_vip *vip = &cfg->vips[i];

		if (!first || first->spec.prefix_len != vip->spec.prefix_len ||
		    addr_compare(&first->spec.addr, &vip->spec.addr)) {
			first = vip;
			hashed = NULL;
		}
		rc = check_echo(cfg, first, vip, err);
		if (rc || !vip->fragment_hash)
			continue;
		if (!hashed)
			hashed = vip;
		rc = check_fragments(cfg, hashed, vip, err);
	}
	return rc;
}

static int check_list(const struct cfg *cfg, const struct cfg_vip *vip,
		      struct prefix_list *list, const char *what, struct err *err)
{
	char text[PREFIX_TEXT_MAX];

	prefix_list_sort(list);
	for (size_t i = 0; i < list->n; i++) {
		const struct prefix *prefix = &list->list[i];

		prefix_format(prefix, text);
		if (prefix->addr.family != vip->spec.addr.family) {
			err_set(err, -EINVAL,
				"%s '%s' is of the other family; allowed: prefixes of "
				"the VIP's own family",
				what, text);
			return vip_fail(cfg, vip, err);
		}
		if (i && !prefix_compare(prefix - 1, prefix)) {
			err_set(err, -EINVAL,
				"%s '%s' is there twice; allowed: each prefix once", what,
				text);
			return vip_fail(cfg, vip, err);
		}
	}
	return 0;
}

static int check_lists(const struct cfg *cfg, struct cfg_vip *vip, struct err *err)
{
	const struct prefix_list *allow = &vip->allow, *deny = &vip->deny;
	size_t i = 0, j = 0;
	char text[PREFIX_TEXT_MAX];
	int order, rc = check_list(cfg, vip, &vip->allow, "allow", err);

	if (!rc)
		rc = check_list(cfg, vip, &vip->deny, "deny", err);
	if (rc)
		return rc;

	while (i < allow->n && j < deny->n) {
		order = prefix_compare(&allow->list[i], &deny->list[j]);
		if (!order) {
			err_set(err, -EINVAL,
				"prefix '%s' is on both lists, allow and deny; allowed: "
				"on one of them",
				prefix_format(&allow->list[i], text));
			return vip_fail(cfg, vip, err);
		}
		if (order < 0)
			i++;
		else
			j++;
	}
	return 0;
}

static int check_limit(const struct cfg *cfg, size_t n, const char *family,
		       struct err *err)
{
	if (n <= MAX_ACL_ENTRIES)
		return 0;
	err_set(err, -EINVAL,
		"the allow and deny lists have %zu %s prefixes; allowed: at most %u", n,
		family, MAX_ACL_ENTRIES);
	cfg_err_place(cfg, (struct cfg_pos){ 1, 1 }, err);
	return -EINVAL;
}

int cfg_check_vip_options(struct cfg *cfg, struct err *err)
{
	size_t n4 = 0, n6 = 0;
	int rc = check_addresses(cfg, err);

	for (size_t i = 0; i < cfg->n_vips && !rc; i++) {
		struct cfg_vip *vip = &cfg->vips[i];

		rc = check_lists(cfg, vip, err);
		if (vip->spec.addr.family == AF_INET)
			n4 += vip->allow.n + vip->deny.n;
		else
			n6 += vip->allow.n + vip->deny.n;
	}
	if (!rc)
		rc = check_limit(cfg, n4, "IPv4", err);
	return rc ? rc : check_limit(cfg, n6, "IPv6", err);
}
