// SPDX-License-Identifier: GPL-2.0-only
/*
 * Maglev hashing (Eisenbud et al., "Maglev: A Fast and Reliable Software
 * Network Load Balancer", NSDI 2016, section 3.4): backends take turns, each
 * taking the next free slot of its own permutation.
 *
 * Slot for slot the textbook's table, in a fraction of its time, because
 *
 *  - what is taken stays taken, so a walk may run ahead of its turn over slots
 *    that are taken already. A chunk of turns runs ahead together: the probes
 *    of different walks do not depend on each other and carry no branch that
 *    could be mispredicted. Then the turns commit in order, and go on walking
 *    only where another turn of the chunk took the slot first;
 *  - one bit a slot keeps the whole occupancy in the first-level cache;
 *  - with few free slots left, where nearly all probes would hit taken ones,
 *    a turn looks at the free slots instead and takes the one that its walk
 *    would reach first (below).
 */
#include "table_impl.h"

#include <errno.h>
#include <stdlib.h>

#include "cleanup.h"
#include "fnv.h"

#define SEED_OFFSET 0x9e3779b9ULL
#define SEED_SKIP 0x85ebca6bULL
/* Longer chunks keep more walks in flight, but more turns find their slot lost. */
#define CHUNK_TURNS 512
#define CHUNK_TURNS_MIN 32
/* Fewer walks than this do not hide each other's latency. */
#define AHEAD_WALKS_MIN 8

/*
 * The compiler loses sight of a value here, and with it the idea to make the
 * choice that led to it a branch. No instruction comes of it.
 */
#define NO_BRANCH(value) __asm__("" : "+r"(value))

struct filler {
	uint32_t size, n_free;
	struct table_walk *walks;
	const struct table_member *members;
	uint16_t *slots;
	uint64_t *taken;   /* one bit a slot */
	uint32_t n_few;    /* free slots from which on they are listed */
	uint32_t *free;    /* the list */
	uint64_t *factors; /* per member: its ranks', 0: not known yet */
	size_t chunk;      /* turns that run ahead together */
};

static uint64_t name_hash(uint64_t seed, const char *name)
{
	uint64_t hash = fnv64_text(FNV64_OFFSET ^ seed, name);

	return hash ^ (hash >> 32);
}

uint64_t table_name_hash1(const char *name)
{
	return name_hash(SEED_OFFSET, name);
}

uint64_t table_name_hash2(const char *name)
{
	return name_hash(SEED_SKIP, name);
}

struct table_walk table_walk_of(const char *name, uint32_t size)
{
	return (struct table_walk){
		.next = (uint32_t)(table_name_hash1(name) % size),
		.skip = (uint32_t)(table_name_hash2(name) % (size - 1)) + 1,
	};
}

static void take(struct filler *f, uint16_t member, uint32_t slot)
{
	table_take(f->taken, slot);
	f->slots[slot] = f->members[member].owner;
	f->n_free--;
}

/*
 * Probe `probes` times for each pending walk, and keep those that still stand
 * on a taken slot. A walk that has found a free slot stays there, so probes
 * to spare do no harm.
 */
static inline __attribute__((always_inline)) size_t
sweep(struct filler *f, uint16_t *pending, size_t n, int probes)
{
	const uint64_t *taken = f->taken;
	struct table_walk *walks = f->walks;
	uint32_t size = f->size;
	size_t left = 0;

	for (size_t i = 0; i < n; i++) {
		uint16_t member = pending[i];
		struct table_walk walk = walks[member];
		size_t bit = 0;

#pragma GCC unroll 4
		for (int probe = 0; probe < probes; probe++) {
			uint32_t after = table_walk_step(walk, size);

			bit = table_is_taken(taken, walk.next);
			walk.next = bit ? after : walk.next;
			NO_BRANCH(walk.next);
		}
		walks[member].next = walk.next;
		pending[left] = member;
		left += bit;
	}
	return left;
}

/*
 * Move the walks of a chunk's turns to slots that are free as of now. More
 * probes a sweep as free slots get rare, but few enough that the processor sees
 * several walks at once.
 */
