/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_NEXTHOP_PRIVATE_H
#define FAIRLEAD_NEXTHOP_PRIVATE_H

/* What the two halves of nexthop share: routes (nexthop_route.c), neighbours. */

#include "nexthop.h"
#include "sys/nl.h"

struct hop {
	struct addr addr;
	/* Neighbour: the gateway, or the address itself. Unset: it is a seed. */
	struct addr via;
	struct next_hop hop;
	bool routed;
	bool fixed;  /* a static neighbour */
	bool failed; /* did not answer; once more and it is unresolved */
	bool dead;   /* see nexthops_failed() */
	uint64_t hinted_at; /* when the kernel was last asked; 0: never */
	bool hint_owed;     /* it was to be asked again too soon after that */
	const char *problem; /* static text; NULL: none */
};

struct link {
	unsigned int ifindex, flags, mtu;
	unsigned short type;
	uint8_t mac[6];
};

struct nexthops {
	struct nl request, hint, event;
	nexthops_changed *changed;
	void *context;
	struct tunnel_source source4, source6;
	struct hop *hops; /* sorted by addr */
	size_t n_hops;
	struct link *links;
	size_t n_links;
	bool dirty;         /* routes, links or addresses changed */
	uint64_t dirty_at, confirmed_at;
	unsigned int settle_ms; /* grows with what a refresh costs */
	bool hints_owed;    /* some hop's */
	uint64_t hints_due; /* the first of them */
	bool touched;       /* something in hops changed since last told */
	bool gateways;      /* some hop is reached by another's neighbour */
	bool turned;        /* an address failed or came back since last told */
	bool table_full;    /* the kernel's, at the last confirmation */
};

/* Read the interfaces again. A failure is logged here. */
int nexthop_read_links(struct nexthops *nh);
/* Fill everything but the neighbour's MAC, which stays while the neighbour does. */
void nexthop_resolve_route(struct nexthops *nh, struct hop *hop);
/* Note whether packets are known to lead nowhere. */
void nexthop_set_dead(struct nexthops *nh, struct hop *hop, bool dead);

#endif
