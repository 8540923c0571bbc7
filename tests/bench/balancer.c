// SPDX-License-Identifier: GPL-2.0-only
#include "balancer.h"

#include <errno.h>
#include <string.h>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "abi.h"
#include "drop_reasons.h"
#include "flow_hash.h"
#include "flow_mix.h"

#include "fairlead.skel.h"
#include "tests/lib/checksum.h"
#include "user/core/cleanup.h"
#include "user/core/table.h"
#include "user/dp/flow_maps.h"
#include "user/dp/program.h"

#define N_BACKENDS 100
#define LOOPBACK_IFINDEX 1 /* where BPF_PROG_RUN says that frames arrive */

#define IDLE_TICKS 3600
#define HASH_KEY { 0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL }
#define MIX_KEY 0x9e3779b97f4a7c15ULL

enum { VIP4_ID = 1, VIP6_ID };

static int update(struct bpf_map *map, const void *key, const void *value,
		  struct err *err)
{
	int code = bpf_map_update_elem(bpf_map__fd(map), key, value, BPF_ANY);

	return code ? err_set(err, code, "map '%s': %s", bpf_map__name(map),
			      strerror(-code)) :
		      0;
}

/* Kinds have their ids one after the other, and so their table ids. */
static uint32_t first_backend(enum balancer_kind kind)
{
	return 1 + kind * N_BACKENDS;
}

static uint32_t table_id(enum balancer_kind kind)
{
	return 1 + kind;
}

static uint16_t ip4_sum(const struct backend *backend)
{
	uint8_t ip[20] = { 0x45, 0, 0, 0, 0, 0, 0x40, 0, 64 };

	memcpy(ip + 12, &backend->outer.v4, 8);
	return htons((uint16_t)~checksum_finish(checksum_add(0, ip, sizeof(ip))));
}

static int add_backend(struct balancer *balancer, enum balancer_kind kind,
		       uint32_t n, struct err *err)
{
	bool gue = kind == IP4_GUE || kind == IP6_GUE;
	struct backend backend = {
		.mac_dst = { 2, 0, 0, 0, 1, n },
		.mac_src = { 2, 0, 0, 0, 0, 1 },
		.mtu = 1500,
		.ifindex = LOOPBACK_IFINDEX,
		.encap = gue ? ENCAP_GUE : ENCAP_IPIP,
		.flags = BACKEND_VALID | BACKEND_RESOLVED | BACKEND_PLAIN,
		.gue_port = htons(GUE_PORT_DEFAULT),
	};
	uint32_t id = first_backend(kind) + n;

	if (kind_is_v6(kind)) {
		backend.flags |= BACKEND_OUTER_V6;
		backend.ethertype = htons(0x86dd);
		inet_pton(AF_INET6, "2001:db8:1::1", backend.outer.v6.src);
		inet_pton(AF_INET6, "2001:db8:1::b000", backend.outer.v6.dst);
		backend.outer.v6.dst[15] = n;
	} else {
		backend.ethertype = htons(0x0800);
		backend.outer.v4.src = htonl(0xc0000201);
		backend.outer.v4.dst = htonl(0xc6336400 | n);
		backend.ip4_sum = ip4_sum(&backend);
	}
	return update(balancer->skel->maps.backends, &id, &backend, err);
}

static int fill_table(int fd, const uint16_t *slots, uint32_t first,
		      struct err *err)
{
	struct table_header header = { .size = TABLE_SIZE_DEFAULT };
	uint32_t index = 0;
	int code = bpf_map_update_elem(fd, &index, &header, BPF_ANY);

	for (uint32_t slot = 0; !code && slot < TABLE_SIZE_DEFAULT;) {
		struct table_line line = { 0 };

		for (int i = 0; i < TABLE_LINE_SLOTS && slot < TABLE_SIZE_DEFAULT; i++)
			line.ids[i] = first + slots[slot++];
		index++;
		code = bpf_map_update_elem(fd, &index, &line, BPF_ANY);
	}
	return code ? err_set(err, code, "table: %s", strerror(-code)) : 0;
}

