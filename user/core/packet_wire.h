/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_PACKET_WIRE_H
#define FAIRLEAD_PACKET_WIRE_H

/* Numbers on the wire, and what packet*.c share. Private to packet*.c. */

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "addr.h"
#include "packet.h"

#define WIRE_IPV4 0x0800
#define WIRE_IPV6 0x86dd
#define WIRE_VLAN 0x8100
#define WIRE_QINQ 0x88a8
#define WIRE_ARP 0x0806

#define WIRE_ETH_SIZE 14
#define WIRE_TAG_SIZE 4
#define WIRE_DONT_FRAGMENT 0x4000
#define WIRE_MORE_FRAGMENTS 0x2000
#define WIRE_VLAN_TAGS_MAX 2

static inline unsigned int wire16(const uint8_t *at)
{
	return (unsigned int)at[0] << 8 | at[1];
}

static inline uint32_t wire32(const uint8_t *at)
{
	return (uint32_t)wire16(at) << 16 | wire16(at + 2);
}

static inline void wire_set16(uint8_t *at, unsigned int value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static inline void wire_set32(uint8_t *at, uint32_t value)
{
	wire_set16(at, value >> 16);
	wire_set16(at + 2, value & 0xffff);
}

/* RFC 1071: the sum of big-endian words; an odd last byte is padded. */
uint32_t wire_sum(uint32_t sum, const uint8_t *data, size_t size);
/* The value of a checksum field. */
uint16_t wire_sum_finish(uint32_t sum);
/* Addresses, protocol and length as TCP, UDP and ICMPv6 count them. */
uint32_t wire_sum_pseudo(const struct addr *src, const struct addr *dst,
			 uint8_t protocol, size_t size);

/* "02:00:00:00:00:01"; -EINVAL with a sentence about `what`. */
int wire_parse_mac(const char *text, const char *what, uint8_t mac[6], struct err *err);

/* IPv6 extension headers that are walked over; not the fragment header. */
bool wire_is_extension(uint8_t protocol);
/* Of such a header, by its first two bytes. */
size_t wire_extension_size(uint8_t protocol, const uint8_t *header);

#endif
