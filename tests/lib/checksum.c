// SPDX-License-Identifier: GPL-2.0-only
#include "checksum.h"

uint32_t checksum_add(uint32_t sum, const uint8_t *data, size_t length)
{
	for (size_t i = 0; i < length; i++)
		sum += i % 2 ? data[i] : (uint32_t)data[i] << 8;
	return sum;
}

uint16_t checksum_finish(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

uint16_t checksum_l4(const uint8_t *ip, uint8_t protocol, const uint8_t *l4,
		     size_t length)
{
	uint32_t sum = protocol + (uint32_t)length;

	if (ip[0] >> 4 == 4)
		sum = checksum_add(sum, ip + 12, 8);
	else
		sum = checksum_add(sum, ip + 8, 32);
	return checksum_finish(checksum_add(sum, l4, length));
}
