// SPDX-License-Identifier: GPL-2.0-only
#include "table_overlay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "flow_hash.h"
#include "fnv.h"

/*
 * rehash ends when it meets a backend that is up. They own at least half of the
 * slots then, so each try has an even chance and this many do not all miss.
 */
#define REHASH_MAX 1024

struct table_overlay {
	struct table_params params;
	size_t n;
	struct table_backend *set;
	char *names;     /* what set[].name point into */
	uint16_t *base;
	uint32_t *owned; /* per backend: slots in base */
	/* per backend: stand-ins for its slots in ascending order, or NULL */
	uint16_t **spares;
};

void table_overlay_free(struct table_overlay **overlay)
{
	struct table_overlay *o = *overlay;

	if (!o)
		return;
	for (size_t i = 0; o->spares && i < o->n; i++)
		free(o->spares[i]);
	free(o->spares);
	free(o->owned);
	free(o->base);
	free(o->names);
	free(o->set);
	free(o);
	*overlay = NULL;
}

const uint16_t *table_overlay_base(const struct table_overlay *overlay)
{
	return overlay->base;
}

static int copy_set(struct table_overlay *o, const struct table_backend *set)
{
	size_t bytes = 0;
	char *name;

	for (size_t i = 0; i < o->n; i++)
		bytes += strlen(set[i].name) + 1;
	o->names = malloc(bytes);
	if (!o->names)
		return -ENOMEM;

	name = o->names;
	for (size_t i = 0; i < o->n; i++) {
		size_t length = strlen(set[i].name) + 1;

		memcpy(name, set[i].name, length);
		o->set[i] = (struct table_backend){ name, set[i].weight };
		name += length;
	}
	return 0;
}

static int allocate(struct table_overlay *o)
{
	o->set = calloc(o->n, sizeof(*o->set));
	o->owned = calloc(o->n, sizeof(*o->owned));
	o->spares = calloc(o->n, sizeof(*o->spares));
	o->base = malloc(o->params.size * sizeof(*o->base));
	return o->set && o->owned && o->spares && o->base ? 0 : -ENOMEM;
}

int table_overlay_new(const struct table_params *params,
		      const struct table_backend *set, size_t n,
		      const uint16_t *base, struct table_overlay **out,
		      struct err *err)
{
	_cleanup_table_overlay_ struct table_overlay *o = NULL;
	int ret;

	ret = table_check(params, set, n, err);
	if (ret)
		return ret;

	o = calloc(1, sizeof(*o));
	if (!o)
		return err_set(err, -ENOMEM, "no memory for an overlay");
	o->params = *params;
	o->n = n;
	if (allocate(o) || copy_set(o, set))
		return err_set(err, -ENOMEM, "no memory for an overlay of %zu "
			       "backends and %u slots", n, params->size);

	if (base)
		memcpy(o->base, base, params->size * sizeof(*base));
	else
		ret = table_build(params, set, n, o->base, err);
	if (ret)
		return ret;
	table_count_slots(o->base, params->size, n, o->owned);
	*out = TAKE_PTR(o);
	return 0;
}

/* Who owns the slots of x in the table built without x. */
static int find_spares(struct table_overlay *o, uint16_t x, struct err *err)
{
	_cleanup_free_ uint16_t *without = NULL, *spares = NULL;
	uint32_t weight = o->set[x].weight, n = 0;
	int ret;

	without = malloc(o->params.size * sizeof(*without));
	spares = malloc((o->owned[x] + 1) * sizeof(*spares));
	if (!without || !spares)
		return err_set(err, -ENOMEM, "no memory for the spares of '%s'",
			       o->set[x].name);

	o->set[x].weight = 0;
	ret = table_build(&o->params, o->set, o->n, without, err);
	o->set[x].weight = weight;
	if (ret)
		return ret;

	for (uint32_t slot = 0; slot < o->params.size; slot++)
		if (o->base[slot] == x)
			spares[n++] = without[slot];
	o->spares[x] = TAKE_PTR(spares);
	return 0;
}

static struct table_overlay_report survey(const struct table_overlay *o,
					  const bool *up)
{
	struct table_overlay_report report = { 0 };

	for (size_t i = 0; i < o->n; i++) {
		report.n_weighted += o->set[i].weight != 0;
		if (!o->set[i].weight || up[i])
			continue;
		report.n_down++;
		report.moved += o->owned[i];
	}
	return report;
}

static enum table_overlay_result
judge(const struct table_overlay_report *report, uint32_t size)
{
	if (report->n_down == report->n_weighted)
		return TABLE_ALL_DOWN;
	if (report->n_down < 2)
		return TABLE_OVERLAID;
	if (report->n_down * 100 > report->n_weighted * TABLE_REBUILD_PERCENT)
		return TABLE_REBUILD;
	return (uint64_t)report->moved * 2 > size ? TABLE_REBUILD :
						    TABLE_OVERLAID;
}

static uint16_t rehash(const struct table_overlay *o, const bool *up,
		       uint32_t slot)
{
	for (uint64_t j = 1; j <= REHASH_MAX; j++) {
		uint64_t hash = mix64(slot + j * GOLDEN_GAMMA);
		uint16_t owner = o->base[flow_hash_slot(hash, o->params.size)];

		if (up[owner])
			return owner;
	}
	for (size_t i = 0; i < o->n; i++)
		if (up[i] && o->set[i].weight)
			return (uint16_t)i;
	return TABLE_NONE;
}

/* `seen` counts each backend's slots, which is the index into its spares. */
static void overlay(const struct table_overlay *o, const bool *up,
		    uint32_t *seen, uint16_t *slots)
{
	for (uint32_t slot = 0; slot < o->params.size; slot++) {
		uint16_t owner = o->base[slot], spare;

		if (up[owner]) {
			slots[slot] = owner;
			continue;
		}
		spare = o->spares[owner][seen[owner]++];
		slots[slot] = spare != TABLE_NONE && up[spare] ?
				      spare : rehash(o, up, slot);
	}
}

int table_overlay_apply(struct table_overlay *o, const bool *up,
			uint16_t *slots, struct table_overlay_report *report,
			struct err *err)
{
	struct table_overlay_report found = survey(o, up);
	_cleanup_free_ uint32_t *seen = NULL;
	int result = judge(&found, o->params.size);

	if (result == TABLE_OVERLAID) {
		seen = calloc(o->n, sizeof(*seen));
		if (!seen)
			return err_set(err, -ENOMEM, "no memory for an overlay");
		for (size_t i = 0; i < o->n; i++) {
			int ret = 0;

			if (!up[i] && o->owned[i] && !o->spares[i])
				ret = find_spares(o, (uint16_t)i, err);
			if (ret)
				return ret;
		}
		overlay(o, up, seen, slots);
	}
	if (report)
		*report = found;
	return result;
}

int table_build_health(const struct table_params *params,
		       const struct table_backend *set, size_t n,
		       const bool *up, uint16_t *slots,
		       struct table_overlay_report *report, struct err *err)
{
	_cleanup_table_overlay_ struct table_overlay *o = NULL;
	int ret;

	ret = table_overlay_new(params, set, n, NULL, &o, err);
	if (ret)
		return ret;
	ret = table_overlay_apply(o, up, slots, report, err);
	if (ret != TABLE_REBUILD)
		return ret;

	ret = table_build_up(params, set, n, up, slots, err);
	return ret ? ret : TABLE_REBUILD;
}
