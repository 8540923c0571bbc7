/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_MAPS_BPF_H
#define FAIRLEAD_MAPS_BPF_H

/* The maps of the balancer; include/abi.h draws how they hang together. */

#include <stdbool.h>

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "abi.h"
#include "backends.bpf.h"
#include "drop_reasons.h"

/* Daemon writes, packets read. No entry: not ours. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2 * MAX_VIPS); /* each may need an address entry */
	__type(key, struct vip_key4);
	__type(value, struct vip);
	__uint(map_flags, BPF_F_NO_PREALLOC);
} vips4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2 * MAX_VIPS);
	__type(key, struct vip_key6);
	__type(value, struct vip);
	__uint(map_flags, BPF_F_NO_PREALLOC);
} vips6 SEC(".maps");

/*
 * The plain ones of them, as include/abi.h says. Arrays that can be mapped into
 * memory start on a page, so that a set is on as few cache lines as it has; and the
 * daemon writes them in place.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, VIP_SETS);
	__type(key, __u32);
	__type(value, struct vip_set4);
	__uint(map_flags, BPF_F_MMAPABLE);
} vip_sets4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, VIP_SETS);
	__type(key, __u32);
	__type(value, struct vip_set6);
	__uint(map_flags, BPF_F_MMAPABLE);
} vip_sets6 SEC(".maps");

/* Addresses of VIPs, both families. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, VIP_FILTER_LINES);
	__type(key, __u32);
	__type(value, struct vip_filter_line);
	__uint(map_flags, BPF_F_MMAPABLE);
} vip_filter SEC(".maps");

/* Daemon writes, packets read. No match: the address does not serve it. */
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, MAX_SERVICES);
	__type(key, struct service_key);
	__type(value, struct vip);
	__uint(map_flags, BPF_F_NO_PREALLOC);
} services SEC(".maps");

/* Address entries of VIPs that are prefixes. No match: not ours. */
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, MAX_VIPS);
	__type(key, struct prefix_key4);
	__type(value, struct vip);
	__uint(map_flags, BPF_F_NO_PREALLOC);
} prefixes4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, MAX_VIPS);
	__type(key, struct prefix_key6);
	__type(value, struct vip);
	__uint(map_flags, BPF_F_NO_PREALLOC);
} prefixes6 SEC(".maps");

/* Daemon writes, packets to VIPs with VIP_ACL read. No match: VIP_ACL_DENY. */
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, MAX_ACL_ENTRIES);
	__type(key, struct acl_key4);
	__type(value, struct acl_entry);
	__uint(map_flags, BPF_F_NO_PREALLOC);
} acls4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, MAX_ACL_ENTRIES);
	__type(key, struct acl_key6);
	__type(value, struct acl_entry);
	__uint(map_flags, BPF_F_NO_PREALLOC);
} acls6 SEC(".maps");

/* Daemon writes, packets to VIPs with VIP_QUIC read. No entry: by the tuple. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_QUIC_SERVERS);
	__type(key, struct quic_server_key);
	__type(value, __u16);
	__uint(map_flags, BPF_F_NO_PREALLOC);
} quic_servers SEC(".maps");

/* Daemon writes, and reads when it adopts the maps; packets do not. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_VIPS);
	__type(key, __u32);
	__type(value, struct vip_record);
	__uint(map_flags, BPF_F_NO_PREALLOC);
} vip_records SEC(".maps");

/*
 * Shape of the inner tables; BPF_F_INNER_MAP lets each have its own size. Inner
 * maps give sizes, not types: clang 14 writes only a forward declaration of a
 * type that nothing but a nested __type names.
 */
struct table_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct table_line));
	__uint(map_flags, BPF_F_INNER_MAP);
};

