/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_PRIMES_H
#define FAIRLEAD_PRIMES_H

/*
 * Prime numbers for table sizes. A table's size is prime so that every step
 * from 1 to size - 1 walks through all of its slots.
 */

#include <stdbool.h>
#include <stdint.h>

bool is_prime(uint32_t n);

/* The primes around n within the allowed table sizes; 0 where there is none. */
void primes_near(uint32_t n, uint32_t *below, uint32_t *above);

/* x with a * x = 1 (mod prime), for a in 1..prime-1. */
uint32_t prime_inverse(uint32_t a, uint32_t prime);

#endif
