// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>

#include "core/vip_spec.h"

static struct vip_spec spec_of(const char *text)
{
	struct vip_spec spec;
	struct err err = { 0 };

	if (vip_spec_parse(text, &spec, &err))
		fail_msg("%s", err.text);
	return spec;
}

static void check_vip(const char *in, const char *expected, uint16_t port,
		      uint16_t port_last, uint8_t protocol, uint8_t prefix_len)
{
	char text[VIP_SPEC_TEXT_MAX];
	struct vip_spec spec, again;
	struct err err = { 0 };

	if (vip_spec_parse(in, &spec, &err))
		fail_msg("%s", err.text);
	assert_string_equal(vip_spec_format(&spec, text), expected);
	assert_int_equal(spec.port, port);
	assert_int_equal(spec.port_last, port_last);
	assert_int_equal(spec.protocol, protocol);
	assert_int_equal(spec.prefix_len, prefix_len);
	/* And back, to the same. */
	assert_int_equal(vip_spec_parse(text, &again, &err), 0);
	assert_int_equal(vip_spec_compare(&spec, &again), 0);
}

static void vips_are_read_and_printed(void **state)
{
	(void)state;
	check_vip("203.0.113.10:443/tcp", "203.0.113.10:443/tcp", 443, 443,
		  IPPROTO_TCP, 32);
	check_vip("[2001:DB8::0:10]:65535/udp", "[2001:db8::10]:65535/udp",
		  65535, 65535, IPPROTO_UDP, 128);
	check_vip("203.0.113.10:any/udp", "203.0.113.10:any/udp", 0, 65535,
		  IPPROTO_UDP, 32);
	check_vip("203.0.113.10:any/any", "203.0.113.10:any/any", 0, 65535, 0, 32);
	check_vip("203.0.113.10:8000-8999/udp", "203.0.113.10:8000-8999/udp", 8000,
		  8999, IPPROTO_UDP, 32);
	check_vip("203.0.113.10:1-65535/tcp", "203.0.113.10:1-65535/tcp", 1, 65535,
		  IPPROTO_TCP, 32);
	check_vip("203.0.113.0/28:443/tcp", "203.0.113.0/28:443/tcp", 443, 443,
		  IPPROTO_TCP, 28);
	check_vip("203.0.113.0/28:any/any", "203.0.113.0/28:any/any", 0, 65535, 0, 28);
	check_vip("10.0.0.0/8:1-2/udp", "10.0.0.0/8:1-2/udp", 1, 2, IPPROTO_UDP, 8);
	check_vip("[2001:DB8:0::/64]:443/tcp", "[2001:db8::/64]:443/tcp", 443, 443,
		  IPPROTO_TCP, 64);
	/* One address, one port. */
	check_vip("203.0.113.10/32:80-80/tcp", "203.0.113.10:80/tcp", 80, 80,
		  IPPROTO_TCP, 32);
	check_vip("[2001:db8::1/128]:any/any", "[2001:db8::1]:any/any", 0, 65535, 0, 128);
	/* the longest */
	check_vip("[fdff:ffff:ffff:ffff:ffff:ffff:255.255.255.254/127]:65534-65535/tcp",
		  "[fdff:ffff:ffff:ffff:ffff:ffff:ffff:fffe/127]:65534-65535/tcp", 65534,
		  65535, IPPROTO_TCP, 127);
}

static void bad_vips_are_refused_with_the_reason(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "", "has no protocol" },
		{ "203.0.113.10:443", "has no protocol" },
		{ "203.0.113.10", "has no protocol" },
		{ "203.0.113.10/tcp", "has no port" },
		{ "[2001:db8::1]/tcp", "has no port" },
		{ "[2001:db8::1/tcp", "has no port" },
		{ "[:1/tcp", "has no port" },
		{ "2001:db8::1:443/tcp", "without brackets" },
		{ "[203.0.113.10]:443/tcp", "brackets around an IPv4 address" },
		{ "203.0.113.10:0/tcp", "port '0' is out of range" },
		{ "203.0.113.10:65536/tcp", "port '65536' is out of range" },
		{ "203.0.113.10:/tcp", "port '' is not a number" },
		{ "203.0.113.10:http/tcp", "port 'http' is not a number" },
		{ "203.0.113.10:ANY/tcp", "allowed: 1 to 65535, a range as 8000-8999, or any" },
		{ "203.0.113.10:443/TCP", "protocol 'TCP' is not known" },
		{ "203.0.113.10:443/sctp", "allowed: tcp, udp, any" },
		{ "203.0.113.10:443/", "protocol '' is not known" },
		{ "203.0.113.10:443/tcp/udp",
		  "port '443/tcp' is not a number" },
		{ "203.0.113.10:443/any", "takes every protocol" },
		{ "203.0.113.10:80-90/any", "takes every protocol" },
		{ "203.0.113.10:90-80/tcp", "allowed: 80-90" },
		{ "203.0.113.10:0-80/tcp", "port '0' is out of range" },
		{ "203.0.113.10:80-/tcp", "port '' is not a number" },
		{ "203.0.113.10:-80/tcp", "port '-80' is not a number" },
		{ "203.0.113.10:80-90-99/tcp", "port '90-99' is not a number" },
		{ "203.0.113.10:any-90/tcp", "port 'any' is not a number" },
		{ "203.0.113.10/28:80/tcp", "allowed: 203.0.113.0/28" },
		{ "[2001:db8::1/64]:80/tcp", "allowed: 2001:db8::/64" },
		{ "[2001:db8::]/64:80/tcp", "prefix length behind the brackets" },
		{ "2001:db8::/64:80/tcp", "without brackets" },
		{ "203.0.113.0/33:80/tcp", "has no length of its family" },
		{ "203.0.113.0/:80/tcp", "has no length of its family" },
		{ "203.0.113.0/28", "has no port" },
		{ "203.0.113.0/28:443", "has no protocol" },
		{ "16.0.0.0/7:80/tcp", "allowed: a length of 8 or more" },
		{ "224.0.0.0/8:443/tcp", "is a multicast address" },
		{ "[::/64]:443/tcp", "is unspecified" },
		{ "224.0.0.1:443/tcp", "is a multicast address" },
		{ ":443/tcp", "address '' is not an IP address" },
		{ "[]:443/tcp", "address '' is not an IP address" },
	};
	struct vip_spec spec = { .port = 7 };
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (vip_spec_parse(rows[i].text, &spec, &err) != -EINVAL)
			fail_msg("accepted: %s", rows[i].text);
		if (!strstr(err.text, rows[i].why))
			fail_msg("'%s' is not in '%s'", rows[i].why, err.text);
		assert_ptr_equal(strstr(err.text, "vip '"), err.text);
		assert_non_null(strstr(err.text, "; allowed: "));
	}
	assert_int_equal(spec.port, 7);
}

