// SPDX-License-Identifier: GPL-2.0-only
#include "publish_vips.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/cleanup.h"
#include "sys/kmap.h"

/* All entries of a plan, in one sorted list a family. */
struct entry {
	struct vip_key6 key; /* an IPv4 key uses addr[0..4) */
	struct vip value;
};

struct entries {
	struct entry *list;
	size_t n;
};

static void entries_free(struct entries *e)
{
	free(e->list);
}

static void key_fill(const struct vip_spec *spec, uint16_t port, uint8_t protocol,
		     struct vip_key6 *key)
{
	*key = (struct vip_key6){ .port = htons(port), .protocol = protocol };
	if (spec->addr.family == AF_INET)
		memcpy(key->addr, &spec->addr.v4, sizeof(spec->addr.v4));
	else
		memcpy(key->addr, &spec->addr.v6, sizeof(spec->addr.v6));
}

static uint16_t any_port_flag(const struct vip_spec *spec)
{
	if (spec->port)
		return 0;
	return spec->protocol == IPPROTO_TCP ? VIP_ANY_PORT_TCP : VIP_ANY_PORT_UDP;
}

static int compare_entries(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct vip_key6));
}

/* VIPs are sorted by address first, so one address entry serves its run. */
static int collect(const struct plan *plan, int family, struct entries *out)
{
	const struct addr *address = NULL;
	struct entry *list = calloc(2 * plan->n_vips + 1, sizeof(*list));
	struct entry *shared = NULL;
	size_t i, n = 0;

	if (!list)
		return -ENOMEM;
	for (i = 0; i < plan->n_vips; i++) {
		const struct plan_vip *vip = &plan->vips[i];

		if (vip->spec.addr.family != family)
			continue;
		if (!address || addr_compare(address, &vip->spec.addr)) {
			address = &vip->spec.addr;
			shared = &list[n++];
			key_fill(&vip->spec, 0, 0, &shared->key);
			shared->value.flags = VIP_ADDRESS;
		}
		shared->value.flags |= any_port_flag(&vip->spec);
		key_fill(&vip->spec, vip->spec.port, vip->spec.protocol, &list[n].key);
		list[n++].value = (struct vip){ .id = vip->id, .table = vip->table };
	}
	if (n)
		qsort(list, n, sizeof(*list), compare_entries);
	*out = (struct entries){ list, n };
	return 0;
}

/* Entries of a that b has not; with `changed`, also those that differ in b. */
static size_t difference(const struct entries *a, const struct entries *b,
			 bool changed, struct entry *out)
{
	const struct entry *same;
	size_t i, n = 0;

	for (i = 0; i < a->n; i++) {
		same = b->n ? bsearch(&a->list[i], b->list, b->n, sizeof(*same),
				      compare_entries) : NULL;
		if (!same || (changed && memcmp(&same->value, &a->list[i].value,
						sizeof(same->value))))
			out[n++] = a->list[i];
	}
	return n;
}

static void key4(const struct vip_key6 *key, struct vip_key4 *out)
{
	*out = (struct vip_key4){ .port = key->port, .protocol = key->protocol };
	memcpy(&out->addr, key->addr, sizeof(out->addr));
}

/* The keys of the list as the family's map has them, and the values. */
static size_t pack(int family, const struct entry *list, size_t n, char *keys,
		   struct vip *values)
{
	size_t size = family == AF_INET ? sizeof(struct vip_key4) : sizeof(struct vip_key6);
	size_t i;

	for (i = 0; i < n; i++) {
		if (family == AF_INET)
			key4(&list[i].key, (struct vip_key4 *)(void *)(keys + i * size));
		else
			memcpy(keys + i * size, &list[i].key, size);
		values[i] = list[i].value;
	}
	return size;
}

static int write_list(struct kernel *k, int family, const struct entry *list, size_t n,
		      bool delete)
{
	_cleanup_free_ char *keys = calloc(n + 1, sizeof(struct vip_key6));
	_cleanup_free_ struct vip *values = calloc(n + 1, sizeof(*values));
	int fd = family == AF_INET ? k->vips4 : k->vips6;
	size_t size;
	int rc;

	if (!keys || !values)
		return -ENOMEM;
	size = pack(family, list, n, keys, values);
	rc = delete ? kmap_delete(fd, keys, size, n) :
		      kmap_update(fd, keys, size, values, sizeof(*values), n);
	if (!rc)
		k->map_writes += n;
	return rc;
}

static int write_difference(struct kernel *k, int family, const struct plan *a_plan,
			    const struct plan *b_plan, bool delete)
{
	_cleanup_(entries_free) struct entries a = { 0 }, b = { 0 };
	_cleanup_free_ struct entry *out = NULL;
	int rc = collect(a_plan, family, &a);

	if (!rc)
		rc = collect(b_plan, family, &b);
	if (rc)
		return rc;
	out = calloc(a.n + 1, sizeof(*out));
	if (!out)
		return -ENOMEM;
	return write_list(k, family, out, difference(&a, &b, !delete, out), delete);
}

int publish_vips_write(struct kernel *k, const struct plan *from,
		       const struct plan *to, struct err *err)
{
	int rc = write_difference(k, AF_INET, to, from, false);

	if (!rc)
		rc = write_difference(k, AF_INET6, to, from, false);
	if (rc)
		return err_set(err, rc, "cannot write VIPs to the map: %s", strerror(-rc));
	return 0;
}

int publish_vips_delete(struct kernel *k, const struct plan *from,
			const struct plan *to, struct err *err)
{
	int rc = write_difference(k, AF_INET, from, to, true);

	if (!rc)
		rc = write_difference(k, AF_INET6, from, to, true);
	if (rc)
		return err_set(err, rc, "cannot delete VIPs from the map: %s",
			       strerror(-rc));
	return 0;
}
