// SPDX-License-Identifier: GPL-2.0-only
/* From words to bytes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "packet_spec.h"

#define PAD_BYTE 0xee /* seen when it gets where it does not belong */

/* The end of a frame that is being written; `room` was checked beforehand. */
struct builder {
	const struct packet_spec *spec;
	uint8_t *data;
	size_t size;
};

static uint8_t *put(struct builder *b, size_t n)
{
	uint8_t *at = b->data + b->size;

	memset(at, 0, n);
	b->size += n;
	return at;
}

static void put16(struct builder *b, unsigned int value)
{
	wire_set16(put(b, 2), value);
}

static void put_bytes(struct builder *b, const void *bytes, size_t n)
{
	if (n)
		memcpy(put(b, n), bytes, n);
}

static bool later_fragment(const struct packet_spec *spec)
{
	return spec->fragment && spec->offset;
}

static size_t l4_header_size(const struct packet_spec *spec)
{
	if (spec->raw || later_fragment(spec))
		return 0;
	switch (spec->protocol) {
	case IPPROTO_TCP:
		return 20;
	case IPPROTO_UDP:
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return 8;
	default:
		return 0;
	}
}

/* RFC 4302 wants whole words of 8 bytes in IPv6, hence 16. */
static size_t extension_size(uint8_t protocol)
{
	return protocol == IPPROTO_AH ? 16 : 8;
}

static size_t extensions_size(const struct packet_spec *spec)
{
	size_t size = spec->fragment ? 8 : 0;

	for (size_t i = 0; i < spec->n_extensions; i++)
		size += extension_size(spec->extensions[i]);
	return size;
}

static void put_ethernet(struct builder *b)
{
	const struct packet_spec *spec = b->spec;

	put_bytes(b, spec->dmac, sizeof(spec->dmac));
	put_bytes(b, spec->smac, sizeof(spec->smac));
	for (size_t i = 0; i < spec->n_vlans; i++) {
		put16(b, i + 1 < spec->n_vlans ? WIRE_QINQ : WIRE_VLAN);
		put16(b, spec->vlan[i]);
	}
	put16(b, spec->src.family == AF_INET ? WIRE_IPV4 : WIRE_IPV6);
}

static int or_else(int said, int usual)
{
	return said == SPEC_UNSET ? usual : said;
}

static void put_ip4(struct builder *b, size_t payload)
{
	const struct packet_spec *spec = b->spec;
	size_t size = 20 + spec->n_options;
	uint8_t *ip = put(b, size);

	ip[0] = or_else(spec->version, 4) << 4 | or_else(spec->ihl, size / 4);
	ip[1] = spec->tos;
	wire_set16(ip + 2, or_else(spec->ip_length, size + payload));
	wire_set16(ip + 4, spec->id);
	wire_set16(ip + 6, (spec->df ? WIRE_DONT_FRAGMENT : 0) |
				   (spec->more ? WIRE_MORE_FRAGMENTS : 0) |
				   spec->offset / 8);
	ip[8] = spec->ttl;
	ip[9] = spec->protocol;
	memcpy(ip + 12, &spec->src.v4, 4);
	memcpy(ip + 16, &spec->dst.v4, 4);
	memcpy(ip + 20, spec->options, spec->n_options);
	wire_set16(ip + 10, or_else(spec->ip_check,
				    wire_sum_finish(wire_sum(0, ip, size))));
}

/* The number of what follows extension i; past the last: the fragment header. */
static uint8_t next_header(const struct packet_spec *spec, size_t i)
{
	if (i < spec->n_extensions)
		return spec->extensions[i];
	return i == spec->n_extensions && spec->fragment ? IPPROTO_FRAGMENT :
							   spec->protocol;
}

static void put_extensions(struct builder *b)
{
	const struct packet_spec *spec = b->spec;
	uint8_t *header;

	for (size_t i = 0; i < spec->n_extensions; i++) {
		size_t size = extension_size(spec->extensions[i]);

		header = put(b, size);
		header[0] = next_header(spec, i + 1);
		if (spec->extensions[i] == IPPROTO_AH)
			header[1] = size / 4 - 2;
		else if (spec->extensions[i] != IPPROTO_ROUTING)
			header[2] = 1, header[3] = 4; /* PadN over what is left */
	}
	if (!spec->fragment)
		return;
	header = put(b, 8);
	header[0] = spec->protocol;
	wire_set16(header + 2, (spec->offset & ~7) | spec->more);
	wire_set32(header + 4, spec->id);
}

