/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_PUBLISH_H
#define FAIRLEAD_PUBLISH_H

/*
 * From one plan to the next in the maps that packets read. First everything
 * that may fail for want of memory is made where no packet sees it
 * (publish_prepare, on any thread); then the commit (publish_commit, on the
 * loop's thread) writes in this order:
 *
 *   verdicts -> backends and egress -> tables -> lists of sources and server ids
 *   -> VIPs -> VIPs that go -> lists and server ids that go -> verdicts that go
 *   -> tables that go -> backends that go
 *
 * so that whatever a packet finds, what it names is there already, and nothing
 * is taken away while it is named. A commit that fails writes the old plan back
 * the same way.
 */

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"
#include "core/err.h"
#include "core/plan.h"
#include "vip_sets.h"

/* Next hop of an address; NULL: not known. */
typedef const struct next_hop *publish_hop(void *context, const struct addr *addr);

/* A table as it is in the kernel. fd -1: there is none under this id. */
struct kernel_table {
	int fd;
	uint32_t size, n_live;
	uint64_t digest, ids_digest;
	bool has_previous; /* owners, behind the lines of the slots */
};

/* File descriptors of the maps, not owned, and what was last written to them. */
struct kernel {
	int vips4, vips6, prefixes4, prefixes6, services, vip_records;
	int tables, backends, egress;
	int acls4, acls6;
	int quic_servers, verdicts;
	int vip_counters, backend_counters, new_flow_counters;
	unsigned int cpus; /* entries of a per-CPU value */
	struct vip_sets vip_sets; /* mapped; kernel_release unmaps them */
	uint32_t *prefixes; /* enum vip_prefixes: which tries packets look into */
	publish_hop *hop;
	void *hop_context;
	struct kernel_table *table; /* by id, 65536; owns the fds */
	struct backend *backend;    /* by id, 65536 */
	struct table_kept *kept_tables; /* owned; any thread may use it */
	uint64_t map_writes;        /* elements written, for tests and status */
};

int kernel_init(struct kernel *k, struct err *err);
void kernel_release(struct kernel *k);

/*
 * Read back what a daemon before this one wrote: ids, tables, backends. The
 * plan has no configuration; nothing in it is `known` but ids.
 */
int kernel_adopt(struct kernel *k, struct plan **out, struct err *err);

struct publish {
	const struct plan *from, *to;
	/* For each table of `to`; after the commit, what it replaced. */
	struct kernel_table *built;
	bool *changed;
	bool *gone; /* ids that no pool has any more */
};

int publish_prepare(const struct kernel *k, const struct plan *from,
		    const struct plan *to, struct publish *out, struct err *err);
/* All of it, or on failure none. */
int publish_commit(struct kernel *k, struct publish *p, struct err *err);
/* After a commit, either take away what nothing names any more ... */
void publish_finish(struct kernel *k, const struct publish *p);
/* ... or write the old plan back. */
void publish_undo(struct kernel *k, struct publish *p);
void publish_release(struct publish *p);

/* Write the backends whose next hop or state is not what the map has. */
int publish_backends(struct kernel *k, const struct plan *plan, struct err *err);

#endif
