// SPDX-License-Identifier: GPL-2.0-only
#include "flows_migrate.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "core/cleanup.h"
#include "core/plural.h"
#include "core/vip_entries.h"
#include "flow_hash.h" /* for the skeleton */
#include "fairlead.skel.h"
#include "flow_mix.h"
#include "flows.h"
#include "sys/log.h"

#define IDS 65536

/* The new maps of one CPU. */
struct target {
	int fds[FLOW_MAP__MAX];
	uint32_t entries[FLOW_MAP__MAX];
	void *sets[2]; /* by family, mapped */
	uint64_t flows[2]; /* that are to come */
};

struct migration {
	const struct dataplane *dp;
	const struct plan *plan;
	const struct plan_vip **vips; /* by id */
	struct target *targets;       /* by CPU */
	uint32_t now, mask[2];        /* mask: of the sets, by family */
	uint64_t moved, lost;
};

static size_t sets_size(const struct target *t, bool v6)
{
	return v6 ? t->entries[FLOW_MAP_SETS6] * sizeof(struct flow_set6) :
		    t->entries[FLOW_MAP_SETS4] * sizeof(struct flow_set4);
}

static int open_target(const struct dataplane *dp, unsigned int cpu, struct target *t)
{
	int map, v6;

	for (map = 0; map < FLOW_MAP__MAX; map++) {
		int outer = bpf_map__fd(flow_map_outer(dp->skel, map));

		t->fds[map] = flows_open_inner(outer, cpu, &t->entries[map]);
		if (t->fds[map] < 0)
			return t->fds[map];
	}
	for (v6 = 0; v6 < 2; v6++) {
		t->sets[v6] = mmap(NULL, sets_size(t, v6), PROT_READ | PROT_WRITE, MAP_SHARED,
				   t->fds[v6 ? FLOW_MAP_SETS6 : FLOW_MAP_SETS4], 0);
		if (t->sets[v6] == MAP_FAILED) {
			t->sets[v6] = NULL;
			return -errno;
		}
	}
	return 0;
}

static void close_target(struct target *t)
{
	int map, v6;

	for (v6 = 0; v6 < 2; v6++)
		if (t->sets[v6])
			munmap(t->sets[v6], sets_size(t, v6));
	for (map = 0; map < FLOW_MAP__MAX; map++)
		cleanup_close(&t->fds[map]);
}

/* What the old form leaves out: the VIP of a tuple, or the tuple of a VIP. */
static const struct plan_vip *complete(const struct migration *m, struct flow_seen *flow)
{
	const struct plan_vip *vip;
	const struct vip *found;

	if (flow->by_tuple) {
		found = vip_entries_of_flow(&m->plan->entries, &flow->dst, flow->protocol,
					    flow->sport, flow->dport);
		return found ? m->vips[found->id] : NULL;
	}
	vip = m->vips[flow->vip];
	if (vip) {
		flow->dst = vip->spec.addr;
		flow->protocol = vip->spec.protocol;
	}
	return vip;
}

/* As ct_is_lru in bpf/conntrack_entry.bpf.h. Fragments that are hashed have no ports. */
static bool goes_into_sets(const struct migration *m, const struct plan_vip *vip,
			   const struct flow_seen *flow)
{
	bool fragments = vip->options.flags & VIP_FRAGMENT_HASH && !flow->sport &&
			 !flow->dport;

	return m->dp->config.flow_form == FLOW_FORM_SETS && !fragments &&
	       !(vip->options.flags & VIP_WIDE);
}

static uint32_t ports_of(const struct flow_seen *flow)
{
	uint16_t ports[2] = { htons(flow->sport), htons(flow->dport) };
	uint32_t word;

	memcpy(&word, ports, sizeof(word));
	return word;
}

static __u64 mix_of(const struct migration *m, const struct flow_seen *flow)
{
	__u64 key = m->dp->config.mix_key, src[2], dst[2];
	uint32_t ports = ports_of(flow);

	if (!flow->v6)
		return flow_mix4(key, flow->src.v4.s_addr, flow->dst.v4.s_addr, ports);
	memcpy(src, &flow->src.v6, sizeof(src));
	memcpy(dst, &flow->dst.v6, sizeof(dst));
	return flow_mix6(key, src, dst, ports);
}

