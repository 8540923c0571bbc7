// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whose turn is it: the exact order of weighted turns, see table_impl.h.
 *
 * One class (equal weights) takes turns round by round, and needs no times. The
 * turns of each of several classes ascend by themselves, so a window is as
 * many sorted runs as it has classes, and little is left to sort with a few.
 * Many classes are spread over buckets of time first. A class adds the quotient
 * and the remainder of its step, which gives the exact floor of each time
 * without a division.
 */
#include "table_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_TURNS 512
#define ROUND_TURNS_MIN 64
#define MERGE_CLASSES_MAX 8
#define INSERTION_MAX 16

struct turn_class {
	uint64_t time, step;          /* whole part, in units of 2^-scale */
	uint32_t rest, step_rest;     /* remainder over weight */
	uint32_t weight;
	uint32_t first, count;        /* in turns->members */
};

/* Order members by weight, each weight in member order. */
static void group_members(const struct table_member *members, size_t n,
			  struct turns *turns)
{
	for (size_t i = 0; i < n; i++)
		turns->buffer[i] = (uint64_t)members[i].weight << 16 | i;
	sort_u64(turns->buffer, turns->scratch, n);
	for (size_t i = 0; i < n; i++)
		turns->members[i] = (uint32_t)turns->buffer[i];
}

static size_t count_classes(const uint32_t *members, size_t n)
{
	size_t count = 1;

	for (size_t i = 1; i < n; i++)
		count += members[i] >> 16 != members[i - 1] >> 16;
	return count;
}

static void fill_classes(struct turns *turns, size_t n)
{
	struct turn_class *class = turns->classes;
	unsigned int scale = turns->scale;

	for (size_t i = 0; i < n; i++) {
		uint32_t weight = turns->members[i] >> 16;

		if (i && turns->members[i - 1] >> 16 == weight) {
			class[-1].count++;
			continue;
		}
		/* Turn 0 comes at 1 / (2 * weight), the next 1 / weight on. */
		*class++ = (struct turn_class){
			.time = (1ULL << (scale - 1)) / weight,
			.rest = (uint32_t)((1ULL << (scale - 1)) % weight),
			.step = (1ULL << scale) / weight,
			.step_rest = (uint32_t)((1ULL << scale) % weight),
			.weight = weight,
			.first = (uint32_t)i,
			.count = 1,
		};
	}
}

static unsigned int bits_of(uint32_t value)
{
	return value ? 32 - (unsigned int)__builtin_clz(value) : 0;
}

/* So long that all members together take WINDOW_TURNS turns, or one each. */
static void set_span(struct turns *turns)
{
	uint64_t sum = 0, n = 0;

	for (size_t i = 0; i < turns->n_classes; i++) {
		const struct turn_class *class = &turns->classes[i];

		n += class->count;
		sum += (uint64_t)class->count * class->weight;
	}
	if (n < WINDOW_TURNS)
		n = WINDOW_TURNS;
	/* There is a member, and none weighs nothing: table_impl.h. */
	/* cppcheck-suppress zerodiv */
	turns->span = (n << turns->scale) / sum;
	if (!turns->span)
		turns->span = 1;
}

int turns_new(const struct table_member *members, size_t n, struct turns *out)
{
	/* A window of length L holds at most weight * L + 1 turns of each. */
	size_t room = 2 * n + WINDOW_TURNS;
	struct turns turns = {
		.members = malloc(n * sizeof(*turns.members)),
		.buffer = malloc(room * sizeof(*turns.buffer)),
		.scratch = malloc(room * sizeof(*turns.scratch)),
		.buckets = malloc((room + 1) * sizeof(*turns.buckets)),
		.order = malloc(room * sizeof(*turns.order)),
	};

	if (!turns.members || !turns.buffer || !turns.scratch ||
	    !turns.buckets || !turns.order) {
		turns_done(&turns);
		return -ENOMEM;
	}

	group_members(members, n, &turns);
	turns.n_classes = count_classes(turns.members, n);
	turns.classes = calloc(turns.n_classes, sizeof(*turns.classes));
	if (!turns.classes) {
		turns_done(&turns);
		return -ENOMEM;
	}

	turns.scale = 1 + 2 * bits_of(turns.members[n - 1] >> 16);
	fill_classes(&turns, n);
	set_span(&turns);
	*out = turns;
	return 0;
}

