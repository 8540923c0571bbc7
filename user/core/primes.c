// SPDX-License-Identifier: GPL-2.0-only
#include "primes.h"

#include "abi.h"

bool is_prime(uint32_t n)
{
	if (n < 4)
		return n >= 2;
	if (n % 2 == 0 || n % 3 == 0)
		return false;

	/* Every other prime is one below or one above a multiple of six. */
	for (uint32_t d = 5; (uint64_t)d * d <= n; d += 6)
		if (n % d == 0 || n % (d + 2) == 0)
			return false;
	return true;
}

static uint32_t prime_below(uint32_t n)
{
	if (n > TABLE_SIZE_MAX)
		n = TABLE_SIZE_MAX + 1;
	while (n-- > TABLE_SIZE_MIN)
		if (is_prime(n))
			return n;
	return 0;
}

static uint32_t prime_above(uint32_t n)
{
	if (n < TABLE_SIZE_MIN)
		n = TABLE_SIZE_MIN - 1;
	while (n < TABLE_SIZE_MAX)
		if (is_prime(++n))
			return n;
	return 0;
}

void primes_near(uint32_t n, uint32_t *below, uint32_t *above)
{
	*below = prime_below(n);
	*above = prime_above(n);
}

uint32_t prime_inverse(uint32_t a, uint32_t prime)
{
	/* Extended Euclid: x * a = r and next_x * a = next_r (mod prime). */
	int64_t x = 0, next_x = 1;
	uint32_t r = prime, next_r = a;

	while (next_r) {
		uint32_t quotient = r / next_r;
		uint32_t rest = r % next_r;
		int64_t step = x - (int64_t)quotient * next_x;

		r = next_r;
		next_r = rest;
		x = next_x;
		next_x = step;
	}
	return x < 0 ? (uint32_t)(x + prime) : (uint32_t)x;
}
