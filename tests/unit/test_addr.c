// SPDX-License-Identifier: GPL-2.0-only
#include "core/addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check_format(const char *in, const char *expected)
{
	char text[ADDR_TEXT_MAX];
	struct addr addr;

	assert_int_equal(addr_parse(in, "address", &addr, NULL), 0);
	assert_string_equal(addr_format(&addr, text), expected);
}

static void addresses_print_in_canonical_form(void **state)
{
	(void)state;
	check_format("203.0.113.10", "203.0.113.10");
	/* RFC 5952, sections 4 and 5 */
	check_format("2001:0DB8:0000:0000:0000:0000:0002:0001",
		     "2001:db8::2:1");
	check_format("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1");
	check_format("2001:0:0:1:0:0:0:1", "2001:0:0:1::1");
	check_format("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1");
	check_format("::1", "::1");
	check_format("1::", "1::");
	check_format("1:0:0:2::", "1:0:0:2::");
	check_format("fdff:ffff:ffff:ffff:ffff:ffff:255.255.255.255",
		     "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
	/* never as IPv4, whatever the C library does */
	check_format("::102:304", "::102:304");
	check_format("64:ff9b::192.0.2.1", "64:ff9b::c000:201");
}

/* Addresses with many zero groups, so that runs of every kind come up. */
static void random_addr6(struct addr *addr, unsigned int *seed)
{
	addr->family = AF_INET6;
	for (int i = 0; i < 16; i += 2) {
		uint16_t group = rand_r(seed) % 2 ? 0 : rand_r(seed);

		addr->v6.s6_addr[i] = group >> 8;
		addr->v6.s6_addr[i + 1] = group;
	}
	addr->v6.s6_addr[0] = 0x20;
}

static void formatted_ipv6_is_read_back_by_inet_pton(void **state)
{
	char text[ADDR_TEXT_MAX];
	unsigned int seed = 1;
	struct in6_addr back;
	struct addr addr;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		random_addr6(&addr, &seed);
		addr_format(&addr, text);
		assert_int_equal(inet_pton(AF_INET6, text, &back), 1);
		assert_memory_equal(&back, &addr.v6, sizeof(back));
		assert_null(strstr(text, ":::"));
	}
}

static void addresses_that_no_host_has_are_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "0.0.0.0", "is unspecified" },
		{ "0.1.2.3", "is unspecified" },
		{ "224.0.0.1", "is a multicast address" },
		{ "239.255.255.255", "is a multicast address" },
		{ "255.255.255.255", "is the broadcast address" },
		{ "::", "is unspecified" },
		{ "ff02::1", "is a multicast address" },
		{ "::ffff:192.0.2.1", "is an IPv4 address mapped into IPv6" },
		{ "fe80::1%eth0", "has a zone" },
		{ "", "is not an IP address" },
		{ "1.2.3", "is not an IP address" },
		{ "1.2.3.4.5", "is not an IP address" },
		{ "1.2.3.04", "is not an IP address" },
		{ "1.2.3.4 ", "is not an IP address" },
		{ "1.2.3.256", "is not an IP address" },
		{ "2001:db8::1::2", "is not an IP address" },
		{ "[2001:db8::1]", "is not an IP address" },
		{ "web.example", "is not an IP address" },
	};
	struct addr addr = { .family = 99 };
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(addr_parse(rows[i].text, "address", &addr, &err),
				 -EINVAL);
		assert_non_null(strstr(err.text, rows[i].why));
		assert_non_null(strstr(err.text, "; allowed: "));
	}
	assert_int_equal(addr.family, 99);
}

static void ipv4_sorts_before_ipv6_and_then_by_bytes(void **state)
{
	static const char *const sorted[] = { "9.0.0.1",     "10.0.0.1",
					      "10.0.0.2",    "200.0.0.1",
					      "2001:db8::1", "2001:db8::2",
					      "fd00::" };
	const int n = sizeof(sorted) / sizeof(*sorted);
	struct addr a, b;

	(void)state;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			int order;

			assert_int_equal(addr_parse(sorted[i], "a", &a, NULL), 0);
			assert_int_equal(addr_parse(sorted[j], "a", &b, NULL), 0);
			order = addr_compare(&a, &b);
			assert_int_equal((order > 0) - (order < 0),
					 (i > j) - (i < j));
		}
}

static void check_vip(const char *in, const char *expected, uint16_t port,
		      uint8_t protocol)
{
	char text[VIP_SPEC_TEXT_MAX];
	struct vip_spec spec;
	struct err err = { 0 };

	if (vip_spec_parse(in, &spec, &err))
		fail_msg("%s", err.text);
	assert_string_equal(vip_spec_format(&spec, text), expected);
	assert_int_equal(spec.port, port);
	assert_int_equal(spec.protocol, protocol);
}

static void vips_are_read_and_printed(void **state)
{
	(void)state;
	check_vip("203.0.113.10:443/tcp", "203.0.113.10:443/tcp", 443,
		  IPPROTO_TCP);
	check_vip("[2001:DB8::0:10]:65535/udp", "[2001:db8::10]:65535/udp",
		  65535, IPPROTO_UDP);
	check_vip("203.0.113.10:any/udp", "203.0.113.10:any/udp", 0, IPPROTO_UDP);
	/* the longest */
	check_vip("[fdff:ffff:ffff:ffff:ffff:ffff:255.255.255.255]:65535/tcp",
		  "[fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535/tcp", 65535,
		  IPPROTO_TCP);
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
		{ "203.0.113.10:ANY/tcp", "allowed: 1 to 65535, or any" },
		{ "203.0.113.10:443/TCP", "protocol 'TCP' is not known" },
		{ "203.0.113.10:443/sctp", "allowed: tcp, udp" },
		{ "203.0.113.10:443/", "protocol '' is not known" },
		{ "203.0.113.10:443/tcp/udp",
		  "port '443/tcp' is not a number" },
		{ "224.0.0.1:443/tcp", "is a multicast address" },
		{ "127.1.2.3:443/tcp", "'127.1.2.3' is a loopback address" },
		{ "[::1]:443/tcp", "'::1' is a loopback address" },
		{ "[fe80::1]:443/tcp", "'fe80::1' is a link-local address" },
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_print_in_canonical_form),
		cmocka_unit_test(formatted_ipv6_is_read_back_by_inet_pton),
		cmocka_unit_test(addresses_that_no_host_has_are_refused),
		cmocka_unit_test(ipv4_sorts_before_ipv6_and_then_by_bytes),
		cmocka_unit_test(vips_are_read_and_printed),
		cmocka_unit_test(bad_vips_are_refused_with_the_reason),
		cmocka_unit_test(a_vip_longer_than_any_address_is_refused),
		cmocka_unit_test(vips_sort_by_address_port_and_protocol),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
