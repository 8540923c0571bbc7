// SPDX-License-Identifier: GPL-2.0-only
/* What a publication takes while all of a pool start slowly, all at once. */
#include "bench_tables.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/table_kept.h"

#define SIZE 65537
#define BACKENDS 1000
#define KEPT_BYTES (64u << 20)

struct climb {
	struct table_params params;
	struct table_kept *kept; /* NULL: nothing is */
	uint8_t shares[BACKENDS];
};

static struct bench_set set;
static uint16_t slots[SIZE];

static void publish(void *context)
{
	struct climb *climb = context;
	struct err err;

	if (table_kept_build(climb->kept, &climb->params, set.backends, set.n,
			     climb->shares, slots, NULL, &err) >= 0)
		return;
	fprintf(stderr, "bench-tables: %s\n", err.text);
	exit(1);
}

static double publish_ms(struct climb *climb)
{
	return bench_measure(publish, climb).least_ms;
}

/* `down_percent` of them are not up yet. */
static void climb_row(json_t *rows, enum table_algorithm algorithm, unsigned int share,
		      unsigned int down_percent)
{
	static struct climb climb;
	double anew, later;

	climb.params = (struct table_params){ algorithm, SIZE, 0, 0 };
	for (size_t i = 0; i < set.n; i++)
		climb.shares[i] = i % 100 < down_percent ? 0 : (uint8_t)share;
	climb.kept = NULL;
	anew = publish_ms(&climb);
	climb.kept = table_kept_new(KEPT_BYTES);
	publish(&climb);
	later = publish_ms(&climb);
	table_kept_free(&climb.kept);

	printf("%-11s %6u %6u %10.2f %10.2f\n", table_algorithm_name(algorithm), share,
	       down_percent, anew, later);
	json_array_append_new(rows, json_pack(
		"{s:s, s:i, s:i, s:f, s:f}", "algorithm", table_algorithm_name(algorithm),
		"share", (int)share, "down_percent", (int)down_percent, "first_ms", anew,
		"later_ms", later));
}

json_t *bench_climb(void)
{
	static const unsigned int shares[] = { 10, 50, 90 };
	json_t *rows = json_array();

	bench_set_fill(&set, BACKENDS, BENCH_EQUAL);
	printf("\nall climb: %u backends, size %u, all with that share, so many per cent "
	       "of them down; time of the first table and of later ones, ms\n"
	       "algorithm    share   down      first      later\n", BACKENDS, SIZE);
	for (size_t i = 0; i < 3; i++)
		for (unsigned int down = 0; down <= 50; down += 50)
			climb_row(rows, TABLE_MAGLEV, shares[i], down);
	climb_row(rows, TABLE_CAPPED, 50, 0);
	climb_row(rows, TABLE_RING, 50, 0);
	return rows;
}
