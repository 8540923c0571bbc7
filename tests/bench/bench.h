/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_BENCH_BENCH_H
#define FAIRLEAD_BENCH_BENCH_H

/* One run of the bench, as its parts share it. */

#include <stdbool.h>
#include <stdint.h>

#include "tests/bench/balancer.h"
#include "tests/bench/draws.h"
#include "tests/bench/harness.h"
#include "tests/bench/report.h"
#include "tests/bench/subject.h"

struct settings {
	bool quick, verbose;
	const char *json, *other, *only;
	struct vip_spec vip4, vip6;
	uint32_t flows; /* of each family that a CPU remembers; 0: as many as suit */
};

/* What packets are given to. */
enum program_id {
	PROGRAM_PASS,
	PROGRAM_TX,
	PROGRAM_FLOOR, /* adjust head, and write a constant header */
	PROGRAM_SETS,
	PROGRAM_BESIDE, /* the same again, for what the sets are compared to */
	PROGRAM_LRU,
	PROGRAM_OTHER, /* of --other */
	PROGRAM__MAX,
};

struct program {
	bool ready;
	struct harness harness;
	struct balancer balancer; /* of the balancers */
};

struct bench {
	struct settings settings;
	struct report report;
	struct draws draws;
	struct program programs[PROGRAM__MAX];
	int other; /* fd, of the program of --other; -1: none */
	unsigned int cpu;
	int second_cpu;	  /* -1: there is none */
	uint32_t flows;	  /* that a CPU remembers */
	uint32_t packets; /* in one run, at the least */
};

/* Some more than any case has, so that the LRU form has room for all. */
#define FLOWS_DEFAULT (1280 * 1024)
/* With --quick. */
#define QUICK_FLOWS_DEFAULT (64 * 1024)
#define QUICK_CASE_FLOWS 4096

#define NOT_VIP4 0xcb007163 /* 203.0.113.99 */
#define NOT_VIP6 { 0x20, 1, 0xd, 0xb8, [15] = 0x99 }

/* Is the case among those that are asked for? */
bool bench_wants(const struct bench *bench, const char *name);

/* Opened when it is first needed, and closed with the bench. */
int bench_program(struct bench *bench, enum program_id id, struct program **out,
		  struct err *err);

/*
 * The program on packets of known flows of that kind, with no flow known yet. The
 * caller may change what packets there are and what is to become of them.
 */
int bench_subject(struct bench *bench, enum program_id id, enum balancer_kind kind,
		  struct subject *out, struct err *err);

/*
 * Packets of flows 0 to flows - 1 until all are known and lie where they stay. The
 * draws are others afterwards.
 */
int bench_make_known(struct bench *bench, const struct subject *subject, uint32_t flows,
		     struct err *err);

/* In one run of a case of that kind. */
uint32_t bench_packets(const struct bench *bench, enum work work, uint32_t flows);

/* The parts: each measures what it has and adds it to the report. */
int cases_run(struct bench *bench, struct err *err);
int two_cpus_run(struct bench *bench, struct err *err);
int floods_run(struct bench *bench, struct err *err);

#endif
