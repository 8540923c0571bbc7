// SPDX-License-Identifier: GPL-2.0-only
/* The other direction: frames as people read them, when a test fails. */
#include "frame.h"

#include <string.h>

#include <arpa/inet.h>

#define LINE_BYTES 16
#define DIFF_LINES_MAX 12

static unsigned int get16(const uint8_t *at)
{
	return (unsigned int)at[0] << 8 | at[1];
}

static void print_ip(FILE *to, const uint8_t *ip, size_t left);

static void print_gue(FILE *to, const uint8_t *gue, size_t left)
{
	if (left < 4)
		return;
	fprintf(to, "    gue  first 0x%02x protocol %u flags 0x%04x\n", gue[0],
		gue[1], get16(gue + 2));
	print_ip(to, gue + 4, left - 4);
}

static void print_l4(FILE *to, uint8_t protocol, const uint8_t *l4, size_t left)
{
	if (protocol == IPPROTO_TCP && left >= 20) {
		fprintf(to, "    tcp  %u > %u flags 0x%02x check 0x%04x\n",
			get16(l4), get16(l4 + 2), l4[13], get16(l4 + 16));
	} else if (protocol == IPPROTO_UDP && left >= 8) {
		fprintf(to, "    udp  %u > %u length %u check 0x%04x\n",
			get16(l4), get16(l4 + 2), get16(l4 + 4), get16(l4 + 6));
		/* A zero checksum is how the tests tell a tunnel from DNS. */
		if (get16(l4 + 6) == 0)
			print_gue(to, l4 + 8, left - 8);
	} else if (protocol == IPPROTO_IPIP || protocol == IPPROTO_IPV6) {
		print_ip(to, l4, left);
	} else {
		fprintf(to, "    protocol %u, %zu bytes\n", protocol, left);
	}
}

static void print_ip(FILE *to, const uint8_t *ip, size_t left)
{
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];
	size_t header = left ? (ip[0] & 0xfU) * 4 : 0;

	if (left >= 40 && ip[0] >> 4 == 6) {
		inet_ntop(AF_INET6, ip + 8, src, sizeof(src));
		inet_ntop(AF_INET6, ip + 24, dst, sizeof(dst));
		fprintf(to,
			"    ip6  %s > %s class 0x%02x label 0x%05x payload %u next %u hops %u\n",
			src, dst, get16(ip) >> 4 & 0xff,
			(ip[1] & 0xfU) << 16 | get16(ip + 2), get16(ip + 4),
			ip[6], ip[7]);
		print_l4(to, ip[6], ip + 40, left - 40);
		return;
	}
	if (left < 20) {
		fprintf(to, "    %zu bytes\n", left);
		return;
	}
	inet_ntop(AF_INET, ip + 12, src, sizeof(src));
	inet_ntop(AF_INET, ip + 16, dst, sizeof(dst));
	fprintf(to,
		"    ip4  %s > %s first 0x%02x tos 0x%02x total %u id %u frag 0x%04x ttl %u protocol %u check 0x%04x\n",
		src, dst, ip[0], ip[1], get16(ip + 2), get16(ip + 4),
		get16(ip + 6), ip[8], ip[9], get16(ip + 10));
	if (header >= 20 && header <= left)
		print_l4(to, ip[9], ip + header, left - header);
}

static void print_mac(FILE *to, const uint8_t *mac)
{
	fprintf(to, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
		mac[3], mac[4], mac[5]);
}

void frame_print(FILE *to, const struct frame *frame)
{
	const uint8_t *eth = frame->data;
	unsigned int ethertype;
	size_t l3;

	fprintf(to, "  %zu bytes\n", frame->size);
	if (frame->size < ETH_SIZE)
		return;
	l3 = frame_l3(frame);
	if (frame->size < l3)
		return;
	ethertype = get16(eth + l3 - 2);
	fprintf(to, "    eth  ");
	print_mac(to, eth + 6);
	fprintf(to, " > ");
	print_mac(to, eth);
	for (size_t tag = ETH_SIZE - 2; tag + 2 < l3; tag += 4)
		fprintf(to, " tag 0x%04x %u", get16(eth + tag), get16(eth + tag + 2) & 0xfff);
	fprintf(to, " type 0x%04x\n", ethertype);
	if (ethertype == 0x0800 || ethertype == 0x86dd)
		print_ip(to, eth + l3, frame->size - l3);
}

static void print_bytes(FILE *to, const struct frame *frame,
			const struct frame *other, size_t at)
{
	for (size_t i = at; i < at + LINE_BYTES; i++) {
		bool same = i < frame->size && i < other->size &&
			    frame->data[i] == other->data[i];

		if (i >= frame->size)
			fprintf(to, "   ");
		else
			fprintf(to, "%c%02x", same ? ' ' : '!', frame->data[i]);
	}
}

static bool line_equal(const struct frame *a, const struct frame *b, size_t at)
{
	for (size_t i = at; i < at + LINE_BYTES; i++) {
		bool in_a = i < a->size, in_b = i < b->size;

		if (in_a != in_b || (in_a && a->data[i] != b->data[i]))
			return false;
	}
	return true;
}

bool frame_equal(FILE *to, const struct frame *expected, const struct frame *got)
{
	size_t longest = expected->size > got->size ? expected->size : got->size;
	int lines = 0;

	if (expected->size == got->size &&
	    memcmp(expected->data, got->data, got->size) == 0)
		return true;

	fprintf(to, "expected");
	frame_print(to, expected);
	fprintf(to, "got     ");
	frame_print(to, got);
	fprintf(to, "  %-5s %-*s | got\n", "byte", 3 * LINE_BYTES, "expected");
	for (size_t at = 0; at < longest && lines < DIFF_LINES_MAX; at += LINE_BYTES) {
		if (line_equal(expected, got, at))
			continue;
		fprintf(to, "  %-5zu", at);
		print_bytes(to, expected, got, at);
		fprintf(to, " |");
		print_bytes(to, got, expected, at);
		fprintf(to, "\n");
		lines++;
	}
	return false;
}
