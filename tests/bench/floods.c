// SPDX-License-Identifier: GPL-2.0-only
/*
 * What floods of spoofed packets do to known flows: how many of them lose their
 * entries, and how long packets take while every other one is the flood's. A flow
 * whose entry is gone is a new flow to the balancer, which counts those.
 */
#include <linux/bpf.h>

#include "tests/bench/bench.h"

#define FLOOD_FLOWS 100000
#define FLOOD_PACKETS 10000000
#define QUICK_FLOOD_FLOWS 10000
#define QUICK_FLOOD_PACKETS 100000

static const struct flood {
	const char *name;
	uint32_t network, mixed_network;
	uint8_t tcp_flags;
} floods[] = {
	{ "flood-syn", NETWORK_FLOOD_SYN, NETWORK_MIXED_SYN, TCP_SYN },
	{ "flood-ack", NETWORK_FLOOD_ACK, NETWORK_MIXED_ACK, TCP_ACK },
};

/* Without a flood the sets, beside which the forms are with one. */
static const enum program_id programs[] = {
	[REPORT_BESIDE] = PROGRAM_BESIDE,
	[REPORT_SETS] = PROGRAM_SETS,
	[REPORT_LRU] = PROGRAM_LRU,
};
#define N_PROGRAMS (sizeof(programs) / sizeof(programs[0]))

static uint32_t n_flows(const struct bench *bench)
{
	return bench->settings.quick ? QUICK_FLOOD_FLOWS : FLOOD_FLOWS;
}

/* Sends each flow a packet; those that are new have no entry. */
static int count_unknown(struct bench *bench, const struct subject *known,
			 uint32_t *unknown, struct err *err)
{
	struct balancer_counts before, after;
	int code = balancer_counts(known->balancer, &before, err);

	draws_in_turn(&bench->draws, n_flows(bench), 1);
	harness_packets(known->harness)->next = 0;
	if (!code)
		code = subject_warm_up(known, n_flows(bench), err);
	if (!code)
		code = balancer_counts(known->balancer, &after, err);
	if (!code)
		*unknown = after.new_flows - before.new_flows;
	return code;
}

/* The whole flood on one form. Afterwards all flows are known again. */
static int suffer(struct bench *bench, const struct flood *flood,
		  const struct subject *known, struct report_suffered *out,
		  struct err *err)
{
	uint32_t n = bench->settings.quick ? QUICK_FLOOD_PACKETS : FLOOD_PACKETS;
	struct subject subject = *known;
	struct measurement measured = { 0 };
	uint32_t before, after;
	double missed;
	int code;

	subject_send(&subject, stream_endless(flood->network, flood->tcp_flags));
	subject.work = WORK_NEW;
	/* Of flows whose set is full, there was no entry to lose. */
	code = count_unknown(bench, known, &before, err);
	if (!code)
		code = subject_run(&subject, flood->name, n, &measured, &missed, err);
	if (!code)
		code = count_unknown(bench, known, &after, err);
	if (code)
		return code;
	*out = (struct report_suffered){ .lost = after > before ? after - before : 0,
					 .ns = measured.ns };
	return bench_make_known(bench, known, n_flows(bench), err);
}

static int measure_loss(struct bench *bench, const struct flood *flood,
			const struct subject *known, struct err *err)
{
	struct report_loss loss = {
		.name = flood->name, .flows = n_flows(bench),
		.packets = bench->settings.quick ? QUICK_FLOOD_PACKETS : FLOOD_PACKETS,
	};
	int code;

	code = suffer(bench, flood, &known[REPORT_SETS], &loss.sets, err);
	if (!code)
		code = suffer(bench, flood, &known[REPORT_LRU], &loss.lru, err);
	if (!code)
		report_add_loss(&bench->report, &loss);
	return code;
}

static int measure_mixed(struct bench *bench, const struct flood *flood,
			 const struct subject *known, struct err *err)
{
	struct report_row row = { .name = flood->name, .flows = n_flows(bench),
				  .beside = "no flood" };
	struct subject mixed[N_PROGRAMS];
	int code;

	draws_evenly(&bench->draws, n_flows(bench));
	for (unsigned int i = 0; i < N_PROGRAMS; i++) {
		mixed[i] = known[i];
		if (i == REPORT_BESIDE)
			continue;
		mixed[i].packets.stream[1] = stream_endless(flood->mixed_network,
							    flood->tcp_flags);
		mixed[i].work = WORK_SOME_NEW;
	}
	code = subjects_measure(mixed, N_PROGRAMS, flood->name, bench->packets, row.result,
				err);
	if (!code)
		report_add(&bench->report, &row);
	return code;
}

static int run_flood(struct bench *bench, const struct flood *flood, struct err *err)
{
	struct subject known[N_PROGRAMS];
	int code = 0;

	for (unsigned int i = 0; !code && i < N_PROGRAMS; i++) {
		code = bench_subject(bench, programs[i], IP4_IPIP, &known[i], err);
		if (!code)
			code = bench_make_known(bench, &known[i], n_flows(bench), err);
	}
	if (!code)
		code = measure_loss(bench, flood, known, err);
	return code ? code : measure_mixed(bench, flood, known, err);
}

int floods_run(struct bench *bench, struct err *err)
{
	int code = 0;

	for (size_t i = 0; !code && i < sizeof(floods) / sizeof(floods[0]); i++)
		if (bench_wants(bench, floods[i].name))
			code = run_flood(bench, &floods[i], err);
	return code;
}
