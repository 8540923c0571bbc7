/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_FLOWS_H
#define FAIRLEAD_FLOWS_H

/*
 * Reading the flows that all CPUs remember while packets go on using them: the sets
 * through memory, the LRU hashes through system calls.
 */

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/addr.h"
#include "core/plan.h"
#include "dataplane.h"
#include "dp/flow_maps.h"

/* What a visitor is shown. */
struct flow_seen {
	bool v6;
	bool by_tuple; /* from an LRU hash: dst and protocol are known, and not the VIP */
	unsigned int cpu;
	struct addr src, dst;
	uint16_t sport, dport; /* host byte order */
	uint8_t protocol;
	uint16_t vip;          /* id; 0 when by tuple */
	struct flow flow;
};

enum flow_decision { FLOW_KEEP, FLOW_FORGET };

/*
 * Called for each flow. FLOW_FORGET takes it away, unless a packet has changed it
 * since. A negative return ends the walk.
 */
typedef int flows_visit(void *context, const struct flow_seen *seen);

int flows_walk(const struct dataplane *dp, flows_visit *visit, void *context);
/* The same over the maps of maps by these descriptors; -1: there is none. */
int flows_walk_maps(const int outer[FLOW_MAP__MAX], unsigned int cpus,
		    flows_visit *visit, void *context);

/* The whole tuple, as LRU hashes and the flow hash have it; dst and protocol known. */
static inline void flows_key4(const struct flow_seen *flow, struct flow_key4 *key)
{
	*key = (struct flow_key4){
		.src = flow->src.v4.s_addr,
		.dst = flow->dst.v4.s_addr,
		.sport = htons(flow->sport),
		.dport = htons(flow->dport),
		.protocol = flow->protocol,
	};
}

static inline void flows_key6(const struct flow_seen *flow, struct flow_key6 *key)
{
	*key = (struct flow_key6){
		.sport = htons(flow->sport),
		.dport = htons(flow->dport),
		.protocol = flow->protocol,
	};
	memcpy(key->src, &flow->src.v6, sizeof(key->src));
	memcpy(key->dst, &flow->dst.v6, sizeof(key->dst));
}

/*
 * Takes away what is remembered of VIPs that are not in the plan. Before ids are given
 * to other VIPs: with the id they would get the flows. 0 or -errno.
 */
int flows_forget_removed(const struct dataplane *dp, const struct plan *plan);

/* A descriptor of a CPU's inner map; -ENOENT: it has none. *entries: of it. */
int flows_open_inner(int outer, uint32_t cpu, uint32_t *entries);

/* The tick that packets count now. 0 or -errno. */
int flows_now(const struct dataplane *dp, uint32_t *tick);

#endif
