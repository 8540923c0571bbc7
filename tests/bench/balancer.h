/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_BENCH_BALANCER_H
#define FAIRLEAD_BENCH_BALANCER_H

/*
 * The balancer as the bench runs it: made and filled as the daemon does it, from a
 * configuration, but on maps of its own. It has two VIPs of each family, one for
 * each kind of tunnel, and 100 backends of each kind, with tables of 65537 slots.
 */

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"
#include "user/core/err.h"
#include "user/core/plan.h"
#include "user/core/vip_spec.h"
#include "user/dp/publish.h"

struct fairlead_bpf;

enum balancer_kind {
	IP4_IPIP, /* 4in4 */
	IP4_GUE,  /* over IPv4 */
	IP6_IPIP, /* 6in6 */
	IP6_GUE,  /* over IPv6 */
	BALANCER_KIND__MAX,
};

struct balancer_settings {
	enum flow_form form;
	uint32_t flows; /* of each family, that a CPU remembers */
	/* Of packets over IPIP; those over GUE have the port balancer_port() says. */
	struct vip_spec vip4, vip6;
};

struct balancer {
	struct fairlead_bpf *skel;
	struct config config;
	struct plan *plan;
	struct kernel kernel;
	bool kernel_ready;
	unsigned int cpus; /* possible ones */
};

/* What moved between two looks, on all CPUs. */
struct balancer_counts {
	uint64_t passed, sent;   /* verdicts */
	uint64_t vip, new_flows; /* of all VIPs */
	uint64_t backends;       /* packets of all backends */
};

static inline bool kind_is_v6(enum balancer_kind kind)
{
	return kind == IP6_IPIP || kind == IP6_GUE;
}

/* Of the VIP whose backends are of that kind. */
uint16_t balancer_port(const struct vip_spec *vip, enum balancer_kind kind);

int balancer_open(struct balancer *balancer, const struct balancer_settings *settings,
		  struct err *err);
void balancer_close(struct balancer *balancer);

/* As after a start: empty maps of flows, for that CPU. */
int balancer_forget(struct balancer *balancer, unsigned int cpu, struct err *err);

int balancer_fd(const struct balancer *balancer);
int balancer_counts(const struct balancer *balancer, struct balancer_counts *out,
		    struct err *err);

#endif
