/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_BENCH_BALANCER_H
#define FAIRLEAD_BENCH_BALANCER_H

/*
 * The balancer as the bench runs it: one VIP of each family, 100 backends of
 * each kind of tunnel, tables of 65537 slots, all on maps of its own.
 */

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"
#include "user/core/addr.h"
#include "user/core/vip_spec.h"
#include "user/core/err.h"

struct fairlead_bpf;

enum balancer_kind {
	IP4_IPIP, /* 4in4 */
	IP4_GUE,  /* over IPv4 */
	IP6_IPIP, /* 6in6 */
	IP6_GUE,  /* over IPv6 */
	BALANCER_KIND__MAX,
};

struct balancer {
	struct fairlead_bpf *skel;
	unsigned int cpu;
	struct config config;
	struct vip_spec vip4, vip6;
};

/* What moved between two looks. */
struct balancer_counts {
	uint64_t passed, sent;  /* verdicts */
	uint64_t vip, new_flows; /* of both VIPs */
	uint64_t backends;       /* packets of all backends */
};

static inline bool kind_is_v6(enum balancer_kind kind)
{
	return kind == IP6_IPIP || kind == IP6_GUE;
}

/* flows: how many of each family the CPU remembers. */
int balancer_open(struct balancer *balancer, unsigned int cpu, enum flow_form form,
		  uint32_t flows, const struct vip_spec *vip4,
		  const struct vip_spec *vip6, struct err *err);
void balancer_close(struct balancer *balancer);

/* Lead the VIPs to backends of that kind, with an empty map of flows. */
int balancer_prepare(struct balancer *balancer, enum balancer_kind kind, struct err *err);
int balancer_fd(const struct balancer *balancer);
int balancer_counts(const struct balancer *balancer, struct balancer_counts *out,
		    struct err *err);

#endif
