// SPDX-License-Identifier: GPL-2.0-only
#include "publish_vips.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/cleanup.h"
#include "sys/kmap.h"

int publish_vips_fd(const struct kernel *k, enum vip_map map)
{
	switch (map) {
	case VIP_MAP_VIPS4:
		return k->vips4;
	case VIP_MAP_VIPS6:
		return k->vips6;
	case VIP_MAP_PREFIXES4:
		return k->prefixes4;
	case VIP_MAP_PREFIXES6:
		return k->prefixes6;
	case VIP_MAP_SERVICES:
		return k->services;
	default:
		return k->vip_records;
	}
}

/* Entries of a that b has not; with `changed`, also those that differ in b. */
static int difference(const struct vip_entries *a, const struct vip_entries *b,
		      bool changed, struct vip_entries *out)
{
	const struct vip_entry *same;
	size_t i;

	out->list = calloc(a->n + 1, sizeof(*out->list));
	if (!out->list)
		return -ENOMEM;
	for (i = 0; i < a->n; i++) {
		same = vip_entries_find(b, &a->list[i]);
		if (!same || (changed && !vip_entry_same_value(same, &a->list[i])))
			out->list[out->n++] = a->list[i];
	}
	return 0;
}

/* Which entries of a map a step is about. */
enum kind { SERVICES, ADDRESSES };

static bool is_of(const struct vip_entry *entry, enum vip_map map, enum kind kind)
{
	return entry->map == map && vip_entry_is_address(entry) == (kind == ADDRESSES);
}

static int compare_lengths(const void *a, const void *b)
{
	struct prefix x = vip_entry_prefix(a), y = vip_entry_prefix(b);

	return (int)y.length - (int)x.length;
}

/* The entries of one step; of prefixes the longest first, or last. */
static size_t pick(const struct vip_entries *from, enum vip_map map, enum kind kind,
		   bool delete, struct vip_entry *out)
{
	struct vip_entry swap;
	size_t i, n = 0;

	for (i = 0; i < from->n; i++)
		if (is_of(&from->list[i], map, kind))
			out[n++] = from->list[i];
	if (kind != ADDRESSES || !n)
		return n;
	qsort(out, n, sizeof(*out), compare_lengths);
	for (i = 0; delete && i < n / 2; i++) {
		swap = out[i];
		out[i] = out[n - 1 - i];
		out[n - 1 - i] = swap;
	}
	return n;
}

/*
 * The sets have only what the hash maps have: they come last and go first. A way
 * that was freed stays so until no packet reads it.
 */
static void write_to_sets(struct kernel *k, const struct vip_entry *list, size_t n)
{
	bool freed = false;
	size_t i;

	for (i = 0; i < n; i++)
		freed |= vip_sets_write(&k->vip_sets, &list[i]);
	if (freed)
		kmap_wait_for_packets();
}

static void delete_from_sets(struct kernel *k, const struct vip_entry *list, size_t n)
{
	bool freed = false;
	size_t i;

	for (i = 0; i < n; i++)
		freed |= vip_sets_delete(&k->vip_sets, &list[i]);
	if (freed)
		kmap_wait_for_packets();
}

static int write_step(struct kernel *k, const struct vip_entries *entries,
		      enum vip_map map, enum kind kind, bool delete)
{
	size_t key_size = vip_map_key_size(map), value_size = vip_map_value_size(map);
	_cleanup_free_ struct vip_entry *list = calloc(entries->n + 1, sizeof(*list));
	_cleanup_free_ char *keys = calloc(entries->n + 1, key_size);
	_cleanup_free_ char *values = calloc(entries->n + 1, value_size);
	size_t i, n;
	int rc;

	if (!list || !keys || !values)
		return -ENOMEM;
	n = pick(entries, map, kind, delete, list);
	for (i = 0; i < n; i++) {
		memcpy(keys + i * key_size, list[i].key, key_size);
		memcpy(values + i * value_size, &list[i].vip, value_size);
	}
	if (delete)
		delete_from_sets(k, list, n);
	rc = delete ? kmap_delete(publish_vips_fd(k, map), keys, key_size, n) :
		      kmap_update(publish_vips_fd(k, map), keys, key_size, values, value_size, n);
	if (!rc && !delete)
		write_to_sets(k, list, n);
	if (!rc)
		k->map_writes += n;
	return rc;
}