static int add_table(struct balancer *balancer, enum balancer_kind kind,
		     const uint16_t *slots, struct err *err)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_INNER_MAP);
	uint32_t lines = (TABLE_SIZE_DEFAULT + TABLE_LINE_SLOTS - 1) /
			 TABLE_LINE_SLOTS;
	_cleanup_close_ int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "table",
						sizeof(uint32_t),
						sizeof(struct table_line),
						1 + lines, &options);
	uint32_t id = table_id(kind);
	int code;

	if (fd < 0)
		return err_set(err, fd, "table: %s", strerror(-fd));
	code = fill_table(fd, slots, first_backend(kind), err);
	return code ? code : update(balancer->skel->maps.tables, &id, &fd, err);
}

static int build_slots(uint16_t *slots, struct err *err)
{
	struct table_params params = { .algorithm = TABLE_MAGLEV,
				       .size = TABLE_SIZE_DEFAULT };
	struct table_backend set[N_BACKENDS];
	char names[N_BACKENDS][16];

	for (int i = 0; i < N_BACKENDS; i++) {
		snprintf(names[i], sizeof(names[i]), "backend-%d", i);
		set[i] = (struct table_backend){ .name = names[i], .weight = 1 };
	}
	return table_build(&params, set, N_BACKENDS, slots, err);
}

/* In the sets as well; its address in the filter is for what is not in them. */
static int set_brief4(struct balancer *balancer, const struct vip_key4 *key,
		      const struct vip *vip, struct err *err)
{
	struct vip_set4 set = { 0 };
	uint32_t index;

	memcpy(&set.key[0], key, sizeof(set.key[0]));
	memcpy(&set.vip[0], vip, sizeof(set.vip[0]));
	index = vip_mix4(MIX_KEY, set.key[0]);
	return update(balancer->skel->maps.vip_sets4, &index, &set, err);
}

static int set_brief6(struct balancer *balancer, const struct vip_key6 *key,
		      const struct vip *vip, struct err *err)
{
	struct vip_set6 set = { 0 };
	__u64 addr[2];
	uint32_t index;

	memcpy(addr, key->addr, sizeof(addr));
	memcpy(&set.vip[0], vip, sizeof(set.vip[0]));
	set.addr[0][0] = addr[0];
	set.addr[1][0] = addr[1];
	set.service[0] = key->port | (uint64_t)key->protocol << 16;
	index = vip_mix6(MIX_KEY, addr, set.service[0]);
	return update(balancer->skel->maps.vip_sets6, &index, &set, err);
}

static int set_vip(struct balancer *balancer, const struct vip_spec *spec,
		   enum balancer_kind kind, struct err *err)
{
	bool v6 = spec->addr.family == AF_INET6;
	struct vip vip = { .id = v6 ? VIP6_ID : VIP4_ID, .table = table_id(kind),
			   .idle = IDLE_TICKS, .tcp_idle = IDLE_TICKS };
	struct vip address = { .flags = VIP_ADDRESS };
	struct vip_key4 key4 = { .addr = spec->addr.v4.s_addr,
				 .port = htons(spec->port),
				 .protocol = spec->protocol };
	struct vip_key6 key6 = { .port = htons(spec->port),
				 .protocol = spec->protocol };
	struct bpf_map *map = v6 ? balancer->skel->maps.vips6 :
				   balancer->skel->maps.vips4;
	void *key = v6 ? (void *)&key6 : (void *)&key4;
	int code;

	memcpy(key6.addr, &spec->addr.v6, sizeof(key6.addr));
	code = update(map, key, &vip, err);
	if (code)
		return code;
	code = v6 ? set_brief6(balancer, &key6, &vip, err) :
		    set_brief4(balancer, &key4, &vip, err);
	if (code)
		return code;
	key4.port = key6.port = 0;
	key4.protocol = key6.protocol = 0;
	return update(map, key, &address, err);
}

static int load(struct balancer *balancer, struct err *err)
{
	int cpus = libbpf_num_possible_cpus();
	int code = program_open(&balancer->config, cpus, &balancer->skel, err);

	if (code)
		return code;
	code = program_load(balancer->skel, &balancer->config);
	return code ? err_set(err, code, "cannot load the balancer: %s",
			      strerror(-code)) :
		      0;
}

