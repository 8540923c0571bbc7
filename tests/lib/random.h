/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TESTS_RANDOM_H
#define FAIRLEAD_TESTS_RANDOM_H

/*
 * The same random numbers each time, from a seed: splitmix64 (Steele, Lea, Flood,
 * "Fast splittable pseudorandom number generators").
 */

#include <stdint.h>

struct random {
	uint64_t state; /* the seed */
};

static inline uint64_t random_next(struct random *random)
{
	uint64_t x = random->state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* 0 to limit - 1; limit is not 0. */
static inline uint32_t random_below(struct random *random, uint32_t limit)
{
	return (uint32_t)(((random_next(random) >> 32) * limit) >> 32);
}

#endif
