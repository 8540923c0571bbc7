// SPDX-License-Identifier: GPL-2.0-only
#include "flows.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "core/cleanup.h"
#include "dp/flow_maps.h"
#include "flow_hash.h" /* for the skeleton */
#include "fairlead.skel.h"
#include "sys/kmap.h"

#define IDS 65536

/* One walk: the map in hand, and who is shown what is in it. */
struct walk {
	flows_visit *visit;
	void *context;
	int fd;
	uint32_t entries;
	unsigned int cpu;
	bool v6;
};

int flows_open_inner(int outer, uint32_t cpu, uint32_t *entries)
{
	struct bpf_map_info info = { 0 };
	__u32 size = sizeof(info), id;
	_cleanup_close_ int fd = -1;

	if (outer < 0)
		return -ENOENT;
	if (bpf_map_lookup_elem(outer, &cpu, &id))
		return -errno;
	fd = bpf_map_get_fd_by_id(id);
	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size))
		return -errno;
	*entries = info.max_entries;
	return TAKE_FD(fd);
}

/* A packet that has changed the way meanwhile is right, and keeps it. */
static void forget_way(__u16 *backend, __u16 seen)
{
	__atomic_compare_exchange_n(backend, &seen, 0, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}

static int show_way4(const struct walk *walk, struct flow_set4 *set, unsigned int way)
{
	struct flow_seen seen = {
		.cpu = walk->cpu,
		.src = { .family = AF_INET, .v4.s_addr = set->src[way] },
		.sport = ntohs(set->sport[way]),
		.dport = ntohs(set->dport[way]),
		.vip = set->vip[way],
		.flow = { .backend = __atomic_load_n(&set->backend[way], __ATOMIC_RELAXED),
			  .alternate = set->alternate[way],
			  .stamp = set->stamp[way] },
	};
	int rc = seen.flow.backend ? walk->visit(walk->context, &seen) : FLOW_KEEP;

	if (rc == FLOW_FORGET)
		forget_way(&set->backend[way], seen.flow.backend);
	return rc < 0 ? rc : 0;
}

static int show_way6(const struct walk *walk, struct flow_set6 *set, unsigned int way)
{
	struct flow_seen seen = {
		.v6 = true,
		.cpu = walk->cpu,
		.src = { .family = AF_INET6 },
		.sport = ntohs(set->sport[way]),
		.dport = ntohs(set->dport[way]),
		.vip = set->vip[way],
		.flow = { .backend = __atomic_load_n(&set->backend[way], __ATOMIC_RELAXED),
			  .alternate = set->alternate[way],
			  .stamp = set->stamp[way] },
	};
	int rc;

	memcpy(&seen.src.v6, set->src[way], sizeof(seen.src.v6));
	rc = seen.flow.backend ? walk->visit(walk->context, &seen) : FLOW_KEEP;
	if (rc == FLOW_FORGET)
		forget_way(&set->backend[way], seen.flow.backend);
	return rc < 0 ? rc : 0;
}

static int walk_sets(struct walk *walk)
{
	size_t n = walk->entries, i;
	size_t size = n * (walk->v6 ? sizeof(struct flow_set6) : sizeof(struct flow_set4));
	void *sets = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, walk->fd, 0);
	struct flow_set4 *sets4 = sets;
	struct flow_set6 *sets6 = sets;
	int rc = 0;

	if (sets == MAP_FAILED)
		return -errno;
	for (i = 0; i < n * FLOW_WAYS && !rc; i++)
		rc = walk->v6 ? show_way6(walk, &sets6[i / FLOW_WAYS], i % FLOW_WAYS) :
				show_way4(walk, &sets4[i / FLOW_WAYS], i % FLOW_WAYS);
	munmap(sets, size);
	return rc;
}

static int show_wide(void *context, const void *key, const void *value)
{
	const struct flow_key4 *key4 = key;
	const struct flow_key6 *key6 = key;
	const struct walk *walk = context;
	struct flow_seen seen = { .v6 = walk->v6, .by_tuple = true, .cpu = walk->cpu };
	int rc;

	seen.src.family = seen.dst.family = walk->v6 ? AF_INET6 : AF_INET;
	if (walk->v6) {
		memcpy(&seen.src.v6, key6->src, sizeof(key6->src));
		memcpy(&seen.dst.v6, key6->dst, sizeof(key6->dst));
	} else {
		seen.src.v4.s_addr = key4->src;
		seen.dst.v4.s_addr = key4->dst;
	}
	seen.sport = ntohs(walk->v6 ? key6->sport : key4->sport);
	seen.dport = ntohs(walk->v6 ? key6->dport : key4->dport);
	seen.protocol = walk->v6 ? key6->protocol : key4->protocol;
	memcpy(&seen.flow, value, sizeof(seen.flow));
	rc = walk->visit(walk->context, &seen);
	if (rc == FLOW_FORGET)
		bpf_map_delete_elem(walk->fd, key);
	return rc < 0 ? rc : 0;
}

static int walk_lru(struct walk *walk)
{
	return kmap_walk(walk->fd,
			 walk->v6 ? sizeof(struct flow_key6) : sizeof(struct flow_key4),
			 sizeof(struct flow), walk->entries,
			 show_wide, walk);
}

int flows_walk_maps(const int outer[FLOW_MAP__MAX], unsigned int cpus,
		    flows_visit *visit, void *context)
{
	unsigned int i;
	int rc = 0;

	for (i = 0; i < cpus * FLOW_MAP__MAX && !rc; i++) {
		enum flow_map map = i % FLOW_MAP__MAX;
		struct walk walk = {
			.visit = visit,
			.context = context,
			.cpu = i / FLOW_MAP__MAX,
			.v6 = map == FLOW_MAP_SETS6 || map == FLOW_MAP_LRU6,
		};
		_cleanup_close_ int fd = flows_open_inner(outer[map], walk.cpu, &walk.entries);

		if (fd == -ENOENT)
			continue;
		if (fd < 0)
			return fd;
		walk.fd = fd;
		rc = map == FLOW_MAP_SETS4 || map == FLOW_MAP_SETS6 ? walk_sets(&walk) :
								      walk_lru(&walk);
	}
	return rc;
}

int flows_walk(const struct dataplane *dp, flows_visit *visit, void *context)
{
	int outer[FLOW_MAP__MAX], map;

	for (map = 0; map < FLOW_MAP__MAX; map++)
		outer[map] = bpf_map__fd(flow_map_outer(dp->skel, map));
	return flows_walk_maps(outer, dp->cpus, visit, context);
}

/* Flows that have their tuple do not name a VIP. */
static int forget_removed(void *context, const struct flow_seen *seen)
{
	const bool *used = context;

	return seen->by_tuple || used[seen->vip] ? FLOW_KEEP : FLOW_FORGET;
}

int flows_forget_removed(const struct dataplane *dp, const struct plan *plan)
{
	_cleanup_free_ bool *used = calloc(IDS, sizeof(*used));
	size_t i;

	if (!used)
		return -ENOMEM;
	for (i = 0; i < plan->n_vips; i++)
		used[plan->vips[i].id] = true;
	return dp->migrates ? flows_walk_maps(dp->old_flows, dp->cpus, forget_removed, used) :
			      flows_walk(dp, forget_removed, used);
}

int flows_now(const struct dataplane *dp, uint32_t *tick)
{
	uint8_t frame[64] = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .data_size_in = sizeof(frame),
		    .repeat = 1);

	if (bpf_prog_test_run_opts(bpf_program__fd(dp->skel->progs.tick), &run))
		return -errno;
	*tick = run.retval;
	return 0;
}
