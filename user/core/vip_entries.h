/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_VIP_ENTRIES_H
#define FAIRLEAD_VIP_ENTRIES_H

/*
 * The elements of the maps by which packets find their VIP, as a list in memory:
 * what the maps should hold for a plan (services.h makes it), or what was found
 * in them. Sorted by map, and in the services by group, so that one group's are
 * neighbours.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi.h"
#include "addr.h"
#include "prefix.h"

enum vip_map {
	VIP_MAP_VIPS4,
	VIP_MAP_VIPS6,
	VIP_MAP_PREFIXES4,
	VIP_MAP_PREFIXES6,
	VIP_MAP_SERVICES,
	VIP_MAP_RECORDS,
	VIP_MAP__MAX,
};

#define VIP_ENTRY_KEY_MAX sizeof(struct vip_key6)

struct vip_entry {
	uint8_t map;                    /* enum vip_map */
	uint8_t key[VIP_ENTRY_KEY_MAX]; /* as the map has it; zeros behind */
	union {
		struct vip vip;
		struct vip_record record; /* VIP_MAP_RECORDS */
	};
};

struct vip_entries {
	struct vip_entry *list;
	size_t n;
};

size_t vip_map_key_size(enum vip_map map);
size_t vip_map_value_size(enum vip_map map);

/* Entries as their maps key them; the values are zero. */
struct vip_entry vip_entry_hashed(const struct addr *addr, uint16_t port,
				  uint8_t protocol);
/* Of the address or prefix itself. */
struct vip_entry vip_entry_address(const struct prefix *prefix);
/* len: SERVICE_PREFIX_ANY_PROTOCOL to SERVICE_PREFIX_LEN_MAX. */
struct vip_entry vip_entry_service(uint16_t group, uint8_t protocol, uint16_t port,
				   uint8_t len);

/* True for entries that say that an address or prefix is ours. */
bool vip_entry_is_address(const struct vip_entry *entry);
struct service_key vip_entry_service_key(const struct vip_entry *entry);
/* Of an address entry. */
struct prefix vip_entry_prefix(const struct vip_entry *entry);

/* Total order by map and key. */
int vip_entry_compare(const struct vip_entry *a, const struct vip_entry *b);
bool vip_entry_same_value(const struct vip_entry *a, const struct vip_entry *b);

void vip_entries_sort(struct vip_entries *entries);
/* NULL: no entry of that map and key. */
const struct vip_entry *vip_entries_find(const struct vip_entries *entries,
					 const struct vip_entry *key);
/* The services of a group, which are neighbours; *n may be 0. */
const struct vip_entry *vip_entries_group(const struct vip_entries *entries,
					  uint16_t group, size_t *n);
/*
 * The VIP that a packet finds: as the data plane looks, with its lookups made
 * in the list. NULL: none.
 */
const struct vip *vip_entries_lookup(const struct vip_entries *entries,
				     const struct addr *dst, uint8_t protocol,
				     uint16_t port);

/*
 * The VIP of a flow that is remembered by its tuple, ports in host byte order. One
 * without ports may be the fragments of an address that hashes them, which are one
 * flow, whichever of its VIPs takes them.
 */
const struct vip *vip_entries_of_flow(const struct vip_entries *entries,
				      const struct addr *dst, uint8_t protocol,
				      uint16_t sport, uint16_t dport);

/* -ENOMEM or 0. */
int vip_entries_copy(const struct vip_entries *from, struct vip_entries *out);
void vip_entries_clear(struct vip_entries *entries);

#endif
