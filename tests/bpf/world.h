/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TESTS_WORLD_H
#define FAIRLEAD_TESTS_WORLD_H

/*
 * The balancer in a box: the program loaded over maps of its own, in a network
 * namespace of its own, on one CPU; nothing is pinned or attached. Packets go
 * in by BPF_PROG_RUN. world_reset() brings back the one set of VIPs and
 * backends below, without flows and with all counters zero, so that a scenario
 * says only what it changes.
 *
 * Calls that can only fail when the machine lacks something abort the test
 * with a sentence.
 */

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"
#include "drop_reasons.h"
#include "flow_hash.h" /* of which the skeleton has a field */

#include "fairlead.skel.h"
#include "tests/lib/frame.h"
#include "user/dp/flow_maps.h"
#include "user/dp/vip_sets.h"

struct CMUnitTest;

#define LOOPBACK_IFINDEX 1
#define WORLD_TABLE_SIZE 251
#define WORLD_FLOWS 4096
#define WORLD_ICMP_ANSWERS 500 /* of each kind in a tick */

/* Addresses beside VIP4 and VIP6, which serve 443/tcp and 53/udp. */
#define ANY4 "203.0.113.20"       /* any/tcp, and 443/tcp on a table of its own */
#define ANY6 "2001:db8::20"
#define UDP_ANY4 "203.0.113.30"   /* any/udp only */
#define TABLELESS4 "203.0.113.40" /* 443/tcp, whose table is not there */
#define VECTOR_TCP4 "192.0.2.1"    /* 443/tcp */
#define VECTOR_UDP4 "198.51.100.1" /* 53/udp */
#define OTHER4 "203.0.113.99"     /* not ours */
#define OTHER6 "2001:db8::99"

enum vip_id {
	V_WEB4 = 1,
	V_DNS4,
	V_WEB6,
	V_DNS6,
	V_ANY4,
	V_EXACT4,
	V_ANY6,
	V_EXACT6,
	V_UDP_ANY4,
	V_TABLELESS4,
	V_VECTOR_TCP4,
	V_VECTOR_UDP4,
	V__MAX,
};

enum table_id {
	T_MAIN = 1, /* every VIP but the exact ones */
	T_EXACT,    /* always leads to B_EXACT */
	T_MISSING,
	T__MAX,
};

enum backend_id {
	B_IPIP4 = 1,
	B_IPIP6,
	B_GUE4,
	B_GUE6,
	B_GUE_PORT, /* GUE over IPv4 to another port than the usual */
	B_NEXT,     /* IPIP over IPv4: who gets the flows next */
	B_EXACT,
	B_REDIRECT,   /* behind the other interface */
	B_NO_EGRESS,  /* behind one that is not in the egress map */
	B_UNRESOLVED,
	B_ABSENT, /* its id is not in use */
	B_GUE1_4, /* GUE variant 1 */
	B_GUE1_6,
	B_GRE4,
	B_GRE6,
	B_L2,
	B__MAX,
};

struct world {
	struct fairlead_bpf *skel;
	unsigned int cpu;
	unsigned int neighbour;  /* another CPU, real or not */
	uint32_t egress_ifindex; /* in the egress map */
	uint32_t stray_ifindex;  /* exists, but is not */
	struct config config;
	struct vip_sets vip_sets;
	int flows[FLOW_MAP__MAX]; /* this CPU's inner maps; -1: none */
};

/* Whole, or as deltas: what the program counted, over all CPUs. */
struct counts {
	struct totals totals;
	struct drop_counters drops[DROP_REASON__MAX];
	struct vip_counters vips[V__MAX];
	struct backend_counters backends[B__MAX];
};

struct run {
	int verdict;
	struct frame out;
};

/* What is beside the frame itself. */
struct run_options {
	uint32_t ingress_ifindex; /* 0: loopback */
	uint16_t linear;          /* bytes in the first page; 0: all that fit */
	uint8_t metadata;         /* bytes of XDP metadata in front */
};

/*
 * 77 with a sentence on stderr when the machine cannot run BPF; else 0. Flows are
 * kept in the given form, and there is room for so many.
 */
