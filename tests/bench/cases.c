// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is measured on one CPU, with the targets. Katran's figures are not measured
 * here: DESIGN.md has them, of 100 backends and room for 1M flows on the same kind of
 * machine, with the flows in turn. That order is kind to an LRU hash, whose elements
 * lie in memory as they were begun, so that the CPU fetches them ahead; so one case
 * has it as well, to be compared.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include <linux/bpf.h>

#include "tests/bench/bench.h"

#define FLOWS_ZIPF (1024 * 1024)
#define FIGURES_MAX 4

/* In which the packets of known flows come. */
enum order {
	ORDER_EVEN, /* drawn, each flow as likely as any other */
	ORDER_ZIPF,
	ORDER_IN_TURN,
};

struct figure {
	uint32_t flows;
	double target, lru_target;
	unsigned int katran_ns;
};

struct test_case {
	const char *name;
	enum balancer_kind kind;
	enum work work;
	enum order order;
	const char *beside; /* what it is called in the table */
	enum program_id beside_program;
	enum balancer_kind beside_kind;
	enum report_relation relation;
	struct figure figures[FIGURES_MAX];
};

static const struct test_case cases[] = {
	{ .name = "ipv4-ipip", .kind = IP4_IPIP, .work = WORK_KNOWN,
	  .beside = "floor", .beside_program = PROGRAM_FLOOR,
	  .figures = { { 1, 2.2, 0, 61 }, { 4096, 3.2, 0.6, 88 },
		       { 65536, 0, 0.8, 208 }, { 524288, 0, 0.65, 272 } } },
	{ .name = "ipv4-in-turn", .kind = IP4_IPIP, .work = WORK_KNOWN,
	  .order = ORDER_IN_TURN, .beside = "floor", .beside_program = PROGRAM_FLOOR,
	  .figures = { { 4096, 0, 0, 88 }, { 65536, 0, 0, 208 }, { 524288, 0, 0, 272 } } },
	{ .name = "ipv4-zipf", .kind = IP4_IPIP, .work = WORK_KNOWN, .order = ORDER_ZIPF,
	  .beside = "floor", .beside_program = PROGRAM_FLOOR,
	  .figures = { { FLOWS_ZIPF, 0, 0.6, 0 } } },
	{ .name = "ipv4-gue", .kind = IP4_GUE, .work = WORK_KNOWN,
	  .beside = "ipv4-ipip", .beside_program = PROGRAM_BESIDE,
	  .beside_kind = IP4_IPIP,
	  .figures = { { 1, 1.1, 0, 118 }, { 4096, 1.1, 0, 141 },
		       { 65536, 1.1, 0, 277 }, { 524288, 1.1, 0, 0 } } },
	{ .name = "ipv6-ipip", .kind = IP6_IPIP, .work = WORK_KNOWN,
	  .beside = "ipv4-ipip", .beside_program = PROGRAM_BESIDE,
	  .beside_kind = IP4_IPIP,
	  .figures = { { 1, 1.3, 0, 63 }, { 4096, 1.3, 0, 77 },
		       { 65536, 1.3, 0, 0 }, { 524288, 1.3, 0, 284 } } },
	{ .name = "ipv6-gue", .kind = IP6_GUE, .work = WORK_KNOWN,
	  .beside = "ipv6-ipip", .beside_program = PROGRAM_BESIDE,
	  .beside_kind = IP6_IPIP,
	  .figures = { { 1, 0, 0, 0 }, { 4096, 0, 0, 0 },
		       { 65536, 0, 0, 0 }, { 524288, 0, 0, 0 } } },
	{ .name = "ipv4-new", .kind = IP4_IPIP, .work = WORK_NEW,
	  .beside = "known", .beside_program = PROGRAM_BESIDE, .beside_kind = IP4_IPIP,
	  .figures = { { 1, 1.5, 0, 709 }, { 4096, 1.5, 0, 709 },
		       { 65536, 1.5, 0, 709 }, { 524288, 1.5, 0, 709 } } },
	{ .name = "ipv4-not-vip", .kind = IP4_IPIP, .work = WORK_NOT_VIP,
	  .beside = "pass", .beside_program = PROGRAM_PASS, .relation = RELATION_MORE,
	  .figures = { { 1, 15, 0, 33 } } },
	{ .name = "ipv6-not-vip", .kind = IP6_IPIP, .work = WORK_NOT_VIP,
	  .beside = "pass", .beside_program = PROGRAM_PASS, .beside_kind = IP6_IPIP,
	  .relation = RELATION_MORE,
	  .figures = { { 1, 15, 0, 0 } } },
};

/* Further than the flows that any form remembers, so that all is as it stays. */
static int fill_with_new(struct bench *bench, struct subject *subject, struct err *err)
{
	subject_send(subject, stream_endless(NETWORK_NEW, TCP_SYN));
	subject->work = WORK_NEW;
	return subject_warm_up(subject, bench->flows + bench->flows / 8, err);
}

