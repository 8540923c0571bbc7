// SPDX-License-Identifier: GPL-2.0-only
#include "balancer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "flow_hash.h" /* for the skeleton */

#include "fairlead.skel.h"
#include "user/core/cfg.h"
#include "user/core/cleanup.h"
#include "user/dp/flow_maps.h"
#include "user/dp/program.h"

#define N_BACKENDS 100
#define LOOPBACK_IFINDEX 1 /* where BPF_PROG_RUN says that frames arrive */
#define MIX_KEY 0x9e3779b97f4a7c15ULL
#define CONFIG_SIZE_MAX 65536

uint16_t balancer_port(const struct vip_spec *vip, enum balancer_kind kind)
{
	bool gue = kind == IP4_GUE || kind == IP6_GUE;

	/* Never 0: no VIP has port 1 with it. */
	return gue ? (vip->port == 1 ? 2 : vip->port ^ 1) : vip->port;
}

static void write_pool(FILE *file, enum balancer_kind kind)
{
	bool gue = kind == IP4_GUE || kind == IP6_GUE;

	fprintf(file, "  kind-%d:\n    encap: %s\n    backends:\n", kind,
		gue ? "gue" : "ipip");
	for (int i = 1; i <= N_BACKENDS; i++)
		fprintf(file, "      - {address: \"%s%d\"}\n",
			kind_is_v6(kind) ? "2001:db8:1::" : "198.51.100.", i);
}

static void write_vip(FILE *file, const struct vip_spec *vip, enum balancer_kind kind)
{
	struct vip_spec spec = *vip;
	char text[VIP_SPEC_TEXT_MAX];

	spec.port = spec.port_last = balancer_port(vip, kind);
	fprintf(file, "  - {address: \"%s\", pool: kind-%d}\n",
		vip_spec_format(&spec, text), kind);
}

static char *write_config(const struct balancer_settings *settings)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	fputs("interface: lo\nhash_key: 000102030405060708090a0b0c0d0e0f\npools:\n", file);
	for (int kind = 0; kind < BALANCER_KIND__MAX; kind++)
		write_pool(file, kind);
	fputs("vips:\n", file);
	for (int kind = 0; kind < BALANCER_KIND__MAX; kind++)
		write_vip(file, kind_is_v6(kind) ? &settings->vip6 : &settings->vip4, kind);
	return fclose(file) ? NULL : text;
}

static int make_plan(struct balancer *balancer, const struct balancer_settings *settings,
		     struct err *err)
{
	_cleanup_free_ char *text = write_config(settings);
	_cleanup_plan_ struct plan *none = NULL;
	_cleanup_cfg_ struct cfg *cfg = NULL;
	int code;

	if (!text)
		return err_set(err, -ENOMEM, "no memory for a configuration");
	code = cfg_parse_yaml(text, strlen(text), "bench", &cfg, err);
	if (!code)
		code = plan_new(&none, err);
	return code ? code : plan_make(&cfg, none, NULL, &balancer->plan, err);
}

static int load(struct balancer *balancer, const struct balancer_settings *settings,
		struct err *err)
{
	int code;

	balancer->config = (struct config){
		.abi = FAIRLEAD_ABI,
		.flows_per_cpu = settings->flows,
		.flow_form = settings->form,
		.flow_set_bits = flow_maps_set_bits(settings->flows),
		.mix_key = MIX_KEY,
	};
	program_key_words(balancer->plan->cfg->hash_key, balancer->config.hash_key);
	code = program_open(&balancer->config, balancer->cpus, &balancer->skel, err);
	if (code)
		return code;
	code = program_load(balancer->skel, &balancer->config);
	return code ? err_set(err, code, "cannot load the balancer: %s", strerror(-code)) :
		      0;
}

/* All backends are behind one router on the interface that packets come by. */
static const struct next_hop *hop_to(void *context __attribute__((unused)),
				     const struct addr *addr)
{
	static struct next_hop hops[2] = {
		{ .resolved = true, .ifindex = LOOPBACK_IFINDEX, .mtu = 1500,
		  .mac_src = { 2, 0, 0, 0, 0, 1 }, .mac_dst = { 2, 0, 0, 0, 0, 2 } },
	};
	bool v6 = addr->family == AF_INET6;
	struct next_hop *hop = &hops[v6];

	*hop = hops[0];
	hop->source.family = addr->family;
	if (v6)
		inet_pton(AF_INET6, "2001:db8:1::f", &hop->source.v6);
	else
		inet_pton(AF_INET, "192.0.2.1", &hop->source.v4);
	return hop;
}

