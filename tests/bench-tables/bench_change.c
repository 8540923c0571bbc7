// SPDX-License-Identifier: GPL-2.0-only
/* What a change moves, and how even the tables are. */
#include "bench_tables.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/cleanup.h"
#include "core/table_compare.h"
#include "core/table_overlay.h"

#define SIZE 65537
#define TRIALS 10

enum change {
	CHANGE_REMOVE,
	CHANGE_ADD,
	CHANGE_DOUBLE,
	CHANGE__MAX,
};

static const char *const change_names[] = { "remove 1", "add 1", "double 1" };

struct result {
	double moved, minimum; /* slots, over all trials */
	double max_mean;       /* of the table before the change */
};

static struct bench_set full;
static uint16_t before[SIZE], after[SIZE];

/* Copy of the full set with one backend changed; returns how many. */
static size_t changed_set(enum change change, size_t n, size_t which,
			  struct table_backend *set)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		if (change != CHANGE_DOUBLE && i == which)
			continue;
		set[count] = full.backends[i];
		if (i == which)
			set[count].weight *= 2;
		count++;
	}
	return count;
}

static double max_mean(const uint16_t *slots, size_t n)
{
	static uint32_t counts[BENCH_BACKENDS_MAX];
	uint32_t most = 0;

	table_count_slots(slots, SIZE, n, counts);
	for (size_t i = 0; i < n; i++)
		most = counts[i] > most ? counts[i] : most;
	return (double)most * (double)n / SIZE;
}

static void trial(const struct table_params *params, enum change change,
		  size_t which, struct result *result)
{
	static struct table_backend set[BENCH_BACKENDS_MAX];
	size_t n = changed_set(change, full.n, which, set);
	_cleanup_free_ struct table_comparison *c = NULL;
	struct table_side whole = { full.backends, full.n, before };
	struct table_side other = { set, n, after };
	bool add = change == CHANGE_ADD;
	struct err err;

	bench_build(params, set, n, after);
	if (table_compare(add ? &other : &whole, add ? &whole : &other, SIZE,
			  &c, &err)) {
		fprintf(stderr, "bench-tables: %s\n", err.text);
		exit(1);
	}
	result->moved += c->moved;
	result->minimum += c->minimum;
}

static void disruption_row(json_t *rows, const struct table_params *params,
			   size_t n, enum change change)
{
	struct result result = { 0 };
	char name[32];

	/* Adding is removing, seen from the other side. */
	bench_set_fill(&full, n + (change == CHANGE_ADD), BENCH_EQUAL);
	bench_build(params, full.backends, full.n, before);
	result.max_mean = max_mean(before, full.n);
	for (size_t i = 0; i < TRIALS; i++)
		trial(params, change, (2 * i + 1) * n / (2 * TRIALS), &result);

	bench_algorithm_name(params, name);
	printf("%6zu  %-9s %-12s %9.1f %9.1f %8.2f %9.3f\n", n,
	       change_names[change], name, result.moved / TRIALS,
	       result.minimum / TRIALS, result.moved / result.minimum,
	       result.max_mean);
	json_array_append_new(rows, json_pack(
		"{s:i, s:s, s:s, s:f, s:f, s:f, s:f}", "backends", (int)n,
		"change", change_names[change], "algorithm", name, "moved",
		result.moved / TRIALS, "minimum", result.minimum / TRIALS,
		"ratio", result.moved / result.minimum, "max_mean",
		result.max_mean));
}

