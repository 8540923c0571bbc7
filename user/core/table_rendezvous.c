// SPDX-License-Identifier: GPL-2.0-only
/*
 * Weighted rendezvous hashing (Thaler and Ravishankar, 1998; weights as in the
 * logarithmic method of Schindelhauer and Schomaker, 2005): each slot goes to
 * the backend of least cost -log2(u) / weight, where u is a uniform number in
 * (0, 1) drawn from a hash of backend and slot.
 *
 * The hash is mix64(mix64(FNV-1a of the name) ^ mix64(slot + gamma)), u is
 * that over 2^64, and the logarithm is a fixed-point integer (below), so every
 * host finds the same costs. Equal costs: the higher hash, then the lower name.
 *
 * With one weight the least cost is the highest hash. So the backends are
 * grouped by weight, a group sends its highest hash, and only the winners of
 * the groups need a logarithm.
 */
#include "table_impl.h"

#include <errno.h>
#include <stdlib.h>

#include "fnv.h"
#include "plural.h"

#define COST_BITS 42 /* after the point; 64 * 65535 << 42 fits 64 bits */

struct candidate {
	uint64_t name_hash;
	uint16_t weight;
	uint16_t member;
};

struct choice {
	uint64_t hash, cost; /* cost 0: not computed yet */
	uint32_t weight;     /* 0: no choice yet */
	uint16_t member;
	uint16_t at; /* in the candidates */
};

/* Of a whole table; the caller frees both. */
struct field {
	struct candidate *candidates;
	uint32_t *group_ends;
	size_t n;
};

static uint64_t multiply_high(uint64_t a, uint64_t b)
{
	uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
	uint64_t middle = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
	uint64_t middle2 = (a & UINT32_MAX) * (b >> 32) + (middle & UINT32_MAX);

	return (a >> 32) * (b >> 32) + (middle >> 32) + (middle2 >> 32);
}

/*
 * -log2(hash / 2^64) in units of 2^-42, at least 1. Bit by bit: squaring x
 * doubles its logarithm, and the whole part that comes out is the next bit. x is
 * in 1..2, held as x << 63; 42 squarings of 64 bits lose less than one unit.
 */
static uint64_t cost_of(uint64_t hash)
{
	unsigned int zeros;
	uint64_t x, log = 0;

	hash |= 1;
	zeros = (unsigned int)__builtin_clzll(hash);
	x = hash << zeros;
	for (int bit = 0; bit < COST_BITS; bit++) {
		uint64_t square = multiply_high(x, x); /* x * x << 62 */
		bool whole = square >> 63;

		log = log << 1 | whole;
		x = whole ? square : square << 1;
	}
	return ((uint64_t)(zeros + 1) << COST_BITS) - log;
}

/*
 * A lower bound of the cost without its price: -log2(1 - z) >= z * 1.4426, and
 * the sum of the shifts is 1.375 * z.
 */
static uint64_t cost_at_least(uint64_t hash)
{
	uint64_t z = ~hash >> (64 - COST_BITS);

	return z + (z >> 2) + (z >> 3);
}

static void choose(struct choice *best, struct choice other)
{
	uint64_t left, right;

	if (!best->weight) {
		*best = other;
		return;
	}
	if (!best->cost)
		best->cost = cost_of(best->hash);
	if (cost_at_least(other.hash) * best->weight > best->cost * other.weight)
		return;

	other.cost = cost_of(other.hash);
	left = other.cost * best->weight;
	right = best->cost * other.weight;
	if (left > right)
		return;
	if (left == right && other.hash < best->hash)
		return;
	if (left == right && other.hash == best->hash &&
	    other.member > best->member)
		return;
	*best = other;
}

/* Highest hash of the candidates of one weight; *end is where they end. */
static struct choice best_of_group(const struct candidate *candidates,
				   size_t from, size_t end, uint64_t slot_hash)
{
	size_t at = from;
	uint64_t best = mix64(candidates[from].name_hash ^ slot_hash);

	for (size_t i = from + 1; i < end; i++) {
		uint64_t hash = mix64(candidates[i].name_hash ^ slot_hash);

		at = hash > best ? i : at;
		best = hash > best ? hash : best;
	}
	return (struct choice){
		.hash = best,
		.weight = candidates[at].weight,
		.member = candidates[at].member,
		.at = (uint16_t)at,
	};
}

