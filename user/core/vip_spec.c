// SPDX-License-Identifier: GPL-2.0-only
#include "vip_spec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "num.h"
#include "prefix.h"
#include "quote.h"

#define VIP_SPEC_ALLOWED                                                    \
	"allowed: ADDRESS:PORT/PROTOCOL, as 203.0.113.10:443/tcp, "         \
	"[2001:db8::10]:any/udp, 203.0.113.0/28:8000-8999/tcp or "          \
	"203.0.113.10:any/any"

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

	if (!slash || strchr(slash, ':') || strchr(slash, ']'))
		return "has no protocol";
	*slash = '\0';
	*protocol = slash + 1;

	colon = strrchr(text, ':');
	if (!colon)
		return "has no port";
	if (text[0] != '[' && strchr(text, ':') != colon)
		return "has an IPv6 address without brackets, or no port";
	if (text[0] == '[' && colon[-1] != ']')
		return strchr(text, ']') && strchr(strchr(text, ']'), '/') ?
			       "has a prefix length behind the brackets" :
			       "has no port";
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
	else if (!strcmp(text, "any"))
		*out = 0;
	else
		return err_set(err, -EINVAL,
			       "protocol %s is not known; allowed: tcp, udp, any",
			       QUOTE(text));
	return 0;
}

static int parse_port(const char *text, uint16_t *out, struct err *err)
{
	int rc = parse_u16(text, "port", 1, UINT16_MAX, out, NULL);

	if (rc < 0)
		return err_set(err, -EINVAL,
			       "port %s is %s; allowed: 1 to 65535, a range as 8000-8999, or any",
			       QUOTE(text),
			       rc == -ERANGE ? "out of range" : "not a number");
	return 0;
}

static int parse_ports(char *text, struct vip_spec *spec, struct err *err)
{
	char *dash = strchr(text, '-');
	int rc;

	if (!strcmp(text, "any")) {
		spec->port = 0;
		spec->port_last = UINT16_MAX;
		return 0;
	}
	if (!dash || dash == text) {
		rc = parse_port(text, &spec->port, err);
		spec->port_last = spec->port;
		return rc;
	}

	*dash = '\0';
	rc = parse_port(text, &spec->port, err);
	if (!rc)
		rc = parse_port(dash + 1, &spec->port_last, err);
	if (!rc && spec->port > spec->port_last)
		rc = err_set(err, -EINVAL,
			     "ports %u-%u end before they begin; allowed: %u-%u",
			     spec->port, spec->port_last, spec->port_last, spec->port);
	return rc;
}

static int parse_addr(char *text, struct vip_spec *spec, struct err *err)
{
	char *slash = strchr(text, '/');
	struct prefix prefix;
	int rc;

	if (!slash) {
		rc = addr_parse(text, "address", &spec->addr, err);
		spec->prefix_len = addr_bits(&spec->addr);
		return rc;
	}

	rc = prefix_parse(text, "prefix", &prefix, err);
	if (rc)
		return rc;
	if (prefix.length < VIP_PREFIX_LEN_MIN)
		return err_set(err, -EINVAL,
			       "prefix %s is too short; allowed: a length of %d or more",
			       QUOTE(text), VIP_PREFIX_LEN_MIN);
	*slash = '\0';
	spec->prefix_len = prefix.length;
	return addr_parse(text, "address", &spec->addr, err);
}

static int parse_spec_parts(char *copy, const char *text, struct vip_spec *spec,
			    struct err *err)
{
	char *addr, *port, *protocol;
	const char *why = split_spec(copy, &addr, &port, &protocol);
	int rc;

	if (why)
		return refuse_spec(text, why, err);

	rc = parse_addr(addr, spec, err);
	if (!rc)
		rc = parse_ports(port, spec, err);
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
	if (!spec.protocol && !vip_spec_any_port(&spec))
		return refuse_spec(text, "has ports but takes every protocol, which may have none",
				   err);

	*out = spec;
	return 0;
}

static const char *protocol_name(uint8_t protocol)
{
	switch (protocol) {
	case IPPROTO_TCP:
		return "tcp";
	case IPPROTO_UDP:
		return "udp";
	default:
		return "any";
	}
}

const char *vip_spec_format(const struct vip_spec *spec,
			    char text[VIP_SPEC_TEXT_MAX])
{
	struct prefix prefix = { spec->addr, spec->prefix_len };
	bool v6 = spec->addr.family == AF_INET6;
	char addr[PREFIX_TEXT_MAX], ports[12] = "any";

	if (spec->port == spec->port_last)
		snprintf(ports, sizeof(ports), "%u", spec->port);
	else if (!vip_spec_any_port(spec))
		snprintf(ports, sizeof(ports), "%u-%u", spec->port, spec->port_last);
	snprintf(text, VIP_SPEC_TEXT_MAX, "%s%s%s:%s/%s", v6 ? "[" : "",
		 prefix_format(&prefix, addr), v6 ? "]" : "", ports,
		 protocol_name(spec->protocol));
	return text;
}

static int compare_numbers(unsigned int a, unsigned int b)
{
	return (a > b) - (a < b);
}

int vip_spec_compare(const struct vip_spec *a, const struct vip_spec *b)
{
	int order = addr_compare(&a->addr, &b->addr);

	if (!order)
		order = compare_numbers(a->prefix_len, b->prefix_len);
	if (!order)
		order = compare_numbers(a->port, b->port);
	if (!order)
		order = compare_numbers(a->port_last, b->port_last);
	return order ? order : compare_numbers(a->protocol, b->protocol);
}

uint8_t addr_bits(const struct addr *addr)
{
	return addr->family == AF_INET ? 32 : 128;
}

bool vip_spec_any_port(const struct vip_spec *spec)
{
	return spec->port == 0 && spec->port_last == UINT16_MAX;
}

bool vip_spec_is_exact(const struct vip_spec *spec)
{
	return spec->prefix_len == addr_bits(&spec->addr) && spec->protocol &&
	       spec->port == spec->port_last;
}

bool vip_spec_covers(const struct vip_spec *spec, const struct addr *addr)
{
	bool v4 = addr->family == AF_INET;
	const uint8_t *a = v4 ? (const uint8_t *)&spec->addr.v4 : spec->addr.v6.s6_addr;
	const uint8_t *b = v4 ? (const uint8_t *)&addr->v4 : addr->v6.s6_addr;
	unsigned int whole = spec->prefix_len / 8, rest = spec->prefix_len % 8;

	if (spec->addr.family != addr->family || memcmp(a, b, whole))
		return false;
	return !rest || !((a[whole] ^ b[whole]) >> (8 - rest));
}

bool vip_spec_clash(const struct vip_spec *a, const struct vip_spec *b)
{
	if (addr_compare(&a->addr, &b->addr) || a->prefix_len != b->prefix_len ||
	    a->protocol != b->protocol)
		return false;
	if (a->port > b->port_last || b->port > a->port_last)
		return false;
	return (a->port < b->port && a->port_last < b->port_last) ||
	       (b->port < a->port && b->port_last < a->port_last);
}

int vip_spec_precedence(const struct vip_spec *a, const struct vip_spec *b)
{
	int order = compare_numbers(b->prefix_len, a->prefix_len);

	if (!order)
		order = !a->protocol - !b->protocol;
	return order ? order : compare_numbers(a->port_last - a->port,
					       b->port_last - b->port);
}
