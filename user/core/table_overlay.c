// SPDX-License-Identifier: GPL-2.0-only
#include "table_overlay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "flow_hash.h"
#include "fnv.h"
#include "plural.h"

struct table_overlay {
	struct table_params params;
	size_t n;
	struct table_backend *set;
	char *names;     /* what set[].name point into */
	size_t name_bytes;
	uint64_t *hashes; /* of these, for which slots a share is */
	uint16_t *base;
	uint32_t *owned; /* per backend: slots in base */
	/* per backend: stand-ins for its slots in ascending order, or NULL */
	uint16_t **spares;
	/* per slot: the stand-in, for algorithms that tell them all at once */
	uint16_t *second;
	bool spareless; /* whoever has to borrow does so by rehash alone */
	size_t n_built; /* tables, since the last answer */
};

void table_overlay_free(struct table_overlay **overlay)
{
	struct table_overlay *o = *overlay;

	if (!o)
		return;
	for (size_t i = 0; o->spares && i < o->n; i++)
		free(o->spares[i]);
	free(o->spares);
	free(o->second);
	free(o->owned);
	free(o->hashes);
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
	o->name_bytes = bytes;
	o->names = malloc(bytes);
	if (!o->names)
		return -ENOMEM;

	name = o->names;
	for (size_t i = 0; i < o->n; i++) {
		size_t length = strlen(set[i].name) + 1;

		memcpy(name, set[i].name, length);
		o->set[i] = (struct table_backend){ name, set[i].weight };
		o->hashes[i] = fnv64_text(FNV64_OFFSET, name);
		name += length;
	}
	return 0;
}

static int allocate(struct table_overlay *o)
{
	o->set = calloc(o->n, sizeof(*o->set));
	o->hashes = calloc(o->n, sizeof(*o->hashes));
	o->owned = calloc(o->n, sizeof(*o->owned));
	o->spares = calloc(o->n, sizeof(*o->spares));
	o->base = malloc(o->params.size * sizeof(*o->base));
	return o->set && o->hashes && o->owned && o->spares && o->base ? 0 : -ENOMEM;
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
	o->n_built = !base;
	table_count_slots(o->base, params->size, n, o->owned);
	*out = TAKE_PTR(o);
	return 0;
}

static bool params_equal(const struct table_params *a, const struct table_params *b)
{
	return a->algorithm == b->algorithm && a->size == b->size &&
	       a->slack_percent == b->slack_percent && a->ring_points == b->ring_points;
}

bool table_overlay_is_of(const struct table_overlay *o, const struct table_params *params,
			 const struct table_backend *set, size_t n)
{
	if (o->n != n || !params_equal(&o->params, params))
		return false;
	for (size_t i = 0; i < n; i++)
		if (o->set[i].weight != set[i].weight ||
		    strcmp(o->set[i].name, set[i].name))
			return false;
	return true;
}

size_t table_overlay_bytes(const struct table_overlay *o)
{
	size_t slots = o->params.size * (o->second ? 2u : 1u);
	size_t each = sizeof(*o->set) + sizeof(*o->hashes) + sizeof(*o->owned) +
		      sizeof(*o->spares);

	for (size_t i = 0; i < o->n; i++)
		slots += o->spares[i] ? o->owned[i] : 0;
	return sizeof(*o) + o->n * each + o->name_bytes + slots * sizeof(*o->base);
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
	o->n_built++;

	for (uint32_t slot = 0; slot < o->params.size; slot++)
		if (o->base[slot] == x)
			spares[n++] = without[slot];
	o->spares[x] = TAKE_PTR(spares);
	return 0;
}

