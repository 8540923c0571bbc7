/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_BENCH_E2E_ENDS_H
#define FAIRLEAD_BENCH_E2E_ENDS_H

/* The namespaces that tests/bench-e2e/lib.sh makes, and the programs in them. */

#include <stdint.h>

#include "user/core/err.h"

struct bpf_program;

#define ENDS_BATCH 64 /* packets that are sent at once */

/* Moves this process to the namespace PREFIX-HOST. 0 or negative errno. */
int ends_enter(const char *prefix, const char *host, struct err *err);

/* Of the namespace that this process is in. 0 or negative errno. */
int ends_interface(const char *name, uint32_t *ifindex, struct err *err);
/* The same, and attaches the program there, natively. */
int ends_attach(const struct bpf_program *prog, const char *name, uint32_t *ifindex,
		struct err *err);

/* So many packets as `make` makes them. 0 or negative errno. */
int ends_send(const struct bpf_program *make, uint32_t packets, struct err *err);

#endif