static int publish(struct balancer *balancer, struct err *err)
{
	_cleanup_plan_ struct plan *none = NULL;
	struct kernel *kernel = &balancer->kernel;
	struct publish publish;
	int code = plan_new(&none, err);

	if (!code)
		code = program_maps(balancer->skel, balancer->cpus, kernel, err);
	if (code)
		return code;
	balancer->kernel_ready = true;
	kernel->hop = hop_to;
	code = kernel_init(kernel, err);
	if (!code)
		code = publish_prepare(kernel, none, balancer->plan, &publish, err);
	if (code)
		return code;
	code = publish_commit(kernel, &publish, err);
	publish_release(&publish);
	return code;
}

int balancer_open(struct balancer *balancer, const struct balancer_settings *settings,
		  struct err *err)
{
	int code;

	*balancer = (struct balancer){ .cpus = libbpf_num_possible_cpus() };
	code = make_plan(balancer, settings, err);
	if (!code)
		code = load(balancer, settings, err);
	if (!code)
		code = publish(balancer, err);
	if (code)
		balancer_close(balancer);
	return code;
}

void balancer_close(struct balancer *balancer)
{
	if (balancer->kernel_ready)
		kernel_release(&balancer->kernel);
	fairlead_bpf__destroy(balancer->skel);
	plan_free(&balancer->plan);
	*balancer = (struct balancer){ 0 };
}

int balancer_forget(struct balancer *balancer, unsigned int cpu, struct err *err)
{
	struct fairlead_bpf *skel = balancer->skel;
	struct flow_levels none = { 0 };
	uint32_t zero = 0;
	int code = flow_maps_make(skel, &balancer->config, cpu, NULL);

	if (!code)
		code = bpf_map_update_elem(bpf_map__fd(skel->maps.flow_levels), &zero,
					   &none, BPF_ANY);
	for (int v6 = 0; v6 < 2; v6++)
		skel->data->flow_mask[v6] = flow_maps_first_mask(&balancer->config);
	return code ? err_set(err, code, "maps of %u flows: %s",
			      balancer->config.flows_per_cpu, strerror(-code)) : 0;
}

int balancer_fd(const struct balancer *balancer)
{
	return bpf_program__fd(balancer->skel->progs.fairlead);
}

/* Adds up the counters of all CPUs: arrays of u64, as all of them are. */
static int add_up(const struct balancer *balancer, const struct bpf_map *map,
		  uint32_t key, uint64_t *sums, struct err *err)
{
	size_t members = bpf_map__value_size(map) / sizeof(uint64_t);
	_cleanup_free_ uint64_t *values = calloc(balancer->cpus * members,
						 sizeof(*values));
	int code;

	if (!values)
		return err_set(err, -ENOMEM, "no memory for counters");
	code = bpf_map_lookup_elem(bpf_map__fd(map), &key, values);
	if (code)
		return err_set(err, code, "map '%s': %s", bpf_map__name(map),
			       strerror(-code));
	memset(sums, 0, members * sizeof(*sums));
	for (size_t i = 0; i < balancer->cpus * members; i++)
		sums[i % members] += values[i];
	return 0;
}

static int add_vips(const struct balancer *balancer, struct balancer_counts *counts,
		    struct err *err)
{
	struct vip_counters vip;
	int code = 0;

	for (size_t i = 0; !code && i < balancer->plan->n_vips; i++) {
		code = add_up(balancer, balancer->skel->maps.vip_counters,
			      balancer->plan->vips[i].id, (uint64_t *)&vip, err);
		counts->vip += vip.packets;
		counts->new_flows += vip.new_flows;
	}
	return code;
}

static int add_backends(const struct balancer *balancer, struct balancer_counts *counts,
			struct err *err)
{
	struct backend_counters backend;
	int code = 0;

	for (size_t i = 0; !code && i < balancer->plan->n_backends; i++) {
		code = add_up(balancer, balancer->skel->maps.backend_counters,
			      balancer->plan->backends[i].id, (uint64_t *)&backend, err);
		counts->backends += backend.packets;
	}
	return code;
}

int balancer_counts(const struct balancer *balancer, struct balancer_counts *out,
		    struct err *err)
{
	struct balancer_counts counts = { 0 };
	struct totals totals;
	int code;

	code = add_up(balancer, balancer->skel->maps.totals, 0, (uint64_t *)&totals, err);
	if (!code)
		code = add_vips(balancer, &counts, err);
	if (!code)
		code = add_backends(balancer, &counts, err);
	if (code)
		return code;
	counts.passed = totals.passed;
	counts.sent = totals.sent_tx;
	*out = counts;
	return 0;
}
