// SPDX-License-Identifier: GPL-2.0-only
#include "frame.h"

#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>

#include "checksum.h"

static const uint8_t OUR_MAC[6] = { 0x02, 0, 0, 0, 0, 0x01 };
static const uint8_t PEER_MAC[6] = { 0x02, 0, 0, 0, 0, 0x02 };

/* The end of a frame that is being written. */
struct writer {
	struct frame *frame;
};

static void put8(struct writer *w, uint8_t value)
{
	if (w->frame->size >= FRAME_MAX)
		abort();
	w->frame->data[w->frame->size++] = value;
}

static void put16(struct writer *w, uint16_t value)
{
	put8(w, value >> 8);
	put8(w, value & 0xff);
}

static void put32(struct writer *w, uint32_t value)
{
	put16(w, value >> 16);
	put16(w, value & 0xffff);
}

static void put_bytes(struct writer *w, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put8(w, bytes[i]);
}

static void set16(uint8_t *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = value & 0xff;
}

static uint16_t get16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

void frame_address(const char *text, bool v6, uint8_t *bytes)
{
	if (inet_pton(v6 ? AF_INET6 : AF_INET, text, bytes) != 1) {
		fprintf(stderr, "not an address: '%s'\n", text);
		abort();
	}
}

static void put_address(struct writer *w, const char *text, bool v6)
{
	uint8_t bytes[16];

	frame_address(text, v6, bytes);
	put_bytes(w, bytes, v6 ? 16 : 4);
}

static void put_ethernet(struct writer *w, const uint8_t *dst,
			 const uint8_t *src, uint16_t ethertype)
{
	put_bytes(w, dst, 6);
	put_bytes(w, src, 6);
	put16(w, ethertype);
}

#define TAG_SIZE 4

/* A service tag and a customer tag, IEEE 802.1ad and 802.1Q; or the latter. */
static void put_tags(struct writer *w, unsigned int n)
{
	size_t type = w->frame->size - 2;
	uint8_t ethertype[2];

	memcpy(ethertype, w->frame->data + type, 2);
	w->frame->size = type;
	for (unsigned int i = 0; i < n; i++) {
		put16(w, i + 1 < n ? 0x88a8 : 0x8100);
		put16(w, 0x6000 + 100 * (i + 1));
	}
	put_bytes(w, ethertype, 2);
}

size_t frame_l3(const struct frame *frame)
{
	size_t type = ETH_SIZE - 2;

	while (type + TAG_SIZE + 2 <= frame->size && type < ETH_SIZE + TAG_SIZE &&
	       (get16(frame->data + type) == 0x8100 || get16(frame->data + type) == 0x88a8))
		type += TAG_SIZE;
	return type + 2;
}

static void put_tcp(struct writer *w, uint16_t sport, uint16_t dport,
		    uint8_t flags)
{
	put16(w, sport);
	put16(w, dport);
	put32(w, 0x01020304);
	put32(w, flags & TCP_ACK ? 0x05060708 : 0);
	put8(w, 5 << 4);
	put8(w, flags);
	put16(w, 0xfaf0);
	put32(w, 0); /* checksum, urgent pointer */
}

static void put_udp(struct writer *w, uint16_t sport, uint16_t dport,
		    uint16_t length)
{
	put16(w, sport);
	put16(w, dport);
	put16(w, length);
	put16(w, 0);
}

static void put_payload(struct writer *w, size_t n, const char *head)
{
	unsigned int byte;
	size_t i = 0;
	int used;

	for (; head && sscanf(head, " %2x%n", &byte, &used) == 1 && i < n; i++) {
		put8(w, byte);
		head += used;
	}
	for (; i < n; i++)
		put8(w, 'a' + i % 26);
}

static void put_ip4(struct writer *w, uint8_t version_ihl, uint8_t tos,
		    uint16_t length, uint16_t id, uint16_t fragment,
		    uint8_t protocol, const char *src, const char *dst)
{
	put8(w, version_ihl);
	put8(w, tos);
	put16(w, length);
	put16(w, id);
	put16(w, fragment);
	put8(w, 64);
	put8(w, protocol);
	put16(w, 0);
	put_address(w, src, false);
	put_address(w, dst, false);
}

static void put_ip6(struct writer *w, uint8_t version, uint8_t class,
		    uint16_t length, uint8_t next, const char *src,
		    const char *dst)
{
	put32(w, (uint32_t)version << 28 | (uint32_t)class << 20);
	put16(w, length);
	put8(w, next);
	put8(w, 64);
	put_address(w, src, true);
	put_address(w, dst, true);
}

static size_t transport_size(uint8_t protocol)
{
	return protocol == IPPROTO_TCP ? 20 : protocol == IPPROTO_UDP ? 8 : 0;
}

