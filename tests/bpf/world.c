// SPDX-License-Identifier: GPL-2.0-only
#include "world.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <net/if.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>

#include "tests/lib/checksum.h"
#include "tests/lib/netns.h"
#include "user/core/cleanup.h"

#define SKIP 77
#define MTU 1500
/* Of BPF_PROG_RUN in older kernels, 6.1 among them. */
#define METADATA_MAX_OLD 32

static void die(const char *what, int err)
{
	fprintf(stderr, "tests/bpf: %s: %s\n", what, strerror(-err));
	abort();
}

/* The last byte of mac_dst is the id, from which world_sent_to knows it. */
static const struct tunnel tunnels[B__MAX] = {
	[B_IPIP4] = {
		.mac_dst = { 2, 0, 0, 0, 1, 1 },
		.mac_src = { 2, 0, 0, 0, 0, 1 },
		.src = "192.0.2.1",
		.dst = "192.0.2.11",
	},
	[B_IPIP6] = {
		.mac_dst = { 2, 0, 0, 0, 1, 2 },
		.mac_src = { 2, 0, 0, 0, 0, 1 },
		.outer6 = true,
		.src = "2001:db8:1::1",
		.dst = "2001:db8:1::12",
	},
	[B_GUE4] = {
		.mac_dst = { 2, 0, 0, 0, 1, 3 },
		.mac_src = { 2, 0, 0, 0, 0, 1 },
		.src = "192.0.2.1",
		.dst = "192.0.2.13",
		.gue_port = 6080,
	},
	[B_GUE6] = {
		.mac_dst = { 2, 0, 0, 0, 1, 4 },
		.mac_src = { 2, 0, 0, 0, 0, 1 },
		.outer6 = true,
		.src = "2001:db8:1::1",
		.dst = "2001:db8:1::14",
		.gue_port = 6080,
	},
	[B_GUE_PORT] = {
		.mac_dst = { 2, 0, 0, 0, 1, 5 },
		.mac_src = { 2, 0, 0, 0, 0, 1 },
		.src = "192.0.2.1",
		.dst = "192.0.2.15",
		.gue_port = 9886,
	},
	[B_NEXT] = {
		.mac_dst = { 2, 0, 0, 0, 1, 6 },
		.mac_src = { 2, 0, 0, 0, 0, 1 },
		.src = "192.0.2.1",
		/* Sums that carry twice in the outer checksum. */
		.dst = "255.255.255.250",
	},
	[B_EXACT] = {
		.mac_dst = { 2, 0, 0, 0, 1, 7 },
		.mac_src = { 2, 0, 0, 0, 0, 1 },
		.src = "192.0.2.1",
		.dst = "192.0.2.17",
	},
	[B_REDIRECT] = {
		.mac_dst = { 2, 0, 0, 0, 1, 8 },
		.mac_src = { 2, 0, 0, 0, 0, 8 },
		.src = "192.0.2.1",
		.dst = "192.0.2.18",
	},
	[B_NO_EGRESS] = {
		.mac_dst = { 2, 0, 0, 0, 1, 9 },
		.mac_src = { 2, 0, 0, 0, 0, 9 },
		.src = "192.0.2.1",
		.dst = "192.0.2.19",
	},
	[B_UNRESOLVED] = {
		.src = "192.0.2.1",
		.dst = "192.0.2.20",
	},
	[B_ABSENT] = {
		.src = "192.0.2.1",
		.dst = "192.0.2.21",
	},
};

struct vip_seed {
	const char *address;
	uint16_t port; /* 0: any */
	uint8_t protocol;
	uint16_t id, table, flags;
};