static void put_ip6(struct builder *b, size_t payload)
{
	const struct packet_spec *spec = b->spec;
	uint8_t *ip = put(b, 40);

	wire_set32(ip, (uint32_t)or_else(spec->version, 6) << 28 |
			       (uint32_t)spec->tos << 20 | spec->label);
	wire_set16(ip + 4, or_else(spec->ip_length, extensions_size(spec) + payload));
	ip[6] = next_header(spec, 0);
	ip[7] = spec->ttl;
	memcpy(ip + 8, &spec->src.v6, 16);
	memcpy(ip + 24, &spec->dst.v6, 16);
	put_extensions(b);
}

static void fill_l4(const struct packet_spec *spec, uint8_t *l4, size_t size)
{
	switch (spec->protocol) {
	case IPPROTO_TCP:
		wire_set32(l4 + 4, spec->seq);
		wire_set32(l4 + 8, spec->ack);
		l4[12] = 5 << 4;
		l4[13] = spec->tcp_flags;
		wire_set16(l4 + 14, spec->window);
		break;
	case IPPROTO_UDP:
		wire_set16(l4 + 4, size);
		break;
	default:
		l4[0] = spec->icmp_type;
		l4[1] = spec->icmp_code;
		wire_set32(l4 + 4, spec->icmp_rest);
		return;
	}
	wire_set16(l4, spec->sport);
	wire_set16(l4 + 2, spec->dport);
}

static uint16_t l4_checksum(const struct packet_spec *spec, const uint8_t *l4,
			    size_t size)
{
	uint32_t sum = 0;
	uint16_t check;

	if (spec->protocol != IPPROTO_ICMP)
		sum = wire_sum_pseudo(&spec->src, &spec->dst, spec->protocol, size);
	check = wire_sum_finish(wire_sum(sum, l4, size));
	/* RFC 768: a sum of zero is sent as all ones; zero says there is none. */
	return spec->protocol == IPPROTO_UDP && !check ? 0xffff : check;
}

static void put_l4(struct builder *b)
{
	const struct packet_spec *spec = b->spec;
	size_t header = l4_header_size(spec), size = header + spec->payload.size;
	uint8_t *l4 = put(b, header), *check;

	put_bytes(b, spec->payload.data, spec->payload.size);
	if (!header)
		return;

	fill_l4(spec, l4, size);
	check = l4 + (spec->protocol == IPPROTO_TCP ? 16 :
		      spec->protocol == IPPROTO_UDP ? 6 : 2);
	wire_set16(check, or_else(spec->l4_check, l4_checksum(spec, l4, size)));
}

static int check_size(const struct packet_spec *spec, size_t payload,
		      struct err *err)
{
	bool v4 = spec->src.family == AF_INET;
	size_t rest = v4 ? 20 + spec->n_options : extensions_size(spec);
	size_t frame = WIRE_ETH_SIZE + WIRE_TAG_SIZE * spec->n_vlans + rest +
		       (v4 ? 0 : 40) + payload + spec->pad;

	if (rest + payload > 65535)
		return err_set(err, -EINVAL,
			       "the IP packet would have %zu bytes; allowed: 65535",
			       rest + payload + (v4 ? 0 : 40));
	if (frame > PACKET_MAX)
		return err_set(err, -EINVAL,
			       "the frame would have %zu bytes; allowed: %d", frame,
			       PACKET_MAX);
	if (spec->cut > frame)
		return err_set(err, -EINVAL,
			       "the frame has %zu bytes and cannot be cut to %u", frame,
			       spec->cut);
	return 0;
}

int packet_build(const struct packet_spec *spec, struct packet *out,
		 struct err *err)
{
	size_t payload = l4_header_size(spec) + spec->payload.size;
	_cleanup_free_ uint8_t *data = malloc(PACKET_MAX);
	struct builder b = { spec, data, 0 };
	int rc = check_size(spec, payload, err);

	if (rc)
		return rc;
	if (!data)
		return err_set(err, -ENOMEM, "out of memory");

	if (!spec->whole)
		put_ethernet(&b);
	if (spec->src.family == AF_INET)
		put_ip4(&b, payload);
	else
		put_ip6(&b, payload);
	put_l4(&b);
	memset(put(&b, spec->pad), PAD_BYTE, spec->pad);
	return packet_copy(data, spec->cut ? spec->cut : b.size, out, err);
}
