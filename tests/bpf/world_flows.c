// SPDX-License-Identifier: GPL-2.0-only
/* What the CPUs of the world know of flows. */
#include "world_seed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <sys/mman.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "user/core/cleanup.h"

uint32_t world_tick(const struct world *world)
{
	uint8_t frame[64] = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .data_size_in = sizeof(frame),
		    .repeat = 1);
	int err = bpf_prog_test_run_opts(bpf_program__fd(world->skel->progs.tick), &run);

	if (err)
		world_die("tick", err);
	return run.retval;
}

static void visit_ways(flow_visit *visit, void *context, const uint16_t *sport,
		       const uint16_t *dport, uint16_t *backend, uint16_t *alternate,
		       uint16_t *stamp)
{
	for (int way = 0; way < FLOW_WAYS; way++) {
		struct flow flow = { .backend = backend[way], .alternate = alternate[way],
				     .stamp = stamp[way] };

		if (!flow.backend)
			continue;
		visit(context, ntohs(sport[way]), ntohs(dport[way]), &flow);
		backend[way] = flow.backend;
		alternate[way] = flow.alternate;
		stamp[way] = flow.stamp;
	}
}

static void visit_sets(struct world *world, bool v6, flow_visit *visit, void *context)
{
	enum flow_map map = v6 ? FLOW_MAP_SETS6 : FLOW_MAP_SETS4;
	size_t n = flow_map_entries(&world->config, map);
	size_t size = n * (v6 ? sizeof(struct flow_set6) : sizeof(struct flow_set4));
	struct flow_set4 *sets4;
	struct flow_set6 *sets6;

	if (world->flows[map] < 0)
		return;
	sets4 = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, world->flows[map], 0);
	sets6 = (void *)sets4;
	if (sets4 == MAP_FAILED)
		world_die("flow sets", -errno);
	for (size_t i = 0; i < n; i++) {
		if (v6)
			visit_ways(visit, context, sets6[i].sport, sets6[i].dport,
				   sets6[i].backend, sets6[i].alternate, sets6[i].stamp);
		else
			visit_ways(visit, context, sets4[i].sport, sets4[i].dport,
				   sets4[i].backend, sets4[i].alternate, sets4[i].stamp);
	}
	munmap(sets4, size);
}

static void visit_lru(struct world *world, bool v6, flow_visit *visit, void *context)
{
	int fd = world->flows[v6 ? FLOW_MAP_LRU6 : FLOW_MAP_LRU4];
	struct flow_key6 key6;
	struct flow_key4 *key4 = (void *)&key6;
	struct flow flow, before;

	for (void *previous = NULL; bpf_map_get_next_key(fd, previous, &key6) == 0;
	     previous = &key6) {
		if (bpf_map_lookup_elem(fd, &key6, &flow))
			world_die("flow", -errno);
		before = flow;
		visit(context, ntohs(v6 ? key6.sport : key4->sport),
		      ntohs(v6 ? key6.dport : key4->dport), &flow);
		/* An update of a full map evicts others. */
		if (memcmp(&flow, &before, sizeof(flow)) &&
		    bpf_map_update_elem(fd, &key6, &flow, BPF_EXIST))
			world_die("flow", -errno);
	}
}

void world_each_flow(struct world *world, bool v6, flow_visit *visit, void *context)
{
	visit_sets(world, v6, visit, context);
	visit_lru(world, v6, visit, context);
}

/* Backwards from where they end, so that flows that begin later are not older. */
static void age_flow(void *context, uint16_t sport, uint16_t dport, struct flow *flow)
{
	const uint32_t *ticks = context;
	uint16_t until = (flow->stamp >> FLOW_FLAG_BITS) - *ticks;

	(void)sport;
	(void)dport;
	flow->stamp = FLOW_STAMP(until, flow->stamp & FLOW_FLAGS);
}

