// SPDX-License-Identifier: GPL-2.0-only
/* Packets as text: against the tests' own builder, which shares nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/packet.h"
#include "tests/lib/checksum.h"
#include "tests/lib/frame.h"

#define N(rows) (sizeof(rows) / sizeof((rows)[0]))

/* What the tests' builder puts where nothing is said. */
#define MACS "dmac=02:00:00:00:00:01 smac=02:00:00:00:00:02 "
#define TCP_REST MACS "seq=0x01020304 window=0xfaf0 "
#define ACKS "ack=0x05060708 "
#define ENDS4 "198.51.100.7:40000 > 203.0.113.10:443 "
#define ENDS6 "[2001:db8:c::7]:40000 > [2001:db8::10]:443 "

static struct packet built(const char *text)
{
	struct packet p = { 0 };
	struct err err = { 0 };
	size_t at;

	if (packet_from_text(text, &p, &at, &err))
		fail_msg("%s: %s", text, err.text);
	return p;
}

static void packets_are_those_of_another_builder(void **state)
{
	static const struct {
		const char *text;
		struct frame_spec spec;
	} rows[] = {
		{ "tcp " ENDS4 TCP_REST "flags=S", { .tcp_flags = TCP_SYN } },
		{ "tcp " ENDS4 TCP_REST ACKS, { .tcp_flags = TCP_ACK } },
		{ "tcp " ENDS4 TCP_REST ACKS "flags=SA bytes=27 tos=0xb9",
		  { .tcp_flags = TCP_SYN | TCP_ACK, .payload = 27, .tos = 0xb9 } },
		{ "tcp " ENDS4 TCP_REST ACKS "options=01010101 bytes=3",
		  { .options = 4, .payload = 3 } },
		{ "tcp " ENDS4 TCP_REST ACKS "frag=0+ bytes=32",
		  { .fragment = 0x2000, .payload = 32 } },
		{ "tcp " ENDS4 TCP_REST ACKS "df", { .fragment = 0x4000 } },
		{ "tcp " ENDS4 TCP_REST ACKS "pad=6", { .padding = 6 } },
		{ "tcp " ENDS4 TCP_REST ACKS "ihl=4", { .ihl = 4 } },
		{ "tcp " ENDS4 TCP_REST ACKS "length=21", { .ip_len = 21 } },
		{ "tcp " ENDS4 TCP_REST ACKS "cut=40", { .size = 40 } },
		{ "udp " ENDS4 MACS "bytes=5", { .protocol = 17, .payload = 5 } },
		{ "udp " ENDS4 MACS, { .protocol = 17 } },
		{ "ip 198.51.100.7 > 203.0.113.10 protocol=47 bytes=9 " MACS,
		  { .protocol = 47, .payload = 9 } },
		{ "tcp " ENDS6 TCP_REST ACKS "bytes=100 tos=3",
		  { .v6 = true, .payload = 100, .tos = 3 } },
		{ "udp " ENDS6 MACS "bytes=1400",
		  { .v6 = true, .protocol = 17, .payload = 1400 } },
		{ "tcp 10.0.0.1:1 > 10.0.0.2:65535 " TCP_REST ACKS,
		  { .src = "10.0.0.1", .dst = "10.0.0.2", .sport = 1, .dport = 65535 } },
	};
	static struct frame expected, got;

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		_cleanup_packet_ struct packet p = built(rows[i].text);

		frame_build(&rows[i].spec, &expected);
		memset(&got, 0, sizeof(got));
		memcpy(got.data, p.data, p.size);
		got.size = p.size;
		if (!frame_equal(stdout, &expected, &got))
			fail_msg("another packet than expected: %s", rows[i].text);
	}
}

