/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TESTS_SIPHASH_H
#define FAIRLEAD_TESTS_SIPHASH_H

/*
 * SipHash over any bytes, with c rounds a word and d at the end, written from the
 * paper (Aumasson and Bernstein, 2012) for comparison with include/flow_hash.h, of
 * which it uses nothing.
 */

#include <stddef.h>
#include <stdint.h>

uint64_t siphash(int c, int d, const uint8_t key[16], const uint8_t *data, size_t length);

#endif
