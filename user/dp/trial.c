// SPDX-License-Identifier: GPL-2.0-only
#include "trial.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "core/cleanup.h"
#include "program.h"
#include "flow_hash.h" /* for the skeleton */
#include "fairlead.skel.h"
#include "sys/kmap.h"

/* BPF_PROG_RUN takes packets to come in on the loopback of the namespace. */
#define INGRESS_IFINDEX 1

#define FLOWS 4096
#define MIX_KEY 0x9e3779b97f4a7c15ULL /* nobody attacks it */
#define LRU_ENTRIES_MAX 16384
#define CLEAR_BYTES (1 << 20) /* of a map in one call */

static const uint8_t our_mac[6] = PACKET_OUR_MAC;

static int out_of_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory");
}

static void hop_mac(size_t number, uint8_t mac[6])
{
	memcpy(mac, our_mac, 6);
	mac[4] = number >> 8;
	mac[5] = number;
}

static void set_source(const struct cfg *cfg, uint8_t family, struct next_hop *hop)
{
	const struct tunnel_source *said = family == AF_INET ? &cfg->tunnel_source4 :
							       &cfg->tunnel_source6;

	if (said->addr.family) {
		hop->source = said->addr;
		hop->source_mask = tunnel_source_mask(said);
		return;
	}
	hop->source.family = family;
	if (family == AF_INET)
		inet_pton(AF_INET, "192.0.2.1", &hop->source.v4);
	else
		inet_pton(AF_INET6, "2001:db8::1", &hop->source.v6);
}

static int compare_addresses(const void *a, const void *b)
{
	return addr_compare(a, b);
}

/* The plan's backends are sorted by address first: equal ones are together. */
static int make_hops(struct trial *t, struct err *err)
{
	const struct plan *plan = t->plan;
	size_t n = 0;

	t->hops = calloc(plan->n_backends + 1, sizeof(*t->hops));
	t->addresses = calloc(plan->n_backends + 1, sizeof(*t->addresses));
	if (!t->hops || !t->addresses)
		return out_of_memory(err);
	for (size_t i = 0; i < plan->n_backends; i++) {
		const struct addr *addr = &plan->backends[i].ident.addr;

		if (n && !addr_compare(&t->addresses[n - 1], addr))
			continue;
		t->addresses[n] = *addr;
		t->hops[n] = (struct next_hop){
			.resolved = true,
			.ifindex = INGRESS_IFINDEX,
		};
		set_source(plan->cfg, addr->family, &t->hops[n]);
		memcpy(t->hops[n].mac_src, our_mac, sizeof(our_mac));
		hop_mac(n + 1, t->hops[n].mac_dst);
		n++;
	}
	t->n_addresses = n;
	return 0;
}

static const struct next_hop *find_hop(void *context, const struct addr *addr)
{
	const struct trial *t = context;
	const struct addr *found = bsearch(addr, t->addresses, t->n_addresses,
					   sizeof(*found), compare_addresses);

	return found ? &t->hops[found - t->addresses] : NULL;
}

const struct addr *trial_sent_to(const struct trial *t, const struct packet *out)
{
	size_t number;
	uint8_t mac[6];

	if (out->size < PACKET_MIN)
		return NULL;
	number = (size_t)out->data[4] << 8 | out->data[5];
	hop_mac(number, mac);
	if (!number || number > t->n_addresses || memcmp(mac, out->data, sizeof(mac)))
		return NULL;
	return &t->addresses[number - 1];
}

/* Flows are per CPU, so all packets have to run on one. */
static int choose_cpu(struct trial *t, struct err *err)
{
	int cpus = libbpf_num_possible_cpus(), cpu = sched_getcpu(), rc;
	cpu_set_t *set;

	if (cpus < 0 || cpu < 0)
		return err_set(err, -ENOSYS, "cannot count the CPUs");
	set = CPU_ALLOC(cpus);
	if (!set)
		return out_of_memory(err);
	CPU_ZERO_S(CPU_ALLOC_SIZE(cpus), set);
	CPU_SET_S(cpu, CPU_ALLOC_SIZE(cpus), set);
	rc = sched_setaffinity(0, CPU_ALLOC_SIZE(cpus), set) ? -errno : 0;
	CPU_FREE(set);
	t->cpus = cpus;
	t->cpu = cpu;
	return rc ? err_set(err, rc, "cannot stay on CPU %d: %s", cpu, strerror(-rc)) : 0;
}

static uint32_t highest_id(const struct plan *plan)
{
	uint32_t highest = DROP_REASON__MAX;

	for (size_t i = 0; i < plan->n_vips; i++)
		if (plan->vips[i].id > highest)
			highest = plan->vips[i].id;
	for (size_t i = 0; i < plan->n_backends; i++)
		if (plan->backends[i].id > highest)
			highest = plan->backends[i].id;
	return highest;
}

