/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TESTS_NETNS_H
#define FAIRLEAD_TESTS_NETNS_H

/*
 * Surroundings that no other process sees: a network namespace that ends with
 * the process, and one CPU.
 */

#include <stdint.h>

/* Move this process to a new network namespace. 0 or negative errno. */
int netns_enter_new(void);

/* A pair of veth devices in this namespace. 0 or negative errno. */
int netns_add_veth(const char *name, const char *peer);

/* Run on the first allowed CPU only. Its number or negative errno. */
int cpu_pin(void);

#endif
