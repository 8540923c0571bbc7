// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cfg_fields.h"
#include "num.h"
#include "outer.h"
#include "quote.h"

static unsigned int whole(int family)
{
	return family == AF_INET ? 32 : 128;
}

uint32_t tunnel_source_mask(const struct tunnel_source *source)
{
	unsigned int bits = whole(source->addr.family) - source->prefix_len;

	if (!source->addr.family || !bits)
		return 0;
	return bits >= 32 ? UINT32_MAX : htonl((1U << bits) - 1);
}

/* The bits behind the prefix, which must be left to the flows. */
static bool has_host_bits(const struct tunnel_source *source)
{
	const uint8_t *bytes = source->addr.family == AF_INET ?
				       (const uint8_t *)&source->addr.v4 :
				       source->addr.v6.s6_addr;
	unsigned int bit;

	for (bit = source->prefix_len; bit < whole(source->addr.family); bit++)
		if (bytes[bit / 8] >> (7 - bit % 8) & 1)
			return true;
	return false;
}

int tunnel_source_parse(const char *text, const char *what, int family,
			struct tunnel_source *out, struct err *err)
{
	struct tunnel_source source = { .prefix_len = whole(family) };
	char address[ADDR_TEXT_MAX];
	const char *slash = strchr(text, '/');
	uint16_t length = whole(family);
	int rc;

	if ((size_t)snprintf(address, sizeof(address), "%.*s",
			     slash ? (int)(slash - text) : (int)strlen(text), text) >=
	    sizeof(address))
		return err_set(err, -EINVAL, "%s %s is too long for an address", what,
			       QUOTE(text));
	rc = cfg_parse_tunnel_end(address, what, &source.addr, err);
	if (!rc && source.addr.family != family)
		rc = err_set(err, -EINVAL,
			     "%s %s is of the other family; allowed: an %s address or prefix",
			     what, QUOTE(text), family == AF_INET ? "IPv4" : "IPv6");
	if (!rc && slash)
		rc = parse_u16(slash + 1, "prefix length", 8, whole(family), &length, err);
	if (rc)
		return rc;

	source.prefix_len = length;
	if (has_host_bits(&source))
		return err_set(err, -EINVAL,
			       "%s %s has bits set behind the prefix; allowed: an address, or a prefix whose last bits are zero",
			       what, QUOTE(text));
	*out = source;
	return 0;
}

const char *tunnel_source_format(const struct tunnel_source *source,
				 char text[TUNNEL_SOURCE_TEXT_MAX])
{
	char address[ADDR_TEXT_MAX];

	addr_format(&source->addr, address);
	if (source->prefix_len == whole(source->addr.family))
		snprintf(text, TUNNEL_SOURCE_TEXT_MAX, "%s", address);
	else
		snprintf(text, TUNNEL_SOURCE_TEXT_MAX, "%s/%u", address,
			 source->prefix_len);
	return text;
}

bool tunnel_source_equal(const struct tunnel_source *a, const struct tunnel_source *b)
{
	return !addr_compare(&a->addr, &b->addr) && a->prefix_len == b->prefix_len;
}
