// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of any set that bytes can spell: whatever is not refused with a
 * sentence is filled, equals the textbook, and stays consistent under health.
 *
 * Input: algorithm, size, slack, points, then one backend after the other:
 * length and bytes of the name, two bytes of weight, one byte of health.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/table.h"
#include "core/table_overlay.h"
#include "tests/unit/table_textbook.h"

#define BACKENDS_MAX 48
#define SLOTS_MAX 1021
#define NAME_MAX 15

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) \
	do {             \
		if (!(condition)) \
			abort(); \
	} while (0)

struct input {
	const uint8_t *data;
	size_t left;
};

struct scene {
	struct table_params params;
	size_t n;
	struct table_backend set[BACKENDS_MAX];
	char names[BACKENDS_MAX][NAME_MAX + 1];
	uint8_t shares[BACKENDS_MAX];
};

static uint8_t next_byte(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->data++;
}

static void read_backend(struct input *in, struct scene *scene)
{
	size_t i = scene->n++, length = next_byte(in) % (NAME_MAX + 1);

	for (size_t at = 0; at < length; at++)
		scene->names[i][at] = (char)next_byte(in);
	scene->set[i].name = scene->names[i];
	scene->set[i].weight = next_byte(in);
	scene->set[i].weight |= (uint32_t)next_byte(in) << 8;
	/* A quarter each: down, in part, up, and more than there is. */
	scene->shares[i] = next_byte(in);
	if (scene->shares[i] < 64)
		scene->shares[i] = 0;
	else if (scene->shares[i] < 128)
		scene->shares[i] -= 63;
}

static void read_scene(struct input *in, struct scene *scene)
{
	static const uint32_t sizes[] = { 251, 257, 509, 1021, 252, 7, 65536 };

	memset(scene, 0, sizeof(*scene));
	scene->params.algorithm = next_byte(in) % (TABLE__MAX + 1);
	scene->params.size = sizes[next_byte(in) % 7];
	scene->params.slack_percent = next_byte(in) % 128;
	/* The time of a ring grows with points times weight. */
	scene->params.ring_points = 1 + next_byte(in) % 2;
	while (in->left && scene->n < BACKENDS_MAX)
		read_backend(in, scene);
}

static int compare_backends(const void *a, const void *b)
{
	return strcmp(((const struct table_backend *)a)->name,
		      ((const struct table_backend *)b)->name);
}

static bool any_weight(const struct scene *scene)
{
	for (size_t i = 0; i < scene->n; i++)
		if (scene->set[i].weight)
			return true;
	return false;
}

static void check_filled(const struct scene *scene, const uint16_t *slots)
{
	bool any = any_weight(scene);

	for (uint32_t slot = 0; slot < scene->params.size; slot++) {
		CHECK(any == (slots[slot] != TABLE_NONE));
		CHECK(!any || slots[slot] < scene->n);
		CHECK(!any || scene->set[slots[slot]].weight);
	}
}

/* The textbook wants the set in order; owners are compared by name. */
static void check_textbook(const struct scene *scene, const uint16_t *slots)
{
	struct table_backend sorted[BACKENDS_MAX];
	uint16_t expected[SLOTS_MAX];
	uint32_t size = scene->params.size;

	memcpy(sorted, scene->set, sizeof(sorted));
	qsort(sorted, scene->n, sizeof(*sorted), compare_backends);
	if (scene->params.algorithm == TABLE_MAGLEV)
		textbook_maglev(sorted, scene->n, size, expected);
	else if (scene->params.algorithm == TABLE_CAPPED &&
		 !scene->params.slack_percent)
		textbook_capped(sorted, scene->n, size, expected);
	else
		return;
	for (uint32_t slot = 0; slot < size; slot++)
		CHECK(!strcmp(sorted[expected[slot]].name,
			      scene->set[slots[slot]].name));
}

static void check_health(const struct scene *scene, const uint16_t *base)
{
	uint16_t slots[SLOTS_MAX];
	int result = table_build_health(&scene->params, scene->set, scene->n,
					scene->shares, slots, NULL, NULL);

	CHECK(result >= 0);
	if (result == TABLE_ALL_DOWN)
		return;
	for (uint32_t slot = 0; slot < scene->params.size; slot++) {
		CHECK(slots[slot] < scene->n && scene->shares[slots[slot]]);
		if (result == TABLE_OVERLAID && scene->shares[base[slot]] >= TABLE_SHARE_FULL)
			CHECK(slots[slot] == base[slot]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	uint16_t slots[SLOTS_MAX];
	struct scene scene;
	struct err err = { 0 };

	read_scene(&in, &scene);
	if (table_build(&scene.params, scene.set, scene.n, slots, &err)) {
		CHECK(err.code < 0 && err.text[0]);
		return 0;
	}
	check_filled(&scene, slots);
	if (!any_weight(&scene))
		return 0;
	check_textbook(&scene, slots);
	check_health(&scene, slots);
	return 0;
}
