/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TABLE_BPF_H
#define FAIRLEAD_TABLE_BPF_H

/* The VIP's consistent-hash table: from a flow to a backend id. */

#include "flow_hash.h"
#include "maps.bpf.h"
#include "packet.bpf.h"

/* Fleet-wide key of the flow hash; the daemon sets it before loading. */
const volatile struct flow_hash_key flow_hash_key;

/* Fragments that are hashed must not depend on what only the first one has. */
static __always_inline __u8 table_hash_mode(const struct pkt *pkt)
{
	__u8 mode = pkt->vip.hash_mode;

	if (pkt->fragment == FRAGMENT_NONE || !(pkt->vip.flags & VIP_FRAGMENT_HASH))
		return mode;
	return mode == HASH_SOURCE ? HASH_SOURCE : HASH_SOURCE_DEST;
}

/*
 * The hash of the whole tuple, for where it is known that the VIP wants it; and of
 * any VIP, for packets that do not hurry.
 */
static __always_inline __u64 table_hash_tuple(const struct pkt *pkt, bool v6)
{
	struct flow_hash_key key = { flow_hash_key.k0, flow_hash_key.k1 };
	const struct flow_key4 *k4 = &pkt->key4;
	const struct flow_key6 *k6 = &pkt->key6;

	if (v6)
		return flow_hash6(key, (const __be32 *)k6->src,
				  (const __be32 *)k6->dst, k6->sport, k6->dport,
				  k6->protocol);
	return flow_hash4(key, k4->src, k4->dst, k4->sport, k4->dport,
			  k4->protocol);
}

__noinline __u64 table_hash4(const struct pkt *pkt)
{
	struct flow_hash_key key = { flow_hash_key.k0, flow_hash_key.k1 };

	return pkt ? flow_hash_mode4(key, table_hash_mode(pkt), &pkt->key4) : 0;
}

__noinline __u64 table_hash6(const struct pkt *pkt)
{
	struct flow_hash_key key = { flow_hash_key.k0, flow_hash_key.k1 };

	return pkt ? flow_hash_mode6(key, table_hash_mode(pkt), &pkt->key6) : 0;
}

static __always_inline __u64 table_hash(const struct pkt *pkt, bool v6)
{
	return v6 ? table_hash6(pkt) : table_hash4(pkt);
}

/* NULL: the table ends before. */
static __always_inline const __u16 *table_slot(void *table, __u32 first_line, __u32 slot)
{
	__u32 index = first_line + slot / TABLE_LINE_SLOTS;
	const struct table_line *line = bpf_map_lookup_elem(table, &index);

	return line ? &line->ids[slot % TABLE_LINE_SLOTS] : NULL;
}

/*
 * Whose slot a hash falls into, and with `previous`, whose it was before. 0 with
 * *backend set, or minus a drop reason.
 */
static __always_inline int table_find(__u32 id, __u64 hash, __u16 *backend,
				      __u16 *previous)
{
	const struct table_header *header;
	__u32 slot, zero = 0;
	const __u16 *owner;
	void *table;

	table = bpf_map_lookup_elem(&tables, &id);
	if (!table)
		return -DROP_REASON_TABLE_MISSING;
	header = bpf_map_lookup_elem(table, &zero);
	if (!header)
		return -DROP_REASON_TABLE_MISSING;

	slot = flow_hash_slot(hash, header->size);
	owner = table_slot(table, 1, slot);
	if (!owner)
		return -DROP_REASON_TABLE_MISSING;
	*backend = *owner;
	if (previous) {
		owner = header->previous ? table_slot(table, header->previous, slot) : NULL;
		*previous = owner ? *owner : 0;
	}
	return *backend ? 0 : -DROP_REASON_NO_BACKEND;
}

#endif
