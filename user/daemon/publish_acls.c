// SPDX-License-Identifier: GPL-2.0-only
#include "publish_acls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/cleanup.h"
#include "sys/kmap.h"

static size_t acl_key_size(int family)
{
	return family == AF_INET ? sizeof(struct acl_key4) : sizeof(struct acl_key6);
}

static int acl_map_fd(const struct kernel *k, int family)
{
	return family == AF_INET ? k->acls4 : k->acls6;
}

static void acl_key(const struct plan_acl *acl, void *out)
{
	uint32_t length = ACL_PREFIX_LEN_VIP + acl->prefix.length;
	struct acl_key4 key4 = { .prefix_len = length, .vip = acl->vip };
	struct acl_key6 key6 = { .prefix_len = length, .vip = acl->vip };

	if (acl->prefix.addr.family == AF_INET) {
		key4.addr = acl->prefix.addr.v4.s_addr;
		memcpy(out, &key4, sizeof(key4));
	} else {
		memcpy(key6.addr, &acl->prefix.addr.v6, sizeof(key6.addr));
		memcpy(out, &key6, sizeof(key6));
	}
}

/* What plan a has of the family and b has not; with `changed`, or otherwise. */
static size_t acl_difference(const struct plan *a, const struct plan *b, int family,
			     bool changed, struct plan_acl *out)
{
	const struct plan_acl *same;
	size_t i, n = 0;

	for (i = 0; i < a->n_acls; i++) {
		if (a->acls[i].prefix.addr.family != family)
			continue;
		same = plan_find_acl(b, &a->acls[i]);
		if (!same || (changed && same->deny != a->acls[i].deny))
			out[n++] = a->acls[i];
	}
	return n;
}

static int longest_first(const void *a, const void *b)
{
	const struct plan_acl *x = a, *y = b;

	return y->prefix.length - x->prefix.length;
}

static int shortest_first(const void *a, const void *b)
{
	return longest_first(b, a);
}

/*
 * Packets look in between. With the longest prefixes written first, and the
 * shortest deleted first, what a source finds is always what the old lists or
 * what the new lists say of it.
 */
static int write_acls(struct kernel *k, const struct plan *a, const struct plan *b,
		      int family, bool delete)
{
	_cleanup_free_ struct plan_acl *list = calloc(a->n_acls + 1, sizeof(*list));
	_cleanup_free_ uint8_t *keys = calloc(a->n_acls + 1, sizeof(struct acl_key6));
	_cleanup_free_ struct acl_entry *values = calloc(a->n_acls + 1, sizeof(*values));
	size_t i, n, size = acl_key_size(family);
	int rc;

	if (!list || !keys || !values)
		return -ENOMEM;
	n = acl_difference(a, b, family, !delete, list);
	qsort(list, n, sizeof(*list), delete ? shortest_first : longest_first);
	for (i = 0; i < n; i++) {
		acl_key(&list[i], keys + i * size);
		values[i] = (struct acl_entry){ .deny = list[i].deny };
	}
	rc = delete ? kmap_delete(acl_map_fd(k, family), keys, size, n) :
		      kmap_update(acl_map_fd(k, family), keys, size, values,
				  sizeof(*values), n);
	if (!rc)
		k->map_writes += n;
	return rc;
}

int publish_acls_write(struct kernel *k, const struct plan *from,
		       const struct plan *to, struct err *err)
{
	int rc = write_acls(k, to, from, AF_INET, false);

	if (!rc)
		rc = write_acls(k, to, from, AF_INET6, false);
	if (rc)
		return err_set(err, rc, "cannot write allow and deny lists to the map: %s",
			       strerror(-rc));
	return 0;
}

int publish_acls_delete(struct kernel *k, const struct plan *from,
			const struct plan *to, struct err *err)
{
	int rc = write_acls(k, from, to, AF_INET, true);

	if (!rc)
		rc = write_acls(k, from, to, AF_INET6, true);
	if (rc)
		return err_set(err, rc, "cannot delete allow and deny lists from the map: %s",
			       strerror(-rc));
	return 0;
}

static int append_acl(struct plan *plan, const struct plan_acl *acl)
{
	size_t n = plan->n_acls;
	struct plan_acl *grown = plan->acls;

	if (!(n & (n - 1))) {
		grown = reallocarray(grown, n ? 2 * n : 1, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		plan->acls = grown;
	}
	grown[plan->n_acls++] = *acl;
	return 0;
}

static int adopt4(void *context, const void *key, const void *value)
{
	const struct acl_entry *entry = value;
	const struct acl_key4 *k = key;
	struct plan_acl acl = {
		.vip = k->vip,
		.deny = entry->deny,
		.prefix = { .addr.family = AF_INET,
			    .length = k->prefix_len - ACL_PREFIX_LEN_VIP },
	};

	acl.prefix.addr.v4.s_addr = k->addr;
	return append_acl(context, &acl);
}

static int adopt6(void *context, const void *key, const void *value)
{
	const struct acl_entry *entry = value;
	const struct acl_key6 *k = key;
	struct plan_acl acl = {
		.vip = k->vip,
		.deny = entry->deny,
		.prefix = { .addr.family = AF_INET6,
			    .length = k->prefix_len - ACL_PREFIX_LEN_VIP },
	};

	memcpy(&acl.prefix.addr.v6, k->addr, sizeof(k->addr));
	return append_acl(context, &acl);
}

int publish_acls_adopt(const struct kernel *k, struct plan *plan, struct err *err)
{
	int rc = kmap_walk(k->acls4, sizeof(struct acl_key4), sizeof(struct acl_entry),
			   MAX_ACL_ENTRIES, adopt4, plan);

	if (!rc)
		rc = kmap_walk(k->acls6, sizeof(struct acl_key6), sizeof(struct acl_entry),
			       MAX_ACL_ENTRIES, adopt6, plan);
	if (rc)
		return err_set(err, rc, "cannot read the adopted allow and deny lists: %s",
			       strerror(-rc));
	return 0;
}