/* Of all candidates but the one at `except`; field->n: of all. */
static struct choice choose_member(const struct field *field, uint32_t slot,
				   size_t except)
{
	uint64_t slot_hash = mix64(slot + GOLDEN_GAMMA);
	struct choice best = { 0 };

	for (size_t from = 0, group = 0; from < field->n; group++) {
		size_t end = field->group_ends[group];
		size_t hole = except < from || except >= end ? end : except;

		if (from < hole)
			choose(&best, best_of_group(field->candidates, from, hole,
						    slot_hash));
		if (hole + 1 < end)
			choose(&best, best_of_group(field->candidates, hole + 1, end,
						    slot_hash));
		from = end;
	}
	return best;
}

/* Heaviest first, since they win most; each weight in member order. */
static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;

	if (left->weight != right->weight)
		return left->weight > right->weight ? -1 : 1;
	return left->member < right->member ? -1 : 1;
}

static void fill_candidates(const struct table_member *members, size_t n,
			    struct candidate *candidates, uint32_t *group_ends)
{
	size_t group = 0;

	for (size_t i = 0; i < n; i++)
		candidates[i] = (struct candidate){
			.name_hash = mix64(fnv64_text(FNV64_OFFSET,
						      members[i].name)),
			.weight = (uint16_t)members[i].weight,
			.member = (uint16_t)i,
		};
	qsort(candidates, n, sizeof(*candidates), compare_candidates);
	for (size_t i = 1; i <= n; i++)
		if (i == n || candidates[i].weight != candidates[i - 1].weight)
			group_ends[group++] = (uint32_t)i;
}

int rendezvous_check(const struct table_params *params, size_t n, struct err *err)
{
	if ((uint64_t)n * params->size <= TABLE_RENDEZVOUS_WORK_MAX)
		return 0;
	return err_set(err, -E2BIG, "a rendezvous table of %zu backends "
		       "and %u slots would take too long; allowed are "
		       "%llu backends at this size", n, params->size,
		       TABLE_RENDEZVOUS_WORK_MAX / params->size);
}

static int field_new(const struct table_params *params,
		     const struct table_member *members, size_t n,
		     struct field *field, struct err *err)
{
	int rc = rendezvous_check(params, n, err);

	if (rc)
		return rc;

	field->candidates = malloc(n * sizeof(*field->candidates));
	field->group_ends = malloc(n * sizeof(*field->group_ends));
	field->n = n;
	if (!field->candidates || !field->group_ends)
		return err_set(err, -ENOMEM, "no memory for %zu backend%s", n, plural(n));
	fill_candidates(members, n, field->candidates, field->group_ends);
	return 0;
}

static void field_done(struct field *field)
{
	free(field->candidates);
	free(field->group_ends);
}

int rendezvous_build(const struct table_params *params,
		     const struct table_member *members, size_t n,
		     uint16_t *slots, struct err *err)
{
	__attribute__((cleanup(field_done))) struct field field = { 0 };
	int rc = field_new(params, members, n, &field, err);

	if (rc)
		return rc;
	for (uint32_t slot = 0; slot < params->size; slot++)
		slots[slot] = members[choose_member(&field, slot, n).member].owner;
	return 0;
}

int rendezvous_build_second(const struct table_params *params,
			    const struct table_member *members, size_t n,
			    uint16_t *slots, struct err *err)
{
	__attribute__((cleanup(field_done))) struct field field = { 0 };
	int rc = field_new(params, members, n, &field, err);

	if (rc)
		return rc;
	for (uint32_t slot = 0; slot < params->size; slot++) {
		struct choice first = choose_member(&field, slot, n);
		struct choice second = choose_member(&field, slot, first.at);

		slots[slot] = second.weight ? members[second.member].owner :
					      TABLE_NONE;
	}
	return 0;
}
