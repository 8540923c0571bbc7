// SPDX-License-Identifier: GPL-2.0-only
/* What the CPUs of the world know of flows. */
#include "world_seed.h"

#include <errno.h>
#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "user/core/cleanup.h"

static void age_flows(int fd, uint32_t ticks)
{
	uint8_t key[sizeof(struct flow_key6)];
	struct flow flow;

	for (void *previous = NULL; bpf_map_get_next_key(fd, previous, key) == 0;
	     previous = key) {
		if (bpf_map_lookup_elem(fd, key, &flow))
			world_die("flow", -errno);
		flow.seen -= ticks;
		if (bpf_map_update_elem(fd, key, &flow, BPF_EXIST))
			world_die("flow", -errno);
	}
}

void world_age_flows(struct world *world, uint32_t ticks)
{
	age_flows(world->flows4, ticks);
	age_flows(world->flows6, ticks);
}

void world_fill_new_flows(struct world *world, enum vip_id vip)
{
	int cpus = libbpf_num_possible_cpus();
	_cleanup_free_ struct new_flow_counters *values = calloc(cpus, sizeof(*values));
	uint32_t id = vip;

	for (int cpu = 0; cpu < cpus; cpu++)
		values[cpu] = (struct new_flow_counters){ .tick = ~0U, .count = ~0U };
	world_map_update(world->skel->maps.new_flow_counters, &id, values);
}

uint64_t world_unremembered(struct world *world, enum vip_id vip)
{
	_cleanup_free_ struct new_flow_counters *values =
		calloc(libbpf_num_possible_cpus(), sizeof(*values));
	uint32_t id = vip;

	if (bpf_map_lookup_elem(bpf_map__fd(world->skel->maps.new_flow_counters), &id,
				values))
		world_die("new flows", -errno);
	return values[world->cpu].unremembered;
}

static int flows_replace(struct bpf_map *outer, uint32_t cpu, int *inner,
			 size_t key_size, uint32_t entries)
{
	cleanup_close(inner);
	if (!entries) {
		int err = bpf_map_delete_elem(bpf_map__fd(outer), &cpu);

		return err == -ENOENT ? 0 : err;
	}
	*inner = bpf_map_create(BPF_MAP_TYPE_LRU_HASH, "flows", key_size,
				sizeof(struct flow), entries, NULL);
	if (*inner < 0)
		return *inner;
	return bpf_map_update_elem(bpf_map__fd(outer), &cpu, inner, BPF_ANY);
}

void world_flows(struct world *world, uint32_t entries)
{
	int err;

	err = flows_replace(world->skel->maps.flows4, world->cpu, &world->flows4,
			    sizeof(struct flow_key4), entries);
	if (!err)
		err = flows_replace(world->skel->maps.flows6, world->cpu,
				    &world->flows6, sizeof(struct flow_key6),
				    entries);
	if (err)
		world_die("flow map", err);
}

static int flows_move(struct bpf_map *outer, const struct world *world,
		      int *inner, size_t key_size)
{
	int err = bpf_map_update_elem(bpf_map__fd(outer), &world->neighbour,
				      inner, BPF_ANY);

	return err ? err :
		     flows_replace(outer, world->cpu, inner, key_size, WORLD_FLOWS);
}

void world_flows_move(struct world *world)
{
	int err = flows_move(world->skel->maps.flows4, world, &world->flows4,
			     sizeof(struct flow_key4));

	if (!err)
		err = flows_move(world->skel->maps.flows6, world, &world->flows6,
				 sizeof(struct flow_key6));
	if (err)
		world_die("flow map of another CPU", err);
}

void world_neighbour_forgets(struct world *world)
{
	bpf_map_delete_elem(bpf_map__fd(world->skel->maps.flows4),
			    &world->neighbour);
	bpf_map_delete_elem(bpf_map__fd(world->skel->maps.flows6),
			    &world->neighbour);
}

unsigned int world_count_flows(const struct world *world, bool v6)
{
	uint8_t key[sizeof(struct flow_key6)];
	int fd = v6 ? world->flows6 : world->flows4;
	unsigned int n = 0;

	for (void *previous = NULL; bpf_map_get_next_key(fd, previous, key) == 0;
	     previous = key)
		n++;
	return n;
}