/* By hand, where the other builder has no words. */
static void rare_packets_are_right_to_the_byte(void **state)
{
	static const struct {
		const char *text, *hex;
	} rows[] = {
		{ "udp 192.0.2.1 > 192.0.2.2 frag=1480 id=7 payload=0xaabb vlan=10,20",
		  "02000000000002000000fe01 88a8000a 81000014 0800"
		  "45000016000700b94011f613c0000201c0000202aabb" },
		{ "ip 2001:db8::1 > [2001:db8::2] protocol=59 ext=hop,routing,ah,dest",
		  "02000000000002000000fe01 86dd 6000000000280040"
		  "20010db8000000000000000000000001 20010db8000000000000000000000002"
		  "2b00010400000000 3300000000000000"
		  "3c020000000000000000000000000000 3b00010400000000" },
		{ "tcp [::1]:1 > [::2]:2 frag=8+ id=0x01020304 payload=\"12345678\" ttl=1",
		  "02000000000002000000fe01 86dd 6000000000102c01"
		  "00000000000000000000000000000001 00000000000000000000000000000002"
		  "060000090102030431323334353637 38" },
		{ "icmp 192.0.2.1 > 192.0.2.2 rest=0x00010002 payload=\"a\\x00\\n\\\"\"",
		  "02000000000002000000fe01 0800"
		  "45000020000000004001f6d9c0000201c0000202 08008cda0001000261000a22" },
		/* The code of the word is for those who say none. */
		{ "icmp 192.0.2.1 > 192.0.2.2 code=0 type=unreachable",
		  "02000000000002000000fe01 0800"
		  "4500001c000000004001f6ddc0000201c0000202 0300fcff00000000" },
		{ "icmp 192.0.2.1 > 192.0.2.2 type=unreachable",
		  "02000000000002000000fe01 0800"
		  "4500001c000000004001f6ddc0000201c0000202 0301fcfe00000000" },
		{ "icmp 192.0.2.9 > 192.0.2.1 type=too-big rest=1400 quoted=24 quote="
		  "udp 192.0.2.1:5 > 192.0.2.2:6 ttl=9 bytes=100",
		  "02000000000002000000fe01 0800"
		  "45000034000000004001f6bec0000209c0000201 0304f77800000578"
		  "450000800000000009112d6ac0000201c000020200050006" },
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		_cleanup_packet_ struct packet p = built(rows[i].text), hex = { 0 };
		size_t at;

		assert_int_equal(packet_from_hex(rows[i].hex, &hex, &at, NULL), 0);
		if (p.size != hex.size || memcmp(p.data, hex.data, p.size)) {
			for (at = 0; at < p.size; at++)
				printf("%02x", p.data[at]);
			fail_msg("another packet than expected: %s", rows[i].text);
		}
	}
}

static void checksums_of_icmp_are_those_of_another_sum(void **state)
{
	_cleanup_packet_ struct packet p = built("icmp 2001:db8::1 > 2001:db8::2 bytes=33");
	uint8_t *icmp = p.data + 54;
	uint16_t check = icmp[2] << 8 | icmp[3];

	(void)state;
	assert_int_equal(icmp[0], 128);
	icmp[2] = icmp[3] = 0;
	assert_int_equal(check, checksum_l4(p.data + 14, 58, icmp, p.size - 54));
}

