// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long does a packet take? Each case runs programs over packets of F flows by
 * BPF_PROG_RUN, on one CPU, in turns: both forms in which the balancer remembers
 * flows, and what they are compared to. All figures include what it costs to make
 * the packet (see bench.bpf.c); "pass" is little else. Compare ratios within one run.
 */
#include "bench.h"

#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include "tests/lib/netns.h"
#include "user/core/cleanup.h"
#include "user/core/num.h"

#define DRAWS (1U << 22)
#define QUICK_DRAWS (1U << 16)
#define PACKETS (1U << 20)
#define QUICK_PACKETS 10000
#define FLOWS_MIN 1024
#define FLOWS_MAX (1U << 26)

#define FEW_FLOWS 4096

/*
 * A flow begins with packets one after the other, of which the second confirms it,
 * which may bring more sets into use; then it moves to the set that it is due in.
 */
#define BEGIN_PACKETS 2
#define PASSES 3

bool bench_wants(const struct bench *bench, const char *name)
{
	const char *only = bench->settings.only;

	return !only || strncmp(name, only, strlen(only)) == 0;
}

static int open_balancer(struct bench *bench, enum flow_form form,
			 struct program *program, struct err *err)
{
	const struct balancer_settings settings = {
		.form = form, .flows = bench->flows,
		.vip4 = bench->settings.vip4, .vip6 = bench->settings.vip6,
	};
	int code = balancer_open(&program->balancer, &settings, err);

	if (code)
		return code;
	code = harness_open(&program->harness, &bench->draws,
			    balancer_fd(&program->balancer), err);
	if (code)
		balancer_close(&program->balancer);
	return code;
}

static int open_program(struct bench *bench, enum program_id id, struct program *program,
			struct err *err)
{
	struct harness *harness = &program->harness;

	switch (id) {
	case PROGRAM_PASS:
		return harness_open_bare(harness, &bench->draws, BARE_PASS, err);
	case PROGRAM_TX:
		return harness_open_bare(harness, &bench->draws, BARE_TX, err);
	case PROGRAM_FLOOR:
		return harness_open_bare(harness, &bench->draws, BARE_FLOOR, err);
	case PROGRAM_OTHER:
		return harness_open(harness, &bench->draws, bench->other, err);
	case PROGRAM_LRU:
		return open_balancer(bench, FLOW_FORM_LRU, program, err);
	default:
		return open_balancer(bench, FLOW_FORM_SETS, program, err);
	}
}

int bench_program(struct bench *bench, enum program_id id, struct program **out,
		  struct err *err)
{
	struct program *program = &bench->programs[id];
	int code = program->ready ? 0 : open_program(bench, id, program, err);

	if (code)
		return id == PROGRAM_OTHER ?
			       err_prefix(err, "'%s'", bench->settings.other) :
			       code;
	program->ready = true;
	*out = program;
	return 0;
}

static int expected_verdict(enum program_id id)
{
	if (id == PROGRAM_OTHER)
		return -1;
	return id == PROGRAM_PASS ? XDP_PASS : XDP_TX;
}

int bench_subject(struct bench *bench, enum program_id id, enum balancer_kind kind,
		  struct subject *out, struct err *err)
{
	const struct vip_spec *vip = kind_is_v6(kind) ? &bench->settings.vip6 :
							&bench->settings.vip4;
	struct program *program;
	int code = bench_program(bench, id, &program, err);

	if (code)
		return code;
	*out = (struct subject){
		.harness = &program->harness,
		.balancer = program->balancer.skel ? &program->balancer : NULL,
		.v6 = kind_is_v6(kind),
		.work = program->balancer.skel ? WORK_KNOWN : WORK_ANY,
		.packets = { .draws_mask = bench->draws.n - 1,
			     .dst4 = bench->settings.vip4.addr.v4.s_addr,
			     .dport = htons(balancer_port(vip, kind)) },
		.verdict = expected_verdict(id),
	};
	memcpy(out->packets.dst6, &bench->settings.vip6.addr.v6,
	       sizeof(out->packets.dst6));
	subject_send(out, stream_drawn(NETWORK_KNOWN, TCP_ACK));
	return out->balancer ? balancer_forget(out->balancer, bench->cpu, err) : 0;
}

int bench_make_known(struct bench *bench, const struct subject *subject, uint32_t flows,
		     struct err *err)
{
	draws_in_turn(&bench->draws, flows, BEGIN_PACKETS);
	harness_packets(subject->harness)->next = 0;
	return subject_warm_up(subject, PASSES * BEGIN_PACKETS * flows, err);
}

static void close_all(struct bench *bench)
{
	for (int id = 0; id < PROGRAM__MAX; id++) {
		harness_close(&bench->programs[id].harness);
		balancer_close(&bench->programs[id].balancer);
	}
	draws_close(&bench->draws);
	report_close(&bench->report);
	cleanup_close(&bench->other);
}

/* The first allowed CPU, and which one is the next. */
static int choose_cpus(struct bench *bench, struct err *err)
{
	cpu_set_t allowed;
	int cpu;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return err_set(err, -errno, "cannot read which CPUs are allowed: %s",
			       strerror(errno));
	cpu = cpu_pin();
	if (cpu < 0)
		return err_set(err, cpu, "cannot stay on one CPU: %s", strerror(-cpu));
	bench->cpu = cpu;
	bench->second_cpu = -1;
	while (++cpu < CPU_SETSIZE && bench->second_cpu < 0)
		if (CPU_ISSET(cpu, &allowed))
			bench->second_cpu = cpu;
	return 0;
}