/* Transport header and payload, with the checksum that receivers check. */
static void put_transport(struct writer *w, const struct frame_spec *spec,
			  const uint8_t *ip, uint8_t protocol)
{
	uint16_t sport = spec->sport ? spec->sport : CLIENT_PORT;
	uint16_t dport = spec->dport ? spec->dport : VIP_PORT;
	size_t start = w->frame->size;
	uint8_t *l4 = w->frame->data + start;
	size_t length;

	if (protocol == IPPROTO_TCP)
		put_tcp(w, sport, dport, spec->tcp_flags ? spec->tcp_flags : TCP_ACK);
	else if (protocol == IPPROTO_UDP)
		put_udp(w, sport, dport, 8 + spec->payload);
	put_payload(w, spec->payload, spec->head);

	length = w->frame->size - start;
	if (protocol == IPPROTO_TCP)
		set16(l4 + 16, checksum_l4(ip, protocol, l4, length));
	else if (protocol == IPPROTO_UDP)
		set16(l4 + 6, checksum_l4(ip, protocol, l4, length));
}

static void build_ip4(struct writer *w, const struct frame_spec *spec,
		      uint8_t protocol)
{
	uint8_t version = spec->version ? spec->version : 4;
	uint8_t ihl = spec->ihl ? spec->ihl : 5 + spec->options / 4;
	size_t header = 20 + spec->options;
	size_t length = header + transport_size(protocol) + spec->payload;
	uint8_t *ip = w->frame->data + w->frame->size;

	put_ip4(w, (uint8_t)(version << 4 | ihl), spec->tos,
		spec->ip_len ? spec->ip_len : length, spec->id, spec->fragment, protocol,
		spec->src ? spec->src : CLIENT4, spec->dst ? spec->dst : VIP4);
	for (int i = 0; i < spec->options; i++)
		put8(w, 1); /* no operation, RFC 791 */
	set16(ip + 10, checksum_finish(checksum_add(0, ip, header)));
	put_transport(w, spec, ip, protocol);
}

static uint8_t extension_protocol(char extension)
{
	switch (extension) {
	case 'h':
	case 'L':
		return IPPROTO_HOPOPTS;
	case 'd':
		return IPPROTO_DSTOPTS;
	case 'r':
		return IPPROTO_ROUTING;
	case 'f':
		return IPPROTO_FRAGMENT;
	case 'a':
		return IPPROTO_AH;
	default:
		abort();
	}
}

/* RFC 8200, section 4; RFC 4302, section 2. */
static void put_extension(struct writer *w, char extension, uint8_t next,
			  const struct frame_spec *spec)
{
	size_t bytes = extension == 'L' ? 2048 : extension == 'a' ? 16 : 8;
	bool more = spec->fragment & 0x2000;

	put8(w, next);
	if (extension == 'f') {
		put8(w, 0);
		put16(w, (uint16_t)((spec->fragment & 0x1fff) << 3 | more));
		put32(w, spec->id);
		return;
	}
	put8(w, extension == 'a' ? bytes / 4 - 2 : bytes / 8 - 1);
	for (size_t i = 2; i < bytes; i++)
		put8(w, 0); /* Pad1 each */
}

static size_t extensions_size(const char *extensions)
{
	size_t size = 0;

	for (const char *e = extensions; *e; e++)
		size += *e == 'L' ? 2048 : *e == 'a' ? 16 : 8;
	return size;
}

static void build_ip6(struct writer *w, const struct frame_spec *spec,
		      uint8_t protocol)
{
	const char *extensions = spec->extensions ? spec->extensions : "";
	size_t length = extensions_size(extensions) + transport_size(protocol) +
			spec->payload;
	uint8_t *ip = w->frame->data + w->frame->size;

	put_ip6(w, spec->version ? spec->version : 6, spec->tos,
		spec->ip_len ? spec->ip_len : length,
		*extensions ? extension_protocol(*extensions) : protocol,
		spec->src ? spec->src : CLIENT6, spec->dst ? spec->dst : VIP6);
	for (const char *e = extensions; *e; e++)
		put_extension(w, *e, e[1] ? extension_protocol(e[1]) : protocol, spec);
	put_transport(w, spec, ip, protocol);
}

void frame_build(const struct frame_spec *spec, struct frame *out)
{
	struct writer w = { out };
	uint8_t protocol = spec->protocol || spec->protocol0 ? spec->protocol :
							       IPPROTO_TCP;
	uint16_t ethertype = spec->v6 ? 0x86dd : 0x0800;

	memset(out, 0, sizeof(*out));
	put_ethernet(&w, OUR_MAC, PEER_MAC,
		     spec->ethertype ? spec->ethertype : ethertype);
	put_tags(&w, spec->tags);
	if (spec->v6)
		build_ip6(&w, spec, protocol);
	else
		build_ip4(&w, spec, protocol);
	for (int i = 0; i < spec->padding; i++)
		put8(&w, 0xee);
	if (spec->size && spec->size < out->size)
		out->size = spec->size;
}

