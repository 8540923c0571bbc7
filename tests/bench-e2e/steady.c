// SPDX-License-Identifier: GPL-2.0-only
/*
 * A steady rate of small UDP packets of many flows through one front end, alone and
 * while a command runs again and again. tests/bench-e2e/run-dumps has made the
 * namespaces, as lib.sh draws them. It sends before all else on its CPU, as a NIC
 * would, so what a command takes from forwarding is memory and locks, not the CPU.
 *
 *   steady PREFIX FRONT FLOWS PACKETS-A-SECOND SECONDS NAME=COMMAND...
 *
 * Prints a row for each round and command: how often it ended; packets sent, received
 * and lost; packets a second; how many were due at most and had not been sent, which a
 * NIC would have had to hold; and CPU time from end to end.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench-e2e/ends.h"
#include "tests/bench-e2e/settings.h"
#include "tests/bench-e2e/e2e.skel.h"
#include "tests/lib/netns.h"
#include "user/core/cleanup.h"
#include "user/core/err.h"
#include "user/core/num.h"

#define ROUNDS 3
#define WARM_UP_PACKETS 16 /* of each flow, drawn at random */
#define WARM_UP_CALL (ENDS_BATCH * 1000)
#define BEHIND_MAX 16384 /* packets that are made up for when it was late */
#define PRIORITY 10
#define TICK_NS 500000

struct steady {
	const char *prefix, *front;
	uint32_t flows, rate, seconds;
	struct e2e_bpf *skel;
	uint32_t arrives; /* the interface */
	cpu_set_t cpus;   /* for what runs beside */
};

/* What runs beside; pid 0: nothing. */
struct beside {
	pid_t pid;
	int ends; /* a byte for each time that the command ended well */
};

struct count {
	uint64_t sent, got, waiting;
	double took, cpu; /* seconds */
};

static double now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static uint64_t arrived(const struct steady *s)
{
	const volatile struct e2e_arrived *at = &s->skel->bss->arrived[s->arrives];

	return at->tunnelled;
}

static int set_up(struct steady *s, struct err *err)
{
	uint32_t ifindex = 0;
	int code;

	s->skel = e2e_bpf__open_and_load();
	if (!s->skel)
		return err_set(err, -errno, "cannot load the programs: %s", strerror(errno));
	code = ends_enter(s->prefix, "arrive", err);
	if (!code)
		code = ends_attach(s->skel->progs.arrive, s->front, &s->arrives, err);
	if (!code && s->arrives >= E2E_INTERFACES)
		code = err_set(err, -ERANGE, "too many interfaces");
	if (!code)
		code = ends_enter(s->prefix, "make", err);
	if (!code)
		code = ends_interface(s->front, &ifindex, err);
	s->skel->bss->packets.ifindex = ifindex;
	s->skel->bss->packets.flows = s->flows;
	s->skel->bss->packets.random = 1;
	return code;
}

/* Until all flows are known, nearly. */
static int warm_up(const struct steady *s, struct err *err)
{
	uint64_t begin = arrived(s), wanted = (uint64_t)WARM_UP_PACKETS * s->flows;
	int code = 0;

	while (!code && arrived(s) - begin < wanted) {
		uint64_t before = arrived(s);

		code = ends_send(s->skel->progs.make, WARM_UP_CALL, err);
		if (!code && arrived(s) == before)
			code = err_set(err, -EPROTO, "no packet arrives");
	}
	return code;
}

static int send_steadily(const struct steady *s, struct count *out, struct err *err)
{
	const struct timespec tick = { 0, TICK_NS };
	double begin = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID);
	uint64_t before = arrived(s), due;
	int code = 0;

	*out = (struct count){ 0 };
	do {
		nanosleep(&tick, NULL);
		out->took = now(CLOCK_MONOTONIC) - begin;
		due = out->took * s->rate;
		due -= out->sent;
		if (due > out->waiting)
			out->waiting = due;
		due = due < BEHIND_MAX ? due : BEHIND_MAX;
		if (due)
			code = ends_send(s->skel->progs.make, due, err);
		out->sent += due;
	} while (!code && out->took < s->seconds);
	out->cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
	/* What a softirq elsewhere has still in hand. */
	nanosleep(&(struct timespec){ 0, 100 * 1000 * 1000 }, NULL);
	out->got = arrived(s) - before;
	return code;
}

