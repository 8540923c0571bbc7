// SPDX-License-Identifier: GPL-2.0-only
#include "vip_entries.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "vip_spec.h"

size_t vip_map_key_size(enum vip_map map)
{
	switch (map) {
	case VIP_MAP_VIPS4:
		return sizeof(struct vip_key4);
	case VIP_MAP_VIPS6:
		return sizeof(struct vip_key6);
	case VIP_MAP_PREFIXES4:
		return sizeof(struct prefix_key4);
	case VIP_MAP_PREFIXES6:
		return sizeof(struct prefix_key6);
	case VIP_MAP_SERVICES:
		return sizeof(struct service_key);
	default:
		return sizeof(uint32_t);
	}
}

size_t vip_map_value_size(enum vip_map map)
{
	return map == VIP_MAP_RECORDS ? sizeof(struct vip_record) : sizeof(struct vip);
}

struct vip_entry vip_entry_hashed(const struct addr *addr, uint16_t port,
				  uint8_t protocol)
{
	struct vip_key4 key4 = { .port = htons(port), .protocol = protocol };
	struct vip_key6 key6 = { .port = htons(port), .protocol = protocol };
	struct vip_entry entry = { .map = VIP_MAP_VIPS4 };

	if (addr->family == AF_INET) {
		key4.addr = addr->v4.s_addr;
		memcpy(entry.key, &key4, sizeof(key4));
		return entry;
	}
	entry.map = VIP_MAP_VIPS6;
	memcpy(key6.addr, &addr->v6, sizeof(key6.addr));
	memcpy(entry.key, &key6, sizeof(key6));
	return entry;
}

struct vip_entry vip_entry_address(const struct prefix *prefix)
{
	struct prefix_key4 key4 = { .prefix_len = prefix->length };
	struct prefix_key6 key6 = { .prefix_len = prefix->length };
	struct vip_entry entry = { .map = VIP_MAP_PREFIXES4 };

	if (prefix->length == addr_bits(&prefix->addr))
		return vip_entry_hashed(&prefix->addr, 0, 0);
	if (prefix->addr.family == AF_INET) {
		key4.addr = prefix->addr.v4.s_addr;
		memcpy(entry.key, &key4, sizeof(key4));
		return entry;
	}
	entry.map = VIP_MAP_PREFIXES6;
	memcpy(key6.addr, &prefix->addr.v6, sizeof(key6.addr));
	memcpy(entry.key, &key6, sizeof(key6));
	return entry;
}

struct vip_entry vip_entry_service(uint16_t group, uint8_t protocol, uint16_t port,
				   uint8_t len)
{
	struct service_key key = {
		.prefix_len = len,
		.group = group,
		.protocol = protocol,
		.port = htons(port),
	};
	struct vip_entry entry = { .map = VIP_MAP_SERVICES };

	memcpy(entry.key, &key, sizeof(key));
	return entry;
}

struct service_key vip_entry_service_key(const struct vip_entry *entry)
{
	struct service_key key;

	memcpy(&key, entry->key, sizeof(key));
	return key;
}

bool vip_entry_is_address(const struct vip_entry *entry)
{
	struct vip_key4 key4;
	struct vip_key6 key6;

	switch (entry->map) {
	case VIP_MAP_PREFIXES4:
	case VIP_MAP_PREFIXES6:
		return true;
	case VIP_MAP_VIPS4:
		memcpy(&key4, entry->key, sizeof(key4));
		return !key4.protocol;
	case VIP_MAP_VIPS6:
		memcpy(&key6, entry->key, sizeof(key6));
		return !key6.protocol;
	default:
		return false;
	}
}

struct prefix vip_entry_prefix(const struct vip_entry *entry)
{
	bool v4 = entry->map == VIP_MAP_VIPS4 || entry->map == VIP_MAP_PREFIXES4;
	struct prefix prefix = { .addr.family = v4 ? AF_INET : AF_INET6 };
	const uint8_t *addr = entry->key;
	uint32_t length = addr_bits(&prefix.addr);

	if (entry->map == VIP_MAP_PREFIXES4 || entry->map == VIP_MAP_PREFIXES6) {
		memcpy(&length, entry->key, sizeof(length));
		addr += sizeof(length);
	}
	prefix.length = length;
	if (v4)
		memcpy(&prefix.addr.v4, addr, sizeof(prefix.addr.v4));
	else
		memcpy(&prefix.addr.v6, addr, sizeof(prefix.addr.v6));
	return prefix;
}

static int compare_services(const struct service_key *a, const struct service_key *b)
{
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->protocol != b->protocol)
		return a->protocol - b->protocol;
	if (a->port != b->port)
		return ntohs(a->port) - ntohs(b->port);
	return (int)a->prefix_len - (int)b->prefix_len;
}

