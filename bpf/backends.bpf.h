/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_BACKENDS_BPF_H
#define FAIRLEAD_BACKENDS_BPF_H

/* The backends, which the balancer and the program of the probes share. */

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "abi.h"

/* Daemon writes, packets read. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_BACKENDS + 1);
	__type(key, __u32);
	__type(value, struct backend);
	__uint(map_flags, BPF_F_MMAPABLE); /* a line each, see vip_sets4 */
} backends SEC(".maps");

/* NULL: no such id is in use. */
static __always_inline const struct backend *backend_get(__u32 id)
{
	const struct backend *backend = bpf_map_lookup_elem(&backends, &id);

	return backend && backend->flags & BACKEND_VALID ? backend : NULL;
}

#endif