static const struct vip_seed vip_seeds[] = {
	{ VIP4, 443, IPPROTO_TCP, V_WEB4, T_MAIN, 0 },
	{ VIP4, 53, IPPROTO_UDP, V_DNS4, T_MAIN, 0 },
	{ VIP4, 0, 0, 0, 0, VIP_ADDRESS },
	{ VIP6, 443, IPPROTO_TCP, V_WEB6, T_MAIN, 0 },
	{ VIP6, 53, IPPROTO_UDP, V_DNS6, T_MAIN, 0 },
	{ VIP6, 0, 0, 0, 0, VIP_ADDRESS },
	{ ANY4, 0, IPPROTO_TCP, V_ANY4, T_MAIN, 0 },
	{ ANY4, 443, IPPROTO_TCP, V_EXACT4, T_EXACT, 0 },
	{ ANY4, 0, 0, 0, 0, VIP_ADDRESS | VIP_ANY_PORT_TCP },
	{ ANY6, 0, IPPROTO_TCP, V_ANY6, T_MAIN, 0 },
	{ ANY6, 443, IPPROTO_TCP, V_EXACT6, T_EXACT, 0 },
	{ ANY6, 0, 0, 0, 0, VIP_ADDRESS | VIP_ANY_PORT_TCP },
	{ UDP_ANY4, 0, IPPROTO_UDP, V_UDP_ANY4, T_MAIN, 0 },
	{ UDP_ANY4, 0, 0, 0, 0, VIP_ADDRESS | VIP_ANY_PORT_UDP },
	{ TABLELESS4, 443, IPPROTO_TCP, V_TABLELESS4, T_MISSING, 0 },
	{ TABLELESS4, 0, 0, 0, 0, VIP_ADDRESS },
	{ VECTOR_TCP4, 443, IPPROTO_TCP, V_VECTOR_TCP4, T_MAIN, 0 },
	{ VECTOR_UDP4, 53, IPPROTO_UDP, V_VECTOR_UDP4, T_MAIN, 0 },
};

const struct tunnel *world_tunnel(enum backend_id id)
{
	return &tunnels[id];
}

/* Aborts when it fails; libbpf of strict mode returns the errno itself. */
static void update(struct bpf_map *map, const void *key, const void *value)
{
	int err = bpf_map_update_elem(bpf_map__fd(map), key, value, BPF_ANY);

	if (err)
		die(bpf_map__name(map), err);
}

static void seed_vips(struct world *world)
{
	for (size_t i = 0; i < sizeof(vip_seeds) / sizeof(vip_seeds[0]); i++) {
		const struct vip_seed *seed = &vip_seeds[i];
		struct vip vip = { seed->id, seed->table, seed->flags, 0 };
		struct vip_key4 key4 = { 0 };
		struct vip_key6 key6 = { 0 };

		if (strchr(seed->address, ':')) {
			frame_address(seed->address, true, key6.addr);
			key6.port = htons(seed->port);
			key6.protocol = seed->protocol;
			update(world->skel->maps.vips6, &key6, &vip);
		} else {
			frame_address(seed->address, false, (uint8_t *)&key4.addr);
			key4.port = htons(seed->port);
			key4.protocol = seed->protocol;
			update(world->skel->maps.vips4, &key4, &vip);
		}
	}
}

uint16_t world_ip4_sum(const struct backend *backend)
{
	uint8_t ip[20] = { 0x45, 0, 0, 0, 0, 0, 0x40, 0, 64 };

	memcpy(ip + 12, &backend->outer.v4.src, 4);
	memcpy(ip + 16, &backend->outer.v4.dst, 4);
	return htons((uint16_t)~checksum_finish(checksum_add(0, ip, sizeof(ip))));
}

static struct backend backend_value(const struct world *world,
				    enum backend_id id)
{
	const struct tunnel *tunnel = &tunnels[id];
	struct backend backend = {
		.ethertype = htons(tunnel->outer6 ? 0x86dd : 0x0800),
		.mtu = MTU,
		.ifindex = LOOPBACK_IFINDEX,
		.encap = tunnel->gue_port ? ENCAP_GUE : ENCAP_IPIP,
		.flags = BACKEND_VALID | BACKEND_RESOLVED,
		.gue_port = htons(tunnel->gue_port),
	};

	memcpy(backend.mac_dst, tunnel->mac_dst, 6);
	memcpy(backend.mac_src, tunnel->mac_src, 6);
	if (tunnel->outer6) {
		backend.flags |= BACKEND_OUTER_V6;
		frame_address(tunnel->src, true, backend.outer.v6.src);
		frame_address(tunnel->dst, true, backend.outer.v6.dst);
	} else {
		frame_address(tunnel->src, false, (uint8_t *)&backend.outer.v4.src);
		frame_address(tunnel->dst, false, (uint8_t *)&backend.outer.v4.dst);
		backend.ip4_sum = world_ip4_sum(&backend);
	}

