// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two CPUs at once, a thread on each, on one balancer: packets a second of both
 * beside those of one. Each has flows of its own. What counts is a window of time in
 * which all threads are in the middle of their packets, so that it has no begin and
 * no end of any; and of the window, the CPU time that the threads had.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/bench/bench.h"
#include "user/core/cleanup.h"

#define NAME "two-cpus"
#define CPUS 2
#define WINDOW_MS 200
#define QUICK_WINDOW_MS 5
#define START_SECONDS_MAX 60
/* A window in which others had more of the CPUs is tried again, not for ever. */
#define SHARE_WANTED 0.9
#define TRIES_MAX 10
#define QUICK_TRIES_MAX 1
#define IDLE_TRIES_MAX 4000
/* Ends harness_run_endless() in the thread that gets it. */
#define SIGNAL_ENOUGH SIGUSR1

static const struct {
	uint32_t flows;
	double target;
} figures[] = { { 1, 1.9 }, { 4096, 1.9 }, { 65536, 1.9 }, { 524288, 1.9 } };

struct worker {
	pthread_t thread;
	unsigned int cpu;
	struct subject subject;
	int code;
};

/* What runs at the same time. */
struct team {
	struct worker worker[CPUS];
	unsigned int n;
};

/* One window: ns a packet of all together, and the least share of a CPU. */
struct window {
	double ns, share;
};

static void enough(int signal __attribute__((unused)))
{
}

static int pin(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}

static void *work(void *argument)
{
	struct worker *worker = argument;

	worker->code = pin(worker->cpu);
	if (!worker->code)
		worker->code = harness_run_endless(worker->subject.harness,
						   worker->subject.v6);
	return NULL;
}

static uint32_t packets_of(const struct worker *worker)
{
	return __atomic_load_n(&harness_packets(worker->subject.harness)->next,
			       __ATOMIC_RELAXED);
}

static double ns_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1e9 + now.tv_nsec;
}

static double cpu_ns_of(const struct worker *worker)
{
	clockid_t clock;

	return pthread_getcpuclockid(worker->thread, &clock) ? 0 : ns_of(clock);
}

