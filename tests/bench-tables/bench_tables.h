/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_BENCH_TABLES_H
#define FAIRLEAD_BENCH_TABLES_H

/*
 * The bench of tables: each part prints a table for people and returns the same
 * figures as a JSON array. It asserts no time; it does check that the fast
 * builders give the textbook's slots, and exits with 1 when they do not.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/table.h"

#define BENCH_BACKENDS_MAX 10001

enum bench_weights {
	BENCH_EQUAL,    /* all 1 */
	BENCH_LOPSIDED, /* one 10000, the rest 1 */
	BENCH_MIXED,    /* 1..10 in turn */
	BENCH_DISTINCT, /* 1..n, no two alike */
};

struct bench_set {
	size_t n;
	struct table_backend backends[BENCH_BACKENDS_MAX];
	char names[BENCH_BACKENDS_MAX][24];
};

struct bench_time {
	double least_ms, median_ms;
};

typedef void bench_work(void *context);

/* Sorted by name, as a checked configuration is. */
void bench_set_fill(struct bench_set *set, size_t n, enum bench_weights weights);
const char *bench_weights_name(enum bench_weights weights);
/* Call work again and again for a while. */
struct bench_time bench_measure(bench_work *work, void *context);
/* Ends the program with a sentence when the table is refused. */
void bench_build(const struct table_params *params,
		 const struct table_backend *set, size_t n, uint16_t *slots);
const char *bench_algorithm_name(const struct table_params *params,
				 char text[32]);

json_t *bench_maglev(bool *identical);
json_t *bench_algorithms(void);
json_t *bench_disruption(void);
json_t *bench_overlay(void);
json_t *bench_climb(void);

#endif
