// SPDX-License-Identifier: GPL-2.0-only
#include "flows.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "core/cleanup.h"
#include "dp/flow_maps.h"
#include "flow_hash.h" /* for the skeleton */
#include "fairlead.skel.h"
#include "sys/kmap.h"

/* One walk: the map in hand, and who is shown what is in it. */
struct walk {
	flows_visit *visit;
	void *context;
	int fd;
	unsigned int cpu;
	bool v6;
};

/* A descriptor of the CPU's inner map; -ENOENT: it has none. */
static int open_inner(const struct dataplane *dp, enum flow_map map, __u32 cpu)
{
	int outer = bpf_map__fd(flow_map_outer(dp->skel, map)), fd;
	__u32 id;

	if (bpf_map_lookup_elem(outer, &cpu, &id))
		return -errno;
	fd = bpf_map_get_fd_by_id(id);
	return fd < 0 ? -errno : fd;
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

static int walk_sets(const struct dataplane *dp, struct walk *walk)
{
	size_t n = flow_map_entries(&dp->config, FLOW_MAP_SETS4), i;
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

static int walk_lru(const struct dataplane *dp, struct walk *walk)
{
	enum flow_map map = walk->v6 ? FLOW_MAP_LRU6 : FLOW_MAP_LRU4;

	return kmap_walk(walk->fd,
			 walk->v6 ? sizeof(struct flow_key6) : sizeof(struct flow_key4),
			 sizeof(struct flow), flow_map_entries(&dp->config, map),
			 show_wide, walk);
}

int flows_walk(const struct dataplane *dp, flows_visit *visit, void *context)
{
	unsigned int i;
	int rc = 0;

	for (i = 0; i < dp->cpus * FLOW_MAP__MAX && !rc; i++) {
		enum flow_map map = i % FLOW_MAP__MAX;
		unsigned int cpu = i / FLOW_MAP__MAX;
		_cleanup_close_ int fd = open_inner(dp, map, cpu);
		struct walk walk = {
			.visit = visit,
			.context = context,
			.fd = fd,
			.cpu = cpu,
			.v6 = map == FLOW_MAP_SETS6 || map == FLOW_MAP_LRU6,
		};

		if (fd == -ENOENT)
			continue;
		if (fd < 0)
			return fd;
		rc = map == FLOW_MAP_SETS4 || map == FLOW_MAP_SETS6 ? walk_sets(dp, &walk) :
								      walk_lru(dp, &walk);
	}
	return rc;
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
