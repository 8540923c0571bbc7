// SPDX-License-Identifier: GPL-2.0-only
/* From bytes to lines of text. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "packet_view.h"
#include "plural.h"

#define DEPTH_MAX 3 /* IP headers inside each other: tunnel, packet, quote */
#define BYTES_A_LINE 12
#define DATA_LINES_MAX 6

static void line(struct packet_lines *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void line(struct packet_lines *out, const char *format, ...)
{
	va_list args;

	if (out->n == PACKET_LINES_MAX)
		return;
	va_start(args, format);
	vsnprintf(out->line[out->n++], PACKET_LINE_MAX, format, args);
	va_end(args);
}

static void describe_ip(const uint8_t *data, size_t size, int depth, bool quoted,
			struct packet_lines *out);

static void describe_bytes(const char *name, const uint8_t *data, size_t size,
			   struct packet_lines *out)
{
	char hex[3 * BYTES_A_LINE + 1], text[BYTES_A_LINE + 1];
	size_t at, i;

	if (!size)
		return;
	line(out, "%-5s %zu byte%s", name, size, plural(size));
	for (at = 0; at < size && at < DATA_LINES_MAX * BYTES_A_LINE; at += i) {
		for (i = 0; i < BYTES_A_LINE && at + i < size; i++) {
			snprintf(hex + 3 * i, 4, "%02x ", data[at + i]);
			text[i] = isprint(data[at + i]) ? data[at + i] : '.';
		}
		text[i] = '\0';
		line(out, "      %-*s%s", 3 * BYTES_A_LINE, hex, text);
	}
	if (at < size)
		line(out, "      ... and %zu more", size - at);
}

static void describe_mac(const char *name, const uint8_t *mac,
			 struct packet_lines *out)
{
	line(out, "%-5s %02x:%02x:%02x:%02x:%02x:%02x", name, mac[0], mac[1], mac[2],
	     mac[3], mac[4], mac[5]);
}

static const char *good(bool yes)
{
	return yes ? "right" : "WRONG";
}

static void describe_tcp(const uint8_t *l4, size_t size, const char *sum,
			 struct packet_lines *out)
{
	char flags[9];
	size_t header = (l4[12] >> 4) * 4;

	line(out, "tcp   %u > %u flags %s", wire16(l4), wire16(l4 + 2),
	     view_tcp_flags(l4[13], flags));
	line(out, "      seq %u ack %u", wire32(l4 + 4), wire32(l4 + 8));
	line(out, "      window %u checksum %s", wire16(l4 + 14), sum);
	if (header > 20 && header <= size)
		line(out, "      options %zu bytes", header - 20);
	if (header < 20 || header > size)
		header = 20;
	describe_bytes("data", l4 + header, size - header, out);
}

static void describe_udp(const uint8_t *l4, size_t size, const char *sum, int depth,
			 struct packet_lines *out)
{
	int gue = view_gue(l4 + 8, size - 8);

	line(out, "udp   %u > %u length %u", wire16(l4), wire16(l4 + 2), wire16(l4 + 4));
	line(out, "      checksum %s", wire16(l4 + 6) ? sum : "none");
	if (gue < 0) {
		describe_bytes("data", l4 + 8, size - 8, out);
		return;
	}
	if (gue)
		line(out, "gue   variant 0 protocol %u flags 0x%04x", l4[9],
		     wire16(l4 + 10));
	else
		line(out, "gue   variant 1");
	describe_ip(l4 + 8 + gue, size - 8 - gue, depth + 1, false, out);
}

/* RFC 792, RFC 4443: those that quote the packet they are about. */
static bool is_icmp_error(uint8_t protocol, uint8_t type)
{
	return protocol == IPPROTO_ICMP ? type == 3 || type == 11 || type == 12 :
					  type >= 1 && type <= 4;
}

static void describe_icmp(uint8_t protocol, const uint8_t *l4, size_t size,
			  const char *sum, int depth, struct packet_lines *out)
{
	line(out, "%-5s type %u code %u rest 0x%08x",
	     protocol == IPPROTO_ICMP ? "icmp" : "icmp6", l4[0], l4[1], wire32(l4 + 4));
	line(out, "      checksum %s", sum);
	if (is_icmp_error(protocol, l4[0]))
		describe_ip(l4 + 8, size - 8, depth + 1, true, out);
	else
		describe_bytes("data", l4 + 8, size - 8, out);
}

static void describe_gre(const uint8_t *l4, size_t size, int depth,
			 struct packet_lines *out)
{
	line(out, "gre   flags 0x%04x protocol 0x%04x", wire16(l4), wire16(l4 + 2));
	describe_ip(l4 + 4, size - 4, depth + 1, false, out);
}

static void describe_l4(const struct view_ip *ip, const uint8_t *l4, size_t size,
			int depth, bool quoted, struct packet_lines *out)
{
	bool whole = !quoted && !ip->fragment;
	const char *sum = !whole ? "of more than is here" :
				   good(view_l4_sum_good(ip, l4, size));

	if (ip->fragment && ip->offset)
		describe_bytes("data", l4, size, out);
	else if (ip->protocol == IPPROTO_TCP && size >= 20)
		describe_tcp(l4, size, sum, out);
	else if (ip->protocol == IPPROTO_UDP && size >= 8)
		describe_udp(l4, size, sum, depth, out);
	else if ((ip->protocol == IPPROTO_ICMP || ip->protocol == IPPROTO_ICMPV6) &&
		 size >= 8)
		describe_icmp(ip->protocol, l4, size, sum, depth, out);
	else if (ip->protocol == IPPROTO_IPIP || ip->protocol == IPPROTO_IPV6)
		describe_ip(l4, size, depth + 1, false, out);
	else if (ip->protocol == IPPROTO_GRE && size >= 4)
		describe_gre(l4, size, depth, out);
	else
		describe_bytes("data", l4, size, out);
}

static void describe_header(const struct view_ip *ip, struct packet_lines *out)
{
	char src[ADDR_TEXT_MAX], dst[ADDR_TEXT_MAX];

	addr_format(&ip->src, src);
	addr_format(&ip->dst, dst);
	if (ip->family == AF_INET) {
		line(out, "ipv4  %s > %s", src, dst);
		line(out, "      ttl %u tos 0x%02x id %u%s", ip->ttl, ip->tos, ip->id,
		     ip->df ? " df" : "");
		line(out, "      length %zu protocol %u checksum %s", ip->length,
		     ip->protocol, good(ip->sum_good));
	} else {
		line(out, "ipv6  %s", src);
		line(out, "    > %s", dst);
		line(out, "      ttl %u tos 0x%02x label 0x%05x", ip->ttl, ip->tos,
		     ip->label);
		line(out, "      length %zu protocol %u", ip->length, ip->protocol);
	}
	if (ip->family == AF_INET && ip->header_size > 20)
		line(out, "      options %zu bytes", ip->header_size - 20);
	if (ip->n_extensions)
		line(out, "      %zu extension header%s", ip->n_extensions,
		     plural(ip->n_extensions));
	if (ip->fragment)
		line(out, "      fragment of id %u at %u%s", ip->id, ip->offset,
		     ip->more ? ", more follow" : ", the last");
}

/* What there is beside the packet, of which the header says how long it is. */
static void describe_rest(size_t length, size_t size, struct packet_lines *out)
{
	size_t rest = length < size ? size - length : length - size;

	if (length < size)
		line(out, "      %zu byte%s after the packet", rest, plural(rest));
	else
		line(out, "      %zu byte%s cut off", rest, plural(rest));
}

static void describe_ip(const uint8_t *data, size_t size, int depth, bool quoted,
			struct packet_lines *out)
{
	struct view_ip ip;
	size_t end;

	view_ip(data, size, &ip);
	if (!ip.family || depth > DEPTH_MAX) {
		describe_bytes("data", data, size, out);
		return;
	}
	describe_header(&ip, out);
	end = ip.length < size && ip.length >= ip.header_size ? ip.length : size;
	if (ip.length != size && !quoted)
		describe_rest(ip.length, size, out);
	describe_l4(&ip, data + ip.header_size, end - ip.header_size, depth, quoted, out);
}

void packet_describe(const struct packet *p, struct packet_lines *out)
{
	struct view_eth eth;

	out->n = 0;
	line(out, "%zu byte%s", p->size, plural(p->size));
	if (p->size < PACKET_MIN) {
		describe_bytes("data", p->data, p->size, out);
		return;
	}
	view_eth(p, &eth);
	describe_mac("eth", p->data + 6, out);
	describe_mac("    >", p->data, out);
	for (size_t i = 0; i < eth.n_vlans; i++)
		line(out, "vlan  %u priority %u", eth.vlan[i] & 0xfff,
		     eth.vlan[i] >> 13);
	line(out, "      type 0x%04x", eth.ethertype);
	if (eth.ethertype == WIRE_IPV4 || eth.ethertype == WIRE_IPV6)
		describe_ip(p->data + eth.size, p->size - eth.size, 0, false, out);
	else
		describe_bytes("data", p->data + eth.size, p->size - eth.size, out);
}

static const char *protocol_word(const struct view_ip *ip)
{
	switch (ip->protocol) {
	case IPPROTO_TCP:
		return "tcp";
	case IPPROTO_UDP:
		return "udp";
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return "icmp";
	default:
		return "ip";
	}
}

/* ":PORT" where it has ports, "" where not. */
static const char *port_text(const struct view_ip *ip, const uint8_t *l4, size_t size,
			     size_t at, char text[8])
{
	text[0] = '\0';
	if ((ip->protocol == IPPROTO_TCP || ip->protocol == IPPROTO_UDP) &&
	    !(ip->fragment && ip->offset) && size >= 4)
		snprintf(text, 8, ":%u", wire16(l4 + at));
	return text;
}

static void summarize_ip(const struct view_ip *ip, const uint8_t *l4, size_t size,
			 char *text, size_t room)
{
	bool brackets = ip->family == AF_INET6;
	char src[ADDR_TEXT_MAX], dst[ADDR_TEXT_MAX], sport[8], dport[8], flags[9];

	snprintf(text, room, "%s %s%s%s%s > %s%s%s%s%s%s%s", protocol_word(ip),
		 brackets ? "[" : "", addr_format(&ip->src, src), brackets ? "]" : "",
		 port_text(ip, l4, size, 0, sport), brackets ? "[" : "",
		 addr_format(&ip->dst, dst), brackets ? "]" : "",
		 port_text(ip, l4, size, 2, dport),
		 ip->protocol == IPPROTO_TCP && size >= 20 && *dport ? " flags=" : "",
		 ip->protocol == IPPROTO_TCP && size >= 20 && *dport ?
			 view_tcp_flags(l4[13], flags) : "",
		 ip->fragment ? " fragment" : "");
}

const char *packet_summary(const struct packet *p, char text[PACKET_SUMMARY_MAX])
{
	struct view_eth eth;
	struct view_ip ip = { 0 };
	const uint8_t *data;
	size_t size, n;

	snprintf(text, PACKET_SUMMARY_MAX, "%zu byte%s", p->size, plural(p->size));
	if (p->size < PACKET_MIN)
		return text;
	view_eth(p, &eth);
	data = p->data + eth.size;
	size = p->size - eth.size;
	if (eth.ethertype == WIRE_IPV4 || eth.ethertype == WIRE_IPV6)
		view_ip(data, size, &ip);
	if (ip.family)
		summarize_ip(&ip, data + ip.header_size, size - ip.header_size, text,
			     PACKET_SUMMARY_MAX);
	else
		snprintf(text, PACKET_SUMMARY_MAX, "type 0x%04x", eth.ethertype);
	n = strlen(text);
	snprintf(text + n, PACKET_SUMMARY_MAX - n, ", %zu bytes", p->size);
	return text;
}