static struct table_overlay_report survey(const struct table_overlay *o,
					  const uint8_t *shares)
{
	struct table_overlay_report report = { 0 };

	for (size_t i = 0; i < o->n; i++) {
		report.n_weighted += o->set[i].weight != 0;
		if (!o->set[i].weight || shares[i])
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

/* What the last bits of a slot's choice come from, one for each backend. */
static uint64_t slot_hash(const struct table_overlay *o, uint16_t x, uint32_t slot)
{
	return mix64(slot ^ o->hashes[x]);
}

/* For one apply. */
struct lay {
	const struct table_overlay *o;
	const uint8_t *shares;
	bool whole; /* any share is as good as a full one */
};

static bool serves(const struct lay *lay, uint16_t x, uint32_t slot)
{
	uint8_t share = lay->shares[x];

	if (!share || share >= TABLE_SHARE_FULL || lay->whole)
		return share;
	return (slot_hash(lay->o, x, slot) >> 32) * TABLE_SHARE_FULL >> 32 < share;
}

static uint16_t search(const struct lay *lay, uint32_t slot, uint16_t spare)
{
	const struct table_overlay *o = lay->o;

	if (serves(lay, o->base[slot], slot))
		return o->base[slot];
	if (spare != TABLE_NONE && serves(lay, spare, slot))
		return spare;
	for (uint64_t j = 1; j <= TABLE_REHASH_MAX; j++) {
		uint64_t hash = mix64(slot + j * GOLDEN_GAMMA);
		uint16_t owner = o->base[flow_hash_slot(hash, o->params.size)];

		if (serves(lay, owner, slot))
			return owner;
	}
	return TABLE_NONE;
}

/* Whoever is up, so chosen that no order matters. */
static uint16_t last_resort(const struct lay *lay, uint32_t slot)
{
	const struct table_overlay *o = lay->o;
	uint16_t best = TABLE_NONE;

	for (size_t i = 0; i < o->n; i++) {
		uint16_t x = (uint16_t)i;

		if (!lay->shares[x] || !o->set[x].weight)
			continue;
		if (best == TABLE_NONE ||
		    slot_hash(o, x, slot) < slot_hash(o, best, slot))
			best = x;
	}
	return best;
}

static uint16_t stand_in(struct lay lay, uint32_t slot, uint16_t spare)
{
	uint16_t found = search(&lay, slot, spare);

	lay.whole = true;
	if (found == TABLE_NONE)
		found = search(&lay, slot, spare);
	return found == TABLE_NONE ? last_resort(&lay, slot) : found;
}

/* `seen` counts each backend's slots, which is the index into its spares. */
static void overlay(const struct table_overlay *o, const uint8_t *shares,
		    uint32_t *seen, uint16_t *slots)
{
	struct lay lay = { .o = o, .shares = shares };

	for (uint32_t slot = 0; slot < o->params.size; slot++) {
		uint16_t owner = o->base[slot], spare;

		if (shares[owner] >= TABLE_SHARE_FULL) {
			slots[slot] = owner;
			continue;
		}
		if (o->spareless)
			spare = TABLE_NONE;
		else if (o->second)
			spare = o->second[slot];
		else
			spare = o->spares[owner][seen[owner]++];
		slots[slot] = stand_in(lay, slot, spare);
	}
}

static int find_second(struct table_overlay *o, struct err *err)
{
	_cleanup_free_ uint16_t *second = malloc(o->params.size * sizeof(*second));
	int ret;

	if (!second)
		return err_set(err, -ENOMEM, "no memory for the spares of %u slots",
			       o->params.size);
	ret = table_build_second(&o->params, o->set, o->n, second, err);
	if (ret)
		return ret;
	o->second = TAKE_PTR(second);
	o->n_built++;
	return 0;
}

/* Whoever lends slots has spares, when this returns 0. */
static int find_all_spares(struct table_overlay *o, const uint8_t *shares,
			   struct err *err)
{
	for (size_t i = 0; i < o->n && !o->second && !o->spareless; i++) {
		int ret;

		if (shares[i] >= TABLE_SHARE_FULL || !o->owned[i] || o->spares[i])
			continue;
		ret = find_second(o, err);
		if (ret == -EOPNOTSUPP)
			ret = find_spares(o, (uint16_t)i, err);
		if (ret)
			return ret;
	}
	return 0;
}

static int lay_over(struct table_overlay *o, const uint8_t *shares,
		    uint16_t *slots, struct err *err)
{
	_cleanup_free_ uint32_t *seen = calloc(o->n, sizeof(*seen));
	int ret;

	if (!seen)
		return err_set(err, -ENOMEM, "no memory for an overlay");
	ret = find_all_spares(o, shares, err);
	if (!ret)
		overlay(o, shares, seen, slots);
	return ret;
}

int table_overlay_apply(struct table_overlay *o, const uint8_t *shares,
			uint16_t *slots, struct table_overlay_report *report,
			struct err *err)
{
	struct table_overlay_report found = survey(o, shares);
	int ret, result = judge(&found, o->params.size);

	if (result == TABLE_OVERLAID) {
		ret = lay_over(o, shares, slots, err);
		if (ret)
			return ret;
	}
	found.n_built = o->n_built;
	o->n_built = 0;
	if (report)
		*report = found;
	return result;
}

/* The table of those that are up, with the part shares laid over it. */
static int rebuild(const struct table_overlay *o, const uint8_t *shares, uint16_t *slots,
		   size_t *n_built, struct err *err)
{
	struct table_overlay_report report = { 0 };
	_cleanup_table_overlay_ struct table_overlay *up = NULL;
	_cleanup_free_ struct table_backend *left = calloc(o->n, sizeof(*left));
	int ret;

	if (!left)
		return err_set(err, -ENOMEM, "no memory for %zu backend%s", o->n,
			       plural(o->n));
	for (size_t i = 0; i < o->n; i++) {
		left[i] = o->set[i];
		if (!shares[i])
			left[i].weight = 0;
	}
	ret = table_overlay_new(&o->params, left, o->n, NULL, &up, err);
	if (ret)
		return ret;
	up->spareless = true;
	ret = table_overlay_apply(up, shares, slots, &report, err);
	*n_built += report.n_built;
	return ret;
}

int table_overlay_health(struct table_overlay *o, const uint8_t *shares, uint16_t *slots,
			 struct table_overlay_report *report, struct err *err)
{
	struct table_overlay_report found;
	int ret, result = table_overlay_apply(o, shares, slots, &found, err);

	if (result < 0)
		return result;
	if (result == TABLE_REBUILD) {
		ret = rebuild(o, shares, slots, &found.n_built, err);
		if (ret)
			return ret;
	}
	if (report)
		*report = found;
	return result;
}

int table_build_health(const struct table_params *params,
		       const struct table_backend *set, size_t n,
		       const uint8_t *shares, uint16_t *slots,
		       struct table_overlay_report *report, struct err *err)
{
	_cleanup_table_overlay_ struct table_overlay *o = NULL;
	int ret = table_overlay_new(params, set, n, NULL, &o, err);

	return ret ? ret : table_overlay_health(o, shares, slots, report, err);
}

void table_shares_of(const bool *up, size_t n, uint8_t *shares)
{
	for (size_t i = 0; i < n; i++)
		shares[i] = up[i] ? TABLE_SHARE_FULL : 0;
}
