// SPDX-License-Identifier: GPL-2.0-only
#include "stats.h"

#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "core/cleanup.h"
#include "core/table_previous.h"
#include "daemon.h"
#include "flow_hash.h" /* for the skeleton */
#include "fairlead.skel.h"
#include "sys/kmap.h"

/* Every counter struct is an array of u64: add them up member by member. */
static void sum_cpus(const struct daemon *d, const struct bpf_map *map, uint32_t key,
		     uint64_t *sum, size_t members)
{
	_cleanup_free_ uint64_t *values = calloc(d->dp.cpus * members, sizeof(*values));
	size_t cpu, i;

	memset(sum, 0, members * sizeof(*sum));
	if (!values || bpf_map_lookup_elem(bpf_map__fd(map), &key, values))
		return;
	for (cpu = 0; cpu < d->dp.cpus; cpu++)
		for (i = 0; i < members; i++)
			sum[i] += values[cpu * members + i];
}

struct vip_counters stats_vip(const struct daemon *d, uint32_t id)
{
	struct vip_counters c;

	sum_cpus(d, d->dp.skel->maps.vip_counters, id, (uint64_t *)&c,
		 sizeof(c) / sizeof(uint64_t));
	return c;
}

uint64_t stats_unremembered(const struct daemon *d, uint32_t id)
{
	struct new_flow_counters c;

	/* Of the first word only the CPU itself makes sense. */
	sum_cpus(d, d->dp.skel->maps.new_flow_counters, id, (uint64_t *)&c,
		 sizeof(c) / sizeof(uint64_t));
	return c.unremembered;
}

struct backend_counters stats_backend(const struct daemon *d, uint32_t id)
{
	struct backend_counters c;

	sum_cpus(d, d->dp.skel->maps.backend_counters, id, (uint64_t *)&c,
		 sizeof(c) / sizeof(uint64_t));
	return c;
}

struct drop_counters stats_drop(const struct daemon *d, uint32_t reason)
{
	struct drop_counters c;

	sum_cpus(d, d->dp.skel->maps.drop_counters, reason, (uint64_t *)&c,
		 sizeof(c) / sizeof(uint64_t));
	return c;
}

struct totals stats_totals(const struct daemon *d)
{
	struct totals t;

	sum_cpus(d, d->dp.skel->maps.totals, 0, (uint64_t *)&t,
		 sizeof(t) / sizeof(uint64_t));
	return t;
}

uint32_t *stats_slots(const struct daemon *d, uint32_t table)
{
	const struct kernel_table *t = &d->kernel.table[table];
	size_t n = 1 + table_slot_lines(t->size), i;
	_cleanup_free_ uint32_t *slots = calloc(65536, sizeof(*slots));
	_cleanup_free_ struct table_line *lines = calloc(n, sizeof(*lines));

	if (!slots || !lines || t->fd < 0 || kmap_lines_read(t->fd, lines, n))
		return NULL;
	for (i = TABLE_LINE_SLOTS; i < n * TABLE_LINE_SLOTS; i++)
		slots[lines[i / TABLE_LINE_SLOTS].ids[i % TABLE_LINE_SLOTS]]++;
	slots[0] = 0; /* slots without backend, and the end of the last line */
	return TAKE_PTR(slots);
}
