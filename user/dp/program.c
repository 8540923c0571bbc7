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

int program_make_flow_map(const struct fairlead_bpf *skel, bool v6, __u32 entries,
			  __u32 cpu)
{
	int outer = bpf_map__fd(v6 ? skel->maps.flows6 : skel->maps.flows4);
	_cleanup_close_ int fd =
		bpf_map_create(BPF_MAP_TYPE_LRU_HASH, v6 ? "flows6" : "flows4",
			       v6 ? sizeof(struct flow_key6) : sizeof(struct flow_key4),
			       sizeof(struct flow), entries, NULL);

	if (fd < 0 || bpf_map_update_elem(outer, &cpu, &fd, BPF_ANY))
		return -errno;
	return TAKE_FD(fd);
}

/* One inner flow map for each CPU that may ever run packets. */
int program_make_flow_maps(struct fairlead_bpf *skel, const struct config *config,
			   unsigned int n, struct err *err)
{
	__u32 entries = config->flows_per_cpu;
	unsigned int i;

	for (i = 0; i < 2 * n; i++) {
		int fd = program_make_flow_map(skel, i >= n, entries, i % n);

		if (fd < 0)
			return err_set(err, fd,
				       "cannot make the flow map of CPU %u (%u entries): %s; fewer 'flows' need less memory",
				       i % n, entries, strerror(-fd));
		close(fd);
	}
	return 0;
}

void program_maps(const struct fairlead_bpf *skel, unsigned int cpus,
		  struct kernel *k)
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
		.cpus = cpus,
	};
}
