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
	__u8 mode = pkt->vip->hash_mode;

	if (pkt->fragment == FRAGMENT_NONE || !(pkt->vip->flags & VIP_FRAGMENT_HASH))
		return mode;
	return mode == HASH_SOURCE ? HASH_SOURCE : HASH_SOURCE_DEST;
}

/* Of VIPs that do not hash the whole tuple. */
static __noinline __u64 table_hash_mode4(const struct pkt *pkt)
{
	struct flow_hash_key key = { flow_hash_key.k0, flow_hash_key.k1 };

	return flow_hash_mode4(key, table_hash_mode(pkt), &pkt->key4);
}

static __noinline __u64 table_hash_mode6(const struct pkt *pkt)
{
	struct flow_hash_key key = { flow_hash_key.k0, flow_hash_key.k1 };

	return flow_hash_mode6(key, table_hash_mode(pkt), &pkt->key6);
}

static __always_inline __u64 table_hash(const struct pkt *pkt, bool v6)
{
	struct flow_hash_key key = { flow_hash_key.k0, flow_hash_key.k1 };
	const struct flow_key4 *k4 = &pkt->key4;
	const struct flow_key6 *k6 = &pkt->key6;

	if (pkt->vip->hash_mode != HASH_5_TUPLE)
		return v6 ? table_hash_mode6(pkt) : table_hash_mode4(pkt);
	if (v6)
		return flow_hash6(key, (const __be32 *)k6->src,
				  (const __be32 *)k6->dst, k6->sport, k6->dport,
				  k6->protocol);
	return flow_hash4(key, k4->src, k4->dst, k4->sport, k4->dport,
			  k4->protocol);
}

/* 0 with *backend set, or minus a drop reason. */
static __always_inline int table_pick(const struct pkt *pkt, bool v6,
				      __u16 *backend)
{
	const struct table_header *header;
	const struct table_line *line;
	__u32 index = pkt->vip->table;
	__u32 slot;
	void *table;

	table = bpf_map_lookup_elem(&tables, &index);
	if (!table)
		return -DROP_REASON_TABLE_MISSING;

	index = 0;
	header = bpf_map_lookup_elem(table, &index);
	if (!header)
		return -DROP_REASON_TABLE_MISSING;

	slot = flow_hash_slot(table_hash(pkt, v6), header->size);
	index = 1 + slot / TABLE_LINE_SLOTS;
	line = bpf_map_lookup_elem(table, &index);
	if (!line)
		return -DROP_REASON_TABLE_MISSING;

	*backend = line->ids[slot % TABLE_LINE_SLOTS];
	return *backend ? 0 : -DROP_REASON_NO_BACKEND;
}

#endif
