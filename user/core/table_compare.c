// SPDX-License-Identifier: GPL-2.0-only
#include "table_compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "table_impl.h"

/* A side with its names sorted, and where each backend is in the union. */
struct mapped {
	const struct table_side *side;
	uint16_t *order;
	uint32_t *place; /* index into changes */
};

static void mapped_done(struct mapped *m)
{
	free(m->order);
	free(m->place);
}

static int mapped_start(struct mapped *m, const struct table_side *side,
			const char *which, struct err *err)
{
	size_t duplicate;

	m->side = side;
	m->order = malloc((side->n + 1) * sizeof(*m->order));
	m->place = malloc((side->n + 1) * sizeof(*m->place));
	if (!m->order || !m->place ||
	    table_sort(side->set, side->n, m->order, &duplicate))
		return err_set(err, -ENOMEM, "no memory to compare tables");
	if (duplicate)
		return err_set(err, -EINVAL, "%s table: backend '%s' is in the "
			       "set twice; names must be unique", which,
			       side->set[m->order[duplicate]].name);
	return 0;
}

static const char *name_at(const struct mapped *m, size_t i)
{
	return m->side->set[m->order[i]].name;
}

static void put_old(struct table_change *change, struct mapped *m, size_t i,
		    size_t place)
{
	const struct table_backend *backend = &m->side->set[m->order[i]];

	change->name = backend->name;
	change->in_old = true;
	change->weight_old = backend->weight;
	m->place[m->order[i]] = (uint32_t)place;
}

static void put_new(struct table_change *change, struct mapped *m, size_t i,
		    size_t place)
{
	const struct table_backend *backend = &m->side->set[m->order[i]];

	change->name = backend->name;
	change->in_new = true;
	change->weight_new = backend->weight;
	m->place[m->order[i]] = (uint32_t)place;
}

/* Merge the two sorted sets into changes; returns their number. */
static size_t unite(struct mapped *old, struct mapped *new,
		    struct table_change *changes)
{
	size_t i = 0, j = 0, n = 0;

	while (i < old->side->n || j < new->side->n) {
		int order;

		if (i == old->side->n)
			order = 1;
		else if (j == new->side->n)
			order = -1;
		else
			order = strcmp(name_at(old, i), name_at(new, j));

		if (order <= 0)
			put_old(&changes[n], old, i++, n);
		if (order >= 0)
			put_new(&changes[n], new, j++, n);
		n++;
	}
	return n;
}

/* The owner's place, or n for a slot that nobody owns. */
static int place_of(const struct mapped *m, uint32_t slot, uint32_t n,
		    uint32_t *place, struct err *err)
{
	uint16_t owner = m->side->slots[slot];

	if (owner != TABLE_NONE && owner >= m->side->n)
		return err_set(err, -EINVAL, "slot %u names backend %u, but the "
			       "set has only %zu", slot, owner, m->side->n);
	*place = owner == TABLE_NONE ? n : m->place[owner];
	return 0;
}

/* changes[n] stands for nobody and is cut off afterwards. */
static int count_moves(const struct mapped *old, const struct mapped *new,
		       struct table_comparison *c, struct err *err)
{
	for (uint32_t slot = 0; slot < c->size; slot++) {
		uint32_t from, to;
		int ret;

		ret = place_of(old, slot, (uint32_t)c->n, &from, err);
		if (!ret)
			ret = place_of(new, slot, (uint32_t)c->n, &to, err);
		if (ret)
			return ret;

		c->changes[from].slots_old++;
		c->changes[to].slots_new++;
		if (from == to)
			continue;
		c->changes[from].lost++;
		c->changes[to].gained++;
		c->moved++;
	}
	return 0;
}

static void conclude(struct table_comparison *c)
{
	for (size_t i = 0; i <= c->n; i++) {
		const struct table_change *change = &c->changes[i];

		if (change->slots_old > change->slots_new)
			c->minimum += change->slots_old - change->slots_new;
	}
	if (c->minimum)
		c->ratio = (double)c->moved / c->minimum;
	else
		c->ratio = c->moved ? 0 : 1;
}

int table_compare(const struct table_side *old, const struct table_side *new,
		  uint32_t size, struct table_comparison **out,
		  struct err *err)
{
	_cleanup_free_ struct table_comparison *c = NULL;
	_cleanup_(mapped_done) struct mapped from = { 0 };
	_cleanup_(mapped_done) struct mapped to = { 0 };
	int ret;

	ret = mapped_start(&from, old, "old", err);
	if (!ret)
		ret = mapped_start(&to, new, "new", err);
	if (ret)
		return ret;

	c = calloc(1, sizeof(*c) + (old->n + new->n + 1) * sizeof(*c->changes));
	if (!c)
		return err_set(err, -ENOMEM, "no memory to compare tables");
	c->size = size;
	c->n = unite(&from, &to, c->changes);
	ret = count_moves(&from, &to, c, err);
	if (ret)
		return ret;

	conclude(c);
	*out = TAKE_PTR(c);
	return 0;
}
