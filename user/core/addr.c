// SPDX-License-Identifier: GPL-2.0-only
#include "addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "num.h"
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

#define VIP_SPEC_ALLOWED                                              \
	"allowed: ADDRESS:PORT/PROTOCOL, as 203.0.113.10:443/tcp or " \
	"[2001:db8::10]:any/udp"

static int refuse_spec(const char *text, const char *why, struct err *err)
{
	return err_set(err, -EINVAL, "vip %s %s; " VIP_SPEC_ALLOWED,
		       QUOTE(text), why);
}

/* Splits "ADDRESS:PORT/PROTOCOL" in place. NULL, or what is missing. */
static const char *split_spec(char *text, char **addr, char **port,
			      char **protocol)
{
	char *slash = strrchr(text, '/'), *colon;

	if (!slash)
		return "has no protocol";
	*slash = '\0';
	*protocol = slash + 1;

	colon = strrchr(text, ':');
	if (!colon)
		return "has no port";
	if (text[0] != '[' && strchr(text, ':') != colon)
		return "has an IPv6 address without brackets, or no port";
	if (text[0] == '[' && colon[-1] != ']')
		return "has no port";
	*colon = '\0';
	*port = colon + 1;

	*addr = text;
	if (text[0] == '[') {
		colon[-1] = '\0';
		*addr = text + 1;
	}
	return NULL;
}

static int parse_protocol(const char *text, uint8_t *out, struct err *err)
{
	if (!strcmp(text, "tcp"))
		*out = IPPROTO_TCP;
	else if (!strcmp(text, "udp"))
		*out = IPPROTO_UDP;
	else
		return err_set(err, -EINVAL,
			       "protocol %s is not known; allowed: tcp, udp",
			       QUOTE(text));
	return 0;
}

static int parse_port(const char *text, uint16_t *out, struct err *err)
{
	int rc;

	if (!strcmp(text, "any")) {
		*out = 0;
		return 0;
	}

	rc = parse_u16(text, "port", 1, UINT16_MAX, out, NULL);
	if (rc < 0)
		return err_set(err, -EINVAL,
			       "port %s is %s; allowed: 1 to 65535, or any",
			       QUOTE(text),
			       rc == -ERANGE ? "out of range" : "not a number");
	return 0;
}

/* Why no router brings packets of this address, or NULL when one can. */
static const char *why_not_vip(const struct addr *addr)
{
	if (addr->family == AF_INET)
		return ntohl(addr->v4.s_addr) >> 24 == IN_LOOPBACKNET ?
			       "a loopback address" :
			       NULL;
	if (IN6_IS_ADDR_LOOPBACK(&addr->v6))
		return "a loopback address";
	return IN6_IS_ADDR_LINKLOCAL(&addr->v6) ? "a link-local address" : NULL;
}

static int parse_vip_addr(const char *text, struct addr *out, struct err *err)
{
	struct addr addr;
	int rc = addr_parse(text, "address", &addr, err);
	const char *why;

	if (rc < 0)
		return rc;
	why = why_not_vip(&addr);
	if (why)
		return err_set(err, -EINVAL,
			       "address %s is %s; allowed: an address that "
			       "clients can reach",
			       QUOTE(text), why);
	*out = addr;
	return 0;
}

static int parse_spec_parts(char *copy, const char *text, struct vip_spec *spec,
			    struct err *err)
{
	char *addr, *port, *protocol;
	const char *why = split_spec(copy, &addr, &port, &protocol);
	int rc;

	if (why)
		return refuse_spec(text, why, err);

	rc = parse_vip_addr(addr, &spec->addr, err);
	if (!rc)
		rc = parse_port(port, &spec->port, err);
	if (!rc)
		rc = parse_protocol(protocol, &spec->protocol, err);
	if (rc < 0)
		err_prefix(err, "vip %s", QUOTE(text));
	return rc;
}

int vip_spec_parse(const char *text, struct vip_spec *out, struct err *err)
{
	char copy[2 * VIP_SPEC_TEXT_MAX];
	struct vip_spec spec = { 0 };
	bool bracketed = text[0] == '[';
	int rc;

	if (strlen(text) >= sizeof(copy))
		return refuse_spec(text, "is too long", err);
	strcpy(copy, text);

	rc = parse_spec_parts(copy, text, &spec, err);
	if (rc < 0)
		return rc;
	if (bracketed && spec.addr.family != AF_INET6)
		return refuse_spec(text, "has brackets around an IPv4 address",
				   err);

	*out = spec;
	return 0;
}

const char *vip_spec_format(const struct vip_spec *spec,
			    char text[VIP_SPEC_TEXT_MAX])
{
	bool v6 = spec->addr.family == AF_INET6;
	char addr[ADDR_TEXT_MAX], port[8] = "any";

	if (spec->port)
		snprintf(port, sizeof(port), "%u", spec->port);
	snprintf(text, VIP_SPEC_TEXT_MAX, "%s%s%s:%s/%s", v6 ? "[" : "",
		 addr_format(&spec->addr, addr), v6 ? "]" : "", port,
		 spec->protocol == IPPROTO_TCP ? "tcp" : "udp");
	return text;
}

int vip_spec_compare(const struct vip_spec *a, const struct vip_spec *b)
{
	int rc = addr_compare(&a->addr, &b->addr);

	if (rc)
		return rc;
	if (a->port != b->port)
		return a->port < b->port ? -1 : 1;
	if (a->protocol != b->protocol)
		return a->protocol < b->protocol ? -1 : 1;
	return 0;
}