static void mistakes_are_told_with_their_place(void **state)
{
	static const struct {
		const char *text;
		size_t at;
		const char *sentence;
	} rows[] = {
		{ "", 0, "the protocol is missing" },
		{ "sctp 1.2.3.4 > 1.2.3.5", 0, "protocol 'sctp' is not known; allowed: tcp" },
		{ "tcp", 3, "the source is missing" },
		{ "tcp 1.2.3:4 > 1.2.3.4:5", 4, "the source '1.2.3:4' is not an address" },
		{ "tcp 1.2.3.4:5 1.2.3.4:5", 14, "stands where '>' belongs" },
		{ "tcp 1.2.3.4:5 > [::1]:5", 16, "one address is IPv4 and the other IPv6" },
		{ "tcp 1.2.3.4:5 > 1.2.3.4:65536", 16, "'65536' is out of range" },
		{ "tcp 1.2.3.4:5 > 1.2.3.4", 16, "one end has a port" },
		{ "tcp 1.2.3.4 > 1.2.3.4", 0, "the addresses have no ports" },
		{ "icmp 1.2.3.4:5 > 1.2.3.4", 5, "the source has a port" },
		{ "tcp 1.2.3.4:5 > 1.2.3.4:5 flag=S", 26, "key 'flag' is not known; allowed: flags" },
		{ "tcp 1.2.3.4:5 > 1.2.3.4:5 flags=Q", 32, "'flags' 'Q' is not known" },
		{ "tcp 1.2.3.4:5 > 1.2.3.4:5 flags=", 26, "'flags' '' is not known" },
		{ "tcp 1.2.3.4:5 > 1.2.3.4:5 flags", 26, "key 'flags' has no value" },
		{ "tcp 1.2.3.4:5 > 1.2.3.4:5 df=1", 26, "key 'df' has a value" },
		{ "tcp 1.2.3.4:5 > 1.2.3.4:5 ttl=1 ttl=2", 32, "key 'ttl' stands twice" },
		{ "tcp 1.2.3.4:5 > 1.2.3.4:5 ttl=256", 30, "out of range" },
		{ "tcp 1.2.3.4:5 > 1.2.3.4:5 ttl=-1", 30, "'ttl' '-1'" },
		{ "tcp 1.2.3.4:5 > 1.2.3.4:5 tos=0x", 30, "not a number" },
		{ "tcp 1.2.3.4:5 > 1.2.3.4:5 ext=hop", 26, "key 'ext' is not for tcp over IPv4" },
		{ "tcp [::1]:5 > [::2]:5 options=01", 22, "key 'options' is not for tcp over IPv6" },
		{ "tcp [::1]:5 > [::2]:5 ext=hop,nix", 26, "'ext' 'nix' is not known" },
		{ "tcp [::1]:5 > [::2]:5 id=1", 0, "IPv6 has an id in fragments only" },
		{ "tcp 1.2.3.4:5 > 1.2.3.4:5 frag=7", 31, "no multiple of 8" },
		{ "tcp 1.2.3.4:5 > 1.2.3.4:5 vlan=1,2,3", 31, "more than two tags" },
		{ "tcp 1.2.3.4:5 > 1.2.3.4:5 vlan=4095", 31, "out of range" },
		{ "tcp 1.2.3.4:5 > 1.2.3.4:5 smac=02:00", 31, "not a MAC address" },
		{ "tcp 1.2.3.4:5 > 1.2.3.4:5 payload=\"ab", 34, "no closing" },
		{ "tcp 1.2.3.4:5 > 1.2.3.4:5 payload=\"a\\q\"", 36, "escape" },
		{ "tcp 1.2.3.4:5 > 1.2.3.4:5 payload=0xabc", 38, "pair of hexadecimal" },
		{ "udp 1.2.3.4:5 > 1.2.3.4:5 bytes=65535", 0, "allowed: 65535" },
		{ "udp 1.2.3.4:5 > 1.2.3.4:5 cut=100", 0, "cannot be cut to 100" },
		{ "ip 1.2.3.4 > 1.2.3.4", 0, "without 'protocol=NUMBER'" },
		{ "icmp 1.2.3.4 > 1.2.3.4 type=nix", 28, "'type' 'nix' is not known" },
		{ "icmp 1.2.3.4 > 1.2.3.4 type=3 quote=tcp 1.2.3.4:5 > 1.2.3.4:5 flags=Q", 68,
		  "'flags' 'Q'" },
		{ "icmp 1.2.3.4 > 1.2.3.4 type=3 quote=tcp 1.2.3.4:5 > 1.2.3.4:5 vlan=5", 62,
		  "key 'vlan' is of the frame; allowed: not in a quoted packet" },
		{ "icmp 1.2.3.4 > 1.2.3.4 type=3 quoted=41 quote=tcp 1.2.3.4:5 > 1.2.3.4:5", 46,
		  "the quoted packet has 40 bytes, and 'quoted' is 41" },
		{ "icmp 1.2.3.4 > 1.2.3.4 type=3 quoted=8 bytes=9", 0,
		  "it has 'quoted' without 'quote=PACKET'" },
		{ "icmp 1.2.3.4 > 1.2.3.4 bytes=9 quote=tcp 1.2.3.4:5 > 1.2.3.4:5", 31,
		  "key 'quote' stands beside another payload; allowed: one of payload, bytes, quote" },
		{ "udp 1.2.3.4:5 > 1.2.3.4:5 payload= bytes=9", 35, "key 'bytes' stands beside" },
		{ "udp 1.2.3.4:5 > 1.2.3.4:5 bytes=0 payload=x", 34, "key 'payload' stands beside" },
		{ "udp 1.2.3.4:5 > 1.2.3.4:5 payload=\"a\"ttl=3", 37,
		  "no blank stands behind the text" },
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		_cleanup_packet_ struct packet p = { 0 };
		struct err err = { 0 };
		size_t at = 999;

		if (!packet_from_text(rows[i].text, &p, &at, &err))
			fail_msg("taken: %s", rows[i].text);
		if (at != rows[i].at || !strstr(err.text, rows[i].sentence))
			fail_msg("%s: at %zu: %s", rows[i].text, at, err.text);
	}
}

static void hexadecimal_digits_come_in_pairs(void **state)
{
	_cleanup_packet_ struct packet p = { 0 };
	struct err err = { 0 };
	size_t at = 0;

	(void)state;
	assert_int_equal(packet_from_hex("00 Ff:1\n2", &p, &at, &err), -22);
	assert_int_equal(at, 6);
	assert_int_equal(packet_from_hex("00 Ff:12\n", &p, &at, &err), 0);
	assert_int_equal(p.size, 3);
	assert_memory_equal(p.data, "\x00\xff\x12", 3);
}

