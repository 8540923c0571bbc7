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

struct harness {
	struct bench_bpf *skel;
};

enum bare {
	BARE_PASS,
	BARE_TX,
	BARE_FLOOR,
};

struct measurement {
	uint32_t ns; /* a packet */
	int verdict; /* of the last one */
};

/* Takes no ownership of prog_fd. */
int harness_open(struct harness *harness, int prog_fd, struct err *err);
int harness_open_bare(struct harness *harness, enum bare bare, struct err *err);
void harness_close(struct harness *harness);

struct bench_packets *harness_packets(struct harness *harness);
int harness_run(struct harness *harness, bool v6, uint32_t n,
		struct measurement *out, struct err *err);

/*
 * The XDP program that is pinned at path, or that the link pinned there runs.
 * An fd or negative errno.
 */
int pinned_program(const char *path, struct err *err);

#endif
