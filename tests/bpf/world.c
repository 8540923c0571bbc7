// SPDX-License-Identifier: GPL-2.0-only
#include "world_seed.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <net/if.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>

#include "tests/lib/netns.h"
#include "user/core/cleanup.h"
#include "user/dp/program.h"

#define SKIP 77
/* Of BPF_PROG_RUN in older kernels, 6.1 among them. */
#define METADATA_MAX_OLD 32

void world_die(const char *what, int err)
{
	fprintf(stderr, "tests/bpf: %s: %s\n", what, strerror(-err));
	abort();
}

void world_map_update(struct bpf_map *map, const void *key, const void *value)
{
	int err = bpf_map_update_elem(bpf_map__fd(map), key, value, BPF_ANY);

	if (err)
		world_die(bpf_map__name(map), err);
}

/* A map of keys of up to 40 bytes is empty afterwards. */
static void clear_map(struct bpf_map *map)
{
	uint8_t key[40];

	while (!bpf_map_get_next_key(bpf_map__fd(map), NULL, key))
		if (bpf_map_delete_elem(bpf_map__fd(map), key))
			world_die(bpf_map__name(map), -errno);
}

static void clear_counters(struct bpf_map *map, uint32_t n)
{
	_cleanup_free_ void *zero = calloc(libbpf_num_possible_cpus(),
					   bpf_map__value_size(map));

	for (uint32_t id = 0; id < n; id++)
		world_map_update(map, &id, zero);
}

void world_reset(struct world *world)
{
	struct fairlead_bpf *skel = world->skel;

	world_reset_backends(world);
	world_table(world, T_MAIN, WORLD_TABLE_SIZE, B_IPIP4);
	world_table(world, T_EXACT, WORLD_TABLE_SIZE, B_EXACT);
	world_flows(world, world->config.flows_per_cpu);
	world_flow_levels_reset(world);
	world_neighbour_forgets(world);
	world_seed_vips(world);
	world_vips_forget_fragments(world);
	clear_map(skel->maps.fragments);
	clear_map(skel->maps.acls4);
	clear_map(skel->maps.acls6);
	clear_map(skel->maps.quic_servers);
	clear_map(skel->maps.verdicts);
	clear_counters(skel->maps.ct_rescues, 1);
	clear_counters(skel->maps.new_flow_counters, V__MAX);
	clear_counters(skel->maps.icmp_spent, 1);
	clear_counters(skel->maps.totals, 1);
	clear_counters(skel->maps.drop_counters, DROP_REASON__MAX);
	clear_counters(skel->maps.vip_counters, V__MAX);
	clear_counters(skel->maps.backend_counters, B__MAX);
}

/* Every counter is a struct of __u64, one for each CPU. */
static void sum_counters(struct bpf_map *map, uint32_t n, void *sums)
{
	uint64_t *out = sums;
	size_t words = bpf_map__value_size(map) / sizeof(uint64_t);
	int cpus = libbpf_num_possible_cpus();
	_cleanup_free_ uint64_t *values = calloc(cpus * words, sizeof(uint64_t));

	memset(out, 0, n * words * sizeof(*out));
	for (uint32_t id = 0; id < n; id++) {
		int err = bpf_map_lookup_elem(bpf_map__fd(map), &id, values);

		if (err)
			world_die(bpf_map__name(map), err);
		for (size_t i = 0; i < cpus * words; i++)
			out[id * words + i % words] += values[i];
	}
}

void world_counts(struct world *world, struct counts *counts)
{
	struct fairlead_bpf *skel = world->skel;

	sum_counters(skel->maps.totals, 1, &counts->totals);
	sum_counters(skel->maps.drop_counters, DROP_REASON__MAX,
		     counts->drops);
	sum_counters(skel->maps.vip_counters, V__MAX, counts->vips);
	sum_counters(skel->maps.backend_counters, B__MAX, counts->backends);
}

void world_run(struct world *world, const struct frame *in,
	       const struct run_options *options, struct run *run)
{
	uint8_t data[FRAME_MAX] = { 0 };
	size_t size = options->metadata + in->size;
	struct xdp_md ctx = {
		.data = options->metadata,
		.data_end = options->linear ? options->metadata + options->linear :
					      size,
		.ingress_ifindex = options->ingress_ifindex ?
					   options->ingress_ifindex :
					   LOOPBACK_IFINDEX,
	};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = data,
		    .data_size_in = size, .data_out = run->out.data,
		    .data_size_out = sizeof(run->out.data), .ctx_in = &ctx,
		    .ctx_size_in = sizeof(ctx), .repeat = 1);
	int err;

	memcpy(data + options->metadata, in->data, in->size);
	err = bpf_prog_test_run_opts(bpf_program__fd(world->skel->progs.fairlead),
				     &opts);
	if (err == -EINVAL && options->metadata > METADATA_MAX_OLD) {
		print_message("skipped: this kernel runs no frame behind %u bytes of metadata\n",
			      options->metadata);
		skip();
	}
	if (err)
		world_die("BPF_PROG_RUN", err);
	run->verdict = opts.retval;
	run->out.size = opts.data_size_out;
}

