// SPDX-License-Identifier: GPL-2.0-only
#include "icmp.h"

#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>

#include "checksum.h"

static void put(struct frame *frame, const void *bytes, size_t n)
{
	if (frame->size + n > FRAME_MAX)
		abort();
	memcpy(frame->data + frame->size, bytes, n);
	frame->size += n;
}

static void put_zeros(struct frame *frame, size_t n)
{
	static const uint8_t zeros[FRAME_MAX];

	put(frame, zeros, n);
}

static void set16(uint8_t *at, unsigned int value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static unsigned int get16(const uint8_t *at)
{
	return (unsigned int)at[0] << 8 | at[1];
}

static size_t ip_offset(const struct frame *frame)
{
	size_t at = 12;

	while (get16(frame->data + at) == 0x8100 || get16(frame->data + at) == 0x88a8)
		at += 4;
	return at + 2;
}

static size_t ip_length(const uint8_t *ip)
{
	return ip[0] >> 4 == 6 ? 40 + get16(ip + 4) : get16(ip + 2);
}

/* Of the IP header, with options; IPv6 without what extends it. */
static size_t header_size(const uint8_t *ip)
{
	return ip[0] >> 4 == 6 ? 40 : (ip[0] & 0xfU) * 4;
}

/* Lengths and checksums of the ICMP packet at ip, whose message is `length`. */
static void finish(uint8_t *ip, size_t headers, size_t length)
{
	uint8_t *icmp = ip + headers;

	set16(icmp + 2, 0);
	if (ip[0] >> 4 == 6) {
		set16(ip + 4, headers - 40 + length);
		set16(icmp + 2, checksum_l4(ip, 58, icmp, length));
		return;
	}
	set16(ip + 2, headers + length);
	set16(ip + 10, 0);
	set16(ip + 10, checksum_finish(checksum_add(0, ip, headers)));
	set16(icmp + 2, checksum_finish(checksum_add(0, icmp, length)));
}

static void put_destination_options(struct frame *frame, uint8_t next, size_t n)
{
	uint8_t header[8] = { next, (uint8_t)(n / 8 - 1), 1, 4 }; /* PadN */

	put(frame, header, sizeof(header));
	for (size_t left = n - 8; left; left -= 8)
		put(frame, (uint8_t[]){ 1, 6, 0, 0, 0, 0, 0, 0 }, 8);
}

static void put_quote(struct frame *frame, const struct icmp_spec *spec)
{
	struct frame *quoted = calloc(1, sizeof(*quoted));
	uint8_t *ip = quoted->data + ETH_SIZE;
	size_t header, l4 = spec->quote_l4 ? spec->quote_l4 : 8;

	frame_build(spec->quote, quoted);
	header = header_size(ip);
	if (spec->quote_cut_short) {
		put(frame, ip, header - 1);
	} else if (spec->quote_headers) {
		uint8_t next = ip[6];

		ip[6] = 60;
		put(frame, ip, header);
		put_destination_options(frame, next, spec->quote_headers);
		put(frame, ip + header, l4);
	} else {
		put(frame, ip, header + l4);
	}
	free(quoted);
}

static void put_ip(struct frame *frame, const struct icmp_spec *spec)
{
	uint8_t hop_limit = spec->hop_limit ? spec->hop_limit : 64;
	uint8_t ip[40] = { 0 };

	if (spec->v6) {
		ip[0] = 0x60;
		ip[1] = 0x05; /* a flow label */
		ip[6] = spec->options ? 60 : 58;
		ip[7] = hop_limit;
		frame_address(spec->src ? spec->src : CLIENT6, true, ip + 8);
		frame_address(spec->dst ? spec->dst : VIP6, true, ip + 24);
		put(frame, ip, 40);
		if (spec->options)
			put_destination_options(frame, 58, spec->options);
		return;
	}
	ip[0] = (uint8_t)(0x45 + spec->options / 4);
	ip[1] = 0x28;
	set16(ip + 4, 0xbeef);
	set16(ip + 6, spec->fragment);
	ip[8] = hop_limit;
	ip[9] = 1;
	frame_address(spec->src ? spec->src : CLIENT4, false, ip + 12);
	frame_address(spec->dst ? spec->dst : VIP4, false, ip + 16);
	put(frame, ip, 20);
	/* A source route of which some is left, RFC 791: the worst to send back. */
	if (spec->options) {
		put(frame, (uint8_t[]){ 131, spec->options, 4 }, 3);
		for (int i = 3; i < spec->options; i++)
			put(frame, (uint8_t[]){ (uint8_t)i }, 1);
	}
}

void icmp_build(const struct icmp_spec *spec, struct frame *out)
{
	uint8_t message[8] = { spec->type, spec->code };
	size_t start;

	memset(out, 0, sizeof(*out));
	put(out, (uint8_t[]){ 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2 }, 12);
	put(out, spec->v6 ? "\x86\xdd" : "\x08\x00", 2);
	put_ip(out, spec);
	start = out->size;
	set16(message + 4, spec->id);
	set16(message + 6, spec->seq);
	put(out, message, sizeof(message));
	if (spec->quote)
		put_quote(out, spec);
	else if (spec->data)
		put(out, spec->data, spec->payload);
	for (int i = 0; !spec->quote && !spec->data && i < spec->payload; i++)
		put(out, (uint8_t[]){ (uint8_t)('a' + i % 26) }, 1);

	finish(out->data + ETH_SIZE, start - ETH_SIZE, out->size - start);
	for (int i = 0; i < spec->padding; i++)
		put(out, "\xee", 1);
	if (spec->size && spec->size < out->size)
		out->size = spec->size;
}

void frame_add_tags(struct frame *frame, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		memmove(frame->data + 16, frame->data + 12, frame->size - 12);
		set16(frame->data + 12, i ? 0x88a8 : 0x8100);
		set16(frame->data + 14, 0xa000 + 100 + i);
		frame->size += 4;
	}
}

