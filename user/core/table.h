/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TABLE_H
#define FAIRLEAD_TABLE_H

/*
 * Consistent-hash tables. Pure functions of the set of backends: the same set
 * gives each backend the same slots on any host, whatever the order of the
 * input. A builder works on the set sorted by name (bytes); slots hold indices
 * into the set as the caller gave it. Integers throughout, so that no compiler
 * and no processor rounds differently.
 *
 * What holds for the number of slots c of a backend of weight w, where S is the
 * sum of the weights, M the size and N the number of backends with weight:
 *
 *   maglev      c is w * T rounded to nearest, with one T for all backends
 *               (Webster's rule of dividing seats). So equal weights differ by
 *               at most one slot, and c is at most 1/2 + w * N / (2 * S) slots
 *               off M * w / S: one slot for every backend up to the mean
 *               weight, more for one that outweighs many others.
 *   capped      c is M * w / S rounded down or up. With a slack of p % it is
 *               at most M * w * (100 + p) / (100 * S) rounded up.
 *   ring        no bound; about 1 / sqrt(points * w) of the share is usual.
 *   rendezvous  no bound; about sqrt(c) slots are usual.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "primes.h"

enum table_algorithm {
	TABLE_MAGLEV,     /* even, and fast to build */
	TABLE_CAPPED,     /* as even, moves less when the set changes */
	TABLE_RING,       /* only neighbours move; uneven */
	TABLE_RENDEZVOUS, /* nothing moves without need; uneven, slow to build */
	TABLE__MAX,
};

#define TABLE_NONE 0xffff      /* a slot without owner */
#define TABLE_BACKENDS_MAX 65535
#define TABLE_WEIGHT_MAX 65535
#define TABLE_SLACK_MAX 100
#define TABLE_RING_POINTS_DEFAULT 160
#define TABLE_RING_POINTS_MAX 65535
/* Points of a whole ring: bounds the time of a build to about a second. */
#define TABLE_RING_TOTAL_MAX (64U * 1024 * 1024)
/* Backends times slots that rendezvous weighs; some ten seconds. */
#define TABLE_RENDEZVOUS_WORK_MAX (8ULL * 1024 * 1024 * 1024)

struct table_backend {
	const char *name; /* unique in the set */
	uint32_t weight;  /* 0..65535; 0: in the set, but owns no slot */
};

struct table_params {
	enum table_algorithm algorithm;
	uint32_t size; /* M: prime, TABLE_SIZE_MIN..TABLE_SIZE_MAX */
	/* capped: quota above the fair share, 0..100 */
	uint32_t slack_percent;
	/* ring: points a unit of weight; 0 means TABLE_RING_POINTS_DEFAULT */
	uint32_t ring_points;
};

/*
 * Fill slots[0..size) with indices into `set` (TABLE_NONE throughout when no
 * backend has weight). The caller owns slots and must have room for size of
 * them. Errors: -EINVAL (size not a prime in range, duplicate or missing name,
 * weight or parameter out of range), -E2BIG (too many backends, not fewer than
 * slots, or a ring or rendezvous table that would take too long), -ENOMEM.
 */
int table_build(const struct table_params *params,
		const struct table_backend *set, size_t n, uint16_t *slots,
		struct err *err);

/*
 * slots[i]: who owns slot i in the table that is built without the one that owns it
 * (TABLE_NONE when there is no other). For algorithms in which that takes about as long
 * as a table; for the others -EOPNOTSUPP, and no slots: they take a table for each.
 */
int table_build_second(const struct table_params *params,
		       const struct table_backend *set, size_t n, uint16_t *slots,
		       struct err *err);

/* As table_build(), with every backend that is not up at weight 0. */
int table_build_up(const struct table_params *params,
		   const struct table_backend *set, size_t n, const bool *up,
		   uint16_t *slots, struct err *err);

/*
 * Everything that table_build() refuses, and an empty set (-ENODATA), for
 * callers to whom a table without backends makes no sense.
 */
int table_check(const struct table_params *params,
		const struct table_backend *set, size_t n, struct err *err);

/*
 * The builders alone, on a set whose order is already right and whose names are
 * unique. Any prime size from 2. For golden vectors and yardsticks.
 */
int table_build_in_order(const struct table_params *params,
			 const struct table_backend *set, size_t n,
			 uint16_t *slots, struct err *err);

/* FNV-1a 64 over the slots as little-endian u32 words. */
uint64_t table_digest(const uint16_t *slots, size_t n);

/*
 * The same over indices into the set sorted by name: equal on two hosts that
 * list the same set in different orders. -ENOMEM or 0.
 */
int table_digest_sorted(const struct table_backend *set, size_t n,
			const uint16_t *slots, size_t size, uint64_t *digest);

/* counts[i]: slots of backend i. Returns the slots without owner. */
uint32_t table_count_slots(const uint16_t *slots, size_t size, size_t n,
			   uint32_t *counts);

const char *table_algorithm_name(enum table_algorithm algorithm);
int table_algorithm_parse(const char *text, enum table_algorithm *out,
			  struct err *err);

#endif