	if (id == B_REDIRECT)
		backend.ifindex = world->egress_ifindex;
	if (id == B_NO_EGRESS)
		backend.ifindex = world->stray_ifindex;
	if (id == B_UNRESOLVED)
		backend.flags &= ~BACKEND_RESOLVED;
	if (id == B_ABSENT)
		backend.flags = 0;
	return backend;
}

void world_backend(struct world *world, enum backend_id id,
		   void (*change)(struct backend *))
{
	struct backend backend = backend_value(world, id);
	uint32_t key = id;

	if (change)
		change(&backend);
	update(world->skel->maps.backends, &key, &backend);
}

void world_reset_backends(struct world *world)
{
	for (int id = 1; id < B__MAX; id++)
		world_backend(world, id, NULL);
}

static int table_create(uint32_t size, uint32_t lines, table_owner *owner,
			uint32_t context)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_INNER_MAP);
	struct table_header header = { .size = size };
	struct table_line line;
	uint32_t index = 0;
	int fd, err;

	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "table", sizeof(uint32_t),
			    sizeof(line), 1 + lines, &options);
	if (fd < 0)
		die("table", fd);

	err = bpf_map_update_elem(fd, &index, &header, BPF_ANY);
	for (uint32_t slot = 0; !err && index < lines;) {
		for (int i = 0; i < TABLE_LINE_SLOTS; i++)
			line.ids[i] = owner(slot++, context);
		index++;
		err = bpf_map_update_elem(fd, &index, &line, BPF_ANY);
	}
	if (err)
		die("table line", err);
	return fd;
}

void world_table_by(struct world *world, uint32_t table, uint32_t size,
		    table_owner *owner, uint32_t context)
{
	uint32_t lines = (size + TABLE_LINE_SLOTS - 1) / TABLE_LINE_SLOTS;
	_cleanup_close_ int fd = table_create(size, lines, owner, context);

	update(world->skel->maps.tables, &table, &fd);
}

static uint16_t owner_constant(uint32_t slot, uint32_t id)
{
	(void)slot;
	return id;
}

void world_table(struct world *world, uint32_t table, uint32_t size,
		 uint16_t fill)
{
	world_table_by(world, table, size, owner_constant, fill);
}

void world_table_short(struct world *world, uint32_t table, uint32_t size,
		       uint16_t fill)
{
	_cleanup_close_ int fd = table_create(size, 1, owner_constant, fill);

	update(world->skel->maps.tables, &table, &fd);
}

static int flows_replace(struct bpf_map *outer, uint32_t cpu, int *inner,
			 size_t key_size, uint32_t entries)
{
	cleanup_close(inner);
	if (!entries) {
		int err = bpf_map_delete_elem(bpf_map__fd(outer), &cpu);

		return err == -ENOENT ? 0 : err;
	}
	*inner = bpf_map_create(BPF_MAP_TYPE_LRU_HASH, "flows", key_size,
				sizeof(struct flow), entries, NULL);
	if (*inner < 0)
		return *inner;
	return bpf_map_update_elem(bpf_map__fd(outer), &cpu, inner, BPF_ANY);
}

void world_flows(struct world *world, uint32_t entries)
{
	int err;

	err = flows_replace(world->skel->maps.flows4, world->cpu, &world->flows4,
			    sizeof(struct flow_key4), entries);
	if (!err)
		err = flows_replace(world->skel->maps.flows6, world->cpu,
				    &world->flows6, sizeof(struct flow_key6),
				    entries);
	if (err)
		die("flow map", err);
}

static int flows_move(struct bpf_map *outer, const struct world *world,
		      int *inner, size_t key_size)
{
	int err = bpf_map_update_elem(bpf_map__fd(outer), &world->neighbour,
				      inner, BPF_ANY);

	return err ? err :
		     flows_replace(outer, world->cpu, inner, key_size, WORLD_FLOWS);
}

void world_flows_move(struct world *world)
{
	int err = flows_move(world->skel->maps.flows4, world, &world->flows4,
			     sizeof(struct flow_key4));

	if (!err)
		err = flows_move(world->skel->maps.flows6, world, &world->flows6,
				 sizeof(struct flow_key6));
	if (err)
		die("flow map of another CPU", err);
}