/* Daemon swaps, packets read. No entry: the VIP's packets are dropped. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, MAX_TABLES + 1);
	__type(key, __u32);
	__array(values, struct table_map);
} tables SEC(".maps");

/*
 * Daemon writes, packets of backends with BACKEND_VERDICTS read. No entry: what the
 * flags of the backend say.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, VERDICTS_ROOM);
	__type(key, struct verdict_key);
	__type(value, struct verdict);
	__uint(map_flags, BPF_F_NO_PREALLOC);
} verdicts SEC(".maps");

/* How the VIP uses the backend: some of BACKEND_USE_FLAGS, and nothing else. */
static __always_inline __u8 backend_use(const struct backend *backend, __u16 id,
					__u16 vip)
{
	struct verdict_key key = { .vip = vip, .backend = id };
	const struct verdict *verdict = NULL;

	if (backend->flags & BACKEND_VERDICTS)
		verdict = bpf_map_lookup_elem(&verdicts, &key);
	return (verdict ? verdict->flags : backend->flags) & BACKEND_USE_FLAGS;
}

/*
 * May a backend that is used so have packets of flows that it has, for a VIP of these
 * flags? One that the operator took down may not; one that fails its check as the VIP
 * says.
 */
static __always_inline bool use_keeps_flows(__u8 use, __u16 vip_flags)
{
	if (!(use & BACKEND_DOWN))
		return true;
	return use & BACKEND_FAILED && vip_flags & VIP_KEEP_DOWN;
}

/* The same of a backend by its id. */
static __always_inline bool backend_keeps_flows(const struct backend *backend, __u16 id,
						const struct vip *vip)
{
	return use_keeps_flows(backend_use(backend, id, vip->id), vip->flags);
}

/*
 * One map of flows per CPU, which only that CPU's packets write: no lock is ever
 * contended. The daemon makes the inner ones, all of a size, each on its CPU's NUMA
 * node. Packets write them, and the daemon takes entries away: a backend set to 0.
 * No entry: flows of that CPU are not remembered.
 */
struct flow_sets4_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2); /* the daemon sets it before loading: lookups are inlined */
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct flow_set4));
	__uint(map_flags, BPF_F_MMAPABLE | BPF_F_NUMA_NODE);
};

struct flow_sets6_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct flow_set6));
	__uint(map_flags, BPF_F_MMAPABLE | BPF_F_NUMA_NODE);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct flow_sets4_map);
} flow_sets4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct flow_sets6_map);
} flow_sets6 SEC(".maps");

/* Packets write and read, rarely. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct flow_levels);
} flow_levels SEC(".maps");

struct flows4_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(struct flow_key4));
	__uint(value_size, sizeof(struct flow));
	__uint(map_flags, BPF_F_NUMA_NODE);
};

struct flows6_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(struct flow_key6));
	__uint(value_size, sizeof(struct flow));
	__uint(map_flags, BPF_F_NUMA_NODE);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct flows4_map);
} flows4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct flows6_map);
} flows6 SEC(".maps");

/* Packets write and read, on all CPUs. No entry: a later fragment is dropped. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, MAX_FRAGMENTED_PACKETS);
	__type(key, struct fragment_key);
	__type(value, struct fragment_note);
} fragments SEC(".maps");

/* ifindex -> ifindex. Daemon writes. No entry: the packet is dropped. */
struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP_HASH);
	__uint(max_entries, MAX_EGRESS);
	__type(key, __u32);
	__type(value, __u32);
} egress SEC(".maps");

/* Counters: packets write, daemon reads and clears when an id is given out. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, MAX_VIPS + 1);
	__type(key, __u32);
	__type(value, struct vip_counters);
} vip_counters SEC(".maps");

/* By VIP id; packets read them, too. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, MAX_VIPS + 1);
	__type(key, __u32);
	__type(value, struct new_flow_counters);
} new_flow_counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, MAX_BACKENDS + 1);
	__type(key, __u32);
	__type(value, struct backend_counters);
} backend_counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, DROP_REASON__MAX);
	__type(key, __u32);
	__type(value, struct drop_counters);
} drop_counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct totals);
} totals SEC(".maps");

/* Daemon writes once and reads when it adopts the maps; packets do not. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct config);
} config SEC(".maps");

#endif