json_t *bench_disruption(void)
{
	static const struct table_params params[] = {
		{ TABLE_MAGLEV, SIZE, 0, 0 },
		{ TABLE_CAPPED, SIZE, 0, 0 },
		{ TABLE_CAPPED, SIZE, 1, 0 },
		{ TABLE_CAPPED, SIZE, 5, 0 },
		{ TABLE_RING, SIZE, 0, 0 },
		{ TABLE_RENDEZVOUS, SIZE, 0, 0 },
	};
	static const size_t sizes[] = { 100, 1000 };
	json_t *rows = json_array();

	printf("\ndisruption: size %u, equal weights, slots moved, mean of %u "
	       "choices of the backend\n     N  change    algorithm        "
	       "moved   minimum    ratio  max/mean\n", SIZE, TRIALS);
	for (size_t i = 0; i < 2; i++)
		for (int change = 0; change < CHANGE__MAX; change++)
			for (size_t a = 0; a < sizeof(params) / sizeof(params[0]); a++)
				disruption_row(rows, &params[a], sizes[i],
					       change);
	return rows;
}

struct flap {
	struct table_overlay *overlay;
	struct table_params params;
	size_t n_down;
	bool up[BENCH_BACKENDS_MAX];
	uint8_t shares[BENCH_BACKENDS_MAX];
};

static void set_down(struct flap *flap)
{
	for (size_t i = 0; i < full.n; i++)
		flap->up[i] = true;
	for (size_t i = 0; i < flap->n_down; i++)
		flap->up[(2 * i + 1) * full.n / (2 * flap->n_down)] = false;
	table_shares_of(flap->up, full.n, flap->shares);
}

static void overlay_new(struct flap *flap)
{
	struct err err;

	if (!table_overlay_new(&flap->params, full.backends, full.n, before,
			       &flap->overlay, &err))
		return;
	fprintf(stderr, "bench-tables: %s\n", err.text);
	exit(1);
}

static void overlay_apply(void *context)
{
	struct flap *flap = context;

	if (table_overlay_apply(flap->overlay, flap->shares, after, NULL, NULL)) {
		fprintf(stderr, "bench-tables: no overlay\n");
		exit(1);
	}
}

/* Down for the first time: its spares are not known yet. */
static void overlay_first(void *context)
{
	struct flap *flap = context;

	overlay_new(flap);
	overlay_apply(flap);
	table_overlay_free(&flap->overlay);
}

static uint32_t count_moved(void)
{
	uint32_t moved = 0;

	for (uint32_t slot = 0; slot < SIZE; slot++)
		moved += before[slot] != after[slot];
	return moved;
}

static void overlay_row(json_t *rows, size_t n, size_t n_down)
{
	static struct flap flap;
	struct bench_time first, again;
	double overlaid, rebuilt;

	flap.n_down = n_down;
	flap.params = (struct table_params){ TABLE_MAGLEV, SIZE, 0, 0 };
	bench_set_fill(&full, n, BENCH_EQUAL);
	bench_build(&flap.params, full.backends, n, before);
	set_down(&flap);
	first = bench_measure(overlay_first, &flap);
	overlay_new(&flap);
	again = bench_measure(overlay_apply, &flap);
	table_overlay_free(&flap.overlay);
	overlaid = 100.0 * count_moved() / SIZE;
	if (table_build_up(&flap.params, full.backends, n, flap.up, after, NULL))
		exit(1);
	rebuilt = 100.0 * count_moved() / SIZE;

	printf("%6zu %5zu %10.2f %10.2f %10.3f %10.3f\n", n, n_down, overlaid,
	       rebuilt, first.least_ms, again.least_ms);
	json_array_append_new(rows, json_pack(
		"{s:i, s:i, s:f, s:f, s:f, s:f}", "backends", (int)n, "down",
		(int)n_down, "moved_percent", overlaid,
		"rebuild_moved_percent", rebuilt, "first_ms", first.least_ms,
		"again_ms", again.least_ms));
}

json_t *bench_overlay(void)
{
	json_t *rows = json_array();

	printf("\nhealth overlay: maglev, size %u; slots moved by overlay and by "
	       "rebuild, %%; time of the first apply and of later ones, ms\n"
	       "     N  down    overlay    rebuild      first      later\n",
	       SIZE);
	overlay_row(rows, 100, 1);
	overlay_row(rows, 100, 10);
	overlay_row(rows, 1000, 1);
	overlay_row(rows, 1000, 10);
	overlay_row(rows, 1000, 100);
	return rows;
}
