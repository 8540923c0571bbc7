/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TEST_TABLE_TEXTBOOK_H
#define FAIRLEAD_TEST_TABLE_TEXTBOOK_H

/*
 * The plain builders, as one would write them down from the rules: yardstick of
 * the bench and judge of the fast ones in tests. They share no code with
 * user/core but the type of their arguments.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/table.h"

static inline uint64_t textbook_hash(uint64_t seed, const char *name)
{
	uint64_t h = 0xcbf29ce484222325ULL ^ seed;

	for (; *name; name++) {
		h ^= (unsigned char)*name;
		h *= 0x100000001b3ULL;
	}
	return h ^ (h >> 32);
}

/* Backend's next free slot, at or after *next; *next moves behind it. */
static inline uint32_t textbook_take(uint32_t *next, uint32_t skip,
				     uint32_t size, const uint16_t *slots)
{
	uint32_t slot = *next;

	while (slots[slot] != TABLE_NONE)
		slot = (slot + skip) % size;
	*next = (slot + skip) % size;
	return slot;
}

/*
 * Whose turn comes first: the least (2k + 1) / (2w), ties by index. Fractions
 * are compared by cross multiplication.
 */
static inline size_t textbook_turn(const struct table_backend *set, size_t n,
				   const uint32_t *turns)
{
	size_t first = n;

	for (size_t i = 0; i < n; i++) {
		if (!set[i].weight)
			continue;
		if (first == n ||
		    (2ULL * turns[i] + 1) * set[first].weight <
			    (2ULL * turns[first] + 1) * set[i].weight)
			first = i;
	}
	return first;
}

struct textbook {
	uint32_t *next, *skip, *turns;
};

static inline void textbook_start(struct textbook *t,
				  const struct table_backend *set, size_t n,
				  uint32_t size, uint16_t *slots)
{
	t->next = calloc(n, sizeof(*t->next));
	t->skip = calloc(n, sizeof(*t->skip));
	t->turns = calloc(n, sizeof(*t->turns));
	if (!t->next || !t->skip || !t->turns)
		abort();
	for (size_t i = 0; i < n; i++) {
		t->next[i] = textbook_hash(0x9e3779b9, set[i].name) % size;
		t->skip[i] = textbook_hash(0x85ebca6b, set[i].name) %
				     (size - 1) + 1;
	}
	for (uint32_t slot = 0; slot < size; slot++)
		slots[slot] = TABLE_NONE;
}

static inline void textbook_end(struct textbook *t)
{
	free(t->next);
	free(t->skip);
	free(t->turns);
}

/* maglev with weights, in the given order. O(n) a turn. */
static inline void textbook_maglev(const struct table_backend *set, size_t n,
				   uint32_t size, uint16_t *slots)
{
	struct textbook t;

	textbook_start(&t, set, n, size, slots);
	for (uint32_t filled = 0; filled < size; filled++) {
		size_t i = textbook_turn(set, n, t.turns);

		slots[textbook_take(&t.next[i], t.skip[i], size, slots)] =
			(uint16_t)i;
		t.turns[i]++;
	}
	textbook_end(&t);
}

/* maglev with equal weights, as in the paper: round after round. */
static inline void textbook_maglev_equal(const struct table_backend *set,
					 size_t n, uint32_t size,
					 uint16_t *slots)
{
	struct textbook t;
	uint32_t filled = 0;

	textbook_start(&t, set, n, size, slots);
	while (filled < size) {
		for (size_t i = 0; i < n && filled < size; i++, filled++)
			slots[textbook_take(&t.next[i], t.skip[i], size,
					    slots)] = (uint16_t)i;
	}
	textbook_end(&t);
}

static inline bool textbook_before(const struct table_backend *set,
				   const uint32_t *turns, size_t a, size_t b)
{
	uint64_t left = (2ULL * turns[a] + 1) * set[b].weight;
	uint64_t right = (2ULL * turns[b] + 1) * set[a].weight;

	return left != right ? left < right : a < b;
}