static void a_vip_longer_than_any_address_is_refused(void **state)
{
	char text[1000];
	struct vip_spec spec;
	struct err err;

	(void)state;
	memset(text, '1', sizeof(text));
	snprintf(text + sizeof(text) - 10, 10, ".2:80/tcp");
	assert_int_equal(vip_spec_parse(text, &spec, &err), -EINVAL);
	assert_non_null(strstr(err.text, "is too long"));
}

static void vips_sort_by_address_port_and_protocol(void **state)
{
	static const char *const sorted[] = {
		"9.0.0.1:443/tcp",	"10.0.0.1:any/tcp",   "10.0.0.1:80/tcp",
		"10.0.0.1:80/udp",	"10.0.0.1:443/tcp",   "10.0.0.2:1/tcp",
		"10.0.0.2:1-2/tcp", "10.0.0.2:2-9/tcp",
		"10.0.1.0/24:any/any", "10.0.1.0/24:any/tcp", "10.0.1.0:80/tcp",
		"[2001:db8::]:any/udp", "[2001:db8::]:1/tcp",
	};
	struct vip_spec a, b;

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(sorted) / sizeof(*sorted); i++) {
		assert_int_equal(vip_spec_parse(sorted[i], &a, NULL), 0);
		assert_int_equal(vip_spec_parse(sorted[i + 1], &b, NULL), 0);
		assert_true(vip_spec_compare(&a, &b) < 0);
		assert_true(vip_spec_compare(&b, &a) > 0);
		assert_int_equal(vip_spec_compare(&a, &a), 0);
	}
}

static void more_specific_vips_take_precedence(void **state)
{
	/* Each before all that follow. */
	static const char *const sorted[] = {
		"203.0.113.7:80/tcp",      "203.0.113.7:80-81/tcp",
		"203.0.113.7:any/tcp",     "203.0.113.7:any/any",
		"203.0.113.0/28:80/tcp",   "203.0.113.0/28:1-65535/tcp",
		"203.0.113.0/28:any/tcp",  "203.0.113.0/28:any/any",
		"203.0.113.0/24:80/tcp",
	};
	const size_t n = sizeof(sorted) / sizeof(*sorted);

	(void)state;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++) {
			struct vip_spec a = spec_of(sorted[i]), b = spec_of(sorted[j]);
			int order = vip_spec_precedence(&a, &b);

			assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
		}
}

static void ranges_clash_when_they_overlap_in_part(void **state)
{
	static const struct {
		const char *a, *b;
		bool clash;
	} rows[] = {
		{ "203.0.113.7:80-90/tcp", "203.0.113.7:85-95/tcp", true },
		{ "203.0.113.7:80-90/tcp", "203.0.113.7:90-91/tcp", true },
		{ "203.0.113.7:80-90/tcp", "203.0.113.7:91-95/tcp", false },
		{ "203.0.113.7:80-90/tcp", "203.0.113.7:80-95/tcp", false },
		{ "203.0.113.7:80-90/tcp", "203.0.113.7:85-90/tcp", false },
		{ "203.0.113.7:80-90/tcp", "203.0.113.7:any/tcp", false },
		{ "203.0.113.7:80-90/tcp", "203.0.113.7:85-95/udp", false },
		{ "203.0.113.7:80-90/tcp", "203.0.113.8:85-95/tcp", false },
		{ "203.0.113.0:80-90/tcp", "203.0.113.0/24:85-95/tcp", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct vip_spec a = spec_of(rows[i].a), b = spec_of(rows[i].b);

		assert_int_equal(vip_spec_clash(&a, &b), rows[i].clash);
		assert_int_equal(vip_spec_clash(&b, &a), rows[i].clash);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vips_are_read_and_printed),
		cmocka_unit_test(bad_vips_are_refused_with_the_reason),
		cmocka_unit_test(a_vip_longer_than_any_address_is_refused),
		cmocka_unit_test(vips_sort_by_address_port_and_protocol),
		cmocka_unit_test(more_specific_vips_take_precedence),
		cmocka_unit_test(ranges_clash_when_they_overlap_in_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
