/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_WAY_H
#define FAIRLEAD_WAY_H

/*
 * The ways to the backends of a pool: what its VIPs are checked at. A check that may go
 * where clients do, to a VIP through the tunnel, says something of that VIP only: a
 * backend may have the IPv4 one on lo and lack the IPv6 one. So health is kept, and
 * judged, of each way.
 *
 *   pool --> way 203.0.113.10 80     <-- vip 203.0.113.10:80/tcp, and 80/udp with it
 *        \-> way 2001:db8::10 80     <-- vip [2001:db8::10]:80/tcp
 *
 * It is the configuration alone that says which there are, never routes: what is known
 * of a way stays when its checks fall back to the backends' own addresses.
 *
 * A pool always has a first way. It is the only one, and has no address, where checks
 * cannot or shall not go to VIPs: there is no check, no VIP that it could take, or the
 * check says `via: direct` or `vips: first`.
 */

#include "cfg.h"
#include "probe_abi.h"

struct way {
	uint32_t pool;             /* place in cfg->pools */
	const struct cfg_vip *vip; /* of those that share it the first; NULL: none does */
	struct addr addr;          /* of the VIP; unset: the only way of the pool */
	uint16_t port;             /* host order, that is asked there; 0 with addr unset */
};

/*
 * How many checks a configuration may have: the daemon's ids have room for no more; and
 * how many may go through the tunnel: each has a mark of its own.
 */
#define WAYS_CHECKS_MAX ((1U << 20) - 1)
#define WAYS_THROUGH_MAX PROBES_MAX

/* Of a configuration, which is sorted, has to stay, and stays the caller's. */
struct ways {
	struct way *list; /* by pool, then address and port */
	size_t n;
	uint32_t *first;  /* by pool, and one more: where its ways begin in the list */
	uint32_t *of_vip; /* by VIP: the place in the list */
};

/* -ENOMEM, and *out is empty. */
int ways_make(const struct cfg *cfg, struct ways *out);
void ways_clear(struct ways *ways);
#define _cleanup_ways_ __attribute__((cleanup(ways_clear)))

/* Unset addresses come first. A total order within a pool. */
int way_compare(const struct addr *a, uint16_t a_port, const struct addr *b,
		uint16_t b_port);

/* The protocol of a check's packets; 0: none that a VIP could take. */
uint8_t way_protocol(enum check_kind kind);
/*
 * May checks of the pool go to the VIP, whatever routes say? UDP only when it is asked
 * for, since nobody knows what a service answers.
 */
bool way_goes_through(const struct check *check, const struct vip_spec *vip);
/* Where it asks; the VIP's port unless the check has one. 0: the kind has no ports. */
uint16_t way_port(const struct check *check, const struct vip_spec *vip);

#endif