int world_open_sized(struct world *world, enum flow_form form, uint32_t flows);
int world_open_as(struct world *world, enum flow_form form);
int world_open(struct world *world); /* in sets */
void world_close(struct world *world);
/* For main: n tests in a world that is opened for them. What to exit with. */
int world_run_tests(struct world *world, const struct CMUnitTest *tests, size_t n);
void world_reset(struct world *world);
void world_reset_backends(struct world *world);

const struct tunnel *world_tunnel(enum backend_id id);

void world_backend(struct world *world, enum backend_id id,
		   void (*change)(struct backend *));
/*
 * How the VIP uses the backend, which is as always beside that and has the flags:
 * some of BACKEND_USE_FLAGS, each.
 */
void world_verdict(struct world *world, enum vip_id vip, enum backend_id id,
		   uint8_t verdict, uint8_t flags);
/* An entry of vips4 or vips6, by address, port and protocol. */
void world_vip(struct world *world, const char *address, uint16_t port,
	       uint8_t protocol, const struct vip *vip);
/* All of VIP4 and VIP6, which have their usual entries when change is NULL. */
void world_vips(struct world *world, void (*change)(struct vip *));
/* An entry of the lists of a VIP. */
void world_acl(struct world *world, enum vip_id vip, const char *address,
	       uint32_t length, bool deny);
/* Makes every flow of this CPU look as if it had been silent for so long. */
void world_age_flows(struct world *world, uint32_t ticks);
/* This CPU has seen so many new flows of the VIP that none more fits, for good. */
void world_fill_new_flows(struct world *world, enum vip_id vip);
/* Packets forwarded beyond the limit of new flows. */
uint64_t world_unremembered(struct world *world, enum vip_id vip);

/* hex: the server id. Its owner is the backend. */
void world_quic_server(struct world *world, enum vip_id vip, const char *hex,
		       enum backend_id backend);
/* As abi.h defines it: without TOS, length, protocol and checksum. */
uint16_t world_ip4_sum(const struct backend *backend);
/* A table of the given size whose every slot is `fill`. */
void world_table(struct world *world, uint32_t table, uint32_t size,
		 uint16_t fill);
/* The same with an owner for each slot. */
typedef uint16_t table_owner(uint32_t slot, uint32_t context);
void world_table_by(struct world *world, uint32_t table, uint32_t size,
		    table_owner *owner, uint32_t context);
/* One of the usual size whose every slot is `fill`, and was `previous`'s before. */
void world_table_after(struct world *world, uint32_t table, uint16_t fill,
		       uint16_t previous);
/* A header of that size with a single line behind it. */
void world_table_short(struct world *world, uint32_t table, uint32_t size,
		       uint16_t fill);
/* New flow maps of that many entries; 0: none for this CPU. */
void world_flows(struct world *world, uint32_t entries);
/* What this CPU knows is now known to its neighbour alone. */
void world_flows_move(struct world *world);
/* Each knows what the other knew: packets come to the neighbour, so to say. */
void world_flows_swap(struct world *world);
void world_neighbour_forgets(struct world *world);
/*
 * Every entry that this CPU has of a family, wide ones too, and the ports of its
 * flow in host byte order; `visit` may change it.
 */
typedef void flow_visit(void *context, uint16_t sport, uint16_t dport, struct flow *flow);
void world_each_flow(struct world *world, bool v6, flow_visit *visit, void *context);
unsigned int world_count_flows(struct world *world, bool v6);
/* The tick that packets count now. */
uint32_t world_tick(const struct world *world);

void world_run(struct world *world, const struct frame *in,
	       const struct run_options *options, struct run *run);
/* The frame that the specification says, with the usual options. */
void world_send(struct world *world, const struct frame_spec *spec, struct run *run);
/* Echo requests to VIP4 and VIP6 are no longer answered. */
void world_echo_off(struct world *world);
/* This CPU's ICMP answers of this tick, as if they were sent. */
void world_spend_icmp(struct world *world);
/* The backend of a packet that was sent. */
enum backend_id world_sent_to(const struct run *run);
void world_counts(struct world *world, struct counts *counts);

#endif