static void run_ahead(struct filler *f, const uint16_t *turns, size_t n)
{
	uint16_t pending[CHUNK_TURNS];
	uint32_t odds = f->size / f->n_free;
	size_t left = 1;

	/* A heavy backend takes many turns in a row: one entry for all. */
	pending[0] = turns[0];
	for (size_t i = 1; i < n; i++) {
		pending[left] = turns[i];
		left += turns[i] != turns[i - 1];
	}
	n = left;

	while (n >= AHEAD_WALKS_MIN) {
		if (odds < 2)
			n = sweep(f, pending, n, 1);
		else if (odds < 8)
			n = sweep(f, pending, n, 2);
		else
			n = sweep(f, pending, n, 4);
	}
}

static void commit(struct filler *f, const uint16_t *turns, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint16_t member = turns[i];
		struct table_walk walk = f->walks[member];

		while (table_is_taken(f->taken, walk.next))
			walk.next = table_walk_step(walk, f->size);
		take(f, member, walk.next);
		f->walks[member].next = table_walk_step(walk, f->size);
	}
}

static void commit_few(struct filler *f, const uint16_t *turns, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint16_t member = turns[i];
		struct table_walk *walk = &f->walks[member];
		uint32_t at;

		if (!f->factors[member])
			f->factors[member] =
				table_rank_factor(walk->skip, f->size);
		at = table_nearest_free(f->free, f->n_free,
					f->size - walk->next,
					f->factors[member]).at;
		walk->next = f->free[at];
		f->free[at] = f->free[f->n_free - 1];
		take(f, member, walk->next);
	}
}

/* The turns of one window, as far as there are free slots. */
static void fill_window(struct filler *f, const uint16_t *turns, size_t n)
{
	size_t done = 0;

	while (done < n && f->n_free > f->n_few) {
		size_t chunk = f->n_free - f->n_few;

		if (chunk > n - done)
			chunk = n - done;
		if (chunk > f->chunk)
			chunk = f->chunk;
		/* Nearly every first probe succeeds at the start. */
		if (f->n_free < f->size / 8 * 7)
			run_ahead(f, turns + done, chunk);
		commit(f, turns + done, chunk);
		done += chunk;
		if (f->n_free == f->n_few)
			table_list_free(f->taken, f->size, f->free);
	}
	if (n - done > f->n_free)
		n = done + f->n_free;
	commit_few(f, turns + done, n - done);
}

int maglev_fill(struct table_walk *walks, const struct table_member *members,
		size_t n, uint32_t size, uint16_t *slots)
{
	uint32_t few = table_few_free(size);
	_cleanup_free_ uint64_t *taken = calloc(TABLE_TAKEN_WORDS(size),
						sizeof(*taken));
	_cleanup_free_ uint32_t *free_slots = malloc(few * sizeof(*free_slots));
	_cleanup_free_ uint64_t *factors = calloc(n, sizeof(*factors));
	struct filler f = {
		.size = size, .n_free = size, .n_few = few,
		.walks = walks, .members = members, .slots = slots,
		.taken = taken, .free = free_slots, .factors = factors,
		.chunk = n < CHUNK_TURNS_MIN ? CHUNK_TURNS_MIN :
			 n > CHUNK_TURNS ? CHUNK_TURNS : n,
	};
	struct turns turns;
	int ret;

	if (!taken || !free_slots || !factors)
		return -ENOMEM;

	ret = turns_new(members, n, &turns);
	if (ret)
		return ret;

	while (f.n_free) {
		size_t n_turns = turns_next(&turns);

		fill_window(&f, turns.order, n_turns);
	}
	turns_done(&turns);
	return 0;
}

int maglev_build(const struct table_params *params,
		 const struct table_member *members, size_t n, uint16_t *slots,
		 struct err *err)
{
	_cleanup_free_ struct table_walk *walks = malloc(n * sizeof(*walks));
	int ret = -ENOMEM;

	if (walks) {
		for (size_t i = 0; i < n; i++)
			walks[i] = table_walk_of(members[i].name, params->size);
		ret = maglev_fill(walks, members, n, params->size, slots);
	}
	if (ret)
		return err_set(err, ret, "no memory to build a table of %u slots",
			       params->size);
	return 0;
}
