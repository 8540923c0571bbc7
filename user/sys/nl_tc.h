/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_NL_TC_H
#define FAIRLEAD_NL_TC_H

/* What tc has on an interface, by rtnetlink. */

#include <stdbool.h>
#include <stddef.h>

#include "nl.h"

#define NL_TC_NAME_MAX 64

struct nl_tc_filter {
	uint32_t handle; /* 0: stands for all of its priority */
	uint16_t priority;
	bool bpf;
	uint32_t program; /* id, of bpf */
	char name[NL_TC_NAME_MAX]; /* of bpf: libbpf writes "PROGRAM:[ID]" */
};

/*
 * All filters behind `parent`, TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS) say, in the
 * kernel's order; none when there is no such qdisc or interface. The caller frees *out.
 */
int nl_tc_filters(struct nl *nl, unsigned int ifindex, uint32_t parent,
		  struct nl_tc_filter **out, size_t *n, struct err *err);

/*
 * Is the qdisc in the place that clsact and ingress share clsact? Of the other kind it
 * takes filters for what leaves, too, and shows them what comes in.
 */
bool nl_tc_is_clsact(struct nl *nl, unsigned int ifindex);

#endif
