// SPDX-License-Identifier: GPL-2.0-only
#include "subject.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/balancer.h"

#define SUBJECTS_MAX 8

struct bench_stream stream_drawn(uint32_t network, uint8_t tcp_flags)
{
	return (struct bench_stream){ .base = network, .drawn = UINT32_MAX,
				      .tcp_flags = tcp_flags };
}

struct bench_stream stream_endless(uint32_t network, uint8_t tcp_flags)
{
	return (struct bench_stream){ .base = network, .in_turn = NETWORK_SIZE - 1,
				      .tcp_flags = tcp_flags };
}

void subject_send(struct subject *subject, struct bench_stream stream)
{
	subject->packets.stream[0] = subject->packets.stream[1] = stream;
}

void subject_set_packets(const struct subject *subject)
{
	struct bench_packets *packets = harness_packets(subject->harness);
	uint32_t next = packets->next;

	*packets = subject->packets;
	packets->next = next;
}

static int expect(const char *what, const char *of, uint64_t least, uint64_t most,
		  uint64_t got, struct err *err)
{
	if (got >= least && got <= most)
		return 0;
	return err_set(err, -EPROTO, "case %s: %s: %llu, not %llu%s", what, of,
		       (unsigned long long)got,
		       (unsigned long long)(got < least ? least : most),
		       least == most ? "" : got < least ? " or more" : " or less");
}

static int expect_new(const struct subject *subject, const char *what, uint32_t n,
		      uint64_t got, struct err *err)
{
	const char *of = "packets of new flows";

	switch (subject->work) {
	case WORK_NEW:
		return expect(what, of, n, n, got, err);
	case WORK_SOME_NEW:
		return expect(what, of, n / 2, n, got, err);
	case WORK_KNOWN:
		return expect(what, of, 0, n * SUBJECT_MISSED_MAX, got, err);
	default:
		return expect(what, of, 0, 0, got, err);
	}
}

int subject_check_work(const struct subject *subject, const char *what, uint32_t n,
		       const struct balancer_counts *before,
		       const struct balancer_counts *after, struct err *err)
{
	uint64_t sent = subject->work == WORK_NOT_VIP ? 0 : n;
	int code;

	code = expect(what, "packets passed", n - sent, n - sent,
		      after->passed - before->passed, err);
	if (!code)
		code = expect(what, "packets sent by XDP_TX", sent, sent,
			      after->sent - before->sent, err);
	if (!code)
		code = expect(what, "packets of the VIPs", sent, sent,
			      after->vip - before->vip, err);
	if (!code)
		code = expect(what, "packets of the backends", sent, sent,
			      after->backends - before->backends, err);
	return code ? code : expect_new(subject, what, n,
					after->new_flows - before->new_flows, err);
}

int subject_run(const struct subject *subject, const char *what, uint32_t n,
		struct measurement *out, double *missed, struct err *err)
{
	struct balancer_counts before = { 0 }, after = { 0 };
	int code = 0;

	subject_set_packets(subject);
	if (subject->balancer)
		code = balancer_counts(subject->balancer, &before, err);
	if (!code)
		code = harness_run(subject->harness, subject->v6, n, out, err);
	if (!code && subject->verdict >= 0)
		code = expect(what, "XDP action", subject->verdict, subject->verdict,
			      out->verdict, err);
	*missed = MISSED_UNKNOWN;
	if (code || !subject->balancer)
		return code;

	code = balancer_counts(subject->balancer, &after, err);
	if (subject->work == WORK_KNOWN)
		*missed = (double)(after.new_flows - before.new_flows) / n;
	return code ? code : subject_check_work(subject, what, n, &before, &after, err);
}

int subject_warm_up(const struct subject *subject, uint32_t n, struct err *err)
{
	struct measurement ignored;

	subject_set_packets(subject);
	return harness_run(subject->harness, subject->v6, n, &ignored, err);
}

static int compare_ns(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct result result_of(double *ns, double missed, int verdict)
{
	qsort(ns, SUBJECT_RUNS, sizeof(ns[0]), compare_ns);
	return (struct result){ .min_ns = ns[0], .median_ns = ns[SUBJECT_RUNS / 2],
				.missed = missed, .verdict = verdict };
}

int subjects_measure(const struct subject *subjects, unsigned int n_subjects,
		     const char *what, uint32_t n, struct result *results,
		     struct err *err)
{
	double ns[SUBJECTS_MAX][SUBJECT_RUNS], missed, most[SUBJECTS_MAX];
	struct measurement last[SUBJECTS_MAX];
	int code;

	for (unsigned int run = 0; run < SUBJECT_RUNS; run++) {
		for (unsigned int i = 0; i < n_subjects; i++) {
			code = subject_run(&subjects[i], what, n, &last[i], &missed, err);
			if (code)
				return code;
			ns[i][run] = last[i].ns;
			if (!run || missed > most[i])
				most[i] = missed;
		}
	}
	for (unsigned int i = 0; i < n_subjects; i++)
		results[i] = result_of(ns[i], most[i], last[i].verdict);
	return 0;
}
