// SPDX-License-Identifier: GPL-2.0-only
/*
 * Capped hashing: backends walk the permutations of maglev, but a turn looks at
 * one slot only, takes it when it is free, and a backend stops at its quota. A
 * slot's owner depends on who looks first and hardly on who has had bad luck
 * elsewhere, so a change of the set moves fewer slots.
 *
 * With exact quotas the turns go round by round, one each; the quotas alone
 * bring out the weights, since all must be met. With slack they need not be, so
 * there the turns come in maglev's weighted order (for equal weights that is
 * round by round too): else a heavy backend would see the light ones fill the
 * table up to their caps before it has its share.
 */
#include "table_impl.h"

#include <errno.h>
#include <stdlib.h>

#include "cleanup.h"

struct walker {
	struct table_walk walk;
	uint32_t quota; /* left */
	uint16_t owner;
	/* at the end of exact rounds: the slot it takes next, and when */
	uint64_t factor;
	uint32_t slot, round;
};

struct capped {
	uint32_t size, n_free;
	struct walker *walkers; /* in member order */
	size_t n_walkers;
	uint64_t *taken;
	uint32_t *free;
	uint16_t *slots;
};

/*
 * floor(size * weight / sum), and one more for the largest remainders, ties in
 * member order, so that the quotas add up to size. `keys` has room for 2 * n.
 */
static void exact_quotas(const struct table_member *members, size_t n,
			 struct capped *c, uint64_t sum, uint64_t *keys)
{
	uint64_t left = c->size;

	for (size_t i = 0; i < n; i++) {
		uint64_t share = (uint64_t)c->size * members[i].weight;

		c->walkers[i].quota = (uint32_t)(share / sum);
		left -= share / sum;
		/* The sum is below 2^32, so this sorts by falling remainder. */
		keys[i] = (UINT32_MAX - share % sum) << 16 | i;
	}
	sort_u64(keys, keys + n, n);
	for (size_t i = 0; i < left; i++)
		c->walkers[(uint16_t)keys[i]].quota++;
}

/* ceil(size * weight * (100 + slack) / (100 * sum)) */
static void slack_quotas(const struct table_member *members, size_t n,
			 struct capped *c, uint64_t sum, uint32_t slack_percent)
{
	uint64_t whole = 100 * sum;

	for (size_t i = 0; i < n; i++) {
		uint64_t share = (uint64_t)c->size * members[i].weight *
				 (100 + slack_percent);

		c->walkers[i].quota = (uint32_t)((share + whole - 1) / whole);
	}
}

static void take(struct capped *c, struct walker *walker, uint32_t slot)
{
	table_take(c->taken, slot);
	c->slots[slot] = walker->owner;
	c->n_free--;
	walker->quota--;
}

/* Look at one slot. */
static void look(struct capped *c, struct walker *walker)
{
	if (!table_is_taken(c->taken, walker->walk.next))
		take(c, walker, walker->walk.next);
	walker->walk.next = table_walk_step(walker->walk, c->size);
}

/* Only walkers below their quota stay, in their order. */
static void drop_full(struct capped *c)
{
	size_t stay = 0;

	for (size_t i = 0; i < c->n_walkers; i++)
		if (c->walkers[i].quota)
			c->walkers[stay++] = c->walkers[i];
	c->n_walkers = stay;
}

static void exact_rounds(struct capped *c, uint32_t n_few)
{
	drop_full(c);
	while (c->n_free > n_few) {
		bool full = false;

		for (size_t i = 0; i < c->n_walkers; i++) {
			look(c, &c->walkers[i]);
			full |= !c->walkers[i].quota;
		}
		if (full)
			drop_full(c);
	}
}

/* The nearest free slot, and in how many rounds the walk looks at it. */
static void find_nearest(const struct capped *c, struct walker *walker)
{
	struct table_nearest nearest =
		table_nearest_free(c->free, c->n_free,
				   c->size - walker->walk.next, walker->factor);

	walker->slot = c->free[nearest.at];
	/* The fraction stands for a whole number of steps: round to it. */
	walker->round = (uint32_t)(((nearest.rank >> 32) * c->size +
				    (1U << 31)) >> 32);
}

/* Whose round comes first; the lower member within a round. */
static struct walker *first_walker(const struct capped *c)
{
	struct walker *first = c->walkers;