void world_age_flows(struct world *world, uint32_t ticks)
{
	world_each_flow(world, false, age_flow, &ticks);
	world_each_flow(world, true, age_flow, &ticks);
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

/* Sets have one size, which the program knows: they are new, or none. */
static int flows_replace(struct world *world, enum flow_map map, uint32_t entries)
{
	struct bpf_map *outer = flow_map_outer(world->skel, map);
	struct config config = world->config;
	int err;

	cleanup_close(&world->flows[map]);
	if (!entries) {
		err = bpf_map_delete_elem(bpf_map__fd(outer), &world->cpu);
		return err == -ENOENT ? 0 : err;
	}
	if (config.flow_form == FLOW_FORM_LRU)
		config.flows_per_cpu = entries;
	world->flows[map] = flow_map_create(&config, map, world->cpu);
	if (world->flows[map] < 0)
		return world->flows[map];
	return bpf_map_update_elem(bpf_map__fd(outer), &world->cpu, &world->flows[map],
				   BPF_ANY);
}

void world_flows(struct world *world, uint32_t entries)
{
	for (int map = 0; map < FLOW_MAP__MAX; map++) {
		int err = flows_replace(world, map, entries);

		if (err)
			world_die("flow map", err);
	}
}

void world_flows_move(struct world *world)
{
	for (int map = 0; map < FLOW_MAP__MAX; map++) {
		struct bpf_map *outer = flow_map_outer(world->skel, map);
		int err = bpf_map_update_elem(bpf_map__fd(outer), &world->neighbour,
					      &world->flows[map], BPF_ANY);

		if (!err)
			err = flows_replace(world, map, world->config.flows_per_cpu);
		if (err)
			world_die("flow map of another CPU", err);
	}
}

/* The inner map that a CPU has in the outer one, or a new one. */
static int flows_of(struct world *world, enum flow_map map, uint32_t cpu)
{
	uint32_t id;

	if (bpf_map_lookup_elem(bpf_map__fd(flow_map_outer(world->skel, map)), &cpu, &id))
		return flow_map_create(&world->config, map, cpu);
	return bpf_map_get_fd_by_id(id);
}

void world_flows_swap(struct world *world)
{
	for (int map = 0; map < FLOW_MAP__MAX; map++) {
		int outer = bpf_map__fd(flow_map_outer(world->skel, map));
		int fd = flows_of(world, map, world->neighbour), err = fd < 0 ? fd : 0;

		if (!err)
			err = bpf_map_update_elem(outer, &world->neighbour,
						  &world->flows[map], BPF_ANY);
		if (!err)
			err = bpf_map_update_elem(outer, &world->cpu, &fd, BPF_ANY);
		if (err)
			world_die("flow maps of two CPUs", err);
		cleanup_close(&world->flows[map]);
		world->flows[map] = fd;
	}
}

void world_neighbour_forgets(struct world *world)
{
	for (int map = 0; map < FLOW_MAP__MAX; map++)
		bpf_map_delete_elem(bpf_map__fd(flow_map_outer(world->skel, map)),
				    &world->neighbour);
}

void world_flow_levels_reset(struct world *world)
{
	struct flow_levels levels = { 0 };
	uint32_t zero = 0;

	world_map_update(world->skel->maps.flow_levels, &zero, &levels);
	for (int v6 = 0; v6 < 2; v6++)
		world->skel->data->flow_mask[v6] = flow_maps_first_mask(&world->config);
}

void world_flows_close(struct world *world)
{
	for (int map = 0; map < FLOW_MAP__MAX; map++)
		cleanup_close(&world->flows[map]);
}

static void count_flow(void *context, uint16_t sport, uint16_t dport, struct flow *flow)
{
	(void)sport;
	(void)dport;
	(void)flow;
	++*(unsigned int *)context;
}

unsigned int world_count_flows(struct world *world, bool v6)
{
	unsigned int n = 0;

	world_each_flow(world, v6, count_flow, &n);
	return n;
}
