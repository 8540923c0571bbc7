// SPDX-License-Identifier: GPL-2.0-only
/* Tables of sets, and comparisons of tables. */
#include "whatif.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "table_overlay.h"

static const char *const method_names[] = {
	[WHATIF_BUILD] = "build",
	[WHATIF_OVERLAY] = "overlay",
	[WHATIF_REBUILD] = "rebuild",
	[WHATIF_OPEN] = "open",
	[WHATIF_NONE] = "none",
};
_Static_assert(sizeof(method_names) / sizeof(*method_names) ==
		       WHATIF_METHOD__MAX,
	       "every method has a name");

const char *whatif_method_name(enum whatif_method method)
{
	return method < WHATIF_METHOD__MAX ? method_names[method] : "unknown";
}

void whatif_table_free(struct whatif_table **table)
{
	struct whatif_table *t = *table;

	if (!t)
		return;
	free(t->slots);
	free(t->counts);
	free(t->ideal);
	free(t);
	*table = NULL;
}

void whatif_table_drop_slots(struct whatif_table *table)
{
	free(table->slots);
	table->slots = NULL;
}

void whatif_ideal(const struct table_backend *backends, const bool *up, size_t n,
		  uint32_t size, double *ideal)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += up[i] ? backends[i].weight : 0;
	for (size_t i = 0; i < n; i++)
		ideal[i] = up[i] && sum ? (double)size * backends[i].weight /
						  (double)sum :
					  0;
}

double whatif_max_mean(const uint32_t *counts, const double *ideal, size_t n)
{
	double most = 0;

	for (size_t i = 0; i < n; i++) {
		if (ideal[i] > 0 && counts[i] > most * ideal[i])
			most = counts[i] / ideal[i];
	}
	return most;
}

static int allocate(struct whatif_table *t)
{
	t->slots = malloc(t->params.size * sizeof(*t->slots));
	t->counts = calloc(t->n + 1, sizeof(*t->counts));
	t->ideal = calloc(t->n + 1, sizeof(*t->ideal));
	return t->slots && t->counts && t->ideal ? 0 : -ENOMEM;
}

/* Who can own slots. */
static size_t count_serving(const struct whatif_set *set, const bool *up)
{
	size_t n = 0;

	for (size_t i = 0; i < set->n; i++)
		n += set->backends[i].weight && up[i];
	return n;
}

static bool all_serve(const struct whatif_set *set, const bool *up)
{
	for (size_t i = 0; i < set->n; i++) {
		if (set->backends[i].weight && !up[i])
			return false;
	}
	return true;
}

/* Who stands in when nobody is up. */
static const bool *choose_up(struct whatif_table *t, const struct whatif_set *set)
{
	t->method = WHATIF_BUILD;
	t->n_serving = count_serving(set, set->up);
	if (t->n_serving || set->pool->all_down != ALL_DOWN_ALL)
		return set->up;

	t->method = WHATIF_OPEN;
	t->n_serving = count_serving(set, set->wanted);
	return set->wanted;
}

static void nobody(struct whatif_table *t)
{
	t->method = WHATIF_NONE;
	for (uint32_t slot = 0; slot < t->params.size; slot++)
		t->slots[slot] = TABLE_NONE;
}

static int fill(struct whatif_table *t, const struct whatif_set *set,
		const bool *up, bool rebuild, struct err *err)
{
	_cleanup_free_ uint8_t *shares = calloc(set->n + 1, sizeof(*shares));
	enum whatif_method method;
	int ret;

	if (!shares)
		return err_set(err, -ENOMEM, "out of memory");

	if (!t->n_serving) {
		nobody(t);
		return 0;
	}
	if (all_serve(set, up))
		return table_build(&t->params, set->backends, set->n, t->slots,
				   err);

	table_shares_of(up, set->n, shares);
	if (rebuild)
		ret = table_build_up(&t->params, set->backends, set->n, up,
				     t->slots, err);
	else
		ret = table_build_health(&t->params, set->backends, set->n,
					 shares, t->slots, NULL, err);
	if (ret < 0)
		return ret;

	method = rebuild || ret == TABLE_REBUILD ? WHATIF_REBUILD :
						   WHATIF_OVERLAY;
	t->method = t->method == WHATIF_OPEN ? WHATIF_OPEN : method;
	return 0;
}

int whatif_table_build(const struct table_params *params,
		       const struct whatif_set *set, bool rebuild,
		       struct whatif_table **out, struct err *err)
{
	_cleanup_whatif_table_ struct whatif_table *t = calloc(1, sizeof(*t));
	const bool *up;
	int ret;

	if (!t)
		return err_set(err, -ENOMEM, "out of memory");
	t->params = *params;
	t->n = set->n;
	if (allocate(t))
		return err_set(err, -ENOMEM, "no memory for a table of %u slots",
			       params->size);

	up = choose_up(t, set);
	ret = fill(t, set, up, rebuild, err);
	if (ret < 0)
		return ret;

	table_count_slots(t->slots, params->size, t->n, t->counts);
	whatif_ideal(set->backends, up, set->n, params->size, t->ideal);
	t->max_mean = whatif_max_mean(t->counts, t->ideal, t->n);
	if (table_digest_sorted(set->backends, set->n, t->slots, params->size,
				&t->digest))
		return err_set(err, -ENOMEM, "out of memory");
	*out = TAKE_PTR(t);
	return 0;
}

/* The old table seen through `size` slots: the owner of each one's middle. */
static uint16_t *project(const struct whatif_table *old, uint32_t size)
{
	uint16_t *slots = malloc(size * sizeof(*slots));

	for (uint64_t slot = 0; slots && slot < size; slot++)
		slots[slot] = old->slots[(2 * slot + 1) * old->params.size /
					 (2ULL * size)];
	return slots;
}

int whatif_compare(const struct whatif_set *old_set,
		   const struct whatif_table *old,
		   const struct whatif_set *new_set,
		   const struct whatif_table *new,
		   struct table_comparison **out, struct err *err)
{
	_cleanup_free_ uint16_t *seen = project(old, new->params.size);
	struct table_side before = { old_set->backends, old_set->n, seen };
	struct table_side after = { new_set->backends, new_set->n, new->slots };

	if (!seen)
		return err_set(err, -ENOMEM, "no memory to compare tables");

	/* With equal sizes the middle of a slot is the slot's own. */
	return table_compare(&before, &after, new->params.size, out, err);
}

bool whatif_params_same(const struct table_params *a,
			const struct table_params *b)
{
	return a->algorithm == b->algorithm && a->size == b->size &&
	       a->slack_percent == b->slack_percent &&
	       a->ring_points == b->ring_points;
}

size_t whatif_choices(const struct table_params *own,
		      struct table_params out[WHATIF_CHOICES_MAX])
{
	uint32_t points = own->algorithm == TABLE_RING ?
				  own->ring_points :
				  TABLE_RING_POINTS_DEFAULT;
	const struct table_params usual[] = {
		{ .algorithm = TABLE_MAGLEV },
		{ .algorithm = TABLE_CAPPED },
		{ .algorithm = TABLE_CAPPED, .slack_percent = 1 },
		{ .algorithm = TABLE_RING, .ring_points = points },
		{ .algorithm = TABLE_RENDEZVOUS },
	};
	bool found = false;
	size_t n = 0;

	for (; n < sizeof(usual) / sizeof(*usual); n++) {
		out[n] = usual[n];
		out[n].size = own->size;
		found = found || whatif_params_same(&out[n], own);
	}
	if (!found)
		out[n++] = *own;
	return n;
}
