/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TABLE_IMPL_H
#define FAIRLEAD_TABLE_IMPL_H

/*
 * Between the builders of tables, for user/core/table*.c and their tests only.
 * A builder gets the backends that have weight, at least one and fewer than
 * 65,536, in the order that breaks ties, and fills every slot with an owner.
 * It allocates O(size + n) and leaves nothing behind.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table.h"

struct table_member {
	const char *name;
	uint32_t weight; /* 1..65535 */
	uint16_t owner;  /* what its slots hold */
};

typedef int table_builder(const struct table_params *params,
			  const struct table_member *members, size_t n,
			  uint16_t *slots, struct err *err);
table_builder maglev_build, capped_build, ring_build, rendezvous_build;
/* What table_build_second() fills; TABLE_NONE with one member. */
table_builder ring_build_second, rendezvous_build_second;

/* -E2BIG for a table that would take too long; the builders ask them, too. */
int ring_check(const struct table_params *params, uint64_t weights, struct err *err);
int rendezvous_check(const struct table_params *params, size_t n, struct err *err);

/*
 * A backend's way through the slots: next, next + skip, next + 2 * skip, ...
 * (mod size), which is a permutation of all slots because size is prime.
 */
struct table_walk {
	uint32_t next; /* 0..size-1 */
	uint32_t skip; /* 1..size-1 */
};

/* The two hashes of a name: where its walk starts, and how far it steps. */
uint64_t table_name_hash1(const char *name);
uint64_t table_name_hash2(const char *name);
struct table_walk table_walk_of(const char *name, uint32_t size);

static inline uint32_t table_walk_step(struct table_walk walk, uint32_t size)
{
	uint32_t next = walk.next + walk.skip;

	return next >= size ? next - size : next;
}

/* Occupancy is one bit a slot, so that it fits the first-level cache. */
#define TABLE_TAKEN_WORDS(size) ((size) / 64 + 1)

static inline bool table_is_taken(const uint64_t *taken, uint32_t slot)
{
	return taken[slot / 64] >> (slot % 64) & 1;
}

static inline void table_take(uint64_t *taken, uint32_t slot)
{
	taken[slot / 64] |= 1ULL << (slot % 64);
}

/* From so many free slots on, looking at them beats probing for them. */
uint32_t table_few_free(uint32_t size);
/* List the free slots; returns how many. */
uint32_t table_list_free(const uint64_t *taken, uint32_t size, uint32_t *free);

/* The free slot that a walk reaches first, see table_free.c. */
struct table_nearest {
	uint64_t rank; /* steps to it, as a fraction of size */
	uint32_t at;   /* index into the list */
};

/* A walk's factor; never 0. */
uint64_t table_rank_factor(uint32_t skip, uint32_t size);
/* base: size - walk.next. n is at least 1. */
struct table_nearest table_nearest_free(const uint32_t *free, uint32_t n,
					uint32_t base, uint64_t factor);

/* maglev from given walks, which it moves. */
int maglev_fill(struct table_walk *walks, const struct table_member *members,
		size_t n, uint32_t size, uint16_t *slots);

/*
 * Order in which weighted backends take turns, a window at a time. Turn k of a
 * backend with weight w comes at time (2k + 1) / (2w), ties in member order.
 *
 * Backends of one weight share their times and form a class. A time is held as
 * the fixed-point number floor(time << scale). Two different times of weights
 * up to W differ by at least 1 / (2 * W * W), so with a scale of at least
 * 1 + 2 * bits(W) different times stay different and equal ones equal: the
 * order is exact.
 */
struct turns {
	struct turn_class *classes;
	size_t n_classes;
	uint32_t *members; /* class by class: weight << 16 | member */
	unsigned int scale;
	uint64_t window, span; /* end and length of a window */
	uint64_t *buffer, *scratch; /* time << 16 | member */
	uint32_t *buckets;
	uint16_t *order; /* the window: members in the order of their turns */
	size_t n_round;  /* with one class, all windows are these turns */
};

int turns_new(const struct table_member *members, size_t n, struct turns *out);
void turns_done(struct turns *turns);
/* Members with open[member] false take no more turns; one at least goes on. */
void turns_keep(struct turns *turns, const bool *open);
/* The next window's turns into turns->order; returns how many, at least one. */
size_t turns_next(struct turns *turns);

/* Ascending, stable by value; scratch has room for n. Fast on long runs. */
void sort_u64(uint64_t *values, uint64_t *scratch, size_t n);

/*
 * order[i]: the backend that comes i-th by name, bytes as unsigned numbers.
 * Returns -ENOMEM, or 0 with *duplicate the first index in `order` whose
 * name equals that of its predecessor, or 0 when names are unique.
 */
int table_sort(const struct table_backend *set, size_t n, uint16_t *order,
	       size_t *duplicate);

#endif
