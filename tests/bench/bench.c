// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long does a packet take? Each case runs one program over packets of F
 * flows in turn by BPF_PROG_RUN, seven times, pinned to one CPU, and gives the
 * least and the median. All cases include what it costs to make the packet
 * (see bench.bpf.c); "pass" is little else. Compare ratios within one run.
 *
 * A figure counts only when the program did the work: verdicts and counters
 * are checked after every run.
 */
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include "tests/bench/balancer.h"
#include "tests/bench/harness.h"
#include "tests/bench/packets.h"
#include "tests/bench/report.h"
#include "tests/lib/netns.h"
#include "user/core/cleanup.h"

#define RUNS 7
#define TCP_SYN 0x02
#define TCP_ACK 0x10
#define FLOWS_MAX (1U << 20)
/* More flows than any map holds: every packet of a turn is a new one. */
#define FLOWS_ENDLESS (1U << 24)
/* Some more than FLOWS_MAX, so that no known flow is ever evicted. */
#define FLOW_ENTRIES (FLOWS_MAX + FLOWS_MAX / 4)

struct settings {
	bool quick;
	const char *json, *other, *only;
	struct vip_spec vip4, vip6;
	enum flow_form form;
	uint32_t flows;
};

struct bench {
	struct settings settings;
	struct report report;
	uint32_t flow_entries;
	uint32_t packets_min; /* in one run */
	uint32_t flow_counts[4];
	unsigned int n_flow_counts;
};

/* One program on one kind of packet. */
struct subject {
	const char *name;
	struct harness *harness;
	bool v6, not_vip, new_flows;
	struct balancer *balancer; /* NULL: its counters are not ours to read */
	int verdict;		   /* expected; -1: whatever it is */
};

static const uint8_t OTHER_ADDRESS6[16] = { 0x20, 1, 0xd, 0xb8, [15] = 0x99 };

static void set_packets(const struct bench *bench, const struct subject *subject,
			uint32_t flows)
{
	const struct vip_spec *vip = subject->v6 ? &bench->settings.vip6 :
						   &bench->settings.vip4;
	struct bench_packets *packets = harness_packets(subject->harness);

	packets->flow_mask = flows - 1;
	packets->dport = htons(vip->port);
	packets->tcp_flags = subject->new_flows ? TCP_SYN : TCP_ACK;
	packets->dst4 = subject->not_vip ? htonl(0xcb007163) :
					   vip->addr.v4.s_addr;
	memcpy(packets->dst6,
	       subject->not_vip ? OTHER_ADDRESS6 : (uint8_t *)&vip->addr.v6, 16);
}

static int expect(const struct subject *subject, uint32_t flows, const char *what,
		  uint64_t expected, uint64_t got, struct err *err)
{
	if (expected == got)
		return 0;
	return err_set(err, -EPROTO, "case '%s' with %u flows: %s: %llu, not %llu",
		       subject->name, flows, what, (unsigned long long)got,
		       (unsigned long long)expected);
}

static int check_work(const struct subject *subject, uint32_t flows, uint32_t n,
		      const struct balancer_counts *before,
		      const struct balancer_counts *after, struct err *err)
{
	uint64_t sent = subject->not_vip ? 0 : n;
	uint64_t new_flows = subject->new_flows ? n : 0;
	int code;

	code = expect(subject, flows, "packets passed", n - sent,
		      after->passed - before->passed, err);
	if (!code)
		code = expect(subject, flows, "packets sent by XDP_TX", sent,
			      after->sent - before->sent, err);
	if (!code)
		code = expect(subject, flows, "packets of the VIP", sent,
			      after->vip - before->vip, err);
	if (!code)
		code = expect(subject, flows, "packets of the backends", sent,
			      after->backends - before->backends, err);
	if (!code)
		printf("new %llu ", (unsigned long long)after->new_flows - before->new_flows);
	(void)new_flows;
	return code;
}

static int run_once(const struct subject *subject, uint32_t flows, uint32_t n,
		    struct measurement *out, struct err *err)
{
	struct balancer_counts before = { 0 }, after = { 0 };
	int code = 0;

	if (subject->balancer)
		code = balancer_counts(subject->balancer, &before, err);
	if (!code)
		code = harness_run(subject->harness, subject->v6, n, out, err);
	if (code)
		return code;
	if (subject->verdict >= 0)
		code = expect(subject, flows, "XDP action", subject->verdict,
			      out->verdict, err);
	if (code || !subject->balancer)
		return code;

	code = balancer_counts(subject->balancer, &after, err);
	return code || getenv("NOCHECK") ? code : check_work(subject, flows, n, &before, &after, err);
}

/* Twice over the flows: the second packet of each confirms it. */
static int warm_up(const struct subject *subject, uint32_t flows,
		   uint32_t flow_entries, struct err *err)
{
	struct measurement ignored;

	return harness_run(subject->harness, subject->v6,
			   subject->new_flows ? flow_entries + FLOWS_MAX / 8 :
						2 * flows,
			   &ignored, err);
}

