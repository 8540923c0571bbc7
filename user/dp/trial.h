/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TRIAL_H
#define FAIRLEAD_TRIAL_H

/*
 * The real program on maps of its own, with a configuration in them, for trying
 * packets. Nothing is attached and nothing pinned: all of it goes with the
 * process, and a running balancer never notices.
 *
 * The network is made up, so that a configuration gives the same packets on
 * every machine. Backend addresses, in their order (IPv4 before IPv6, then by
 * number), have the next hops 02:00:00:00:00:01, :02, ..., all by the interface
 * that packets come in on, whose own MAC is 02:00:00:00:00:00. Where the
 * configuration has no tunnel_source the sources are 192.0.2.1 and 2001:db8::1,
 * and where it has no hash_key the key is zero.
 *
 * Packets run on one CPU, the one that trial_open() chose for this thread, which
 * keeps to it.
 */

#include <stdint.h>

#include "abi.h"
#include "core/err.h"
#include "core/packet.h"
#include "core/plan.h"
#include "drop_reasons.h"
#include "flow_maps.h"
#include "publish.h"

struct fairlead_bpf;

struct trial {
	struct fairlead_bpf *skel;
	struct kernel kernel;
	bool kernel_ready;
	struct plan *plan;
	struct next_hop *hops; /* of addresses[], resolved */
	struct addr *addresses; /* sorted */
	size_t n_addresses;
	struct config config;
	unsigned int cpus, cpu;
	int flows[FLOW_MAP__MAX]; /* maps of the CPU; -1: none */
};

/* What a packet's counters may be asked for. */
enum trial_count {
	TRIAL_TOTALS,  /* struct totals; id 0 */
	TRIAL_DROPS,   /* struct drop_counters; id: a reason */
	TRIAL_VIP,     /* struct vip_counters */
	TRIAL_BACKEND, /* struct backend_counters */
};

struct trial_result {
	int verdict; /* XDP action */
	struct packet out;
	uint32_t reason; /* enum drop_reason when it was dropped; 0: none counted */
};

/*
 * Takes *cfg over when it returns 0. -EPERM with a sentence when the kernel
 * does not let this process load programs.
 */
int trial_open(struct trial *t, struct cfg **cfg, struct err *err);
void trial_close(struct trial *t);
#define TRIAL_NONE { .flows = { -1, -1, -1, -1 } }
#define _cleanup_trial_ __attribute__((cleanup(trial_close)))

/*
 * Forget flows, fragments and what limits have counted, and set the MTU towards all
 * backends. Counters go on: what counts is how much they grow.
 */
int trial_reset(struct trial *t, uint16_t mtu, struct err *err);

/* The caller clears out->out. -EINVAL: the kernel takes no such frame. */
int trial_run(struct trial *t, const struct packet *in, struct trial_result *out,
	      struct err *err);

/*
 * A counter since trial_open(), summed over the CPUs; `member` counts u64s into the
 * struct.
 */
uint64_t trial_count(const struct trial *t, enum trial_count what, uint32_t id,
		     size_t member);

/* The address whose next hop the frame goes to; NULL: no backend's. */
const struct addr *trial_sent_to(const struct trial *t, const struct packet *out);

#endif
