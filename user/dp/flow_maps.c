// SPDX-License-Identifier: GPL-2.0-only
#include "flow_maps.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "core/cleanup.h"
#include "core/plural.h"
#include "flow_hash.h" /* for the skeleton */
#include "fairlead.skel.h"

/* By default. */
#define FLOWS_MAX (1U << 20)
#define FLOWS_MIN (1U << 12)
#define MEMORY_SHARE 64

/* Of the flows a CPU: those of wide VIPs, when the sets have the others. */
#define WIDE_SHARE 16
#define WIDE_MIN 1024

/*
 * Flows fall into sets at random: with one in two ways taken, at most 4 % of them
 * find their set full; with one in four, 0.5 %.
 */
#define WAYS_PER_FLOW 2

/* kernel 6.18: an element of an LRU hash is 48 bytes, and key and value. */
#define LRU_ELEMENT 48
#define LRU_BUCKET 16

__u32 flow_maps_set_bits(__u32 flows_per_cpu)
{
	__u32 bits = 1;

	while (bits < FLOW_SET_BITS_MAX && (__u32)FLOW_WAYS / WAYS_PER_FLOW << bits < flows_per_cpu)
		bits++;
	return bits;
}

__u32 flow_maps_default(enum flow_form form, __u64 memory, unsigned int cpus)
{
	struct config config = { .flow_form = form, .flows_per_cpu = FLOWS_MAX };

	for (; config.flows_per_cpu > FLOWS_MIN; config.flows_per_cpu /= 2) {
		config.flow_set_bits = flow_maps_set_bits(config.flows_per_cpu);
		if (flow_maps_bytes(&config) * cpus <= memory / MEMORY_SHARE)
			break;
	}
	return config.flows_per_cpu;
}

__u32 flow_maps_per_cpu(const struct cfg *cfg, __u64 memory, unsigned int online,
			unsigned int possible)
{
	if (cfg->flows_per_cpu)
		return cfg->flows_per_cpu;
	if (cfg->flows)
		return cfg->flows / online > 1 ? cfg->flows / online : 1;
	return flow_maps_default(cfg->conntrack, memory, possible);
}

__u32 flow_maps_first_mask(const struct config *config)
{
	__u32 bits = config->flow_set_bits;

	return (1U << (bits < FLOW_SET_BITS_START ? bits : FLOW_SET_BITS_START)) - 1;
}

static bool is_sets(enum flow_map map)
{
	return map == FLOW_MAP_SETS4 || map == FLOW_MAP_SETS6;
}

static bool is_v6(enum flow_map map)
{
	return map == FLOW_MAP_SETS6 || map == FLOW_MAP_LRU6;
}

__u32 flow_map_entries(const struct config *config, enum flow_map map)
{
	__u32 wide = config->flows_per_cpu / WIDE_SHARE;

	/* The sets are there in both forms: the program is one. */
	if (is_sets(map))
		return config->flow_form == FLOW_FORM_SETS ? 1U << config->flow_set_bits : 2;
	if (config->flow_form == FLOW_FORM_LRU)
		return config->flows_per_cpu;
	return wide > WIDE_MIN ? wide : WIDE_MIN;
}

static size_t key_size(enum flow_map map)
{
	if (is_sets(map))
		return sizeof(__u32);
	return is_v6(map) ? sizeof(struct flow_key6) : sizeof(struct flow_key4);
}

static size_t value_size(enum flow_map map)
{
	if (!is_sets(map))
		return sizeof(struct flow);
	return is_v6(map) ? sizeof(struct flow_set6) : sizeof(struct flow_set4);
}

size_t flow_maps_bytes(const struct config *config)
{
	size_t bytes = 0, element;
	int map;

	for (map = 0; map < FLOW_MAP__MAX; map++) {
		element = value_size(map);
		if (!is_sets(map))
			element += LRU_ELEMENT + key_size(map) + LRU_BUCKET;
		bytes += element * flow_map_entries(config, map);
	}
	return bytes;
}

size_t flow_maps_load_bytes(const struct config *config)
{
	return value_size(FLOW_MAP_SETS4) * flow_map_entries(config, FLOW_MAP_SETS4) +
	       value_size(FLOW_MAP_SETS6) * flow_map_entries(config, FLOW_MAP_SETS6);
}

/* 0 where the kernel does not say: there is only one. */
static unsigned int numa_node(unsigned int cpu)
{
	struct dirent *entry;
	unsigned int node;
	bool found = false;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u", cpu);
	dir = opendir(path);
	if (!dir)
		return 0;
	while (!found && (entry = readdir(dir)))
		found = sscanf(entry->d_name, "node%u", &node) == 1;
	closedir(dir);
	return found ? node : 0;
}

const char *flow_map_name(enum flow_map map)
{
	static const char *const names[FLOW_MAP__MAX] = { "flow_sets4", "flow_sets6",
							  "flows4", "flows6" };

	return names[map];
}

int flow_map_create(const struct config *config, enum flow_map map, unsigned int cpu)
{
	/* All inner maps of one must have the same flags. */
	LIBBPF_OPTS(bpf_map_create_opts, options,
		    .map_flags = BPF_F_NUMA_NODE | (is_sets(map) ? BPF_F_MMAPABLE : 0),
		    .numa_node = numa_node(cpu));
	int fd = bpf_map_create(is_sets(map) ? BPF_MAP_TYPE_ARRAY : BPF_MAP_TYPE_LRU_HASH,
			    flow_map_name(map), key_size(map), value_size(map),
			    flow_map_entries(config, map), &options);
	return fd < 0 ? -errno : fd;
}

struct bpf_map *flow_map_outer(const struct fairlead_bpf *skel, enum flow_map map)
{
	switch (map) {
	case FLOW_MAP_SETS4:
		return skel->maps.flow_sets4;
	case FLOW_MAP_SETS6:
		return skel->maps.flow_sets6;
	case FLOW_MAP_LRU4:
		return skel->maps.flows4;
	default:
		return skel->maps.flows6;
	}
}

int flow_maps_make(const struct fairlead_bpf *skel, const struct config *config,
		   unsigned int cpu, int fds[FLOW_MAP__MAX])
{
	int map;

	for (map = 0; fds && map < FLOW_MAP__MAX; map++)
		fds[map] = -1;
	for (map = 0; map < FLOW_MAP__MAX; map++) {
		_cleanup_close_ int fd = flow_map_create(config, map, cpu);
		int outer = bpf_map__fd(flow_map_outer(skel, map));

		if (fd < 0)
			return fd;
		if (bpf_map_update_elem(outer, &cpu, &fd, BPF_ANY))
			return -errno;
		if (fds)
			fds[map] = TAKE_FD(fd);
	}
	return 0;
}

int flow_maps_make_all(const struct fairlead_bpf *skel, const struct config *config,
		       unsigned int n, struct err *err)
{
	unsigned int cpu;
	int rc;

	for (cpu = 0; cpu < n; cpu++) {
		rc = flow_maps_make(skel, config, cpu, NULL);
		if (rc)
			return err_set(err, rc,
				       "cannot make the flow maps of CPU %u (%zu MiB of %zu for %u CPU%s): %s; fewer 'flows' need less memory",
				       cpu, flow_maps_bytes(config) >> 20,
				       n * flow_maps_bytes(config) >> 20, n, plural(n),
				       strerror(-rc));
	}
	return 0;
}
