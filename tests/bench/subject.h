/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_BENCH_SUBJECT_H
#define FAIRLEAD_BENCH_SUBJECT_H

/*
 * One program on one kind of packet, and what it took. Subjects that are compared
 * are measured in turns, one run of each and then the next of each, so that what
 * disturbs the machine disturbs all of them.
 *
 * A figure counts only when the program did the work: verdicts and counters are
 * checked after every run.
 */

#include <stdbool.h>
#include <stdint.h>

#include "tests/bench/harness.h"
#include "tests/bench/packets.h"
#include "user/core/err.h"

struct balancer;
struct balancer_counts;

#define SUBJECT_RUNS 7
#define TCP_SYN 0x02
#define TCP_ACK 0x10

/* Networks that flows come from, of 2^24 flows each: of known ones, and others. */
enum {
	NETWORK_KNOWN = 10 << 24,
	NETWORK_SECOND_CPU = 11 << 24,
	NETWORK_NEW = 12 << 24,
	NETWORK_FLOOD_SYN = 13 << 24,
	NETWORK_FLOOD_ACK = 14 << 24,
	NETWORK_MIXED_SYN = 15 << 24, /* of floods among packets of known flows */
	NETWORK_MIXED_ACK = 16 << 24,
	NETWORK_SIZE = 1 << 24,
};

/* What the program is to have done with the packets. */
enum work {
	WORK_KNOWN,   /* sent; of no new flows, but see SUBJECT_MISSED_MAX */
	WORK_NEW,     /* sent; each of a new flow */
	WORK_SOME_NEW, /* sent; at least every other one of a new flow */
	WORK_NOT_VIP, /* passed */
	WORK_ANY,     /* a program whose counters are not ours to read */
};

/*
 * Of the packets of known flows, the share that may be of a flow that is not known
 * after all, since its set is full of others.
 */
#define SUBJECT_MISSED_MAX 0.01

struct subject {
	const struct harness *harness;
	struct balancer *balancer; /* NULL: none to ask for its counters */
	bool v6;
	enum work work;
	struct bench_packets packets;
	int verdict; /* expected; -1: whatever it is */
};

#define MISSED_UNKNOWN (-1.0) /* not asked, of what is not only of known flows */

/* The result of a subject. */
struct result {
	double min_ns, median_ns; /* a packet; 0: not measured */
	double missed;		  /* the most of the runs; MISSED_UNKNOWN */
	int verdict;
};

/* Streams of packets. */
struct bench_stream stream_drawn(uint32_t network, uint8_t tcp_flags);
struct bench_stream stream_endless(uint32_t network, uint8_t tcp_flags);

/* All of the subject's packets, or with stream[1] every other one. */
void subject_send(struct subject *subject, struct bench_stream stream);

/* Into the driver, which goes on with the packet that it is at. */
void subject_set_packets(const struct subject *subject);
int subject_check_work(const struct subject *subject, const char *what, uint32_t n,
		       const struct balancer_counts *before,
		       const struct balancer_counts *after, struct err *err);

/* One run. `what` names it in errors. */
int subject_run(const struct subject *subject, const char *what, uint32_t n,
		struct measurement *out, double *missed, struct err *err);
/* The same where nothing is expected. */
int subject_warm_up(const struct subject *subject, uint32_t n, struct err *err);

/*
 * SUBJECT_RUNS runs of n packets each, in turns. `results` are the subjects', in
 * their order. Harnesses go on with the packet that they are at.
 */
int subjects_measure(const struct subject *subjects, unsigned int n_subjects,
		     const char *what, uint32_t n, struct result *results,
		     struct err *err);

struct result result_of(double *ns, double missed, int verdict);

#endif
