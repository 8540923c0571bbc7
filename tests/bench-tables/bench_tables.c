// SPDX-License-Identifier: GPL-2.0-only
#include "bench_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RUNS_MIN 7
#define RUNS_MAX 400
#define ENOUGH_MS 400

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

struct bench_time bench_measure(bench_work *work, void *context)
{
	double times[RUNS_MAX], begin = now_ms();
	int runs = 0;

	while (runs < RUNS_MAX &&
	       (runs < RUNS_MIN || now_ms() - begin < ENOUGH_MS)) {
		double start = now_ms();

		work(context);
		times[runs++] = now_ms() - start;
		/* A slow case says enough in fewer runs. */
		if (now_ms() - begin > 8 * ENOUGH_MS)
			break;
	}
	qsort(times, (size_t)runs, sizeof(*times), compare_doubles);
	return (struct bench_time){ times[0], times[runs / 2] };
}

static int compare_backends(const void *a, const void *b)
{
	return strcmp(((const struct table_backend *)a)->name,
		      ((const struct table_backend *)b)->name);
}

static uint32_t weight_of(enum bench_weights weights, size_t i, size_t n)
{
	switch (weights) {
	case BENCH_LOPSIDED:
		return i == n / 2 ? 10000 : 1;
	case BENCH_MIXED:
		return 1 + i % 10;
	case BENCH_DISTINCT:
		return (uint32_t)i + 1;
	default:
		return 1;
	}
}

void bench_set_fill(struct bench_set *set, size_t n, enum bench_weights weights)
{
	set->n = n;
	for (size_t i = 0; i < n; i++) {
		snprintf(set->names[i], sizeof(set->names[i]), "10.%zu.%zu.%zu",
			 i >> 16, i >> 8 & 255, i & 255);
		set->backends[i] = (struct table_backend){
			set->names[i], weight_of(weights, i, n),
		};
	}
	qsort(set->backends, n, sizeof(set->backends[0]), compare_backends);
}

const char *bench_weights_name(enum bench_weights weights)
{
	static const char *const names[] = {
		[BENCH_EQUAL] = "equal",
		[BENCH_LOPSIDED] = "one 10000",
		[BENCH_MIXED] = "1 to 10",
		[BENCH_DISTINCT] = "1 to N",
	};

	return names[weights];
}

void bench_build(const struct table_params *params,
		 const struct table_backend *set, size_t n, uint16_t *slots)
{
	struct err err;

	if (!table_build(params, set, n, slots, &err))
		return;
	fprintf(stderr, "bench-tables: %s\n", err.text);
	exit(1);
}

const char *bench_algorithm_name(const struct table_params *params,
				 char text[32])
{
	const char *name = table_algorithm_name(params->algorithm);

	if (params->slack_percent)
		snprintf(text, 32, "%s %u %%", name, params->slack_percent);
	else
		snprintf(text, 32, "%s", name);
	return text;
}

int main(int argc, char **argv)
{
	bool identical = true;
	json_t *root = json_object();
	int ret = 0;

	if (argc > 2) {
		fprintf(stderr, "usage: bench_tables [FILE.json]\n");
		return 64;
	}

	json_object_set_new(root, "maglev", bench_maglev(&identical));
	json_object_set_new(root, "algorithms", bench_algorithms());
	json_object_set_new(root, "disruption", bench_disruption());
	json_object_set_new(root, "overlay", bench_overlay());
	json_object_set_new(root, "climb", bench_climb());
	json_object_set_new(root, "identical", json_boolean(identical));
	if (argc == 2 && json_dump_file(root, argv[1], JSON_INDENT(2))) {
		fprintf(stderr, "bench-tables: cannot write '%s'\n", argv[1]);
		ret = 1;
	}
	json_decref(root);
	if (!identical) {
		fprintf(stderr, "bench-tables: a table differs from the "
				"textbook's\n");
		ret = 1;
	}
	return ret;
}