/* Sift heap[at] down; on top is the backend whose turn comes first. */
static inline void textbook_sift(const struct table_backend *set,
				 const uint32_t *turns, size_t *heap, size_t n,
				 size_t at)
{
	for (;;) {
		size_t first = at, swap = heap[at];

		for (size_t i = 2 * at + 1; i < n && i <= 2 * at + 2; i++)
			if (textbook_before(set, turns, heap[i], heap[first]))
				first = i;
		if (first == at)
			return;
		heap[at] = heap[first];
		heap[first] = swap;
		at = first;
	}
}

/* textbook_maglev() with the turns in a heap: a fair yardstick of speed. */
static inline void textbook_maglev_heap(const struct table_backend *set,
					size_t n, uint32_t size,
					uint16_t *slots)
{
	struct textbook t;
	size_t *heap = calloc(n, sizeof(*heap)), used = 0;

	if (!heap)
		abort();
	textbook_start(&t, set, n, size, slots);
	for (size_t i = 0; i < n; i++)
		if (set[i].weight)
			heap[used++] = i;
	for (size_t at = used; at-- > 0;)
		textbook_sift(set, t.turns, heap, used, at);
	for (uint32_t filled = 0; filled < size; filled++) {
		size_t i = heap[0];

		slots[textbook_take(&t.next[i], t.skip[i], size, slots)] =
			(uint16_t)i;
		t.turns[i]++;
		textbook_sift(set, t.turns, heap, used, 0);
	}
	free(heap);
	textbook_end(&t);
}

/* capped with an exact quota: the largest remainder is looked for n times. */
static inline void textbook_quotas(const struct table_backend *set, size_t n,
				   uint32_t size, uint32_t *quota)
{
	uint64_t sum = 0, left = size;
	bool *rounded_up = calloc(n, sizeof(*rounded_up));

	if (!rounded_up)
		abort();
	for (size_t i = 0; i < n; i++)
		sum += set[i].weight;
	for (size_t i = 0; i < n; i++) {
		quota[i] = (uint32_t)((uint64_t)size * set[i].weight / sum);
		left -= quota[i];
	}
	for (; left; left--) {
		size_t most = n;

		for (size_t i = 0; i < n; i++) {
			if (rounded_up[i])
				continue;
			if (most == n ||
			    (uint64_t)size * set[i].weight % sum >
				    (uint64_t)size * set[most].weight % sum)
				most = i;
		}
		rounded_up[most] = true;
		quota[most]++;
	}
	free(rounded_up);
}

static inline void textbook_capped(const struct table_backend *set, size_t n,
				   uint32_t size, uint16_t *slots)
{
	struct textbook t;
	uint32_t *quota = calloc(n, sizeof(*quota));
	uint32_t filled = 0;

	if (!quota)
		abort();
	textbook_start(&t, set, n, size, slots);
	textbook_quotas(set, n, size, quota);
	while (filled < size) {
		for (size_t i = 0; i < n; i++) {
			if (t.turns[i] == quota[i])
				continue;
			if (slots[t.next[i]] == TABLE_NONE) {
				slots[t.next[i]] = (uint16_t)i;
				t.turns[i]++;
				filled++;
			}
			t.next[i] = (t.next[i] + t.skip[i]) % size;
		}
	}
	free(quota);
	textbook_end(&t);
}

/* capped with slack: turns in weighted order, one look each. */
static inline void textbook_capped_slack(const struct table_backend *set,
					 size_t n, uint32_t size,
					 uint32_t slack_percent,
					 uint16_t *slots)
{
	struct textbook t;
	uint32_t *owned = calloc(n, sizeof(*owned));
	uint32_t filled = 0;
	uint64_t sum = 0;

	if (!owned)
		abort();
	textbook_start(&t, set, n, size, slots);
	for (size_t i = 0; i < n; i++)
		sum += set[i].weight;
	while (filled < size) {
		size_t i = textbook_turn(set, n, t.turns);
		/* owned < size * weight * (100 + slack) / (100 * sum) */
		bool open = owned[i] * 100 * sum <
			    (uint64_t)size * set[i].weight *
				    (100 + slack_percent);

		t.turns[i]++;
		if (!open)
			continue;
		if (slots[t.next[i]] == TABLE_NONE) {
			slots[t.next[i]] = (uint16_t)i;
			owned[i]++;
			filled++;
		}
		t.next[i] = (t.next[i] + t.skip[i]) % size;
	}
	free(owned);
	textbook_end(&t);
}

#endif
