/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TEST_TABLE_SETS_H
#define FAIRLEAD_TEST_TABLE_SETS_H

/* Random sets of backends from a fixed seed, for properties of tables. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/table.h"
#include "tests/lib/random.h"

#define SETS_BACKENDS_MAX 1024

enum weights {
	WEIGHTS_EQUAL,    /* one number for all */
	WEIGHTS_SMALL,    /* 1..10 */
	WEIGHTS_ANY,      /* 1..65535 */
	WEIGHTS_LOPSIDED, /* one has nearly all */
	WEIGHTS_SOME_ZERO,
	WEIGHTS__MAX,
};

struct set {
	size_t n;
	uint64_t sum;
	struct table_backend backends[SETS_BACKENDS_MAX];
	char names[SETS_BACKENDS_MAX][40];
};

static inline uint32_t random_weight(struct random *random,
				     enum weights weights, bool first)
{
	switch (weights) {
	case WEIGHTS_SMALL:
		return 1 + random_below(random, 10);
	case WEIGHTS_ANY:
		return 1 + random_below(random, 65535);
	case WEIGHTS_LOPSIDED:
		return first ? 1 + random_below(random, 65535) : 1;
	case WEIGHTS_SOME_ZERO:
		return first ? 1 : random_below(random, 3);
	default:
		return 7;
	}
}

static inline void set_name(struct set *set, struct random *random, size_t i)
{
	char *name = set->names[i];

	/* The number makes it unique; what is around it varies the order. */
	switch (random_below(random, 3)) {
	case 0:
		snprintf(name, sizeof(set->names[i]), "10.0.%u.%zu",
			 random_below(random, 256), i);
		break;
	case 1:
		snprintf(name, sizeof(set->names[i]), "%c%zu",
			 'a' + random_below(random, 26), i);
		break;
	default:
		snprintf(name, sizeof(set->names[i]), "2001:db8::%x:%zx",
			 random_below(random, 65536), i);
		break;
	}
}

static inline void set_fill(struct set *set, struct random *random, size_t n,
			    enum weights weights)
{
	size_t heavy = random_below(random, (uint32_t)n);

	assert_true(n <= SETS_BACKENDS_MAX);
	set->n = n;
	set->sum = 0;
	for (size_t i = 0; i < n; i++) {
		set_name(set, random, i);
		set->backends[i].name = set->names[i];
		set->backends[i].weight =
			random_weight(random, weights, i == heavy);
		set->sum += set->backends[i].weight;
	}
}

static inline void set_add(struct set *set, struct random *random,
			   uint32_t weight)
{
	size_t i = set->n++;

	assert_true(set->n <= SETS_BACKENDS_MAX);
	set_name(set, random, i);
	set->backends[i].name = set->names[i];
	set->backends[i].weight = weight;
	set->sum += weight;
}

static inline int set_compare(const void *a, const void *b)
{
	return strcmp(((const struct table_backend *)a)->name,
		      ((const struct table_backend *)b)->name);
}

/* Into the order in which builders see the set. */
static inline void set_sort(struct set *set)
{
	qsort(set->backends, set->n, sizeof(set->backends[0]), set_compare);
}

static inline void set_shuffle(struct set *set, struct random *random)
{
	for (size_t i = set->n; i > 1; i--) {
		size_t j = random_below(random, (uint32_t)i);
		struct table_backend swap = set->backends[i - 1];

		set->backends[i - 1] = set->backends[j];
		set->backends[j] = swap;
	}
}

static inline size_t set_find(const struct set *set, const char *name)
{
	for (size_t i = 0; i < set->n; i++)
		if (!strcmp(set->backends[i].name, name))
			return i;
	fail_msg("no backend '%s'", name);
	return 0;
}

/* The table, which the caller frees; fails the test when it is refused. */
static inline uint16_t *set_build(const struct set *set,
				  const struct table_params *params)
{
	uint16_t *slots = malloc(params->size * sizeof(*slots));
	struct err err = { 0 };

	assert_non_null(slots);
	if (table_build(params, set->backends, set->n, slots, &err))
		fail_msg("%s", err.text);
	return slots;
}

#endif