uint32_t bench_packets(const struct bench *bench, enum work work, uint32_t flows)
{
	/* What is over soon should not be of the order of a call. */
	bool soon = work != WORK_NEW && flows <= FEW_FLOWS && !bench->settings.quick;

	return soon ? 4 * bench->packets : bench->packets;
}

static void set_sizes(struct bench *bench)
{
	bool quick = bench->settings.quick;

	bench->flows = quick ? QUICK_FLOWS_DEFAULT : FLOWS_DEFAULT;
	if (bench->settings.flows)
		bench->flows = bench->settings.flows;
	bench->packets = quick ? QUICK_PACKETS : PACKETS;
}

static int open_all(struct bench *bench, struct err *err)
{
	const char *other = bench->settings.other;
	int code;

	/* First, since all that comes before it takes minutes. */
	if (other) {
		bench->other = pinned_program(other, err);
		if (bench->other < 0)
			return bench->other;
	}
	set_sizes(bench);
	code = choose_cpus(bench, err);
	if (!code)
		code = draws_open(&bench->draws,
				  bench->settings.quick ? QUICK_DRAWS : DRAWS, err);
	return code ? code : report_open(&bench->report, bench->settings.quick,
					 other, err);
}

static int bench_all(struct bench *bench, struct err *err)
{
	int code = open_all(bench, err);

	if (!code)
		code = cases_run(bench, err);
	if (!code)
		code = two_cpus_run(bench, err);
	if (!code)
		code = floods_run(bench, err);
	if (!code && bench->settings.json)
		code = report_write_json(&bench->report, bench->settings.json, err);
	close_all(bench);
	return code;
}

static const char USAGE[] =
	"usage: bench [--json FILE] [--other PINNED] [--vip4 VIP] [--vip6 VIP]\n"
	"             [--only CASE] [--flows N] [--quick] [--verbose]\n"
	"\n"
	"  --json FILE     write the figures there as well\n"
	"  --other PINNED  measure this pinned XDP program or link on the same packets\n"
	"  --vip4 VIP      destination of the IPv4 packets (203.0.113.10:443/tcp)\n"
	"  --vip6 VIP      destination of the IPv6 packets ([2001:db8::10]:443/tcp)\n"
	"  --only CASE     only the cases whose name begins so\n"
	"  --flows N       the balancer has room for N flows of each family (1280K)\n"
	"  --quick         few packets and flows: shows that it works, not how fast\n"
	"  --verbose       print what libbpf says\n";

static int parse_vip(const char *text, int family, struct vip_spec *out,
		     struct err *err)
{
	int code = vip_spec_parse(text, out, err);

	if (code)
		return code;
	if (out->addr.family != family || !vip_spec_is_exact(out) ||
	    out->protocol != IPPROTO_TCP)
		return err_set(err, -EINVAL,
			       "'%s': the packets are TCP over %s to one port",
			       text, family == AF_INET ? "IPv4" : "IPv6");
	return 0;
}

static int parse_option(int option, struct settings *settings, struct err *err)
{
	switch (option) {
	case 'j':
		settings->json = optarg;
		return 0;
	case 'o':
		settings->other = optarg;
		return 0;
	case 'c':
		settings->only = optarg;
		return 0;
	case '4':
		return parse_vip(optarg, AF_INET, &settings->vip4, err);
	case '6':
		return parse_vip(optarg, AF_INET6, &settings->vip6, err);
	case 'n':
		return parse_size(optarg, "number of flows", FLOWS_MIN, FLOWS_MAX,
				  &settings->flows, err);
	case 'q':
		settings->quick = true;
		return 0;
	case 'v':
		settings->verbose = true;
		return 0;
	case 'h':
		return fputs(USAGE, stdout) < 0 ? -EIO : 1;
	default:
		return err_set(err, -EINVAL, "bench --help says what is allowed");
	}
}

/* 0, a negative errno, or 1 when help was asked for and given. */
static int parse_args(int argc, char **argv, struct settings *settings,
		      struct err *err)
{
	static const struct option options[] = {
		{ "json", required_argument, NULL, 'j' },
		{ "other", required_argument, NULL, 'o' },
		{ "vip4", required_argument, NULL, '4' },
		{ "vip6", required_argument, NULL, '6' },
		{ "only", required_argument, NULL, 'c' },
		{ "flows", required_argument, NULL, 'n' },
		{ "quick", no_argument, NULL, 'q' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int code = parse_vip("203.0.113.10:443/tcp", AF_INET, &settings->vip4, err);
	int option;

	if (!code)
		code = parse_vip("[2001:db8::10]:443/tcp", AF_INET6,
				 &settings->vip6, err);
	while (!code && (option = getopt_long(argc, argv, "", options, NULL)) >= 0)
		code = parse_option(option, settings, err);
	if (!code && optind < argc)
		return err_set(err, -EINVAL, "unexpected word '%s'", argv[optind]);
	return code;
}

static int print_nothing(enum libbpf_print_level level __attribute__((unused)),
			 const char *format __attribute__((unused)),
			 va_list args __attribute__((unused)))
{
	return 0;
}

int main(int argc, char **argv)
{
	struct bench bench = { .draws = DRAWS_NONE, .other = -1 };
	struct err err = { 0 };
	int code;

	code = parse_args(argc, argv, &bench.settings, &err);
	if (code > 0)
		return EXIT_SUCCESS;
	/* Its sentences say less than ours, but for the verifier's. */
	if (!bench.settings.verbose)
		libbpf_set_print(print_nothing);
	if (!code)
		code = bench_all(&bench, &err);
	if (!code)
		return EXIT_SUCCESS;
	fprintf(stderr, "bench: %s\n", err.text);
	return EXIT_FAILURE;
}