/* The start of an answer: Ethernet and tags, with the MAC addresses changed. */
static void put_ethernet_back(struct frame *out, const struct frame *in)
{
	memset(out, 0, sizeof(*out));
	put(out, in->data + 6, 6);
	put(out, in->data, 6);
	put(out, in->data + 12, ip_offset(in) - 12);
}

static void put_ip_back(struct frame *out, const uint8_t *ip)
{
	uint8_t back[40];

	memcpy(back, ip, 40);
	if (ip[0] >> 4 == 6) {
		back[6] = 58;
		back[7] = 64;
		memcpy(back + 8, ip + 24, 16);
		memcpy(back + 24, ip + 8, 16);
		put(out, back, 40);
		return;
	}
	back[0] = 0x45;
	back[8] = 64;
	back[9] = 1;
	memcpy(back + 12, ip + 16, 4);
	memcpy(back + 16, ip + 12, 4);
	put(out, back, 20);
}

/* What the sender's NIC has put behind the packet goes, but for what ours would. */
static void cut_padding(struct frame *out, size_t end)
{
	if (end < ETH_FRAME_MIN)
		end = ETH_FRAME_MIN;
	if (out->size > end)
		out->size = end;
}

void icmp_echo_answer(const struct frame *request, struct frame *out)
{
	const uint8_t *ip = request->data + ip_offset(request);
	size_t headers = header_size(ip);
	size_t ip_at = ip_offset(request), start;

	if (ip[0] >> 4 == 6 && ip[6] == 60)
		headers += (ip[41] + 1U) * 8;
	put_ethernet_back(out, request);
	put_ip_back(out, ip);
	start = out->size;
	put(out, ip + headers, request->size - ip_at - headers);
	out->data[start] = ip[0] >> 4 == 6 ? 129 : 0;
	finish(out->data + ip_at, start - ip_at, ip_length(ip) - headers);
	cut_padding(out, start + ip_length(ip) - headers);
}

void icmp_too_big_answer(const struct frame *packet, uint16_t mtu, struct frame *out)
{
	size_t ip_at = ip_offset(packet), quoted, start;
	const uint8_t *ip = packet->data + ip_at;
	bool v6 = ip[0] >> 4 == 6;
	size_t room = v6 ? 1280 - 48 : 576 - 28;
	uint8_t *back;

	put_ethernet_back(out, packet);
	put_ip_back(out, ip);
	back = out->data + ip_at;
	if (v6) {
		memcpy(back, (uint8_t[]){ 0x6c, 0, 0, 0 }, 4);
	} else {
		back[1] = 0xc0;
		set16(back + 4, 0);
		set16(back + 6, 0x4000);
	}
	start = out->size;
	put_zeros(out, 8);
	out->data[start] = v6 ? 2 : 3;
	out->data[start + 1] = v6 ? 0 : 4;
	set16(out->data + start + 6, mtu);
	quoted = ip_length(ip) < room ? ip_length(ip) : room;
	put(out, ip, quoted);
	finish(back, start - ip_at, 8 + quoted);
}
