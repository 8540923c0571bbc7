// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sorting for the table builders. Their inputs are mostly sorted already (a
 * checked configuration, the turns of equal backends), so both sorts look for
 * what is in order first.
 */
#include "table_impl.h"

#include <errno.h>
#include <string.h>

#include "cleanup.h"

/* End of the ascending run that starts at `from`; n when from is n. */
static size_t run_end(const uint64_t *values, size_t from, size_t n)
{
	if (from >= n)
		return n;
	while (++from < n && values[from - 1] <= values[from])
		;
	return from;
}

static void merge(const uint64_t *left, const uint64_t *left_end,
		  const uint64_t *right, const uint64_t *right_end,
		  uint64_t *out)
{
	while (left < left_end && right < right_end) {
		bool take_right = *right < *left;

		*out++ = take_right ? *right : *left;
		right += take_right;
		left += !take_right;
	}
	while (left < left_end)
		*out++ = *left++;
	while (right < right_end)
		*out++ = *right++;
}

/* Merge each run with its neighbour. */
static void merge_runs(const uint64_t *from, uint64_t *to, size_t n)
{
	size_t start = 0;

	while (start < n) {
		size_t middle = run_end(from, start, n);
		size_t end = run_end(from, middle, n);

		merge(from + start, from + middle, from + middle, from + end,
		      to + start);
		start = end;
	}
}

void sort_u64(uint64_t *values, uint64_t *scratch, size_t n)
{
	uint64_t *from = values, *to = scratch;

	while (run_end(from, 0, n) < n) {
		uint64_t *previous = from;

		merge_runs(from, to, n);
		from = to;
		to = previous;
	}
	if (from != values)
		memcpy(values, from, n * sizeof(*values));
}

/* Bytes that all names begin with. */
static size_t common_prefix(const struct table_backend *set, size_t n)
{
	size_t common = strlen(set[0].name);

	for (size_t i = 1; i < n; i++) {
		size_t same = 0;

		while (same < common && set[i].name[same] == set[0].name[same])
			same++;
		common = same;
	}
	return common;
}

/* The first six bytes, so that keys compare as these bytes do. */
static uint64_t name_key(const char *name)
{
	uint64_t key = 0;

	for (int i = 0; i < 6; i++) {
		key = key << 8 | (uint8_t)*name;
		if (*name)
			name++;
	}
	return key;
}

static int compare_names(const void *a, const void *b, void *context)
{
	const struct table_backend *set = context;

	return strcmp(set[*(const uint16_t *)a].name,
		      set[*(const uint16_t *)b].name);
}

static bool names_ascend(const struct table_backend *set, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (strcmp(set[i - 1].name, set[i].name) >= 0)
			return false;
	return true;
}

/* Names whose keys are equal are sorted again, as wholes. */
static void sort_equal_keys(const struct table_backend *set,
			    const uint64_t *keys, size_t n, uint16_t *order)
{
	size_t start = 0;

	for (size_t end = 1; end <= n; end++) {
		if (end < n && keys[end] >> 16 == keys[start] >> 16)
			continue;
		if (end - start > 1)
			qsort_r(order + start, end - start, sizeof(*order),
				compare_names, (void *)(uintptr_t)set);
		start = end;
	}
}

static size_t find_duplicate(const struct table_backend *set,
			     const uint16_t *order, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (!strcmp(set[order[i - 1]].name, set[order[i]].name))
			return i;
	return 0;
}

int table_sort(const struct table_backend *set, size_t n, uint16_t *order,
	       size_t *duplicate)
{
	_cleanup_free_ uint64_t *keys = NULL;
	size_t prefix;

	*duplicate = 0;
	for (size_t i = 0; i < n; i++)
		order[i] = (uint16_t)i;
	if (names_ascend(set, n))
		return 0;

	keys = malloc(2 * n * sizeof(*keys));
	if (!keys)
		return -ENOMEM;

	prefix = common_prefix(set, n);
	for (size_t i = 0; i < n; i++)
		keys[i] = name_key(set[i].name + prefix) << 16 | i;
	sort_u64(keys, keys + n, n);
	for (size_t i = 0; i < n; i++)
		order[i] = (uint16_t)keys[i];
	sort_equal_keys(set, keys, n, order);
	*duplicate = find_duplicate(set, order, n);
	return 0;
}
