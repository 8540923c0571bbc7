/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TESTS_CHECKSUM_H
#define FAIRLEAD_TESTS_CHECKSUM_H

/*
 * The Internet checksum (RFC 1071), byte pair by byte pair. What it verifies
 * uses a closed form of its own, so the two share nothing.
 */

#include <stddef.h>
#include <stdint.h>

/* Sum of big-endian 16-bit words, not folded; an odd last byte is padded. */
uint32_t checksum_add(uint32_t sum, const uint8_t *data, size_t length);

/* The checksum field's value, host order. */
uint16_t checksum_finish(uint32_t sum);

/*
 * Of a TCP, UDP or ICMPv6 segment with its pseudo header; the checksum field
 * must be zero. `ip` points at the IPv4 or IPv6 header.
 */
uint16_t checksum_l4(const uint8_t *ip, uint8_t protocol, const uint8_t *l4,
		     size_t length);

#endif