	for (size_t i = 1; i < c->n_walkers; i++)
		if (c->walkers[i].round < first->round)
			first = &c->walkers[i];
	return first;
}

static void forget_free(struct capped *c, uint32_t slot)
{
	uint32_t at = 0;

	while (c->free[at] != slot)
		at++;
	c->free[at] = c->free[c->n_free - 1];
}

/*
 * What is left of exact rounds when few slots are free: nearly all looks would
 * be in vain, so go from one successful look to the next. Between rounds all
 * walks stand at the same round, so the steps to a slot tell its round.
 */
static void exact_end(struct capped *c)
{
	table_list_free(c->taken, c->size, c->free);
	for (size_t i = 0; i < c->n_walkers; i++) {
		struct walker *walker = &c->walkers[i];

		walker->factor = table_rank_factor(walker->walk.skip, c->size);
		find_nearest(c, walker);
	}
	while (c->n_free) {
		struct walker *winner = first_walker(c);
		uint32_t slot = winner->slot;

		forget_free(c, slot);
		take(c, winner, slot);
		if (!winner->quota)
			drop_full(c);
		for (size_t i = 0; c->n_free && i < c->n_walkers; i++)
			if (c->walkers[i].slot == slot)
				find_nearest(c, &c->walkers[i]);
	}
}

static int exact_fill(struct capped *c, const struct table_member *members,
		      size_t n, uint64_t sum)
{
	uint32_t n_few = table_few_free(c->size);
	_cleanup_free_ uint64_t *keys = malloc(2 * n * sizeof(*keys));

	if (!keys)
		return -ENOMEM;

	exact_quotas(members, n, c, sum, keys);
	exact_rounds(c, n_few);
	exact_end(c);
	return 0;
}

/* One window's turns; those of full walkers pass. Returns how many passed. */
static size_t slack_window(struct capped *c, const uint16_t *turns, size_t n)
{
	size_t passed = 0;

	for (size_t i = 0; i < n; i++) {
		struct walker *walker = &c->walkers[turns[i]];

		if (walker->quota)
			look(c, walker);
		else
			passed++;
	}
	return passed;
}

static int slack_fill(struct capped *c, const struct table_member *members,
		      size_t n, uint64_t sum, uint32_t slack_percent)
{
	_cleanup_free_ bool *open = malloc(n * sizeof(*open));
	struct turns turns;
	int ret;

	ret = open ? turns_new(members, n, &turns) : -ENOMEM;
	if (ret)
		return ret;

	slack_quotas(members, n, c, sum, slack_percent);
	/* The quotas add up to size at least: a walker is open till the end. */
	while (c->n_free) {
		size_t n_turns = turns_next(&turns);
		size_t passed = slack_window(c, turns.order, n_turns);

		if (!c->n_free || passed < n_turns / 2)
			continue;
		for (size_t i = 0; i < n; i++)
			open[i] = c->walkers[i].quota != 0;
		turns_keep(&turns, open);
	}
	turns_done(&turns);
	return 0;
}

static int capped_fill(const struct table_params *params,
		       const struct table_member *members, size_t n,
		       uint16_t *slots)
{
	size_t words = TABLE_TAKEN_WORDS(params->size);
	_cleanup_free_ struct walker *walkers = calloc(n, sizeof(*walkers));
	_cleanup_free_ uint64_t *taken = calloc(words, sizeof(*taken));
	_cleanup_free_ uint32_t *free_slots =
		malloc(table_few_free(params->size) * sizeof(*free_slots));
	struct capped c = {
		.size = params->size, .n_free = params->size,
		.walkers = walkers, .n_walkers = n, .taken = taken,
		.free = free_slots, .slots = slots,
	};
	uint64_t sum = 0;

	if (!walkers || !taken || !free_slots)
		return -ENOMEM;

	for (size_t i = 0; i < n; i++) {
		walkers[i].walk = table_walk_of(members[i].name, c.size);
		walkers[i].owner = members[i].owner;
		sum += members[i].weight;
	}
	return params->slack_percent ?
		       slack_fill(&c, members, n, sum, params->slack_percent) :
		       exact_fill(&c, members, n, sum);
}

int capped_build(const struct table_params *params,
		 const struct table_member *members, size_t n, uint16_t *slots,
		 struct err *err)
{
	int ret = capped_fill(params, members, n, slots);

	if (ret)
		return err_set(err, ret, "no memory to build a table of %u slots",
			       params->size);
	return 0;
}
