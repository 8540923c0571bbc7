// SPDX-License-Identifier: GPL-2.0-only
/* How long a build takes. */
#include "bench_tables.h"

#include <stdio.h>
#include <string.h>

#include "abi.h"
#include "tests/unit/table_textbook.h"

struct build {
	struct table_params params;
	struct bench_set set;
	uint16_t slots[TABLE_SIZE_MAX], textbook[TABLE_SIZE_MAX];
	bool equal;
};

static struct build build;

static void run_build(void *context)
{
	struct build *b = context;

	bench_build(&b->params, b->set.backends, b->set.n, b->slots);
}

static void run_textbook(void *context)
{
	struct build *b = context;

	if (b->equal)
		textbook_maglev_equal(b->set.backends, b->set.n, b->params.size,
				      b->textbook);
	else
		textbook_maglev_heap(b->set.backends, b->set.n, b->params.size,
				     b->textbook);
}

static void maglev_row(json_t *rows, size_t n, uint32_t size,
		       enum bench_weights weights, bool *identical)
{
	struct bench_time ours, textbook;
	bool same;

	bench_set_fill(&build.set, n, weights);
	build.params = (struct table_params){ TABLE_MAGLEV, size, 0, 0 };
	build.equal = weights == BENCH_EQUAL;
	ours = bench_measure(run_build, &build);
	textbook = bench_measure(run_textbook, &build);
	same = !memcmp(build.slots, build.textbook,
		       size * sizeof(build.slots[0]));
	*identical = *identical && same;

	printf("%7u %6zu  %-10s %9.3f %9.3f %9.3f %9.3f %7.2f  %s\n", size, n,
	       bench_weights_name(weights), ours.least_ms, ours.median_ms,
	       textbook.least_ms, textbook.median_ms,
	       textbook.least_ms / ours.least_ms, same ? "yes" : "NO");
	json_array_append_new(rows, json_pack(
		"{s:i, s:i, s:s, s:f, s:f, s:f, s:f, s:b}", "size", (int)size,
		"backends", (int)n, "weights", bench_weights_name(weights),
		"least_ms", ours.least_ms, "median_ms", ours.median_ms,
		"textbook_least_ms", textbook.least_ms, "textbook_median_ms",
		textbook.median_ms, "identical", same));
}

json_t *bench_maglev(bool *identical)
{
	static const struct {
		uint32_t size;
		size_t n;
	} sizes[] = {
		{ 65537, 100 }, { 65537, 1000 }, { 655373, 10000 },
	};
	json_t *rows = json_array();

	printf("maglev: time of a build, ms, beside the textbook\n"
	       "   size      N  weights        least    median  textbook    "
	       "median   ratio  same slots\n");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int w = BENCH_EQUAL; w <= BENCH_DISTINCT; w++)
			maglev_row(rows, sizes[i].n, sizes[i].size, w,
				   identical);
	return rows;
}

static void algorithm_row(json_t *rows, struct table_params params, size_t n,
			  enum bench_weights weights)
{
	struct bench_time time;
	char name[32];

	bench_set_fill(&build.set, n, weights);
	build.params = params;
	time = bench_measure(run_build, &build);
	bench_algorithm_name(&params, name);
	printf("%7u %6zu  %-10s %-12s %9.3f %9.3f\n", params.size, n,
	       bench_weights_name(weights), name, time.least_ms,
	       time.median_ms);
	json_array_append_new(rows, json_pack(
		"{s:i, s:i, s:s, s:s, s:f, s:f}", "size", (int)params.size,
		"backends", (int)n, "weights", bench_weights_name(weights),
		"algorithm", name, "least_ms", time.least_ms, "median_ms",
		time.median_ms));
}

json_t *bench_algorithms(void)
{
	static const struct table_params params[] = {
		{ TABLE_MAGLEV, 0, 0, 0 },
		{ TABLE_CAPPED, 0, 0, 0 },
		{ TABLE_CAPPED, 0, 1, 0 },
		{ TABLE_RING, 0, 0, 0 },
		{ TABLE_RENDEZVOUS, 0, 0, 0 },
	};
	static const struct {
		uint32_t size;
		size_t n;
		enum bench_weights weights;
	} cases[] = {
		{ 65537, 100, BENCH_EQUAL },
		{ 65537, 1000, BENCH_EQUAL },
		{ 65537, 1000, BENCH_MIXED },
		{ 655373, 1000, BENCH_EQUAL },
	};
	json_t *rows = json_array();

	printf("\ntime of a build by algorithm, ms\n"
	       "   size      N  weights    algorithm        least    median\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (size_t a = 0; a < sizeof(params) / sizeof(params[0]); a++) {
			struct table_params p = params[a];

			p.size = cases[i].size;
			algorithm_row(rows, p, cases[i].n, cases[i].weights);
		}
	return rows;
}