static int seed(struct balancer *balancer, struct err *err)
{
	_cleanup_free_ uint16_t *slots = calloc(TABLE_SIZE_DEFAULT, sizeof(*slots));
	int code;

	if (!slots)
		return err_set(err, -ENOMEM, "no memory for a table");
	code = build_slots(slots, err);
	for (int kind = 0; !code && kind < BALANCER_KIND__MAX; kind++) {
		for (uint32_t n = 0; !code && n < N_BACKENDS; n++)
			code = add_backend(balancer, kind, n, err);
		if (!code)
			code = add_table(balancer, kind, slots, err);
	}
	return code;
}

int balancer_open(struct balancer *balancer, unsigned int cpu, enum flow_form form,
		  uint32_t flows, const struct vip_spec *vip4,
		  const struct vip_spec *vip6, struct err *err)
{
	int code;

	*balancer = (struct balancer){ .cpu = cpu, .vip4 = *vip4, .vip6 = *vip6,
				       .config = {
					       .flow_form = form,
					       .flows_per_cpu = flows,
					       .flow_set_bits = flow_maps_set_bits(flows),
					       .mix_key = MIX_KEY,
					       .hash_key = HASH_KEY,
				       } };
	code = load(balancer, err);
	if (!code)
		code = seed(balancer, err);
	if (code)
		balancer_close(balancer);
	return code;
}

void balancer_close(struct balancer *balancer)
{
	fairlead_bpf__destroy(balancer->skel);
	balancer->skel = NULL;
}

int balancer_prepare(struct balancer *balancer, enum balancer_kind kind, struct err *err)
{
	bool v6 = kind_is_v6(kind);
	int code = set_vip(balancer, v6 ? &balancer->vip6 : &balancer->vip4, kind, err);

	if (!code)
		code = flow_maps_make(balancer->skel, &balancer->config, balancer->cpu, NULL);
	return code ? err_set(err, code, "maps of %u flows: %s",
			      balancer->config.flows_per_cpu, strerror(-code)) : 0;
}

int balancer_fd(const struct balancer *balancer)
{
	return bpf_program__fd(balancer->skel->progs.fairlead);
}

/* Only this CPU counts: the bench runs nowhere else. */
static int lookup(const struct balancer *balancer, struct bpf_map *map,
		  uint32_t key, void *out, struct err *err)
{
	size_t size = bpf_map__value_size(map);
	_cleanup_free_ uint8_t *values = calloc(libbpf_num_possible_cpus(), size);
	int code;

	if (!values)
		return err_set(err, -ENOMEM, "no memory for counters");
	code = bpf_map_lookup_elem(bpf_map__fd(map), &key, values);
	if (code)
		return err_set(err, code, "map '%s': %s", bpf_map__name(map),
			       strerror(-code));
	memcpy(out, values + balancer->cpu * size, size);
	return 0;
}

int balancer_counts(const struct balancer *balancer, struct balancer_counts *out,
		    struct err *err)
{
	struct fairlead_bpf *skel = balancer->skel;
	struct balancer_counts counts = { 0 };
	struct backend_counters backend;
	struct vip_counters vip;
	struct totals totals;
	int code;

	code = lookup(balancer, skel->maps.totals, 0, &totals, err);
	for (uint32_t id = VIP4_ID; !code && id <= VIP6_ID; id++) {
		code = lookup(balancer, skel->maps.vip_counters, id, &vip, err);
		counts.vip += vip.packets;
		counts.new_flows += vip.new_flows;
	}
	for (uint32_t id = 1; !code && id < first_backend(BALANCER_KIND__MAX); id++) {
		code = lookup(balancer, skel->maps.backend_counters, id, &backend,
			      err);
		counts.backends += backend.packets;
	}
	if (code)
		return code;
	counts.passed = totals.passed;
	counts.sent = totals.sent_tx;
	*out = counts;
	return 0;
}