/* A shell of a process group of its own that runs the command again and again. */
static int begin_beside(const struct steady *s, const char *command, struct beside *b,
			struct err *err)
{
	char *script;
	int fds[2];

	*b = (struct beside){ .ends = -1 };
	if (!*command)
		return 0;
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) ||
	    asprintf(&script, "while %s > /dev/null; do printf .; done", command) < 0)
		return err_set(err, -errno, "cannot run '%s': %s", command, strerror(errno));
	b->pid = fork();
	if (b->pid == 0) {
		setpgid(0, 0);
		sched_setaffinity(0, sizeof(s->cpus), &s->cpus);
		dup2(fds[1], STDOUT_FILENO);
		execl("/bin/sh", "sh", "-c", script, NULL);
		_exit(127);
	}
	setpgid(b->pid, b->pid);
	close(fds[1]);
	free(script);
	b->ends = fds[0];
	return b->pid < 0 ? err_set(err, -errno, "cannot fork: %s", strerror(errno)) : 0;
}

/* How often the command ended; -1: none ran. */
static int end_beside(struct beside *b)
{
	char bytes[256];
	ssize_t n;
	int sum = 0;

	if (!b->pid)
		return -1;
	kill(-b->pid, SIGKILL);
	waitpid(b->pid, NULL, 0);
	while ((n = read(b->ends, bytes, sizeof(bytes))) > 0)
		sum += n;
	cleanup_close(&b->ends);
	return sum;
}

static void report(const char *name, int ended, const struct count *c)
{
	char times[16] = "-";

	if (ended >= 0)
		snprintf(times, sizeof(times), "%d", ended);
	printf("| %.*s | %s | %llu | %llu | %lld | %.0f | %llu | %.0f |\n",
	       (int)strcspn(name, "="), name, times, (unsigned long long)c->sent,
	       (unsigned long long)c->got, (long long)(c->sent - c->got), c->got / c->took,
	       (unsigned long long)c->waiting, c->got ? c->cpu * 1e9 / c->got : 0);
	fflush(stdout);
}

/* "NAME=COMMAND"; without a command nothing runs. */
static int measure(const struct steady *s, const char *beside, struct err *err)
{
	const char *command = strchr(beside, '=');
	struct beside b;
	struct count c = { 0 };
	int code = begin_beside(s, command ? command + 1 : "", &b, err), ended;

	if (!code)
		code = send_steadily(s, &c, err);
	ended = end_beside(&b);
	if (!code)
		report(beside, ended, &c);
	return code;
}

static int run(struct steady *s, char **commands, int n, struct err *err)
{
	const struct sched_param first = { .sched_priority = PRIORITY };
	int code = set_up(s, err), round, i;

	if (!code && (sched_getaffinity(0, sizeof(s->cpus), &s->cpus) || cpu_pin() < 0))
		code = err_set(err, -errno, "cannot stay on one CPU: %s", strerror(errno));
	if (!code)
		code = warm_up(s, err);
	/* Before all others on the CPU; what runs beside may have any. */
	if (!code && sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first))
		fprintf(stderr, "steady: it does not send before all else: %s\n",
			strerror(errno));
	if (!code)
		puts("| beside it | times | sent | received | lost | packets a second | waiting at most | CPU ns a packet |\n"
		     "|---|---:|---:|---:|---:|---:|---:|---:|");
	for (round = 0; !code && round < ROUNDS; round++) {
		code = measure(s, "nothing", err);
		for (i = 0; !code && i < n; i++)
			code = measure(s, commands[i], err);
	}
	e2e_bpf__destroy(s->skel);
	return code;
}

int main(int argc, char **argv)
{
	struct steady s = { 0 };
	struct err err = { 0 };

	if (argc < 6) {
		fputs("usage: steady PREFIX FRONT FLOWS PACKETS-A-SECOND SECONDS NAME=COMMAND...\n",
		      stderr);
		return EXIT_FAILURE;
	}
	s.prefix = argv[1];
	s.front = argv[2];
	if (!parse_u32(argv[3], "flows", 1, 1 << 24, &s.flows, &err) &&
	    !parse_u32(argv[4], "packets a second", 1, 100000000, &s.rate, &err) &&
	    !parse_u32(argv[5], "seconds", 1, 3600, &s.seconds, &err) &&
	    !run(&s, argv + 6, argc - 6, &err))
		return EXIT_SUCCESS;
	fprintf(stderr, "steady: %s\n", err.text);
	return EXIT_FAILURE;
}
