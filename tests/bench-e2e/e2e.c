// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets a second from one end to the other, of small UDP packets of many flows,
 * through each of several front ends in turns. tests/bench-e2e/run has made the
 * namespaces, in which there are, for each front end NAME:
 *
 *   PREFIX-make: NAME --- eth0 :PREFIX-NAME: eth1 --- NAME :PREFIX-arrive
 *
 * Everything runs on one CPU, softirqs too, so that a rate is 1 / (time of a packet
 * from end to end), and the difference between two of them is what the one front end
 * takes longer.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <jansson.h>
#include <linux/bpf.h>

#include "tests/bench-e2e/ends.h"
#include "tests/bench-e2e/settings.h"
#include "tests/bench-e2e/e2e.skel.h"
#include "tests/lib/netns.h"
#include "user/core/cleanup.h"
#include "user/core/err.h"
#include "user/core/num.h"

#define RUNS 7
#define FRONTS_MAX 8
#define BARE "bare" /* the front end that only redirects */
#define BATCH ENDS_BATCH
#define BATCHES 1000 /* of one call */
/* A flow is known, and lies where it stays, after some of its packets. */
#define WARM_UP_PACKETS 16
/*
 * What must arrive, that a run counts; by the clock of the CPU, in this process. When
 * the kernel gives softirqs to their thread, the rings between the veths overflow
 * unless that thread goes before this process.
 */
#define ARRIVE_MIN 0.98
#define NICE 19

static const uint32_t flow_counts[] = { 1, 4096, 65536, 524288 };

struct front {
	const char *name;
	uint32_t ifindex; /* at the end where packets are made */
	uint32_t arrives; /* at the other */
	bool bare;
	double best; /* packets a second */
};

struct e2e {
	const char *prefix, *json;
	clockid_t clock; /* of the time that packets take */
	uint32_t ms;	 /* of one run */
	struct front fronts[FRONTS_MAX];
	unsigned int n_fronts;
	struct e2e_bpf *skel;
	json_t *list;
};

static int attach_bare(struct e2e *e2e, struct err *err)
{
	uint32_t in, out, zero = 0;
	int code = ends_enter(e2e->prefix, BARE, err);

	if (!code)
		code = ends_attach(e2e->skel->progs.bare, "eth0", &in, err);
	if (!code)
		code = ends_interface("eth1", &out, err);
	if (code)
		return code;
	code = bpf_map_update_elem(bpf_map__fd(e2e->skel->maps.egress), &zero, &out,
				   BPF_ANY);
	return code ? err_set(err, code, "cannot redirect to eth1: %s", strerror(-code)) : 0;
}

static int attach_far_ends(struct e2e *e2e, struct err *err)
{
	int code = ends_enter(e2e->prefix, "arrive", err);

	for (unsigned int i = 0; !code && i < e2e->n_fronts; i++) {
		struct front *front = &e2e->fronts[i];

		code = ends_attach(e2e->skel->progs.arrive, front->name, &front->arrives, err);
		if (!code && front->arrives >= E2E_INTERFACES)
			code = err_set(err, -ERANGE, "too many interfaces");
	}
	return code;
}

/* Leaves this process where the packets are made. */
static int set_up(struct e2e *e2e, struct err *err)
{
	int code;

	e2e->skel = e2e_bpf__open_and_load();
	if (!e2e->skel)
		return err_set(err, -errno, "cannot load the programs: %s", strerror(errno));
	code = attach_far_ends(e2e, err);
	for (unsigned int i = 0; !code && i < e2e->n_fronts; i++)
		if (e2e->fronts[i].bare)
			code = attach_bare(e2e, err);
	if (!code)
		code = ends_enter(e2e->prefix, "make", err);
	for (unsigned int i = 0; !code && i < e2e->n_fronts; i++)
		code = ends_interface(e2e->fronts[i].name, &e2e->fronts[i].ifindex, err);
	return code;
}

static double now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static uint64_t arrived_at(const struct e2e *e2e, const struct front *front)
{
	const struct e2e_arrived *arrived = &e2e->skel->bss->arrived[front->arrives];

	return front->bare ? arrived->plain : arrived->tunnelled;
}

/* Those whose time the clock has not counted. */
static uint64_t uncounted_at(const struct e2e *e2e, const struct front *front)
{
	return e2e->clock == CLOCK_THREAD_CPUTIME_ID ?
		       e2e->skel->bss->arrived[front->arrives].elsewhere :
		       0;
}

/* One run: packets a second that arrived, or 0 when too many of them did not. */
static int send_for(const struct e2e *e2e, const struct front *front, double seconds,
		    double *rate, struct err *err)
{
	uint64_t before = arrived_at(e2e, front) - uncounted_at(e2e, front);
	uint64_t sent = 0, got;
	double begin = now(e2e->clock), took;
	int code = 0;

	e2e->skel->bss->packets.ifindex = front->ifindex;
	do {
		code = ends_send(e2e->skel->progs.make, BATCH * BATCHES, err);
		sent += BATCH * BATCHES;
		took = now(e2e->clock) - begin;
	} while (!code && took < seconds);
	got = arrived_at(e2e, front) - uncounted_at(e2e, front) - before;
	*rate = got < sent * ARRIVE_MIN ? 0 : got / took;
	return code;
}

