// SPDX-License-Identifier: GPL-2.0-only
/*
 * Few free slots: which of them would a walk reach first?
 *
 * Probing finds a free slot once in size / n tries. Looking at the n free slots
 * instead is cheaper once n is small: the steps from `next` to slot s are its
 * rank (s - next) * skip^-1 mod size.
 *
 * Ranks are compared as rank / size in a binary fraction of 64 bits: with
 * F = ceil(skip^-1 * 2^64 / size) the product (s + size - next) * F wraps around
 * at 1, and so takes the mod by itself. Its error is never negative and below
 * 2 * size < 2^21, while neighbouring ranks are 2^64 / size > 2^44 apart: the
 * order of the products is that of the ranks, exactly.
 */
#include "table_impl.h"

uint64_t table_rank_factor(uint32_t skip, uint32_t size)
{
	uint64_t inverse = prime_inverse(skip, size);
	uint64_t quotient = UINT64_MAX / size;
	uint64_t rest = UINT64_MAX % size + 1; /* size does not divide 2^64 */

	return inverse * quotient + (inverse * rest + size - 1) / size;
}

struct table_nearest table_nearest_free(const uint32_t *free, uint32_t n,
					uint32_t base, uint64_t factor)
{
	struct table_nearest even = { UINT64_MAX, 0 }, odd = even;
	uint32_t i = 0;

	/* Two searches side by side: each waits for its own minimum only. */
	for (; i + 1 < n; i += 2) {
		uint64_t rank = (free[i] + base) * factor;
		uint64_t rank2 = (free[i + 1] + base) * factor;

		even.at = rank < even.rank ? i : even.at;
		even.rank = rank < even.rank ? rank : even.rank;
		odd.at = rank2 < odd.rank ? i + 1 : odd.at;
		odd.rank = rank2 < odd.rank ? rank2 : odd.rank;
	}
	if (i < n && (free[i] + base) * factor < even.rank)
		even = (struct table_nearest){ (free[i] + base) * factor, i };
	return odd.rank < even.rank ? odd : even;
}

uint32_t table_list_free(const uint64_t *taken, uint32_t size, uint32_t *free)
{
	uint32_t n = 0;

	for (uint32_t word = 0; word <= size / 64; word++) {
		uint64_t left = ~taken[word];

		for (; left; left &= left - 1) {
			uint32_t slot = word * 64 +
					(uint32_t)__builtin_ctzll(left);

			/* The last word is longer than the table. */
			if (slot < size)
				free[n++] = slot;
		}
	}
	return n;
}

/* Measured best at n^2 = 3 * size, and flat around it. */
uint32_t table_few_free(uint32_t size)
{
	uint32_t few = 1;

	while ((uint64_t)(few + 1) * (few + 1) <= 3ULL * size)
		few++;
	return few < size ? few : size - 1;
}
