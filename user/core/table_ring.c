// SPDX-License-Identifier: GPL-2.0-only
/*
 * The consistent-hash ring (Karger et al., STOC 1997), materialised to slots.
 *
 * Point k of a backend lies at mix64(FNV-1a of "name#k") on a circle of 2^64
 * hashes. Slot s is the arc of hashes that flow_hash_slot() maps to s, and
 * belongs to the first point at or after the arc's start, around the end
 * of the circle if need be; of points at one place the lower name's counts.
 *
 * So of all points on one arc only the first matters: one minimum a slot is
 * kept instead of a sorted ring, and memory does not grow with the points.
 */
#include "table_impl.h"

#include <errno.h>
#include <stdlib.h>

#include "cleanup.h"
#include "flow_hash.h"
#include "fnv.h"

struct ring {
	uint32_t size;
	uint64_t *first; /* per slot: hash of the first point on its arc */
	uint16_t *slots; /* and that point's owner, TABLE_NONE: no point */
	/* The same of the first point that is not that owner's; or both NULL. */
	uint64_t *second;
	uint16_t *others;
};

static bool comes_first(uint64_t hash, uint16_t owner, uint64_t than)
{
	/* Members come by name, so an equal hash leaves the lower name. */
	return owner == TABLE_NONE || hash < than;
}

static void ring_add_second(struct ring *ring, uint32_t slot, uint64_t hash,
			    uint16_t owner)
{
	if (!ring->others ||
	    !comes_first(hash, ring->others[slot], ring->second[slot]))
		return;
	ring->second[slot] = hash;
	ring->others[slot] = owner;
}

static void ring_add_point(struct ring *ring, uint64_t hash, uint16_t owner)
{
	uint32_t slot = flow_hash_slot(hash, ring->size);
	uint16_t before = ring->slots[slot];

	if (!comes_first(hash, before, ring->first[slot])) {
		if (before != owner)
			ring_add_second(ring, slot, hash, owner);
		return;
	}
	/* What was first is now the first of the others. */
	if (ring->others && before != owner) {
		ring->second[slot] = ring->first[slot];
		ring->others[slot] = before;
	}
	ring->first[slot] = hash;
	ring->slots[slot] = owner;
}

/* FNV-1a goes on over the decimal digits of k. */
static uint64_t hash_decimal(uint64_t hash, uint64_t k)
{
	char digits[20];
	int n = 0;

	do {
		digits[n++] = (char)('0' + k % 10);
		k /= 10;
	} while (k);
	while (n)
		hash = fnv64_byte(hash, (uint8_t)digits[--n]);
	return hash;
}

static void ring_add(struct ring *ring, const struct table_member *member,
		     uint64_t points)
{
	uint64_t name = fnv64_byte(fnv64_text(FNV64_OFFSET, member->name), '#');
	uint64_t tens = name;

	for (uint64_t k = 0; k < points; k++) {
		/* The leading digits stay the same for ten points. */
		if (k >= 10 && k % 10 == 0)
			tens = hash_decimal(name, k / 10);
		ring_add_point(ring, mix64(fnv64_byte(tens, '0' + k % 10)),
			       member->owner);
	}
}

/* Arcs without a point belong to the next arc's first one. */
static void ring_fill_gaps(struct ring *ring)
{
	uint32_t slot = 0;
	uint16_t owner;

	while (ring->slots[slot] == TABLE_NONE)
		slot++;
	owner = ring->slots[slot];
	for (slot = ring->size; slot-- > 0;) {
		if (ring->slots[slot] == TABLE_NONE)
			ring->slots[slot] = owner;
		else
			owner = ring->slots[slot];
	}
}

int ring_check(const struct table_params *params, uint64_t weights, struct err *err)
{
	uint32_t points = params->ring_points ?: TABLE_RING_POINTS_DEFAULT;
	uint64_t total = points * weights;

	if (total <= TABLE_RING_TOTAL_MAX)
		return 0;
	return err_set(err, -E2BIG, "a ring of %llu points is too large; "
		       "allowed are %u: lower the weights or the %u "
		       "points a unit of weight",
		       (unsigned long long)total, TABLE_RING_TOTAL_MAX, points);
}

static int ring_new(const struct table_params *params,
		    const struct table_member *members, size_t n, struct ring *ring,
		    struct err *err)
{
	uint32_t points = params->ring_points ?: TABLE_RING_POINTS_DEFAULT;
	uint64_t weights = 0;
	int rc;

	for (size_t i = 0; i < n; i++)
		weights += members[i].weight;
	rc = ring_check(params, weights, err);
	if (rc)
		return rc;

	ring->size = params->size;
	ring->first = malloc(params->size * sizeof(*ring->first));
	if (ring->others)
		ring->second = malloc(params->size * sizeof(*ring->second));
	if (!ring->first || (ring->others && !ring->second))
		return err_set(err, -ENOMEM, "no memory to build a table of %u "
			       "slots", params->size);

	for (uint32_t slot = 0; slot < ring->size; slot++) {
		ring->slots[slot] = TABLE_NONE;
		if (ring->others)
			ring->others[slot] = TABLE_NONE;
	}
	for (size_t i = 0; i < n; i++)
		ring_add(ring, &members[i], (uint64_t)points * members[i].weight);
	return 0;
}

static void ring_done(struct ring *ring)
{
	free(ring->first);
	free(ring->second);
}

int ring_build(const struct table_params *params,
	       const struct table_member *members, size_t n, uint16_t *slots,
	       struct err *err)
{
	__attribute__((cleanup(ring_done))) struct ring ring = { .slots = slots };
	int rc = ring_new(params, members, n, &ring, err);

	if (rc)
		return rc;
	ring_fill_gaps(&ring);
	return 0;
}

/* The first two owners from a slot on, around the ring. */
struct pair {
	uint16_t first, second;
};

static struct pair pair_before(const struct ring *ring, uint32_t slot, struct pair after)
{
	uint16_t first = ring->slots[slot], second = ring->others[slot];

	if (first == TABLE_NONE)
		return after;
	if (second == TABLE_NONE)
		second = after.first == first ? after.second : after.first;
	return (struct pair){ first, second };
}

int ring_build_second(const struct table_params *params,
		      const struct table_member *members, size_t n, uint16_t *slots,
		      struct err *err)
{
	_cleanup_free_ uint16_t *firsts = malloc(params->size * sizeof(*firsts));
	__attribute__((cleanup(ring_done))) struct ring ring = { .slots = firsts,
								 .others = slots };
	struct pair pair = { TABLE_NONE, TABLE_NONE };
	int rc;

	if (!firsts)
		return err_set(err, -ENOMEM, "no memory to build a table of %u "
			       "slots", params->size);
	rc = ring_new(params, members, n, &ring, err);
	if (rc)
		return rc;

	/* Once around for what the last slots see beyond the end. */
	for (uint32_t slot = ring.size; slot-- > 0;)
		pair = pair_before(&ring, slot, pair);
	for (uint32_t slot = ring.size; slot-- > 0;) {
		pair = pair_before(&ring, slot, pair);
		slots[slot] = pair.second;
	}
	return 0;
}