static void describe(const char *text, struct packet_lines *lines)
{
	_cleanup_packet_ struct packet p = built(text);

	packet_describe(&p, lines);
}

static void assert_line(const struct packet_lines *lines, const char *line)
{
	for (size_t i = 0; i < lines->n; i++)
		if (!strcmp(lines->line[i], line))
			return;
	for (size_t i = 0; i < lines->n; i++)
		printf("%s\n", lines->line[i]);
	fail_msg("no line '%s'", line);
}

static void a_packet_is_described_in_lines(void **state)
{
	struct packet_lines l;

	(void)state;
	describe("tcp " ENDS4 "flags=SA vlan=7 tos=1 ttl=3 df payload=\"hi\\n\"", &l);
	assert_line(&l, "61 bytes");
	assert_line(&l, "vlan  7 priority 0");
	assert_line(&l, "ipv4  198.51.100.7 > 203.0.113.10");
	assert_line(&l, "      ttl 3 tos 0x01 id 0 df");
	assert_line(&l, "      length 43 protocol 6 checksum right");
	assert_line(&l, "tcp   40000 > 443 flags SA");
	assert_line(&l, "      window 65535 checksum right");
	assert_line(&l, "data  3 bytes");
	describe("tcp " ENDS4 "check=0 ipcheck=0 cut=70 pad=20", &l);
	assert_line(&l, "      length 40 protocol 6 checksum WRONG");
	assert_line(&l, "      window 65535 checksum WRONG");
	assert_line(&l, "      16 bytes after the packet");
	describe("udp " ENDS6 "ext=hop,dest frag=0+ id=9 bytes=4", &l);
	assert_line(&l, "      2 extension headers");
	assert_line(&l, "      fragment of id 9 at 0, more follow");
	assert_line(&l, "udp   40000 > 443 length 12");
	describe("icmp 10.0.0.1 > 10.0.0.2 type=unreachable quoted=28 quote=udp " ENDS4, &l);
	assert_line(&l, "icmp  type 3 code 1 rest 0x00000000");
	assert_line(&l, "ipv4  198.51.100.7 > 203.0.113.10");
	assert_line(&l, "udp   40000 > 443 length 8");
}

static void tunnels_are_looked_into(void **state)
{
	static struct frame in, out;
	static const struct tunnel tunnels[] = {
		{ .src = "10.0.0.1", .dst = "10.0.0.2" },
		{ .src = "10.0.0.1", .dst = "10.0.0.2", .gue_port = 6080 },
		{ .outer6 = true, .src = "2001:db8::1", .dst = "2001:db8::2", .gue_port = 99 },
	};

	(void)state;
	frame_build(&(struct frame_spec){ 0 }, &in);
	for (size_t i = 0; i < N(tunnels); i++) {
		struct packet_lines l;

		frame_wrap(&in, &tunnels[i], &out);
		packet_describe(&(struct packet){ out.data, out.size }, &l);
		assert_line(&l, tunnels[i].outer6 ? "    > 2001:db8::2" :
						     "ipv4  10.0.0.1 > 10.0.0.2");
		if (tunnels[i].gue_port)
			assert_line(&l, "gue   variant 0 protocol 4 flags 0x0000");
		assert_line(&l, "tcp   40000 > 443 flags A");
	}
}

/* With the sanitizers this finds what is read behind the end. */
static void cut_packets_are_described_as_far_as_they_go(void **state)
{
	static const char *const texts[] = {
		"tcp " ENDS4 "vlan=1,2 options=0102030405",
		"udp " ENDS6 "ext=hop,ah,routing,dest frag=0+ bytes=20",
		"icmp 10.0.0.1 > 10.0.0.2 type=3 quote=icmp 10.0.0.1 > 10.0.0.2 type=3 quote=udp " ENDS4,
		"ip 10.0.0.1 > 10.0.0.2 protocol=4 payload=0x4500002800000000400600000a0000010a000002",
		"ip 10.0.0.1 > 10.0.0.2 protocol=47 payload=0x000008004500",
	};

	(void)state;
	for (size_t i = 0; i < N(texts); i++) {
		_cleanup_packet_ struct packet p = built(texts[i]);

		for (size_t size = 0; size <= p.size; size++) {
			_cleanup_packet_ struct packet cut = { 0 };
			struct packet_lines lines;
			char text[PACKET_SUMMARY_MAX], first[32];

			/* Of its own size, so that one byte more is seen. */
			assert_int_equal(packet_copy(p.data, size, &cut, NULL), 0);
			cut.data = realloc(cut.data, size ? size : 1);
			packet_describe(&cut, &lines);
			snprintf(first, sizeof(first), "%zu byte%s", size, size == 1 ? "" : "s");
			assert_string_equal(lines.line[0], first);
			packet_summary(&cut, text);
			assert_non_null(strstr(text, first));
			for (const char *const *key = packet_fields; *key; key++)
				packet_field(&cut, *key, (char[PACKET_FIELD_MAX]){ 0 });
		}
	}
}