static uint32_t prefixes_of(const struct vip_entries *entries)
{
	uint32_t prefixes = 0;
	size_t i;

	for (i = 0; i < entries->n; i++) {
		if (entries->list[i].map == VIP_MAP_PREFIXES4)
			prefixes |= VIP_PREFIXES4;
		if (entries->list[i].map == VIP_MAP_PREFIXES6)
			prefixes |= VIP_PREFIXES6;
	}
	return prefixes;
}

uint32_t publish_vips_prefixes(const struct plan *plan)
{
	return prefixes_of(&plan->entries);
}

/* Do packets to an address that is ours already find other services by this? */
static bool switches(const struct vip_entries *changed, const struct vip_entries *from)
{
	bool has_prefixes = prefixes_of(from);
	size_t i;

	for (i = 0; i < changed->n; i++)
		if (vip_entry_is_address(&changed->list[i]) &&
		    (has_prefixes || vip_entries_find(from, &changed->list[i])))
			return true;
	return false;
}

static bool has_services(const struct vip_entries *entries)
{
	size_t i;

	for (i = 0; i < entries->n; i++)
		if (entries->list[i].map == VIP_MAP_SERVICES)
			return true;
	return false;
}

struct step {
	enum vip_map map;
	enum kind kind;
};

/* What address entries lead to. */
static const struct step services_steps[] = {
	{ VIP_MAP_RECORDS, SERVICES },
	{ VIP_MAP_SERVICES, SERVICES },
	{ VIP_MAP_VIPS4, SERVICES },
	{ VIP_MAP_VIPS6, SERVICES },
};

/*
 * The most specific first, and when they go last: an address that has, or had,
 * an entry of its own never shows what a prefix around it serves.
 */
static const struct step address_steps[] = {
	{ VIP_MAP_VIPS4, ADDRESSES },
	{ VIP_MAP_VIPS6, ADDRESSES },
	{ VIP_MAP_PREFIXES4, ADDRESSES },
	{ VIP_MAP_PREFIXES6, ADDRESSES },
};

#define STEPS 4

/* In order; what goes, the other way around. */
static int write_steps(struct kernel *k, const struct vip_entries *entries,
		       const struct step steps[STEPS], bool delete)
{
	int i, rc = 0;

	for (i = 0; i < STEPS && !rc; i++) {
		const struct step *step = &steps[delete ? STEPS - 1 - i : i];

		rc = write_step(k, entries, step->map, step->kind, delete);
	}
	return rc;
}

static int write_new(struct kernel *k, const struct vip_entries *from,
		     const struct vip_entries *to)
{
	_cleanup_(vip_entries_clear) struct vip_entries changed = { 0 };
	int rc = difference(to, from, true, &changed);

	if (!rc)
		rc = write_steps(k, &changed, services_steps, false);
	if (rc)
		return rc;
	/* A packet that did not find a new service must not miss the old, too. */
	if (switches(&changed, from))
		kmap_wait_for_packets();
	*k->prefixes |= prefixes_of(to);
	return write_steps(k, &changed, address_steps, false);
}

static int delete_old(struct kernel *k, const struct vip_entries *from,
		      const struct vip_entries *to)
{
	_cleanup_(vip_entries_clear) struct vip_entries gone = { 0 };
	int rc = difference(from, to, false, &gone);

	if (!rc)
		rc = write_steps(k, &gone, address_steps, true);
	if (rc)
		return rc;
	*k->prefixes = prefixes_of(to);
	/* Packets may be on their way from an address entry to its services. */
	if (has_services(&gone))
		kmap_wait_for_packets();
	return write_steps(k, &gone, services_steps, true);
}

int publish_vips_write(struct kernel *k, const struct plan *from,
		       const struct plan *to, struct err *err)
{
	int rc;

	vip_filter_add(&k->vip_sets, &to->entries);
	rc = write_new(k, &from->entries, &to->entries);
	if (rc)
		return err_set(err, rc, "cannot write VIPs to the map: %s", strerror(-rc));
	return 0;
}

int publish_vips_delete(struct kernel *k, const struct plan *from,
			const struct plan *to, struct err *err)
{
	int rc = delete_old(k, &from->entries, &to->entries);

	if (rc)
		return err_set(err, rc, "cannot delete VIPs from the map: %s",
			       strerror(-rc));
	vip_filter_set(&k->vip_sets, &to->entries);
	return 0;
}
