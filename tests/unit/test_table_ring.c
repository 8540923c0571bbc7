// SPDX-License-Identifier: GPL-2.0-only
/* The ring against a sorted list of all its points. */
#include "table_sets.h"

/* For the rules of one point, whose hashes no name can be made to have. */
#include "core/table_ring.c"

#define SIZE 251

struct point {
	uint64_t hash;
	size_t backend;
};

static int compare_points(const void *a, const void *b)
{
	const struct point *left = a, *right = b;

	if (left->hash != right->hash)
		return left->hash < right->hash ? -1 : 1;
	return left->backend < right->backend ? -1 : 1;
}

/* The caller frees it. The set is sorted, so a lower index is a lower name. */
static struct point *all_points(const struct set *set, uint32_t points,
				size_t *n)
{
	struct point *ring = calloc(set->sum * points, sizeof(*ring));

	assert_non_null(ring);
	*n = 0;
	for (size_t b = 0; b < set->n; b++) {
		for (uint32_t k = 0; k < set->backends[b].weight * points; k++) {
			char text[64];

			snprintf(text, sizeof(text), "%s#%u",
				 set->backends[b].name, k);
			ring[(*n)++] = (struct point){
				mix64(fnv64_text(FNV64_OFFSET, text)), b,
			};
		}
	}
	qsort(ring, *n, sizeof(*ring), compare_points);
	return ring;
}

/* First point at or after a hash, around the end. */
static size_t successor(const struct point *ring, size_t n, uint64_t hash)
{
	for (size_t i = 0; i < n; i++)
		if (ring[i].hash >= hash)
			return ring[i].backend;
	return ring[0].backend;
}

/* The smallest hash that flow_hash_slot() maps to the slot. */
static uint64_t start_of(uint32_t slot, uint32_t size)
{
	uint64_t start = (((uint64_t)slot << 32) + size - 1) / size << 32;

	assert_int_equal(flow_hash_slot(start, size), slot);
	if (slot)
		assert_int_equal(flow_hash_slot(start - 1, size), slot - 1);
	return start;
}

static void slots_belong_to_the_next_point(void **state)
{
	struct set *set = calloc(1, sizeof(*set));
	struct random random = { 11 };

	(void)state;
	for (int i = 0; i < 60; i++) {
		struct table_params params = {
			.algorithm = TABLE_RING,
			.size = i % 2 ? SIZE : 1021,
			.ring_points = 1 + random_below(&random, 40),
		};
		_cleanup_free_ struct point *ring = NULL;
		_cleanup_free_ uint16_t *slots = NULL;
		size_t n;

		set_fill(set, &random, 1 + random_below(&random, 12),
			 WEIGHTS_SMALL);
		set_sort(set);
		ring = all_points(set, params.ring_points, &n);
		slots = set_build(set, &params);
		for (uint32_t slot = 0; slot < params.size; slot++)
			assert_int_equal(slots[slot],
					 successor(ring, n,
						   start_of(slot, params.size)));
	}
	free(set);
}

/* 160 points, as said in the header; more than 100 check the digits of k. */
static void points_default_to_160(void **state)
{
	struct set *set = calloc(1, sizeof(*set));
	struct random random = { 13 };
	struct table_params params = { .algorithm = TABLE_RING, .size = 4093 };
	_cleanup_free_ uint16_t *by_default = NULL, *same = NULL, *less = NULL;

	(void)state;
	set_fill(set, &random, 20, WEIGHTS_EQUAL);
	by_default = set_build(set, &params);
	params.ring_points = 160;
	same = set_build(set, &params);
	params.ring_points = 159;
	less = set_build(set, &params);
	assert_memory_equal(by_default, same, 4093 * sizeof(*same));
	assert_memory_not_equal(by_default, less, 4093 * sizeof(*less));
	free(set);
}

/* Marks whose points come next after those of `backend`, around the end. */
static void mark_neighbours(const struct point *ring, size_t n, size_t backend,
			    bool *neighbour)
{
	for (size_t p = 0; p < n; p++) {
		size_t next = (p + 1) % n;

		if (ring[p].backend != backend)
			continue;
		while (ring[next].backend == backend)
			next = (next + 1) % n;
		neighbour[ring[next].backend] = true;
	}
}

/* It takes slots only from them, and nothing moves between others. */
static void a_new_backend_takes_only_from_its_neighbours(void **state)
{
	struct set *set = calloc(1, sizeof(*set));
	struct random random = { 12 };
	struct table_params params = { .algorithm = TABLE_RING, .size = 4093,
				       .ring_points = 1 };

	(void)state;
	for (int i = 0; i < 60; i++) {
		_cleanup_free_ struct point *ring = NULL;
		_cleanup_free_ uint16_t *before = NULL, *after = NULL;
		bool neighbour[SETS_BACKENDS_MAX] = { false };
		size_t n, added = 39;

		set_fill(set, &random, added, WEIGHTS_EQUAL);
		before = set_build(set, &params);
		set_add(set, &random, 7);
		after = set_build(set, &params);
		ring = all_points(set, params.ring_points, &n);
		mark_neighbours(ring, n, added, neighbour);
		for (uint32_t slot = 0; slot < params.size; slot++) {
			if (before[slot] == after[slot])
				continue;
			assert_int_equal(after[slot], added);
			assert_true(neighbour[before[slot]]);
		}
	}
	free(set);
}

struct small_ring {
	uint64_t first[SIZE];
	uint16_t slots[SIZE];
	struct ring ring;
};

static void small_ring_start(struct small_ring *small)
{
	small->ring = (struct ring){
		.size = SIZE, .first = small->first, .slots = small->slots,
	};
	for (uint32_t slot = 0; slot < SIZE; slot++)
		small->slots[slot] = TABLE_NONE;
}

static void points_at_one_place_go_to_the_lower_name(void **state)
{
	struct small_ring small;

	(void)state;
	small_ring_start(&small);
	ring_add_point(&small.ring, start_of(9, SIZE), 3);
	ring_add_point(&small.ring, start_of(9, SIZE), 4);
	assert_int_equal(small.slots[9], 3);
}

static void the_earlier_point_of_an_arc_wins(void **state)
{
	struct small_ring small;

	(void)state;
	small_ring_start(&small);
	ring_add_point(&small.ring, start_of(9, SIZE) + 5, 3);
	ring_add_point(&small.ring, start_of(9, SIZE) + 4, 4);
	ring_add_point(&small.ring, start_of(9, SIZE) + 6, 5);
	assert_int_equal(small.slots[9], 4);
}

static void slots_after_the_last_point_wrap_to_the_first(void **state)
{
	struct small_ring small;

	(void)state;
	small_ring_start(&small);
	ring_add_point(&small.ring, start_of(10, SIZE), 1);
	ring_add_point(&small.ring, start_of(20, SIZE), 2);
	ring_fill_gaps(&small.ring);
	for (uint32_t slot = 0; slot < SIZE; slot++)
		assert_int_equal(small.slots[slot],
				 slot > 10 && slot <= 20 ? 2 : 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_belong_to_the_next_point),
		cmocka_unit_test(points_default_to_160),
		cmocka_unit_test(a_new_backend_takes_only_from_its_neighbours),
		cmocka_unit_test(points_at_one_place_go_to_the_lower_name),
		cmocka_unit_test(the_earlier_point_of_an_arc_wins),
		cmocka_unit_test(slots_after_the_last_point_wrap_to_the_first),
	};

	return cmocka_run_group_tests_name("table ring", tests, NULL, NULL);
}
