// SPDX-License-Identifier: GPL-2.0-only
#include "packet_view.h"

#include <string.h>

void view_eth(const struct packet *p, struct view_eth *out)
{
	size_t at = WIRE_ETH_SIZE - 2;

	*out = (struct view_eth){ .ethertype = wire16(p->data + at) };
	while ((out->ethertype == WIRE_VLAN || out->ethertype == WIRE_QINQ) &&
	       out->n_vlans < WIRE_VLAN_TAGS_MAX && at + 6 <= p->size) {
		out->vlan[out->n_vlans++] = wire16(p->data + at + 2);
		at += WIRE_TAG_SIZE;
		out->ethertype = wire16(p->data + at);
	}
	out->size = at + 2;
}

static void view_ip4(const uint8_t *data, size_t size, struct view_ip *out)
{
	size_t header = (data[0] & 0xf) * 4;
	unsigned int fragment = wire16(data + 6);

	if (header < 20 || header > size)
		return;
	out->family = out->src.family = out->dst.family = AF_INET;
	memcpy(&out->src.v4, data + 12, 4);
	memcpy(&out->dst.v4, data + 16, 4);
	out->tos = data[1];
	out->length = wire16(data + 2);
	out->id = wire16(data + 4);
	out->df = fragment & WIRE_DONT_FRAGMENT;
	out->more = fragment & WIRE_MORE_FRAGMENTS;
	out->offset = (fragment & 0x1fff) * 8;
	out->fragment = out->more || out->offset;
	out->ttl = data[8];
	out->protocol = data[9];
	out->header_size = header;
	out->sum_good = !wire_sum_finish(wire_sum(0, data, header));
}

static void view_extensions(const uint8_t *data, size_t size, struct view_ip *out)
{
	size_t at = 40, step;

	while (at + 8 <= size && !(out->fragment && out->offset)) {
		if (out->protocol == IPPROTO_FRAGMENT && !out->fragment) {
			out->fragment = true;
			out->offset = wire16(data + at + 2) & ~7U;
			out->more = wire16(data + at + 2) & 1;
			out->id = wire32(data + at + 4);
			step = 8;
		} else if (wire_is_extension(out->protocol)) {
			step = wire_extension_size(out->protocol, data + at);
			out->n_extensions++;
		} else {
			break;
		}
		if (at + step > size)
			break;
		out->protocol = data[at];
		at += step;
	}
	out->header_size = at;
}

static void view_ip6(const uint8_t *data, size_t size, struct view_ip *out)
{
	out->family = out->src.family = out->dst.family = AF_INET6;
	memcpy(&out->src.v6, data + 8, 16);
	memcpy(&out->dst.v6, data + 24, 16);
	out->tos = wire16(data) >> 4;
	out->label = wire32(data) & 0xfffff;
	out->length = 40 + wire16(data + 4);
	out->protocol = data[6];
	out->ttl = data[7];
	out->df = true;
	out->sum_good = true;
	view_extensions(data, size, out);
}

void view_ip(const uint8_t *data, size_t size, struct view_ip *out)
{
	*out = (struct view_ip){ 0 };
	if (size >= 20 && data[0] >> 4 == 4)
		view_ip4(data, size, out);
	else if (size >= 40 && data[0] >> 4 == 6)
		view_ip6(data, size, out);
}

static bool is_ip_of(const uint8_t *data, size_t size)
{
	struct view_ip ip;

	view_ip(data, size, &ip);
	return ip.family && ip.length == size;
}

int view_gue(const uint8_t *payload, size_t size)
{
	/* Variant 1 has the 01 of its first two bits in common with the version. */
	if (is_ip_of(payload, size))
		return 0;
	if (size > 4 && payload[0] == 0 && is_ip_of(payload + 4, size - 4))
		return 4;
	return -1;
}

bool view_l4_sum_good(const struct view_ip *ip, const uint8_t *l4, size_t size)
{
	uint32_t sum = 0;

	if (ip->protocol != IPPROTO_ICMP)
		sum = wire_sum_pseudo(&ip->src, &ip->dst, ip->protocol, size);
	return !wire_sum_finish(wire_sum(sum, l4, size));
}

const char *view_tcp_flags(uint8_t flags, char text[9])
{
	static const char letters[] = "FSRPAUEC";
	size_t n = 0;

	for (int i = 0; i < 8; i++)
		if (flags >> i & 1)
			text[n++] = letters[i];
	text[n] = '\0';
	return n ? text : "none";
}