static void sleep_ms(unsigned int ms)
{
	const struct timespec time = { .tv_sec = ms / 1000,
				       .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

static void stop(struct team *team, unsigned int started)
{
	for (unsigned int i = 0; i < started; i++)
		pthread_kill(team->worker[i].thread, SIGNAL_ENOUGH);
	for (unsigned int i = 0; i < started; i++)
		pthread_join(team->worker[i].thread, NULL);
}

/* All are in their packets once all counts move. */
static int wait_for_all(const struct team *team, const uint32_t *before, struct err *err)
{
	double deadline = ns_of(CLOCK_MONOTONIC) + START_SECONDS_MAX * 1e9;

	for (unsigned int i = 0; i < team->n; i++) {
		while (packets_of(&team->worker[i]) == before[i]) {
			if (ns_of(CLOCK_MONOTONIC) > deadline)
				return err_set(err, -ETIMEDOUT,
					       "no packet on CPU %u within %d s",
					       team->worker[i].cpu, START_SECONDS_MAX);
			sleep_ms(1);
		}
	}
	return 0;
}

static struct window look(const struct team *team, unsigned int ms)
{
	double begin = ns_of(CLOCK_MONOTONIC), cpu_ns[CPUS], packets_a_ns = 0, share;
	struct window window = { .share = 1 };
	uint32_t packets[CPUS];

	for (unsigned int i = 0; i < team->n; i++) {
		packets[i] = packets_of(&team->worker[i]);
		cpu_ns[i] = cpu_ns_of(&team->worker[i]);
	}
	sleep_ms(ms);
	for (unsigned int i = 0; i < team->n; i++) {
		packets[i] = packets_of(&team->worker[i]) - packets[i];
		cpu_ns[i] = cpu_ns_of(&team->worker[i]) - cpu_ns[i];
		packets_a_ns += packets[i] / cpu_ns[i];
		share = cpu_ns[i] / (ns_of(CLOCK_MONOTONIC) - begin);
		if (share < window.share)
			window.share = share;
	}
	window.ns = 1 / packets_a_ns;
	return window;
}

static int start(struct team *team, unsigned int *started, struct err *err)
{
	int code = 0;

	for (*started = 0; !code && *started < team->n; ++*started) {
		subject_set_packets(&team->worker[*started].subject);
		code = pthread_create(&team->worker[*started].thread, NULL, work,
				      &team->worker[*started]);
		if (code)
			return err_set(err, -code, "cannot start a thread: %s",
				       strerror(code));
	}
	return 0;
}

static bool look_again(const struct window *best, int looks, int tries)
{
	/* One in which a thread did not run at all says nothing. */
	if (!best->share)
		return looks < IDLE_TRIES_MAX;
	return best->share < SHARE_WANTED && looks < tries;
}

/* The window in which the team had most of the CPUs. */
static int run(struct team *team, bool quick, struct window *best, struct err *err)
{
	int tries = quick ? QUICK_TRIES_MAX : TRIES_MAX;
	uint32_t before[CPUS];
	struct window window;
	unsigned int started;
	int code;

	for (unsigned int i = 0; i < team->n; i++)
		before[i] = packets_of(&team->worker[i]);
	code = start(team, &started, err);
	if (!code)
		code = wait_for_all(team, before, err);
	*best = (struct window){ 0 };
	for (int i = 0; !code && look_again(best, i, tries); i++) {
		window = look(team, quick ? QUICK_WINDOW_MS : WINDOW_MS);
		if (window.share > best->share)
			*best = window;
	}
	stop(team, started);
	for (unsigned int i = 0; !code && i < team->n; i++)
		if (team->worker[i].code)
			code = err_set(err, team->worker[i].code, "CPU %u: %s",
				       team->worker[i].cpu,
				       strerror(-team->worker[i].code));
	return code;
}

/* The same, with a look at whether the balancer did the work. */
static int run_checked(const struct bench *bench, struct team *team, const char *what,
		       double *ns, struct err *err)
{
	const struct subject *first = &team->worker[0].subject;
	struct balancer_counts before, after;
	struct window window = { 0 };
	uint32_t n = 0;
	int code = balancer_counts(first->balancer, &before, err);

	for (unsigned int i = 0; i < team->n; i++)
		n -= packets_of(&team->worker[i]);
	if (!code)
		code = run(team, bench->settings.quick, &window, err);
	for (unsigned int i = 0; i < team->n; i++)
		n += packets_of(&team->worker[i]);
	if (!code)
		code = balancer_counts(first->balancer, &after, err);
	if (code)
		return code;
	*ns = window.ns;
	return subject_check_work(first, what, n, &before, &after, err);
}

/* Both CPUs know their flows. */
static int prepare(struct bench *bench, struct team *team, enum program_id id,
		   const struct harness *second, uint32_t flows, struct err *err)
{
	struct worker *worker = team->worker;
	int code;

	worker[0].cpu = bench->cpu;
	worker[1].cpu = bench->second_cpu;
	code = bench_subject(bench, id, IP4_IPIP, &worker[0].subject, err);
	if (!code)
		code = balancer_forget(worker[0].subject.balancer, worker[1].cpu, err);
	if (code)
		return code;
	worker[1].subject = worker[0].subject;
	worker[1].subject.harness = second;
	subject_send(&worker[1].subject, stream_drawn(NETWORK_SECOND_CPU, TCP_ACK));

	code = bench_make_known(bench, &worker[0].subject, flows, err);
	if (!code)
		code = pin(worker[1].cpu);
	if (!code)
		code = bench_make_known(bench, &worker[1].subject, flows, err);
	return code ? code : pin(bench->cpu);
}

enum { ONE, BOTH, BOTH_LRU, TEAMS };

static int measure(struct bench *bench, struct team *teams, struct report_row *row,
		   struct err *err)
{
	static const enum report_column columns[TEAMS] = {
		[ONE] = REPORT_BESIDE, [BOTH] = REPORT_SETS, [BOTH_LRU] = REPORT_LRU,
	};
	double ns[TEAMS][SUBJECT_RUNS];
	char what[64];
	int code;

	snprintf(what, sizeof(what), "'%s' with %u flows", NAME, row->flows);
	for (int i = 0; i < SUBJECT_RUNS; i++) {
		for (int team = 0; team < TEAMS; team++) {
			code = run_checked(bench, &teams[team], what, &ns[team][i], err);
			if (code)
				return code;
		}
	}
	for (int team = 0; team < TEAMS; team++)
		row->result[columns[team]] = result_of(ns[team], MISSED_UNKNOWN, 0);
	return 0;
}

static int run_figure(struct bench *bench, const struct harness *sets,
		      const struct harness *lru, struct report_row *row, struct err *err)
{
	struct team teams[TEAMS] = { [ONE].n = 1, [BOTH].n = CPUS, [BOTH_LRU].n = CPUS };
	int code;

	code = prepare(bench, &teams[BOTH], PROGRAM_SETS, sets, row->flows, err);
	if (!code)
		code = prepare(bench, &teams[BOTH_LRU], PROGRAM_LRU, lru, row->flows, err);
	if (code)
		return code;
	teams[ONE].worker[0] = teams[BOTH].worker[0];
	draws_evenly(&bench->draws, row->flows);
	code = measure(bench, teams, row, err);
	if (!code)
		report_add(&bench->report, row);
	return code;
}

static int run_figures(struct bench *bench, const struct harness *sets,
		       const struct harness *lru, struct err *err)
{
	int code = 0;

	for (size_t i = 0; !code && i < sizeof(figures) / sizeof(figures[0]); i++) {
		struct report_row row = {
			.name = NAME, .flows = figures[i].flows, .beside = "one cpu",
			.relation = RELATION_SPEEDUP, .target = figures[i].target,
		};

		if (bench->settings.quick && row.flows > QUICK_CASE_FLOWS)
			break;
		code = run_figure(bench, sets, lru, &row, err);
	}
	return code;
}

/* A driver for the second CPU around the same balancer. */
static int open_second(struct bench *bench, enum program_id id, struct harness *out,
		       struct err *err)
{
	struct program *program;
	int code = bench_program(bench, id, &program, err);

	return code ? code : harness_open(out, &bench->draws,
					  balancer_fd(&program->balancer), err);
}

int two_cpus_run(struct bench *bench, struct err *err)
{
	_cleanup_(harness_close) struct harness sets = { 0 }, lru = { 0 };
	const struct sigaction action = { .sa_handler = enough };
	int code;

	if (!bench_wants(bench, NAME))
		return 0;
	if (bench->second_cpu < 0) {
		printf("%-12s           not measured: this process may use one CPU only\n", NAME);
		return 0;
	}
	if (sigaction(SIGNAL_ENOUGH, &action, NULL))
		return err_set(err, -errno, "cannot handle a signal: %s", strerror(errno));
	code = open_second(bench, PROGRAM_SETS, &sets, err);
	if (!code)
		code = open_second(bench, PROGRAM_LRU, &lru, err);
	return code ? code : run_figures(bench, &sets, &lru, err);
}
