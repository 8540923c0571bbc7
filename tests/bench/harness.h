/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_BENCH_HARNESS_H
#define FAIRLEAD_BENCH_HARNESS_H

/*
 * bench.bpf.c loaded around one program under test. A tail call joins only
 * programs of the same kind (with or without frags, and one attach type), so
 * the driver is loaded as the kind that the program turns out to be.
 */

#include <stdbool.h>
#include <stdint.h>

#include "user/core/err.h"

struct bench_bpf;
struct bench_packets;
struct draws;

struct harness {
	struct bench_bpf *skel;
	double call_ns; /* of the CPU's time, whatever the number of packets */
};

enum bare {
	BARE_PASS,
	BARE_TX,
	BARE_FLOOR,
};

struct measurement {
	double ns;   /* a packet, of the CPU's time */
	int verdict; /* of the last one */
};

/* Packets are of the flows in `draws`. Takes no ownership of prog_fd. */
int harness_open(struct harness *harness, const struct draws *draws, int prog_fd,
		 struct err *err);
int harness_open_bare(struct harness *harness, const struct draws *draws,
		      enum bare bare, struct err *err);
void harness_close(struct harness *harness);

struct bench_packets *harness_packets(const struct harness *harness);
int harness_run(const struct harness *harness, bool v6, uint32_t n,
		struct measurement *out, struct err *err);
/* Until a signal interrupts the thread. 0 or negative errno. */
int harness_run_endless(const struct harness *harness, bool v6);

/*
 * The XDP program that is pinned at path, or that the link pinned there runs.
 * An fd or negative errno.
 */
int pinned_program(const char *path, struct err *err);

#endif
