// SPDX-License-Identifier: GPL-2.0-only
#include "addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "quote.h"

/* Why no host can have this address, or NULL when one can. */
static const char *why_not_unicast4(struct in_addr v4)
{
	uint32_t addr = ntohl(v4.s_addr);

	if (addr >> 24 == 0)
		return "is unspecified (0.0.0.0/8)";
	if (addr >> 28 == 0xe)
		return "is a multicast address";
	if (addr == INADDR_BROADCAST)
		return "is the broadcast address";
	return NULL;
}

static const char *why_not_unicast6(const struct in6_addr *v6)
{
	if (IN6_IS_ADDR_UNSPECIFIED(v6))
		return "is unspecified (::)";
	if (IN6_IS_ADDR_MULTICAST(v6))
		return "is a multicast address";
	if (IN6_IS_ADDR_V4MAPPED(v6))
		return "is an IPv4 address mapped into IPv6";
	return NULL;
}

/* Sets *out or leaves family 0. */
static void addr_read(const char *text, struct addr *out)
{
	*out = (struct addr){ 0 };
	if (inet_pton(AF_INET, text, &out->v4) == 1)
		out->family = AF_INET;
	else if (inet_pton(AF_INET6, text, &out->v6) == 1)
		out->family = AF_INET6;
}

int addr_parse(const char *text, const char *what, struct addr *out,
	       struct err *err)
{
	struct addr addr;
	const char *why;

	addr_read(text, &addr);
	if (addr.family == AF_INET)
		why = why_not_unicast4(addr.v4);
	else if (addr.family == AF_INET6)
		why = why_not_unicast6(&addr.v6);
	else if (strchr(text, '%'))
		why = "has a zone";
	else
		why = "is not an IP address";
	if (why)
		return err_set(
			err, -EINVAL,
			"%s %s %s; allowed: a unicast IPv4 or IPv6 address",
			what, QUOTE(text), why);

	*out = addr;
	return 0;
}

/* The longest run of at least two zero groups, the first of equals. */
static void find_zeros(const uint16_t group[8], int *start, int *length)
{
	*start = -1;
	*length = 1;
	for (int i = 0; i < 8; i++) {
		int n = 0;

		while (i + n < 8 && !group[i + n])
			n++;
		if (n > *length) {
			*start = i;
			*length = n;
		}
	}
}

/*
 * RFC 5952. Not inet_ntop: C libraries differ in when they write the last 32
 * bits as IPv4, and the text is hashed as a backend's name on every host.
 */
static void format6(const struct in6_addr *v6, char text[ADDR_TEXT_MAX])
{
	uint16_t group[8];
	int start, length, n = 0;

	for (int i = 0; i < 8; i++)
		group[i] = v6->s6_addr[2 * i] << 8 | v6->s6_addr[2 * i + 1];
	find_zeros(group, &start, &length);

	for (int i = 0; i < 8; i++) {
		if (i == start) {
			n += snprintf(text + n, ADDR_TEXT_MAX - n, "::");
			i += length - 1;
			continue;
		}
		n += snprintf(text + n, ADDR_TEXT_MAX - n, "%s%x",
			      n && text[n - 1] != ':' ? ":" : "", group[i]);
	}
}

const char *addr_format(const struct addr *addr, char text[ADDR_TEXT_MAX])
{
	const uint8_t *b = (const uint8_t *)&addr->v4;

	if (addr->family == AF_INET)
		snprintf(text, ADDR_TEXT_MAX, "%u.%u.%u.%u", b[0], b[1], b[2],
			 b[3]);
	else if (addr->family == AF_INET6)
		format6(&addr->v6, text);
	else
		snprintf(text, ADDR_TEXT_MAX, "none");
	return text;
}

int addr_compare(const struct addr *a, const struct addr *b)
{
	if (a->family != b->family) {
		/* AF_INET is the smaller number on Linux; say so, not assume. */
		_Static_assert(AF_INET < AF_INET6, "IPv4 comes first");
		return a->family < b->family ? -1 : 1;
	}
	if (a->family == AF_INET)
		return memcmp(&a->v4, &b->v4, sizeof(a->v4));
	if (a->family == AF_INET6)
		return memcmp(&a->v6, &b->v6, sizeof(a->v6));
	return 0;
}
