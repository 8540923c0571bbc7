// SPDX-License-Identifier: GPL-2.0-only
#include "siphash.h"

static uint64_t read_le64(const uint8_t *bytes, size_t length)
{
	uint64_t word = 0;

	for (size_t i = 0; i < length; i++)
		word |= (uint64_t)bytes[i] << (8 * i);
	return word;
}

static uint64_t rotate(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] = rotate(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] = rotate(v[2], 32);
}

uint64_t siphash(int c, int d, const uint8_t key[16], const uint8_t *data, size_t length)
{
	/* The constants spell a sentence, eight letters each, big-endian. */
	const char *sentence = "somepseudorandomlygeneratedbytes";
	uint64_t v[4] = { 0 };

	for (int i = 0; i < 32; i++)
		v[i / 8] = v[i / 8] << 8 | (uint8_t)sentence[i];
	for (int i = 0; i < 4; i++)
		v[i] ^= read_le64(key + 8 * (i % 2), 8);

	for (size_t at = 0; at <= length; at += 8) {
		size_t left = length - at;
		uint64_t word = left >= 8 ? read_le64(data + at, 8) :
					    read_le64(data + at, left) |
						    (uint64_t)length << 56;

		v[3] ^= word;
		for (int i = 0; i < c; i++)
			sip_round(v);
		v[0] ^= word;
	}

	v[2] ^= 0xff;
	for (int i = 0; i < d; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