void turns_done(struct turns *turns)
{
	free(turns->classes);
	free(turns->members);
	free(turns->buffer);
	free(turns->scratch);
	free(turns->buckets);
	free(turns->order);
	*turns = (struct turns){ 0 };
}

static void class_keep(struct turns *turns, struct turn_class *class,
		       const bool *open)
{
	uint32_t *member = turns->members + class->first;
	uint32_t count = 0;

	for (uint32_t i = 0; i < class->count; i++)
		if (open[(uint16_t)member[i]])
			member[count++] = member[i];
	class->count = count;
}

void turns_keep(struct turns *turns, const bool *open)
{
	size_t n = 0;

	for (size_t i = 0; i < turns->n_classes; i++) {
		class_keep(turns, &turns->classes[i], open);
		if (turns->classes[i].count)
			turns->classes[n++] = turns->classes[i];
	}
	turns->n_classes = n;
	turns->n_round = 0;
	set_span(turns);
}

static void class_advance(struct turn_class *class)
{
	class->time += class->step;
	class->rest += class->step_rest;
	if (class->rest >= class->weight) {
		class->rest -= class->weight;
		class->time++;
	}
}

/* The class's turns before the end of the window; returns how many. */
static size_t class_take(struct turns *turns, struct turn_class *class,
			 uint64_t end, uint64_t *out)
{
	const uint32_t *member = turns->members + class->first;
	size_t n = 0;

	while (class->time < end) {
		for (uint32_t i = 0; i < class->count; i++)
			out[n++] = class->time << 16 | (uint16_t)member[i];
		class_advance(class);
	}
	return n;
}

static void sort_few(uint64_t *values, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		uint64_t value = values[i];
		size_t at = i;

		for (; at > 0 && values[at - 1] > value; at--)
			values[at] = values[at - 1];
		values[at] = value;
	}
}

/*
 * From buffer into scratch. As many buckets as turns, each for an equal part of
 * the window's time; most get one turn or two. Many turns at one time meet in
 * one bucket, which is why a bucket may be large.
 */
static void sort_by_buckets(struct turns *turns, size_t n)
{
	uint64_t start = turns->window - turns->span;
	uint64_t factor = ((uint64_t)n << 32) / turns->span;
	uint32_t *ends = turns->buckets;
	size_t from = 0;

	memset(ends, 0, (n + 1) * sizeof(*ends));
	for (size_t i = 0; i < n; i++)
		ends[(((turns->buffer[i] >> 16) - start) * factor >> 32) + 1]++;
	for (size_t i = 1; i <= n; i++)
		ends[i] += ends[i - 1];
	/* ends[b] is where bucket b begins, and in the end where it ends. */
	for (size_t i = 0; i < n; i++) {
		uint64_t turn = turns->buffer[i];

		turns->scratch[ends[((turn >> 16) - start) * factor >> 32]++] =
			turn;
	}
	for (size_t bucket = 0; bucket < n; bucket++) {
		size_t count = ends[bucket] - from;

		if (count <= INSERTION_MAX)
			sort_few(turns->scratch + from, count);
		else
			sort_u64(turns->scratch + from, turns->buffer, count);
		from = ends[bucket];
	}
}

/* A round, or several of few members. */
static size_t fill_round(struct turns *turns)
{
	const struct turn_class *class = turns->classes;
	size_t n = 0;

	do {
		for (uint32_t i = 0; i < class->count; i++)
			turns->order[n++] =
				(uint16_t)turns->members[class->first + i];
	} while (n < ROUND_TURNS_MIN);
	return n;
}

static size_t fill_window(struct turns *turns)
{
	size_t n = 0;

	while (!n) {
		turns->window += turns->span;
		for (size_t i = 0; i < turns->n_classes; i++)
			n += class_take(turns, &turns->classes[i],
					turns->window, turns->buffer + n);
	}
	return n;
}

size_t turns_next(struct turns *turns)
{
	const uint64_t *sorted = turns->buffer;
	size_t n;

	if (turns->n_round)
		return turns->n_round;
	if (turns->n_classes == 1) {
		turns->n_round = fill_round(turns);
		return turns->n_round;
	}

	n = fill_window(turns);
	if (turns->n_classes > MERGE_CLASSES_MAX) {
		sort_by_buckets(turns, n);
		sorted = turns->scratch;
	} else {
		sort_u64(turns->buffer, turns->scratch, n);
	}
	for (size_t i = 0; i < n; i++)
		turns->order[i] = (uint16_t)sorted[i];
	return n;
}