/* Until as many have arrived. */
static int warm_up(const struct e2e *e2e, const struct front *front, uint64_t packets,
		   struct err *err)
{
	uint64_t begin = arrived_at(e2e, front), last = begin, got = begin;
	double rate;
	int code;

	while (got - begin < packets) {
		code = send_for(e2e, front, 0, &rate, err);
		got = arrived_at(e2e, front);
		if (!code && got == last)
			code = err_set(err, -EPROTO, "'%s': no packet arrives",
				       front->name);
		if (code)
			return code;
		last = got;
	}
	return 0;
}

/* Keeps the best of the runs. */
static int measure_front(const struct e2e *e2e, struct front *front, struct err *err)
{
	double rate;
	int code = send_for(e2e, front, e2e->ms / 1e3, &rate, err);

	if (!code && rate > front->best)
		front->best = rate;
	return code;
}

static void report(struct e2e *e2e, uint32_t flows)
{
	const struct front *bare = NULL;

	printf("%8u", flows);
	for (unsigned int i = 0; i < e2e->n_fronts; i++) {
		const struct front *front = &e2e->fronts[i];

		if (front->bare)
			bare = front;
		if (front->best)
			printf(" | %9.0f", front->best);
		else
			printf(" | %9s", "-");
		if (bare && bare != front && bare->best && front->best)
			printf(" %+8.0f ns", 1e9 / front->best - 1e9 / bare->best);
		else
			printf(" %11s", "");
		json_array_append_new(e2e->list,
				      json_pack("{s:i, s:s, s:I}", "flows", (int)flows,
						"front", front->name, "packets_a_second",
						(json_int_t)front->best));
	}
	putchar('\n');
	fflush(stdout);
}

static void report_head(const struct e2e *e2e)
{
	printf("packets a second of %s, the most of %d runs in turns; and how much\n"
	       "longer a packet takes than through '%s'\n\n%8s",
	       e2e->clock == CLOCK_MONOTONIC ? "wall time on one CPU" : "CPU time", RUNS,
	       BARE, "flows");
	for (unsigned int i = 0; i < e2e->n_fronts; i++)
		printf(" | %-21s", e2e->fronts[i].name);
	putchar('\n');
}

static int measure(struct e2e *e2e, uint32_t flows, struct err *err)
{
	int code = 0;

	e2e->skel->bss->packets.flows = flows;
	e2e->skel->bss->packets.random = 1;
	for (unsigned int i = 0; !code && i < e2e->n_fronts; i++) {
		e2e->fronts[i].best = 0;
		code = warm_up(e2e, &e2e->fronts[i],
			       e2e->fronts[i].bare ? 1 : WARM_UP_PACKETS * flows, err);
	}
	for (int run = 0; run < RUNS; run++)
		for (unsigned int i = 0; !code && i < e2e->n_fronts; i++)
			code = measure_front(e2e, &e2e->fronts[i], err);
	if (!code)
		report(e2e, flows);
	return code;
}

static int run(struct e2e *e2e, struct err *err)
{
	int code = cpu_pin();

	if (code < 0)
		return err_set(err, code, "cannot stay on one CPU: %s", strerror(-code));
	if (nice(NICE) < 0)
		return err_set(err, -errno, "cannot be nice: %s", strerror(errno));
	e2e->list = json_array();
	code = set_up(e2e, err);
	if (!code)
		report_head(e2e);
	for (size_t i = 0; !code && i < sizeof(flow_counts) / sizeof(flow_counts[0]); i++)
		code = measure(e2e, flow_counts[i], err);
	if (!code && json_dump_file(e2e->list, e2e->json, JSON_INDENT(2)))
		code = err_set(err, -EIO, "cannot write '%s'", e2e->json);
	json_decref(e2e->list);
	e2e_bpf__destroy(e2e->skel);
	return code;
}

int main(int argc, char **argv)
{
	struct e2e e2e = { 0 };
	struct err err = { 0 };

	if (argc < 6 || argc > 5 + FRONTS_MAX) {
		fputs("usage: e2e PREFIX cpu|wall MILLISECONDS JSON-FILE FRONT...\n", stderr);
		return EXIT_FAILURE;
	}
	e2e.prefix = argv[1];
	e2e.clock = strcmp(argv[2], "cpu") == 0 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
	e2e.json = argv[4];
	for (int i = 5; i < argc; i++)
		e2e.fronts[e2e.n_fronts++] = (struct front){
			.name = argv[i], .bare = strcmp(argv[i], BARE) == 0 };
	if (!parse_u32(argv[3], "milliseconds", 1, 60000, &e2e.ms, &err) && !run(&e2e, &err))
		return EXIT_SUCCESS;
	fprintf(stderr, "e2e: %s\n", err.text);
	return EXIT_FAILURE;
}
