/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TESTS_VIP_SEARCH_H
#define FAIRLEAD_TESTS_VIP_SEARCH_H

/*
 * The two ends that must agree: which VIP of a list is the most specific for a
 * packet, by looking at each; and which one the program finds in the maps, by
 * the longest match over all their elements. Neither shares code with what makes
 * the entries.
 */

#include <arpa/inet.h>

#include "core/plan.h"

struct packet {
	struct addr dst;
	uint8_t protocol;
	uint16_t port; /* 0 when the protocol has none */
};

static inline bool same_bits(const void *a, const void *b, unsigned int n)
{
	const uint8_t *x = a, *y = b;
	unsigned int bit;

	for (bit = 0; bit < n; bit++)
		if ((x[bit / 8] ^ y[bit / 8]) & 0x80 >> bit % 8)
			return false;
	return true;
}

static inline bool takes(const struct vip_spec *spec, const struct packet *packet)
{
	bool v4 = packet->dst.family == AF_INET;

	if (spec->addr.family != packet->dst.family ||
	    !same_bits(v4 ? (const void *)&spec->addr.v4 : &spec->addr.v6,
		       v4 ? (const void *)&packet->dst.v4 : &packet->dst.v6,
		       spec->prefix_len))
		return false;
	if (!spec->protocol)
		return true;
	return spec->protocol == packet->protocol && packet->port >= spec->port &&
	       packet->port <= spec->port_last;
}

static inline bool beats(const struct vip_spec *a, const struct vip_spec *b)
{
	if (a->prefix_len != b->prefix_len)
		return a->prefix_len > b->prefix_len;
	if (!a->protocol != !b->protocol)
		return a->protocol;
	return a->port_last - a->port < b->port_last - b->port;
}

/* NULL: none takes it. */
static inline const struct plan_vip *most_specific(const struct plan_vip *vips, size_t n,
						   const struct packet *packet)
{
	const struct plan_vip *best = NULL;
	size_t i;

	for (i = 0; i < n; i++)
		if (takes(&vips[i].spec, packet) &&
		    (!best || beats(&vips[i].spec, &best->spec)))
			best = &vips[i];
	return best;
}

/* One element of a map, whatever holds it; NULL key ends the walk. */
typedef bool next_element(void *context, size_t i, enum vip_map map, const void **key,
			  const struct vip **value);

static inline const struct vip *exact_match(next_element *next, void *context,
					    enum vip_map map, const void *key, size_t size)
{
	const struct vip *value;
	const void *found;
	size_t i;

	for (i = 0; next(context, i, map, &found, &value); i++)
		if (found && !memcmp(found, key, size))
			return value;
	return NULL;
}

/* As an LPM trie: a length in front, and data that is compared from the left. */
static inline const struct vip *longest_match(next_element *next, void *context,
					      enum vip_map map, const void *data)
{
	const struct vip *value, *best = NULL;
	uint32_t length, longest = 0;
	const void *found;
	size_t i;

	for (i = 0; next(context, i, map, &found, &value); i++) {
		if (!found)
			continue;
		memcpy(&length, found, sizeof(length));
		if ((!best || length > longest) &&
		    same_bits((const char *)found + sizeof(length), data, length)) {
			best = value;
			longest = length;
		}
	}
	return best;
}

static inline const struct vip *hash_lookup(next_element *next, void *context,
					    const struct packet *packet, uint16_t port,
					    uint8_t protocol)
{
	struct vip_key4 key4 = { .addr = packet->dst.v4.s_addr, .port = htons(port),
				 .protocol = protocol };
	struct vip_key6 key6 = { .port = htons(port), .protocol = protocol };

	if (packet->dst.family == AF_INET)
		return exact_match(next, context, VIP_MAP_VIPS4, &key4, sizeof(key4));
	memcpy(key6.addr, &packet->dst.v6, sizeof(key6.addr));
	return exact_match(next, context, VIP_MAP_VIPS6, &key6, sizeof(key6));
}

/* What vip_find of the program does. `prefixes` is its flag. */
static inline const struct vip *find_in_maps(next_element *next, void *context,
					     uint32_t prefixes,
					     const struct packet *packet)
{
	bool v4 = packet->dst.family == AF_INET;
	const struct vip *vip = hash_lookup(next, context, packet, packet->port,
					    packet->protocol);
	struct service_key key = { .protocol = packet->protocol,
				   .port = htons(packet->port) };

	if (vip)
		return vip;
	vip = hash_lookup(next, context, packet, 0, 0);
	if (!vip && prefixes & (v4 ? VIP_PREFIXES4 : VIP_PREFIXES6))
		vip = v4 ? longest_match(next, context, VIP_MAP_PREFIXES4, &packet->dst.v4) :
			   longest_match(next, context, VIP_MAP_PREFIXES6, &packet->dst.v6);
	if (!vip || !(vip->flags & VIP_SERVICES))
		return NULL;
	key.group = vip->id;
	return longest_match(next, context, VIP_MAP_SERVICES, &key.group);
}

#endif