/* Nobody else's packets come here: no more than the ids that there are. */
static void shrink_maps(const struct trial *t)
{
	uint32_t ids = highest_id(t->plan) + 1;
	struct bpf_map *map;

	bpf_object__for_each_map(map, t->skel->obj) {
		uint32_t entries = bpf_map__max_entries(map);

		if (bpf_map__type(map) == BPF_MAP_TYPE_PERCPU_ARRAY && entries > ids &&
		    entries > UINT16_MAX)
			bpf_map__set_max_entries(map, ids);
		if (bpf_map__type(map) == BPF_MAP_TYPE_LRU_HASH &&
		    entries > LRU_ENTRIES_MAX)
			bpf_map__set_max_entries(map, LRU_ENTRIES_MAX);
	}
}

static int load_failed(int rc, struct err *err)
{
	if (rc == -EPERM || rc == -EACCES)
		return err_set(err, -EPERM,
			       "no permission to load BPF programs: the test needs root, or CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON; it attaches and pins nothing");
	return err_set(err, rc, "cannot load the BPF program: %s", strerror(-rc));
}

static int load(struct trial *t, struct err *err)
{
	const struct cfg *cfg = t->plan->cfg;
	int rc;

	t->config = (struct config){
		.abi = FAIRLEAD_ABI,
		.flows_per_cpu = FLOWS,
		.flow_form = cfg->conntrack,
		.flow_set_bits = flow_maps_set_bits(FLOWS),
		.mix_key = MIX_KEY,
	};
	if (cfg->has_hash_key)
		program_key_words(cfg->hash_key, t->config.hash_key);
	rc = program_open(&t->config, t->cpus, &t->skel, err);
	if (rc)
		return rc;
	t->skel->rodata->icmp_answers_max = cfg->icmp_rate;
	shrink_maps(t);
	rc = program_load(t->skel, &t->config);
	return rc ? load_failed(rc, err) : 0;
}

static int make_flows(struct trial *t, struct err *err)
{
	int rc = flow_maps_make(t->skel, &t->config, t->cpu, t->flows);

	return rc ? err_set(err, rc, "cannot make the flow maps of CPU %u: %s", t->cpu,
			    strerror(-rc)) : 0;
}

static int publish(struct trial *t, struct err *err)
{
	_cleanup_plan_ struct plan *none = NULL;
	struct publish p;
	int rc = plan_new(&none, err);

	if (rc)
		return rc;
	t->kernel_ready = true;
	rc = program_maps(t->skel, t->cpus, &t->kernel, err);
	if (rc)
		return rc;
	t->kernel.hop = find_hop;
	t->kernel.hop_context = t;
	rc = kernel_init(&t->kernel, err);
	if (rc)
		return rc;
	rc = publish_prepare(&t->kernel, none, t->plan, &p, err);
	if (rc)
		return rc;
	rc = publish_commit(&t->kernel, &p, err);
	publish_release(&p);
	return rc;
}

int trial_open(struct trial *t, struct cfg **cfg, struct err *err)
{
	_cleanup_plan_ struct plan *none = NULL;
	int rc;

	*t = (struct trial)TRIAL_NONE;
	rc = plan_new(&none, err);
	if (!rc)
		rc = choose_cpu(t, err);
	if (!rc)
		rc = plan_make(cfg, none, NULL, &t->plan, err);
	if (!rc)
		rc = make_hops(t, err);
	if (!rc)
		rc = load(t, err);
	if (!rc)
		rc = make_flows(t, err);
	if (!rc)
		rc = publish(t, err);
	if (rc)
		trial_close(t);
	return rc;
}

void trial_close(struct trial *t)
{
	if (t->kernel_ready)
		kernel_release(&t->kernel);
	for (int map = 0; map < FLOW_MAP__MAX; map++)
		cleanup_close(&t->flows[map]);
	fairlead_bpf__destroy(t->skel);
	plan_free(&t->plan);
	cleanup_free(&t->hops);
	cleanup_free(&t->addresses);
	*t = (struct trial)TRIAL_NONE;
}

static int delete_one(void *context, const void *key, const void *value)
{
	const int *fd = context;

	(void)value;
	return bpf_map_delete_elem(*fd, key) && errno != ENOENT ? -errno : 0;
}

static int clear_hash(int fd, size_t key_size, size_t value_size, uint32_t entries)
{
	return kmap_walk(fd, key_size, value_size, entries, delete_one, &fd);
}

/* Of many elements in one call: there are as many limits as VIPs. */
static int clear_array(int fd, size_t size, uint32_t entries)
{
	uint32_t chunk = size < CLEAR_BYTES ? CLEAR_BYTES / size : 1;
	_cleanup_free_ uint32_t *keys = calloc(chunk, sizeof(*keys));
	_cleanup_free_ void *zeros = calloc(chunk, size);
	uint32_t first, i, n;
	int rc = 0;

	if (!keys || !zeros)
		return -ENOMEM;
	for (first = 0; first < entries && !rc; first += n) {
		n = entries - first < chunk ? entries - first : chunk;
		for (i = 0; i < n; i++)
			keys[i] = first + i;
		rc = kmap_update(fd, keys, sizeof(*keys), zeros, size, n);
	}
	return rc;
}

