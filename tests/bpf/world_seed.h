/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TESTS_WORLD_SEED_H
#define FAIRLEAD_TESTS_WORLD_SEED_H

/* What the files of the world share; tests include world.h alone. */

#include "world.h"

/* err: negative errno. Aborts with a sentence. */
void world_die(const char *what, int err) __attribute__((noreturn));
/* Aborts when it fails; libbpf of strict mode returns the errno itself. */
void world_map_update(struct bpf_map *map, const void *key, const void *value);

/* Every VIP of the world has its usual entry. */
void world_seed_vips(struct world *world);
void world_flows_close(struct world *world);
/* No more sets are in use than at first. */
void world_flow_levels_reset(struct world *world);
/* No VIP hashes its fragments by address any more. */
void world_vips_forget_fragments(struct world *world);

#endif
