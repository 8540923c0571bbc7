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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_print_in_canonical_form),
		cmocka_unit_test(formatted_ipv6_is_read_back_by_inet_pton),
		cmocka_unit_test(addresses_that_no_host_has_are_refused),
		cmocka_unit_test(ipv4_sorts_before_ipv6_and_then_by_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