/* An empty way, or for a confirmed flow that of one that is not; -1: none. */
static int free_way(const uint16_t *backend, const uint16_t *stamp, bool confirmed)
{
	int way, spare = -1;

	for (way = 0; way < FLOW_WAYS; way++) {
		if (!backend[way])
			return way;
		if (confirmed && !(stamp[way] & FLOW_CONFIRMED))
			spare = way;
	}
	return spare;
}

/* -1: none. */
static int same_way4(const struct flow_set4 *set, const struct flow_seen *flow,
		     uint16_t vip)
{
	int way;

	for (way = 0; way < FLOW_WAYS; way++)
		if (set->backend[way] && set->sport[way] == htons(flow->sport) &&
		    set->dport[way] == htons(flow->dport) && set->vip[way] == vip &&
		    set->src[way] == flow->src.v4.s_addr)
			return way;
	return -1;
}

static int same_way6(const struct flow_set6 *set, const struct flow_seen *flow,
		     uint16_t vip)
{
	int way;

	for (way = 0; way < FLOW_WAYS; way++)
		if (set->backend[way] && set->sport[way] == htons(flow->sport) &&
		    set->dport[way] == htons(flow->dport) && set->vip[way] == vip &&
		    !memcmp(set->src[way], &flow->src.v6, sizeof(set->src[way])))
			return way;
	return -1;
}

/*
 * Of two entries of one tuple one is what is left of a connection before, in a set
 * that it was due in before: closing, and silent for longer.
 */
static bool is_newer(const struct migration *m, uint16_t stamp, uint16_t than)
{
	if ((stamp ^ than) & FLOW_CLOSING)
		return than & FLOW_CLOSING;
	return FLOW_LEFT(stamp, m->now) > FLOW_LEFT(than, m->now);
}

/* False: the set has no place for the flow. */
static bool into_set4(const struct migration *m, struct flow_set4 *set,
		      const struct flow_seen *flow, uint16_t vip)
{
	int way = same_way4(set, flow, vip);

	if (way >= 0 && !is_newer(m, flow->flow.stamp, set->stamp[way]))
		return true;
	if (way < 0)
		way = free_way(set->backend, set->stamp, flow->flow.stamp & FLOW_CONFIRMED);
	if (way < 0)
		return false;
	set->sport[way] = htons(flow->sport);
	set->dport[way] = htons(flow->dport);
	set->src[way] = flow->src.v4.s_addr;
	set->vip[way] = vip;
	set->backend[way] = flow->flow.backend;
	set->alternate[way] = flow->flow.alternate;
	set->stamp[way] = flow->flow.stamp;
	return true;
}

static bool into_set6(const struct migration *m, struct flow_set6 *set,
		      const struct flow_seen *flow, uint16_t vip)
{
	int way = same_way6(set, flow, vip);

	if (way >= 0 && !is_newer(m, flow->flow.stamp, set->stamp[way]))
		return true;
	if (way < 0)
		way = free_way(set->backend, set->stamp, flow->flow.stamp & FLOW_CONFIRMED);
	if (way < 0)
		return false;
	set->sport[way] = htons(flow->sport);
	set->dport[way] = htons(flow->dport);
	memcpy(set->src[way], &flow->src.v6, sizeof(set->src[way]));
	set->vip[way] = vip;
	set->backend[way] = flow->flow.backend;
	set->alternate[way] = flow->flow.alternate;
	set->stamp[way] = flow->flow.stamp;
	return true;
}

/*
 * Where it is due, or, when that is full, where it would have been due when fewer sets
 * were in use: packets look there, too.
 */
static bool into_sets(const struct migration *m, const struct target *t,
		      const struct flow_seen *flow, uint16_t vip)
{
	uint32_t mask = m->mask[flow->v6], index;
	__u64 mix = mix_of(m, flow);
	struct flow_set4 *sets4 = t->sets[0];
	struct flow_set6 *sets6 = t->sets[1];

	for (;; mask >>= 1) {
		index = flow_mix_masked(mix, mask);
		if (flow->v6 ? into_set6(m, &sets6[index], flow, vip) :
			       into_set4(m, &sets4[index], flow, vip))
			return true;
		if (mask < 1 << FLOW_SET_BITS_START)
			return false;
	}
}

