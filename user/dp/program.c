// SPDX-License-Identifier: GPL-2.0-only
#include "program.h"

#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "core/cleanup.h"
#include "flow_hash.h" /* for the skeleton */
#include "fairlead.skel.h"

void program_key_words(const uint8_t key[16], __u64 words[2])
{
	int i;

	words[0] = words[1] = 0;
	for (i = 0; i < 16; i++)
		words[i / 8] |= (__u64)key[i] << (i % 8 * 8);
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
	skel->rodata->ct_cpus = cpus;
	bpf_map__set_max_entries(skel->maps.flows4, cpus);
	bpf_map__set_max_entries(skel->maps.flows6, cpus);
	*out = skel;
	return 0;
}

static int make_flow_map(int outer_fd, const char *name, size_t key_size,
			 __u32 entries, __u32 cpu)
{
	_cleanup_close_ int fd = bpf_map_create(BPF_MAP_TYPE_LRU_HASH, name, key_size,
						sizeof(struct flow), entries, NULL);

	if (fd >= 0 && bpf_map_update_elem(outer_fd, &cpu, &fd, BPF_ANY) == 0)
		return 0;
	return -errno;
}

/* One inner flow map for each CPU that may ever run packets. */
int program_make_flow_maps(struct fairlead_bpf *skel, const struct config *config,
			   unsigned int first, unsigned int n, struct err *err)
{
	int fd4 = bpf_map__fd(skel->maps.flows4), fd6 = bpf_map__fd(skel->maps.flows6);
	__u32 entries = config->flows_per_cpu;
	unsigned int cpu;
	int rc;

	for (cpu = first; cpu < first + n; cpu++) {
		rc = make_flow_map(fd4, "flows4", sizeof(struct flow_key4), entries, cpu);
		if (!rc)
			rc = make_flow_map(fd6, "flows6", sizeof(struct flow_key6),
					   entries, cpu);
		if (rc)
			return err_set(err, rc,
				       "cannot make the flow map of CPU %u (%u entries): %s; fewer 'flows' need less memory",
				       cpu, entries, strerror(-rc));
	}
	return 0;
}

void program_maps(const struct fairlead_bpf *skel, unsigned int cpus,
		  struct kernel *k)
{
	*k = (struct kernel){
		.vips4 = bpf_map__fd(skel->maps.vips4),
		.vips6 = bpf_map__fd(skel->maps.vips6),
		.services = bpf_map__fd(skel->maps.services),
		.tables = bpf_map__fd(skel->maps.tables),
		.backends = bpf_map__fd(skel->maps.backends),
		.egress = bpf_map__fd(skel->maps.egress),
		.vip_counters = bpf_map__fd(skel->maps.vip_counters),
		.backend_counters = bpf_map__fd(skel->maps.backend_counters),
		.cpus = cpus,
	};
}
