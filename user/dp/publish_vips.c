// SPDX-License-Identifier: GPL-2.0-only
#include "publish_vips.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/cleanup.h"
#include "sys/kmap.h"

/* A map of VIPs, and an element of it; the key fills the first bytes. */
enum vip_map { VIPS4, VIPS6, SERVICES, VIP_MAP__MAX };

#define KEY_MAX sizeof(struct vip_key6)

static const size_t key_sizes[VIP_MAP__MAX] = {
	[VIPS4] = sizeof(struct vip_key4),
	[VIPS6] = sizeof(struct vip_key6),
	[SERVICES] = sizeof(struct service_key),
};

struct entry {
	uint8_t map; /* enum vip_map */
	uint8_t key[KEY_MAX];
	struct vip value;
};

/* All entries of a plan, sorted by map and key. */
struct entries {
	struct entry *list;
	size_t n;
};

static void entries_free(struct entries *e)
{
	free(e->list);
}

static int map_fd(const struct kernel *k, enum vip_map map)
{
	switch (map) {
	case VIPS4:
		return k->vips4;
	case VIPS6:
		return k->vips6;
	default:
		return k->services;
	}
}

/* An entry of the hash maps; port and protocol 0: of the address itself. */
static void entry_key(const struct vip_spec *spec, uint16_t port, uint8_t protocol,
		      struct entry *out)
{
	struct vip_key4 key4 = { .port = htons(port), .protocol = protocol };
	struct vip_key6 key6 = { .port = htons(port), .protocol = protocol };

	*out = (struct entry){ .map = spec->addr.family == AF_INET ? VIPS4 : VIPS6 };
	if (out->map == VIPS4) {
		key4.addr = spec->addr.v4.s_addr;
		memcpy(out->key, &key4, sizeof(key4));
	} else {
		memcpy(key6.addr, &spec->addr.v6, sizeof(key6.addr));
		memcpy(out->key, &key6, sizeof(key6));
	}
}

static void service_key(uint16_t group, uint8_t protocol, struct entry *out)
{
	struct service_key key = {
		.prefix_len = SERVICE_PREFIX_ANY_PORT,
		.group = group,
		.protocol = protocol,
	};

	*out = (struct entry){ .map = SERVICES };
	memcpy(out->key, &key, sizeof(key));
}

static struct vip vip_value(const struct plan_vip *vip)
{
	return (struct vip){ .id = vip->id, .table = vip->table };
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->map != y->map ? x->map - y->map : memcmp(x->key, y->key, KEY_MAX);
}

/*
 * VIPs are sorted by address first, so one address entry serves its run. The
 * group of an address is the id of its first VIP of any port.
 */
static int collect(const struct plan *plan, struct entries *out)
{
	const struct addr *address = NULL;
	struct entry *list = calloc(2 * plan->n_vips + 1, sizeof(*list));
	struct entry *shared = NULL;
	size_t i, n = 0;

	if (!list)
		return -ENOMEM;
	for (i = 0; i < plan->n_vips; i++) {
		const struct plan_vip *vip = &plan->vips[i];

		if (!address || addr_compare(address, &vip->spec.addr)) {
			address = &vip->spec.addr;
			shared = &list[n++];
			entry_key(&vip->spec, 0, 0, shared);
			shared->value.flags = VIP_ADDRESS;
		}
		if (vip->spec.port) {
			entry_key(&vip->spec, vip->spec.port, vip->spec.protocol, &list[n]);
		} else {
			shared->value.flags |= VIP_SERVICES;
			if (!shared->value.id)
				shared->value.id = vip->id;
			service_key(shared->value.id, vip->spec.protocol, &list[n]);
		}
		list[n++].value = vip_value(vip);
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

/* The entries of one map in the list, as the map has them. */
static size_t pack(enum vip_map map, const struct entry *list, size_t n, uint8_t *keys,
		   struct vip *values)
{
	size_t size = key_sizes[map], i, packed = 0;

	for (i = 0; i < n; i++) {
		if (list[i].map != map)
			continue;
		memcpy(keys + packed * size, list[i].key, size);
		values[packed++] = list[i].value;
	}
	return packed;
}

static int write_map(struct kernel *k, enum vip_map map, const struct entry *list,
		     size_t n, bool delete)
{
	_cleanup_free_ uint8_t *keys = calloc(n + 1, KEY_MAX);
	_cleanup_free_ struct vip *values = calloc(n + 1, sizeof(*values));
	int rc;

	if (!keys || !values)
		return -ENOMEM;
	n = pack(map, list, n, keys, values);
	rc = delete ? kmap_delete(map_fd(k, map), keys, key_sizes[map], n) :
		      kmap_update(map_fd(k, map), keys, key_sizes[map], values,
				  sizeof(*values), n);
	if (!rc)
		k->map_writes += n;
	return rc;
}

static int write_difference(struct kernel *k, const struct plan *a_plan,
			    const struct plan *b_plan, bool delete)
{
	_cleanup_(entries_free) struct entries a = { 0 }, b = { 0 };
	_cleanup_free_ struct entry *out = NULL;
	int map, rc = collect(a_plan, &a);
	size_t n;

	if (!rc)
		rc = collect(b_plan, &b);
	if (rc)
		return rc;
	out = calloc(a.n + 1, sizeof(*out));
	if (!out)
		return -ENOMEM;
	n = difference(&a, &b, !delete, out);
	/* Services before the address entries that lead to them, and after. */
	for (map = VIP_MAP__MAX - 1; map >= 0 && !rc && !delete; map--)
		rc = write_map(k, map, out, n, false);
	for (map = 0; map < VIP_MAP__MAX && !rc && delete; map++)
		rc = write_map(k, map, out, n, true);
	return rc;
}

int publish_vips_write(struct kernel *k, const struct plan *from,
		       const struct plan *to, struct err *err)
{
	int rc = write_difference(k, to, from, false);

	if (rc)
		return err_set(err, rc, "cannot write VIPs to the map: %s", strerror(-rc));
	return 0;
}

int publish_vips_delete(struct kernel *k, const struct plan *from,
			const struct plan *to, struct err *err)
{
	int rc = write_difference(k, from, to, true);

	if (rc)
		return err_set(err, rc, "cannot delete VIPs from the map: %s",
			       strerror(-rc));
	return 0;
}
