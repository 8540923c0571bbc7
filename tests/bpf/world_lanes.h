/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TESTS_WORLD_LANES_H
#define FAIRLEAD_TESTS_WORLD_LANES_H

/*
 * What conntrack.bpf.h promises holds in whichever form flows are kept, for IPv4
 * and IPv6, and whichever way through the program a packet takes. A rule is one
 * function; a lane is one such combination; every rule runs in every lane. In turns:
 * of the packets of a lane every second one goes the long way, so that what one way
 * has written is read by the other.
 *
 * Clients are numbers; the VIPs are those of 443/tcp and 53/udp. All slots of the
 * table are B_IPIP4's at first.
 */

#include "world.h"

enum lane_way {
	WAY_PLAIN,
	WAY_LONG, /* behind a VLAN tag */
	WAY_TURNS,
	WAY__MAX,
};

struct lane {
	struct world *world;
	bool v6;
	enum lane_way way;
	unsigned int sent; /* packets */
};

struct lane_rule {
	const char *name;
	void (*check)(struct lane *);
};

/* LANE_RULE(f) is the rule that the function f checks. */
#define LANE_RULE(function) { #function, function }

/* For main: in a world of that form and size, in each lane. 0, or what to exit with. */
int lanes_run(enum flow_form form, uint32_t flows, const struct lane_rule *rules,
	      size_t n);

/* Whom a packet of a client leaves for; that it leaves is asserted. */
enum backend_id lane_tcp(struct lane *lane, uint16_t client, uint8_t flags);
enum backend_id lane_udp(struct lane *lane, uint16_t client);
enum backend_id lane_send(struct lane *lane, struct frame_spec spec);
/* The verdict, whatever it is. */
int lane_run(struct lane *lane, struct frame_spec spec);

/* What this CPU has of the client's flow; false: nothing. */
bool lane_flow(struct lane *lane, uint16_t client, struct flow *flow);
/* Ticks for which that lives on; as good as one too few, since a tick may pass. */
void lane_expect_life(struct lane *lane, uint16_t client, uint32_t ticks);
void lane_expect_flags(struct lane *lane, uint16_t client, uint16_t flags);
unsigned int lane_count(struct lane *lane);

/* From now on the table leads to it. */
void lane_table(struct lane *lane, enum backend_id id);
void lane_down(struct lane *lane, enum backend_id id);
/* Down by its check, not by its operator. */
void lane_fail(struct lane *lane, enum backend_id id);
/* world_verdict() of the VIP of 443/tcp. */
void lane_verdict(struct lane *lane, enum backend_id id, uint8_t verdict, uint8_t flags);
/* on_down: keep, in the VIPs. */
void lane_keep_down(struct lane *lane);
void lane_up(struct lane *lane, enum backend_id id);
/* Ticks that flows of the VIPs may be idle. */
void lane_idle(struct lane *lane, uint16_t tcp, uint16_t udp);

#endif
