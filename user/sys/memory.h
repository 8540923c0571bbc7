/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_MEMORY_H
#define FAIRLEAD_MEMORY_H

/*
 * How much memory this process may have. Maps count for the control group of the
 * process that makes them, and where that has a limit the kernel kills a process that
 * reaches it, and says nothing before: so ask first.
 */

#include <stdint.h>

/* Bytes; UINT64_MAX: nothing says. */
struct memory {
	uint64_t total;     /* of the machine, or the lowest limit if that is less */
	uint64_t available; /* without that anything else is pushed out, or killed */
};

/* The machine's own are "/proc" and "/sys/fs/cgroup". Both versions of control groups. */
void memory_read(const char *proc, const char *cgroups, struct memory *out);

#endif
