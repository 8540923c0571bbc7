// SPDX-License-Identifier: GPL-2.0-only
#include "program.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "core/cleanup.h"
#include "flow_maps.h"
#include "flow_hash.h" /* for the skeleton */
#include "fairlead.skel.h"

void program_key_words(const uint8_t key[16], __u64 words[2])
{
	int i;

	words[0] = words[1] = 0;
	for (i = 0; i < 16; i++)
		words[i / 8] |= (__u64)key[i] << (i % 8 * 8);
}

/* Of this kernel: the resolution of its coarse clocks is a jiffy. */
static __u32 tick_multiplier(void)
{
	struct timespec jiffy;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &jiffy) || !jiffy.tv_nsec)
		return CLOCK_TICK_MULTIPLIER(250);
	return CLOCK_TICK_MULTIPLIER((1000000000 + jiffy.tv_nsec / 2) / jiffy.tv_nsec);
}

int program_open(const struct config *config, unsigned int cpus,
		 struct fairlead_bpf **out, struct err *err)
{
	struct fairlead_bpf *skel = fairlead_bpf__open();

	if (!skel)
		return err_set(err, -errno, "cannot open the BPF program: %s",
			       strerror(errno));

	skel->rodata->flow_hash_key.k0 = config->hash_key[0];
	skel->rodata->flow_hash_key.k1 = config->hash_key[1];
	skel->rodata->mix_key = config->mix_key;
	skel->rodata->flow_form = config->flow_form;
	skel->rodata->flow_mask_max = (1U << config->flow_set_bits) - 1;
	for (int v6 = 0; v6 < 2; v6++)
		skel->data->flow_mask[v6] = flow_maps_first_mask(config);
	skel->rodata->clock_tick_multiplier = tick_multiplier();
	skel->rodata->ct_cpus = cpus;
	bpf_map__set_max_entries(skel->maps.flow_sets4, cpus);
	bpf_map__set_max_entries(skel->maps.flow_sets6, cpus);
	bpf_map__set_max_entries(skel->maps.flows4, cpus);
	bpf_map__set_max_entries(skel->maps.flows6, cpus);
	*out = skel;
	return 0;
}

int program_load(struct fairlead_bpf *skel, const struct config *config)
{
	_cleanup_close_ int sets4 = flow_map_create(config, FLOW_MAP_SETS4, 0);
	_cleanup_close_ int sets6 = flow_map_create(config, FLOW_MAP_SETS6, 0);
	int rc;

	/*
	 * Lookups in an array are inlined for its size, so what the verifier sees in
	 * the place of each CPU's has to have it. (The size of an inner map that the
	 * program declares cannot be set: libbpf 1.1 follows a null pointer.)
	 */
	if (sets4 < 0 || sets6 < 0)
		return sets4 < 0 ? sets4 : sets6;
	rc = bpf_map__set_inner_map_fd(skel->maps.flow_sets4, sets4);
	if (!rc)
		rc = bpf_map__set_inner_map_fd(skel->maps.flow_sets6, sets6);
	return rc ? rc : fairlead_bpf__load(skel);
}

int program_maps(const struct fairlead_bpf *skel, unsigned int cpus, struct kernel *k,
		 struct err *err)
{
	*k = (struct kernel){
		.vips4 = bpf_map__fd(skel->maps.vips4),
		.vips6 = bpf_map__fd(skel->maps.vips6),
		.prefixes4 = bpf_map__fd(skel->maps.prefixes4),
		.prefixes6 = bpf_map__fd(skel->maps.prefixes6),
		.services = bpf_map__fd(skel->maps.services),
		.vip_records = bpf_map__fd(skel->maps.vip_records),
		.prefixes = &skel->bss->vip_prefixes,
		.tables = bpf_map__fd(skel->maps.tables),
		.backends = bpf_map__fd(skel->maps.backends),
		.egress = bpf_map__fd(skel->maps.egress),
		.vip_counters = bpf_map__fd(skel->maps.vip_counters),
		.backend_counters = bpf_map__fd(skel->maps.backend_counters),
		.new_flow_counters = bpf_map__fd(skel->maps.new_flow_counters),
		.acls4 = bpf_map__fd(skel->maps.acls4),
		.acls6 = bpf_map__fd(skel->maps.acls6),
		.quic_servers = bpf_map__fd(skel->maps.quic_servers),
		.verdicts = bpf_map__fd(skel->maps.verdicts),
		.cpus = cpus,
	};
	return vip_sets_map(bpf_map__fd(skel->maps.vip_sets4),
			    bpf_map__fd(skel->maps.vip_sets6),
			    bpf_map__fd(skel->maps.vip_filter), skel->rodata->mix_key,
			    &k->vip_sets, err);
}