int vip_entry_compare(const struct vip_entry *a, const struct vip_entry *b)
{
	struct service_key x, y;

	if (a->map != b->map)
		return a->map - b->map;
	if (a->map != VIP_MAP_SERVICES)
		return memcmp(a->key, b->key, sizeof(a->key));
	x = vip_entry_service_key(a);
	y = vip_entry_service_key(b);
	return compare_services(&x, &y);
}

bool vip_entry_same_value(const struct vip_entry *a, const struct vip_entry *b)
{
	return !memcmp(&a->vip, &b->vip, vip_map_value_size(a->map));
}

static int compare(const void *a, const void *b)
{
	return vip_entry_compare(a, b);
}

void vip_entries_sort(struct vip_entries *entries)
{
	if (entries->n)
		qsort(entries->list, entries->n, sizeof(*entries->list), compare);
}

const struct vip_entry *vip_entries_find(const struct vip_entries *entries,
					 const struct vip_entry *key)
{
	return entries->n ? bsearch(key, entries->list, entries->n,
				    sizeof(*entries->list), compare) : NULL;
}

/* The first entry that is not below the key. */
static size_t lower_bound(const struct vip_entries *entries, const struct vip_entry *key)
{
	size_t low = 0, high = entries->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (vip_entry_compare(&entries->list[middle], key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct vip_entry *vip_entries_group(const struct vip_entries *entries,
					  uint16_t group, size_t *n)
{
	struct vip_entry key = vip_entry_service(group, 0, 0, 0);
	size_t i = lower_bound(entries, &key), end = i;

	while (end < entries->n && entries->list[end].map == VIP_MAP_SERVICES &&
	       vip_entry_service_key(&entries->list[end]).group == group)
		end++;
	*n = end - i;
	return entries->list + i;
}

/* The entry of the longest prefix of the address, from `length` bits down. */
static const struct vip_entry *find_address(const struct vip_entries *entries,
					    const struct addr *dst)
{
	struct prefix prefix = { *dst, addr_bits(dst) };
	uint8_t *bytes = dst->family == AF_INET ? (uint8_t *)&prefix.addr.v4 :
						  prefix.addr.v6.s6_addr;
	const struct vip_entry *found;
	struct vip_entry key;

	for (;;) {
		key = vip_entry_address(&prefix);
		found = vip_entries_find(entries, &key);
		if (found || !prefix.length)
			return found;
		prefix.length--;
		bytes[prefix.length / 8] &= ~(0x80 >> prefix.length % 8);
	}
}

static const struct vip *find_service(const struct vip_entries *entries, uint16_t group,
				      uint8_t protocol, uint16_t port)
{
	const struct vip_entry *found;
	struct vip_entry key;
	int len;

	for (len = SERVICE_PREFIX_LEN_MAX; len >= SERVICE_PREFIX_ANY_PORT; len--) {
		key = vip_entry_service(group, protocol,
					port & ~0U << (SERVICE_PREFIX_LEN_MAX - len), len);
		found = vip_entries_find(entries, &key);
		if (found)
			return &found->vip;
	}
	key = vip_entry_service(group, 0, 0, SERVICE_PREFIX_ANY_PROTOCOL);
	found = vip_entries_find(entries, &key);
	return found ? &found->vip : NULL;
}

const struct vip *vip_entries_lookup(const struct vip_entries *entries,
				     const struct addr *dst, uint8_t protocol,
				     uint16_t port)
{
	struct vip_entry key = vip_entry_hashed(dst, port, protocol);
	const struct vip_entry *found = vip_entries_find(entries, &key);

	if (found)
		return &found->vip;
	found = find_address(entries, dst);
	if (!found || !(found->vip.flags & VIP_SERVICES))
		return NULL;
	return find_service(entries, found->vip.id, protocol, port);
}

const struct vip *vip_entries_of_flow(const struct vip_entries *entries,
				      const struct addr *dst, uint8_t protocol,
				      uint16_t sport, uint16_t dport)
{
	const struct vip *vip = vip_entries_lookup(entries, dst, protocol, dport);

	if (vip || sport || dport)
		return vip;
	return vip_entries_lookup(entries, dst, IPPROTO_FRAGMENT, 0);
}

int vip_entries_copy(const struct vip_entries *from, struct vip_entries *out)
{
	struct vip_entry *list = calloc(from->n + 1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	if (from->n)
		memcpy(list, from->list, from->n * sizeof(*list));
	*out = (struct vip_entries){ list, from->n };
	return 0;
}

void vip_entries_clear(struct vip_entries *entries)
{
	free(entries->list);
	*entries = (struct vip_entries){ 0 };
}