static int compare_ns(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int measure(struct bench *bench, const struct subject *subject,
		   uint32_t flows, struct err *err)
{
	const char *only = bench->settings.only;
	uint32_t n = bench->packets_min, ns[RUNS];
	struct measurement last;
	int code;

	if (only && strncmp(subject->name, only, strlen(only)) != 0)
		return 0;
	if (!subject->new_flows && n < 2 * flows)
		n = 2 * flows;
	set_packets(bench, subject, flows);
	code = warm_up(subject, flows, bench->flow_entries, err);
	for (int i = 0; !code && i < RUNS; i++) {
		code = run_once(subject, flows, n, &last, err);
		ns[i] = last.ns;
	}
	if (code)
		return code;

	qsort(ns, RUNS, sizeof(ns[0]), compare_ns);
	report_add(&bench->report, &(struct report_row){
					   .name = subject->name,
					   .flows = flows,
					   .min_ns = ns[0],
					   .median_ns = ns[RUNS / 2],
					   .verdict = last.verdict,
				   });
	return 0;
}

static int measure_all(struct bench *bench, const struct subject *subject,
		       struct err *err)
{
	int code = 0;

	for (unsigned int i = 0; !code && i < bench->n_flow_counts; i++)
		code = measure(bench, subject, bench->flow_counts[i], err);
	return code;
}

static int bench_bare(struct bench *bench, enum bare bare, const char *name,
		      int verdict, struct err *err)
{
	_cleanup_(harness_close) struct harness harness = { 0 };
	struct subject subject = { .name = name, .harness = &harness,
				   .verdict = verdict };
	int code = harness_open_bare(&harness, bare, err);

	return code ? code : measure(bench, &subject, 1, err);
}

static int bench_known(struct bench *bench, struct balancer *balancer,
		       struct harness *harness, struct err *err)
{
	static const char *const names[BALANCER_KIND__MAX] = {
		[IP4_IPIP] = "ipv4-ipip",
		[IP4_GUE] = "ipv4-gue",
		[IP6_IPIP] = "ipv6-ipip",
		[IP6_GUE] = "ipv6-gue",
	};
	int code = 0;

	for (int kind = 0; !code && kind < BALANCER_KIND__MAX; kind++) {
		struct subject subject = {
			.name = names[kind],
			.harness = harness,
			.v6 = kind_is_v6(kind),
			.balancer = balancer,
			.verdict = XDP_TX,
		};

		code = balancer_prepare(balancer, kind, err);
		if (!code)
			code = measure_all(bench, &subject, err);
	}
	return code;
}

static int bench_balancer(struct bench *bench, unsigned int cpu, struct err *err)
{
	_cleanup_(balancer_close) struct balancer balancer = { 0 };
	_cleanup_(harness_close) struct harness harness = { 0 };
	const struct subject new_flows = {
		.name = "ipv4-ipip-new", .harness = &harness, .new_flows = true,
		.balancer = &balancer, .verdict = XDP_TX,
	};
	const struct subject not_vip4 = {
		.name = "ipv4-not-vip", .harness = &harness, .not_vip = true,
		.balancer = &balancer, .verdict = XDP_PASS,
	};
	const struct subject not_vip6 = {
		.name = "ipv6-not-vip", .harness = &harness, .not_vip = true,
		.v6 = true, .balancer = &balancer, .verdict = XDP_PASS,
	};
	int code;

	code = balancer_open(&balancer, cpu, bench->settings.form, bench->flow_entries, &bench->settings.vip4,
			     &bench->settings.vip6, err);
	if (!code)
		code = harness_open(&harness, balancer_fd(&balancer), err);
	if (!code)
		code = bench_known(bench, &balancer, &harness, err);
	if (!code)
		code = balancer_prepare(&balancer, IP4_IPIP, err);
	if (!code)
		code = measure(bench, &new_flows, FLOWS_ENDLESS, err);
	if (!code)
		code = measure(bench, &not_vip4, 1, err);
	return code ? code : measure(bench, &not_vip6, 1, err);
}

static int bench_other(struct bench *bench, int fd, struct err *err)
{
	_cleanup_(harness_close) struct harness harness = { 0 };
	const struct subject known4 = { .name = "other-ipv4", .harness = &harness,
					.verdict = -1 };
	const struct subject known6 = { .name = "other-ipv6", .harness = &harness,
					.v6 = true, .verdict = -1 };
	const struct subject new_flows = { .name = "other-ipv4-new",
					   .harness = &harness,
					   .new_flows = true, .verdict = -1 };
	const struct subject not_vip = { .name = "other-not-vip",
					 .harness = &harness, .not_vip = true,
					 .verdict = -1 };
	int code = harness_open(&harness, fd, err);

	if (code)
		return err_prefix(err, "'%s'", bench->settings.other);
	code = measure_all(bench, &known4, err);
	if (!code)
		code = measure_all(bench, &known6, err);
	if (!code)
		code = measure(bench, &new_flows, FLOWS_ENDLESS, err);
	return code ? code : measure(bench, &not_vip, 1, err);
}

static int bench_all(struct bench *bench, struct err *err)
{
	_cleanup_close_ int other = -1;
	int cpu = cpu_pin();
	int code;

	/* First, since all that comes before it takes minutes. */
	if (bench->settings.other) {
		other = pinned_program(bench->settings.other, err);
		if (other < 0)
			return other;
	}
	if (cpu < 0)
		return err_set(err, cpu, "cannot stay on one CPU: %s",
			       strerror(-cpu));
	report_header();
	code = bench_bare(bench, BARE_PASS, "pass", XDP_PASS, err);
	if (!code)
		code = bench_bare(bench, BARE_TX, "tx", XDP_TX, err);
	if (!code)
		code = bench_bare(bench, BARE_FLOOR, "floor", XDP_TX, err);
	if (!code)
		code = bench_balancer(bench, cpu, err);
	if (!code && bench->settings.other)
		code = bench_other(bench, other, err);
	if (!code && bench->settings.json)
		code = report_write_json(&bench->report, bench->settings.json, err);
	return code;
}

static void set_sizes(struct bench *bench)
{
	static const uint32_t full[] = { 1, 4096, 65536, 524288 };

	memcpy(bench->flow_counts, full, sizeof(full));
	bench->n_flow_counts = bench->settings.quick ? 2 : 4;
	bench->flow_entries = bench->settings.quick ? FLOWS_MAX / 16 : FLOW_ENTRIES;
	if (bench->settings.flows)
		bench->flow_entries = bench->settings.flows;
	bench->packets_min = bench->settings.quick ? 10000 : 1000000;
}

static const char USAGE[] =
	"usage: bench [--json FILE] [--other PINNED] [--vip4 VIP] [--vip6 VIP]\n"
	"             [--only CASE] [--quick]\n"
	"\n"
	"  --json FILE     write the figures there as well\n"
	"  --other PINNED  measure this pinned XDP program or link on the same packets\n"
	"  --vip4 VIP      destination of the IPv4 packets (203.0.113.10:443/tcp)\n"
	"  --vip6 VIP      destination of the IPv6 packets ([2001:db8::10]:443/tcp)\n"
	"  --only CASE     only the cases whose name begins so\n"
	"  --quick         few packets and flows: shows that it works, not how fast\n";

static int parse_vip(const char *text, int family, struct vip_spec *out,
		     struct err *err)
{
	int code = vip_spec_parse(text, out, err);

	if (code)
		return code;
	if (out->addr.family != family || !out->port ||
	    out->protocol != IPPROTO_TCP)
		return err_set(err, -EINVAL,
			       "'%s': the packets are TCP over %s to one port",
			       text, family == AF_INET ? "IPv4" : "IPv6");
	return 0;
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
		{ "form", required_argument, NULL, 'f' },
		{ "quick", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int code = parse_vip("203.0.113.10:443/tcp", AF_INET, &settings->vip4, err);
	int option;

	if (!code)
		code = parse_vip("[2001:db8::10]:443/tcp", AF_INET6,
				 &settings->vip6, err);
	while (!code && (option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (option == 'j')
			settings->json = optarg;
		else if (option == 'o')
			settings->other = optarg;
		else if (option == 'c')
			settings->only = optarg;
		else if (option == '4')
			code = parse_vip(optarg, AF_INET, &settings->vip4, err);
		else if (option == '6')
			code = parse_vip(optarg, AF_INET6, &settings->vip6, err);
		else if (option == 'n')
			settings->flows = strtoul(optarg, NULL, 0);
		else if (option == 'f')
			settings->form = !strcmp(optarg, "lru") ? FLOW_FORM_LRU : FLOW_FORM_SETS;
		else if (option == 'q')
			settings->quick = true;
		else if (option == 'h')
			return fputs(USAGE, stdout) < 0 ? -EIO : 1;
		else
			return err_set(err, -EINVAL, "bench --help says what is allowed");
	}
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
	struct bench bench = { 0 };
	struct err err = { 0 };
	int code;

	/* Its sentences say less than ours. */
	if (!getenv("V")) libbpf_set_print(print_nothing);
	code = parse_args(argc, argv, &bench.settings, &err);
	if (code > 0)
		return EXIT_SUCCESS;
	if (!code) {
		set_sizes(&bench);
		code = bench_all(&bench, &err);
	}
	if (!code)
		return EXIT_SUCCESS;
	fprintf(stderr, "bench: %s\n", err.text);
	return EXIT_FAILURE;
}