void world_send(struct world *world, const struct frame_spec *spec, struct run *run)
{
	static const struct run_options usual;
	struct frame in;

	frame_build(spec, &in);
	world_run(world, &in, &usual, run);
}

/* The clock of the program, as a number and what is left of the tick. */
static uint64_t coarse_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void world_spend_icmp(struct world *world)
{
	struct icmp_spent { uint32_t tick, answers[2]; };
	int cpus = libbpf_num_possible_cpus();
	_cleanup_free_ struct icmp_spent *spent = calloc(cpus, sizeof(*spent));
	uint32_t zero = 0;

	/* What comes next must come within the tick: leave it an eighth. */
	while ((coarse_ns() & ((1 << 30) - 1)) > (7 << 27))
		sched_yield();
	for (int i = 0; i < cpus; i++) {
		spent[i].tick = coarse_ns() >> 30;
		spent[i].answers[0] = spent[i].answers[1] = WORLD_ICMP_ANSWERS;
	}
	world_map_update(world->skel->maps.icmp_spent, &zero, spent);
}

enum backend_id world_sent_to(const struct run *run)
{
	return run->out.data[5];
}

/* The hash key is that of the published vectors: bytes 00 01 .. 0f. */
static struct config world_config(enum flow_form form, uint32_t flows)
{
	return (struct config){
		.abi = FAIRLEAD_ABI,
		.flows_per_cpu = flows,
		.flow_form = form,
		.flow_set_bits = flow_maps_set_bits(flows),
		.mix_key = 0x9e3779b97f4a7c15ULL,
		.hash_key = { 0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL },
	};
}

static int map_vip_sets(struct world *world)
{
	const struct fairlead_bpf *skel = world->skel;

	return vip_sets_map(bpf_map__fd(skel->maps.vip_sets4),
			    bpf_map__fd(skel->maps.vip_sets6),
			    bpf_map__fd(skel->maps.vip_filter), world->config.mix_key,
			    &world->vip_sets, NULL);
}

static int load(struct world *world)
{
	int cpus = libbpf_num_possible_cpus();
	int err;

	/* Room for a neighbour: it need not exist to have maps. */
	if (cpus < 2)
		cpus = 2;
	world->neighbour = world->cpu ? 0 : 1;
	err = program_open(&world->config, cpus, &world->skel, NULL);
	if (err)
		return err;
	/* The verifier walks the loop over the CPUs: the same on any machine. */
	world->skel->rodata->ct_cpus = 2;
	world->skel->rodata->icmp_answers_max = WORLD_ICMP_ANSWERS;
	/* Time stands still but for world_age_flows(), however slow the machine is. */
	world->skel->rodata->clock_tick_multiplier = 0;
	err = program_load(world->skel, &world->config);
	return err ? err : map_vip_sets(world);
}

static int seed_egress(struct world *world)
{
	int err = netns_add_veth("egress", "stray");

	if (err)
		return err;
	world->egress_ifindex = if_nametoindex("egress");
	world->stray_ifindex = if_nametoindex("stray");
	world_map_update(world->skel->maps.egress, &world->egress_ifindex,
	       &world->egress_ifindex);
	return 0;
}

int world_open(struct world *world)
{
	return world_open_as(world, FLOW_FORM_SETS);
}

int world_open_as(struct world *world, enum flow_form form)
{
	return world_open_sized(world, form, WORLD_FLOWS);
}

int world_open_sized(struct world *world, enum flow_form form, uint32_t flows)
{
	int err;

	*world = (struct world){ .config = world_config(form, flows),
				 .flows = { -1, -1, -1, -1 } };
	err = netns_enter_new();
	if (err) {
		fprintf(stderr, "skipped: no new network namespace: %s\n",
			strerror(-err));
		return SKIP;
	}
	err = cpu_pin();
	if (err < 0)
		world_die("cannot stay on one CPU", err);
	world->cpu = err;

	err = load(world);
	if (err == -EPERM) {
		fprintf(stderr, "skipped: no permission to load BPF programs\n");
		return SKIP;
	}
	if (err)
		world_die("cannot load the program", err);
	err = seed_egress(world);
	if (err) {
		fprintf(stderr, "skipped: no veth devices: %s\n", strerror(-err));
		world_close(world);
		return SKIP;
	}
	world_seed_vips(world);
	return 0;
}

void world_close(struct world *world)
{
	world_flows_close(world);
	vip_sets_unmap(&world->vip_sets);
	fairlead_bpf__destroy(world->skel);
	world->skel = NULL;
}

int world_run_tests(struct world *world, const struct CMUnitTest *tests, size_t n)
{
	int result = world_open(world);

	if (result)
		return result;
	result = _cmocka_run_group_tests("tests", tests, n, NULL, NULL);
	world_close(world);
	return result;
}