size_t frame_ip_length(const struct frame *frame)
{
	const uint8_t *ip = frame->data + frame_l3(frame);

	return ip[0] >> 4 == 6 ? 40U + get16(ip + 4) : get16(ip + 2);
}

static uint8_t inner_tos(const uint8_t *ip)
{
	return ip[0] >> 4 == 6 ? (uint8_t)(get16(ip) >> 4) : ip[1];
}

static size_t shim_size(const struct tunnel *tunnel)
{
	switch (tunnel->kind) {
	case TUNNEL_GUE1:
		return 8;
	case TUNNEL_GRE:
		return 4;
	default:
		return tunnel->gue_port ? 12 : 0;
	}
}

/* What is between the outer IP header and the inner packet. */
static void put_shim(struct writer *w, const struct tunnel *tunnel, bool inner6,
		     uint16_t payload)
{
	if (tunnel->kind == TUNNEL_GRE) {
		put16(w, 0); /* no optional field, version 0 */
		put16(w, inner6 ? 0x86dd : 0x0800);
		return;
	}
	if (!tunnel->gue_port)
		return;
	put_udp(w, 0, tunnel->gue_port, payload);
	if (tunnel->kind == TUNNEL_GUE1)
		return;
	put8(w, 0); /* version, C bit, header length */
	put8(w, inner6 ? 41 : 4);
	put16(w, 0);
}

static void put_outer(struct writer *w, const struct tunnel *tunnel,
		      const uint8_t *inner, size_t payload)
{
	bool inner6 = inner[0] >> 4 == 6;
	uint8_t protocol = tunnel->gue_port ? 17 : inner6 ? 41 : 4;
	uint8_t *ip = w->frame->data + w->frame->size;

	if (tunnel->kind == TUNNEL_GRE)
		protocol = 47;
	if (tunnel->outer6) {
		put_ip6(w, 6, inner_tos(inner), payload, protocol, tunnel->src,
			tunnel->dst);
	} else {
		put_ip4(w, 0x45, inner_tos(inner), 20 + payload, 0, 0x4000,
			protocol, tunnel->src, tunnel->dst);
		set16(ip + 10, checksum_finish(checksum_add(0, ip, 20)));
	}
	put_shim(w, tunnel, inner6, payload);
}

void frame_wrap(const struct frame *in, const struct tunnel *tunnel,
		struct frame *out)
{
	size_t l3 = frame_l3(in);
	const uint8_t *inner = in->data + l3;
	struct writer w = { out };

	if (tunnel->kind == TUNNEL_L2) {
		*out = *in;
		memcpy(out->data, tunnel->mac_dst, 6);
		memcpy(out->data + 6, tunnel->mac_src, 6);
		return;
	}
	memset(out, 0, sizeof(*out));
	put_ethernet(&w, tunnel->mac_dst, tunnel->mac_src,
		     tunnel->outer6 ? 0x86dd : 0x0800);
	/* The tags with what is behind the MAC addresses, but for the type. */
	out->size = 12;
	put_bytes(&w, in->data + 12, l3 - ETH_SIZE);
	put16(&w, tunnel->outer6 ? 0x86dd : 0x0800);
	put_outer(&w, tunnel, inner, frame_ip_length(in) + shim_size(tunnel));
	put_bytes(&w, inner, frame_ip_length(in));
}

static size_t udp_offset(const struct frame *frame, bool outer6)
{
	return frame_l3(frame) + (outer6 ? 40 : 20);
}

void frame_copy_entropy(const struct frame *from, const struct tunnel *tunnel,
			struct frame *to)
{
	size_t udp = udp_offset(to, tunnel->outer6), l3 = frame_l3(to);

	if (tunnel->kind == TUNNEL_L2)
		return;
	if (tunnel->outer6) {
		/* The label is the low 20 bits of the first word. */
		to->data[l3 + 1] &= 0xf0;
		to->data[l3 + 1] |= from->data[l3 + 1] & 0x0f;
		memcpy(to->data + l3 + 2, from->data + l3 + 2, 2);
	}
	if (tunnel->gue_port)
		memcpy(to->data + udp, from->data + udp, 2);
}

uint32_t frame_flow_label(const struct frame *frame)
{
	const uint8_t *ip = frame->data + frame_l3(frame);

	return (ip[1] & 0x0fU) << 16 | get16(ip + 2);
}

uint16_t frame_udp_source(const struct frame *frame, bool outer6)
{
	return get16(frame->data + udp_offset(frame, outer6));
}
