// SPDX-License-Identifier: GPL-2.0-only
#include "packet_wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quote.h"

uint32_t wire_sum(uint32_t sum, const uint8_t *data, size_t size)
{
	size_t i;

	for (i = 0; i + 1 < size; i += 2)
		sum += wire16(data + i);
	if (i < size)
		sum += (uint32_t)data[i] << 8;
	return sum;
}

uint16_t wire_sum_finish(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

uint32_t wire_sum_pseudo(const struct addr *src, const struct addr *dst,
			 uint8_t protocol, size_t size)
{
	size_t length = src->family == AF_INET ? 4 : 16;
	uint32_t sum = protocol + (size >> 16) + (size & 0xffff);

	sum = wire_sum(sum, (const uint8_t *)&src->v4, length);
	return wire_sum(sum, (const uint8_t *)&dst->v4, length);
}

int wire_parse_mac(const char *text, const char *what, uint8_t mac[6], struct err *err)
{
	unsigned int b[6];
	int end = 0;

	if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n", &b[0], &b[1], &b[2], &b[3], &b[4],
		   &b[5], &end) != 6 || text[end])
		return err_set(err, -EINVAL,
			       "%s %s is not a MAC address; allowed: 02:00:00:00:00:01",
			       what, QUOTE(text));
	for (int i = 0; i < 6; i++)
		mac[i] = b[i];
	return 0;
}

bool wire_is_extension(uint8_t protocol)
{
	return protocol == IPPROTO_HOPOPTS || protocol == IPPROTO_ROUTING ||
	       protocol == IPPROTO_DSTOPTS || protocol == IPPROTO_AH;
}

size_t wire_extension_size(uint8_t protocol, const uint8_t *header)
{
	/* RFC 4302, section 2.2, and RFC 8200, section 4 */
	return protocol == IPPROTO_AH ? (header[1] + 2U) * 4 : (header[1] + 1U) * 8;
}

void packet_clear(struct packet *p)
{
	free(p->data);
	*p = (struct packet){ 0 };
}

int packet_copy(const void *data, size_t size, struct packet *out, struct err *err)
{
	uint8_t *copy = malloc(size + 1);

	if (!copy)
		return err_set(err, -ENOMEM, "out of memory");
	if (size)
		memcpy(copy, data, size);
	*out = (struct packet){ copy, size };
	return 0;
}