void world_neighbour_forgets(struct world *world)
{
	bpf_map_delete_elem(bpf_map__fd(world->skel->maps.flows4),
			    &world->neighbour);
	bpf_map_delete_elem(bpf_map__fd(world->skel->maps.flows6),
			    &world->neighbour);
}

unsigned int world_count_flows(const struct world *world, bool v6)
{
	uint8_t key[sizeof(struct flow_key6)];
	int fd = v6 ? world->flows6 : world->flows4;
	unsigned int n = 0;

	for (void *previous = NULL; bpf_map_get_next_key(fd, previous, key) == 0;
	     previous = key)
		n++;
	return n;
}

static void clear_counters(struct bpf_map *map, uint32_t n)
{
	_cleanup_free_ void *zero = calloc(libbpf_num_possible_cpus(),
					   bpf_map__value_size(map));

	for (uint32_t id = 0; id < n; id++)
		update(map, &id, zero);
}

void world_reset(struct world *world)
{
	struct fairlead_bpf *skel = world->skel;

	world_reset_backends(world);
	world_table(world, T_MAIN, WORLD_TABLE_SIZE, B_IPIP4);
	world_table(world, T_EXACT, WORLD_TABLE_SIZE, B_EXACT);
	world_flows(world, WORLD_FLOWS);
	world_neighbour_forgets(world);
	clear_counters(skel->maps.ct_rescues, 1);
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
			die(bpf_map__name(map), err);
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
		die("BPF_PROG_RUN", err);
	run->verdict = opts.retval;
	run->out.size = opts.data_size_out;
}

enum backend_id world_sent_to(const struct run *run)
{
	return run->out.data[5];
}

/* The key of the published vectors: bytes 00 01 .. 0f. */
static void set_hash_key(struct fairlead_bpf *skel)
{
	skel->rodata->flow_hash_key.k0 = 0x0706050403020100ULL;
	skel->rodata->flow_hash_key.k1 = 0x0f0e0d0c0b0a0908ULL;
}

static int load(struct world *world)
{
	int cpus = libbpf_num_possible_cpus();
	int err;

	/* Room for a neighbour: it need not exist to have maps. */
	if (cpus < 2)
		cpus = 2;
	world->neighbour = world->cpu ? 0 : 1;
	world->skel = fairlead_bpf__open();
	if (!world->skel)
		return -errno;
	set_hash_key(world->skel);
	/* The verifier walks the loop over the CPUs: the same on any machine. */
	world->skel->rodata->ct_cpus = 2;
	err = bpf_map__set_max_entries(world->skel->maps.flows4, cpus);
	if (!err)
		err = bpf_map__set_max_entries(world->skel->maps.flows6, cpus);
	if (!err)
		err = fairlead_bpf__load(world->skel);
	return err;
}

static int seed_egress(struct world *world)
{
	int err = netns_add_veth("egress", "stray");

	if (err)
		return err;
	world->egress_ifindex = if_nametoindex("egress");
	world->stray_ifindex = if_nametoindex("stray");
	update(world->skel->maps.egress, &world->egress_ifindex,
	       &world->egress_ifindex);
	return 0;
}

int world_open(struct world *world)
{
	int err;

	*world = (struct world){ .flows4 = -1, .flows6 = -1 };
	err = netns_enter_new();
	if (err) {
		fprintf(stderr, "skipped: no new network namespace: %s\n",
			strerror(-err));
		return SKIP;
	}
	err = cpu_pin();
	if (err < 0)
		die("cannot stay on one CPU", err);
	world->cpu = err;

	err = load(world);
	if (err == -EPERM) {
		fprintf(stderr, "skipped: no permission to load BPF programs\n");
		return SKIP;
	}
	if (err)
		die("cannot load the program", err);
	err = seed_egress(world);
	if (err) {
		fprintf(stderr, "skipped: no veth devices: %s\n", strerror(-err));
		world_close(world);
		return SKIP;
	}
	seed_vips(world);
	return 0;
}

void world_close(struct world *world)
{
	cleanup_close(&world->flows4);
	cleanup_close(&world->flows6);
	fairlead_bpf__destroy(world->skel);
	world->skel = NULL;
}
