/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_FLOW_MAPS_H
#define FAIRLEAD_FLOW_MAPS_H

/*
 * The maps in which flows are remembered: for each CPU and family one of sets and
 * one LRU hash, inside a map of maps by CPU. The form says which one has the flows
 * of most VIPs; the LRU hashes always have those of wide VIPs.
 */

#include <stddef.h>

#include "abi.h"
#include "core/cfg.h"
#include "core/err.h"

struct bpf_map;
struct fairlead_bpf;

enum flow_map {
	FLOW_MAP_SETS4,
	FLOW_MAP_SETS6,
	FLOW_MAP_LRU4,
	FLOW_MAP_LRU6,
	FLOW_MAP__MAX,
};

/*
 * Flows a CPU that suit a machine of so much memory: a power of two, up to 1M, of
 * which the maps of all CPUs take at most a 64th.
 */
__u32 flow_maps_default(enum flow_form form, __u64 memory, unsigned int cpus);

/*
 * What the configuration wants, or the default. `flows` are for the CPUs that are
 * online; but all that may ever be have maps, and so count for the default.
 */
__u32 flow_maps_per_cpu(const struct cfg *cfg, __u64 memory, unsigned int online,
			unsigned int possible);

/* log2 of the sets for so many flows, of which nearly all find a place. */
__u32 flow_maps_set_bits(__u32 flows_per_cpu);

/* How many sets are in use at first, less one. */
__u32 flow_maps_first_mask(const struct config *config);

/* Entries of the map: sets, or flows. */
__u32 flow_map_entries(const struct config *config, enum flow_map map);
/* Bytes of kernel memory of all four, for one CPU. */
size_t flow_maps_bytes(const struct config *config);
/* What program_load() has of it once more, until it returns. */
size_t flow_maps_load_bytes(const struct config *config);

/* One map, on the NUMA node of the CPU where it has one. An fd, or -errno. */
int flow_map_create(const struct config *config, enum flow_map map, unsigned int cpu);
/* As the program, and its pin, calls the map of maps. */
const char *flow_map_name(enum flow_map map);
/* The map of maps that it belongs into. */
struct bpf_map *flow_map_outer(const struct fairlead_bpf *skel, enum flow_map map);

/*
 * All four of a CPU, empty, in the place of those before. `fds` become the caller's
 * to close, -1 where it failed; NULL: not wanted. 0 or -errno.
 */
int flow_maps_make(const struct fairlead_bpf *skel, const struct config *config,
		   unsigned int cpu, int fds[FLOW_MAP__MAX]);
/* Of CPUs 0 to n - 1. */
int flow_maps_make_all(const struct fairlead_bpf *skel, const struct config *config,
		       unsigned int n, struct err *err);

#endif