static bool into_lru(const struct target *t, const struct flow_seen *flow)
{
	union {
		struct flow_key4 v4;
		struct flow_key6 v6;
	} key;

	if (flow->v6)
		flows_key6(flow, &key.v6);
	else
		flows_key4(flow, &key.v4);
	return !bpf_map_update_elem(t->fds[flow->v6 ? FLOW_MAP_LRU6 : FLOW_MAP_LRU4], &key,
				    &flow->flow, BPF_ANY);
}

static bool has_ended(const struct migration *m, const struct flow_seen *flow)
{
	return FLOW_LEFT(flow->flow.stamp, m->now) > FLOW_IDLE_MAX;
}

static int count_one(void *context, const struct flow_seen *seen)
{
	struct migration *m = context;

	if (!has_ended(m, seen))
		m->targets[seen->cpu].flows[seen->v6]++;
	return FLOW_KEEP;
}

static int move_one(void *context, const struct flow_seen *seen)
{
	struct migration *m = context;
	struct target *t = &m->targets[seen->cpu];
	struct flow_seen flow = *seen;
	const struct plan_vip *vip = complete(m, &flow);
	bool fits;

	if (!vip || has_ended(m, &flow))
		return FLOW_KEEP;
	fits = goes_into_sets(m, vip, &flow) ? into_sets(m, t, &flow, vip->id) :
					into_lru(t, &flow);
	m->moved += fits;
	m->lost += !fits;
	return FLOW_KEEP;
}

/* As many sets in use as there will be flows, so that nearly all find a place. */
static void choose_masks(struct migration *m)
{
	uint32_t most = (1U << m->dp->config.flow_set_bits) - 1;
	unsigned int cpu;
	int v6;

	for (v6 = 0; v6 < 2; v6++) {
		m->mask[v6] = flow_maps_first_mask(&m->dp->config);
		for (cpu = 0; cpu < m->dp->cpus; cpu++)
			while (m->mask[v6] < most && m->targets[cpu].flows[v6] > m->mask[v6])
				m->mask[v6] = 2 * m->mask[v6] + 1;
	}
}

static int run(struct migration *m)
{
	const struct dataplane *dp = m->dp;
	unsigned int cpu;
	size_t i;
	int rc = flows_now(dp, &m->now);

	for (i = 0; i < m->plan->n_vips; i++)
		m->vips[m->plan->vips[i].id] = &m->plan->vips[i];
	for (cpu = 0; cpu < dp->cpus && !rc; cpu++)
		rc = open_target(dp, cpu, &m->targets[cpu]);
	if (!rc)
		rc = flows_walk_maps(dp->old_flows, dp->cpus, count_one, m);
	if (rc)
		return rc;
	choose_masks(m);
	memcpy(dp->skel->data->flow_mask, m->mask, sizeof(m->mask));
	return flows_walk_maps(dp->old_flows, dp->cpus, move_one, m);
}

int flows_migrate(const struct dataplane *dp, const struct plan *plan, struct err *err)
{
	_cleanup_free_ const struct plan_vip **vips = calloc(IDS, sizeof(*vips));
	_cleanup_free_ struct target *targets = calloc(dp->cpus, sizeof(*targets));
	struct migration m = { .dp = dp, .plan = plan, .vips = vips, .targets = targets };
	unsigned int cpu;
	int rc, map;

	if (!vips || !targets)
		return err_set(err, -ENOMEM, "out of memory");
	for (cpu = 0; cpu < dp->cpus; cpu++)
		for (map = 0; map < FLOW_MAP__MAX; map++)
			targets[cpu].fds[map] = -1;
	rc = run(&m);
	for (cpu = 0; cpu < dp->cpus; cpu++)
		close_target(&targets[cpu]);
	if (rc)
		return err_set(err, rc, "cannot move flows to maps of another size: %s",
			       strerror(-rc));
	log_notice("flow maps: %llu flow%s moved to maps of another size, %llu found no place",
		   (unsigned long long)m.moved, plural(m.moved),
		   (unsigned long long)m.lost);
	return 0;
}