static void fields_are_those_of_the_outermost_headers(void **state)
{
	static const struct {
		const char *text, *key, *value;
	} rows[] = {
		{ "tcp " ENDS4 "ttl=7", "ttl", "7" },
		{ "tcp " ENDS4 "tos=0x1f", "tos", "31" },
		{ "tcp " ENDS4, "src", "198.51.100.7" },
		{ "tcp " ENDS6, "dst", "2001:db8::10" },
		{ "tcp " ENDS6 "label=0x12345", "label", "74565" },
		{ "tcp " ENDS4, "label", "-" },
		{ "udp " ENDS6 "ext=hop", "protocol", "17" },
		{ "udp " ENDS4, "sport", "40000" },
		{ "udp " ENDS4, "dport", "443" },
		{ "icmp 10.0.0.1 > 10.0.0.2", "dport", "-" },
		{ "tcp " ENDS4 "vlan=10,20", "vlan", "10" },
		{ "tcp " ENDS4 "vlan=10,20", "inner_vlan", "20" },
		{ "tcp " ENDS4, "vlan", "-" },
		{ "tcp " ENDS4 "df id=9", "df", "1" },
		{ "tcp " ENDS4 "df id=9", "id", "9" },
		{ "tcp " ENDS4 "bytes=10", "length", "50" },
		{ "tcp " ENDS4, "smac", "02:00:00:00:fe:01" },
		{ "tcp " ENDS4, "dmac", "02:00:00:00:00:00" },
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		_cleanup_packet_ struct packet p = built(rows[i].text);
		char text[PACKET_FIELD_MAX];

		packet_field(&p, rows[i].key, text);
		assert_string_equal(text, rows[i].value);
	}
}

static void values_of_fields_have_one_form(void **state)
{
	static const struct {
		const char *key, *value, *text; /* NULL: refused */
	} rows[] = {
		{ "src", "2001:DB8:0::1", "2001:db8::1" }, { "src", "10.0.0.256", NULL },
		{ "ttl", "0x40", "64" },		   { "ttl", "064", "64" },
		{ "ttl", "x", NULL },			   { "ttl", "", NULL },
		{ "protocol", "ipip", "4" },		   { "protocol", "47", "47" },
		{ "protocol", "nix", NULL },
		{ "smac", "2:0:0:0:0:A", "02:00:00:00:00:0a" }, { "smac", "2:0", NULL },
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		char text[PACKET_FIELD_MAX];
		struct err err = { 0 };
		int rc = packet_field_parse(rows[i].key, rows[i].value, text, &err);

		assert_int_equal(rc, rows[i].text ? 0 : -22);
		if (rows[i].text)
			assert_string_equal(text, rows[i].text);
		else
			assert_non_null(strstr(err.text, rows[i].key));
	}
}

static void every_field_can_be_parsed(void **state)
{
	(void)state;
	for (const char *const *key = packet_fields; *key; key++) {
		char text[PACKET_FIELD_MAX];
		bool address = !strcmp(*key, "src") || !strcmp(*key, "dst");
		bool mac = strstr(*key, "mac");

		assert_int_equal(packet_field_parse(*key, address ? "10.0.0.1" :
						    mac ? "02:00:00:00:00:01" : "1",
						    text, NULL), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_are_those_of_another_builder),
		cmocka_unit_test(rare_packets_are_right_to_the_byte),
		cmocka_unit_test(checksums_of_icmp_are_those_of_another_sum),
		cmocka_unit_test(mistakes_are_told_with_their_place),
		cmocka_unit_test(hexadecimal_digits_come_in_pairs),
		cmocka_unit_test(a_packet_is_described_in_lines),
		cmocka_unit_test(tunnels_are_looked_into),
		cmocka_unit_test(cut_packets_are_described_as_far_as_they_go),
		cmocka_unit_test(fields_are_those_of_the_outermost_headers),
		cmocka_unit_test(values_of_fields_have_one_form),
		cmocka_unit_test(every_field_can_be_parsed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