static bool is_counters(const struct trial *t, const struct bpf_map *map)
{
	return map == t->skel->maps.vip_counters || map == t->skel->maps.backend_counters ||
	       map == t->skel->maps.drop_counters || map == t->skel->maps.totals;
}

/*
 * What packets write that the next ones read: limits, fragments. Counters none of
 * them reads, and to clear those of many VIPs would take longer than all else.
 */
static int clear_maps(struct trial *t)
{
	const struct bpf_map *map;
	int rc = 0;

	bpf_object__for_each_map(map, t->skel->obj) {
		size_t size = (bpf_map__value_size(map) + 7) / 8 * 8;

		if (bpf_map__type(map) == BPF_MAP_TYPE_PERCPU_ARRAY &&
		    !is_counters(t, map))
			rc = clear_array(bpf_map__fd(map), size * t->cpus,
					 bpf_map__max_entries(map));
		else if (bpf_map__type(map) == BPF_MAP_TYPE_LRU_HASH)
			rc = clear_hash(bpf_map__fd(map), bpf_map__key_size(map),
					bpf_map__value_size(map),
					bpf_map__max_entries(map));
		if (rc)
			return rc;
	}
	return 0;
}

static int clear_flows(struct trial *t)
{
	uint32_t sets = flow_map_entries(&t->config, FLOW_MAP_SETS4);
	int rc = clear_array(t->flows[FLOW_MAP_SETS4], sizeof(struct flow_set4), sets);

	if (!rc)
		rc = clear_array(t->flows[FLOW_MAP_SETS6], sizeof(struct flow_set6), sets);
	if (!rc)
		rc = clear_hash(t->flows[FLOW_MAP_LRU4], sizeof(struct flow_key4),
				sizeof(struct flow),
				flow_map_entries(&t->config, FLOW_MAP_LRU4));
	if (!rc)
		rc = clear_hash(t->flows[FLOW_MAP_LRU6], sizeof(struct flow_key6),
				sizeof(struct flow),
				flow_map_entries(&t->config, FLOW_MAP_LRU6));
	return rc;
}

int trial_reset(struct trial *t, uint16_t mtu, struct err *err)
{
	int rc = clear_maps(t);

	if (!rc)
		rc = clear_flows(t);
	if (rc)
		return err_set(err, rc, "cannot clear the maps: %s", strerror(-rc));
	for (size_t i = 0; i < t->n_addresses; i++)
		t->hops[i].mtu = mtu;
	return publish_backends(&t->kernel, t->plan, err);
}

static void read_drops(const struct trial *t, uint64_t drops[DROP_REASON__MAX])
{
	for (uint32_t i = 0; i < DROP_REASON__MAX; i++)
		drops[i] = trial_count(t, TRIAL_DROPS, i, 0);
}

int trial_run(struct trial *t, const struct packet *in, struct trial_result *out,
	      struct err *err)
{
	size_t room = PACKET_MAX + 256;
	_cleanup_free_ uint8_t *data = malloc(room);
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = in->data,
		    .data_size_in = in->size, .data_out = data, .data_size_out = room,
		    .repeat = 1);
	uint64_t before[DROP_REASON__MAX], after[DROP_REASON__MAX];
	int rc;

	if (!data)
		return out_of_memory(err);
	read_drops(t, before);
	if (bpf_prog_test_run_opts(bpf_program__fd(t->skel->progs.fairlead), &run)) {
		rc = -errno;
		return err_set(err, rc, "the kernel does not take the frame of %zu bytes: %s",
			       in->size, strerror(-rc));
	}
	read_drops(t, after);
	*out = (struct trial_result){ .verdict = run.retval };
	for (uint32_t i = 1; i < DROP_REASON__MAX && !out->reason; i++)
		if (after[i] > before[i])
			out->reason = i;
	return packet_copy(data, run.data_size_out, &out->out, err);
}

static const struct bpf_map *count_map(const struct trial *t, enum trial_count what)
{
	switch (what) {
	case TRIAL_DROPS:
		return t->skel->maps.drop_counters;
	case TRIAL_VIP:
		return t->skel->maps.vip_counters;
	case TRIAL_BACKEND:
		return t->skel->maps.backend_counters;
	default:
		return t->skel->maps.totals;
	}
}

uint64_t trial_count(const struct trial *t, enum trial_count what, uint32_t id,
		     size_t member)
{
	const struct bpf_map *map = count_map(t, what);
	size_t members = bpf_map__value_size(map) / sizeof(uint64_t);
	_cleanup_free_ uint64_t *values = calloc(t->cpus * members, sizeof(*values));
	uint64_t sum = 0;

	if (!values || bpf_map_lookup_elem(bpf_map__fd(map), &id, values))
		return 0;
	for (size_t cpu = 0; cpu < t->cpus; cpu++)
		sum += values[cpu * members + member];
	return sum;
}
