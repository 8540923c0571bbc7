// SPDX-License-Identifier: GPL-2.0-only
#include "flows.h"

#include <errno.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "core/cleanup.h"
#include "flow_hash.h" /* for the skeleton */
#include "fairlead.skel.h"
#include "sys/kmap.h"

int flows_walk_maps(const struct dataplane *dp, bool v6, flows_visit *visit,
		    void (*start)(void *context, int fd), void *context)
{
	int outer = bpf_map__fd(v6 ? dp->skel->maps.flows6 : dp->skel->maps.flows4);
	size_t key_size = v6 ? sizeof(struct flow_key6) : sizeof(struct flow_key4);
	__u32 cpu, map_id;
	int rc;

	for (cpu = 0; cpu < dp->cpus; cpu++) {
		_cleanup_close_ int fd = -1;

		if (bpf_map_lookup_elem(outer, &cpu, &map_id))
			continue;
		fd = bpf_map_get_fd_by_id(map_id);
		if (fd < 0)
			return -errno;
		if (start)
			start(context, fd);
		rc = kmap_walk(fd, key_size, sizeof(struct flow), dp->config.flows_per_cpu,
			       visit, context);
		if (rc)
			return rc;
	}
	return 0;
}

int flows_walk(const struct dataplane *dp, flows_visit *visit4, flows_visit *visit6,
	       void *context)
{
	int rc = flows_walk_maps(dp, false, visit4, NULL, context);

	return rc ? rc : flows_walk_maps(dp, true, visit6, NULL, context);
}