static void send_elsewhere(struct subject *subject)
{
	static const uint8_t not_vip6[16] = NOT_VIP6;

	subject->packets.dst4 = htonl(NOT_VIP4);
	memcpy(subject->packets.dst6, not_vip6, sizeof(not_vip6));
	if (subject->balancer)
		subject->work = WORK_NOT_VIP;
	if (subject->verdict >= 0)
		subject->verdict = XDP_PASS;
}

static int prepare(struct bench *bench, const struct test_case *test, uint32_t flows,
		   enum report_column column, struct subject *subject, struct err *err)
{
	static const enum program_id programs[] = {
		[REPORT_SETS] = PROGRAM_SETS,
		[REPORT_LRU] = PROGRAM_LRU,
		[REPORT_OTHER] = PROGRAM_OTHER,
	};
	bool beside = column == REPORT_BESIDE;
	int code = bench_subject(bench, beside ? test->beside_program : programs[column],
				 beside ? test->beside_kind : test->kind, subject, err);

	if (code)
		return code;
	if (test->work == WORK_NOT_VIP) {
		send_elsewhere(subject);
		return 0;
	}
	code = bench_make_known(bench, subject, flows, err);
	if (!code && test->work == WORK_NEW && !beside)
		code = fill_with_new(bench, subject, err);
	return code;
}

static int draw(struct bench *bench, const struct test_case *test, uint32_t flows,
		struct err *err)
{
	if (test->order == ORDER_ZIPF)
		return draws_zipf(&bench->draws, flows, err);
	if (test->order == ORDER_IN_TURN)
		draws_in_turn(&bench->draws, flows, 1);
	else
		draws_evenly(&bench->draws, flows);
	return 0;
}

/* It knows nothing of our VIPs over GUE. */
static bool has_other(const struct bench *bench, const struct test_case *test)
{
	return bench->other >= 0 && test->kind != IP4_GUE && test->kind != IP6_GUE;
}

static int measure(struct bench *bench, const struct test_case *test,
		   const struct figure *figure, uint32_t flows, struct err *err)
{
	unsigned int columns = has_other(bench, test) ? REPORT_COLUMN__MAX : REPORT_OTHER;
	struct subject subjects[REPORT_COLUMN__MAX];
	struct report_row row = {
		.name = test->name, .flows = flows, .beside = test->beside,
		.relation = test->relation, .target = figure->target,
		.lru_target = figure->lru_target, .katran_ns = figure->katran_ns,
	};
	char what[64];
	int code = 0;

	for (unsigned int i = 0; !code && i < columns; i++)
		code = prepare(bench, test, flows, i, &subjects[i], err);
	if (!code)
		code = draw(bench, test, flows, err);
	if (code)
		return code;
	snprintf(what, sizeof(what), "'%s' with %u flows", test->name, flows);
	code = subjects_measure(subjects, columns, what,
				bench_packets(bench, test->work, flows), row.result, err);
	if (!code)
		report_add(&bench->report, &row);
	return code;
}

static int run_case(struct bench *bench, const struct test_case *test, struct err *err)
{
	uint32_t flows, last = 0;
	int code = 0;

	for (int i = 0; !code && i < FIGURES_MAX && test->figures[i].flows; i++) {
		flows = test->figures[i].flows;
		if (bench->settings.quick && flows > QUICK_CASE_FLOWS)
			flows = QUICK_CASE_FLOWS;
		if (flows == last)
			break;
		last = flows;
		code = measure(bench, test, &test->figures[i], flows, err);
	}
	return code;
}

/* What the others stand on: making a packet, and nearly nothing more. */
static int run_bare(struct bench *bench, struct err *err)
{
	static const char *const names[] = { "pass", "tx", "floor" };
	static const enum program_id programs[] = { PROGRAM_PASS, PROGRAM_TX,
						    PROGRAM_FLOOR };
	struct subject subjects[3];
	struct result results[3];
	int code = 0;

	draws_in_turn(&bench->draws, 1, 1);
	for (int i = 0; !code && i < 3; i++)
		code = bench_subject(bench, programs[i], IP4_IPIP, &subjects[i], err);
	if (!code)
		code = subjects_measure(subjects, 3, "'bare'",
					bench_packets(bench, WORK_ANY, 1), results, err);
	for (int i = 0; !code && i < 3; i++)
		report_add(&bench->report, &(struct report_row){
						   .name = "bare", .flows = 1,
						   .beside = names[i],
						   .result[REPORT_BESIDE] = results[i] });
	return code;
}

int cases_run(struct bench *bench, struct err *err)
{
	int code = 0;

	if (bench_wants(bench, "bare"))
		code = run_bare(bench, err);
	for (size_t i = 0; !code && i < sizeof(cases) / sizeof(cases[0]); i++)
		if (bench_wants(bench, cases[i].name))
			code = run_case(bench, &cases[i], err);
	return code;
}
