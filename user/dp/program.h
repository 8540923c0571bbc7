/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_PROGRAM_H
#define FAIRLEAD_PROGRAM_H

/*
 * The balancer's program and its maps, from opening to ready to be filled:
 * what is the same whether the maps are then pinned and shared or are private
 * to a process that only tries things out. Nothing here pins or attaches.
 */

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"
#include "core/err.h"
#include "publish.h"

struct fairlead_bpf;

/* The hash key as the program has it: little-endian halves of the 16 bytes. */
void program_key_words(const uint8_t key[16], __u64 words[2]);

/*
 * Open, not yet loaded: its key, its CPUs and the sizes that depend on them are
 * set. `cpus` is the number of possible ones. The caller destroys *out.
 */
int program_open(const struct config *config, unsigned int cpus,
		 struct fairlead_bpf **out, struct err *err);

/* 0 or -errno. Before it, maps may be given other sizes, or others' in their place. */
int program_load(struct fairlead_bpf *skel, const struct config *config);

/*
 * The file descriptors and the memory that publishing writes to; the rest of *k is
 * zero. kernel_release gives the memory back.
 */
int program_maps(const struct fairlead_bpf *skel, unsigned int cpus, struct kernel *k,
		 struct err *err);

#endif
