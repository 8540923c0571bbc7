/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TESTS_SCENARIO_H
#define FAIRLEAD_TESTS_SCENARIO_H

/*
 * A scenario is one row: the world it starts from, packets that go in one
 * after the other, and what must become of each. The runner works out from the
 * row every byte that leaves and every counter that moves, and compares them
 * all: what a row does not speak of must not happen.
 */

#include <linux/bpf.h>

#include "tests/lib/icmp.h"
#include "world.h"

#define STEPS_MAX 8

enum outcome {
	OUTCOME_END, /* of the steps */
	OUTCOME_PASS,
	OUTCOME_SEND,
	OUTCOME_DROP,
	OUTCOME_ANSWER, /* ICMP of the balancer's own, back to the sender */
};

struct step {
	/* What changes in the world before the packet comes. */
	void (*before)(struct world *);
	struct frame_spec in;
	const struct icmp_spec *icmp; /* the packet that comes, instead of `in` */
	uint8_t tags;                 /* VLAN tags that it comes with */
	struct run_options with;
	enum outcome outcome;
	int verdict;
	uint8_t vip;     /* 0: by family and protocol, or none when dropped */
	uint8_t backend; /* enum backend_id */
	uint8_t reason;  /* enum drop_reason */
	uint16_t mtu;    /* that an answer tells; 0: it answers an echo request */
	bool new_flow;
	bool quic_unknown; /* counted as such */
	bool oversize; /* leaves without DF, and with an id */
	uint8_t unremembered; /* of the VIP by now, when not 0 */
};

/* A known flow's packet leaves; NEW: a packet whose backend the table chose. */
#define SENT(id) .outcome = OUTCOME_SEND, .verdict = XDP_TX, .backend = (id)
#define NEW(id) SENT(id), .new_flow = true
#define REDIRECTED(id)                                   \
	.outcome = OUTCOME_SEND, .verdict = XDP_REDIRECT, \
	.backend = (id), .new_flow = true
#define PASSED .outcome = OUTCOME_PASS, .verdict = XDP_PASS
#define ANSWERED .outcome = OUTCOME_ANSWER, .verdict = XDP_TX
#define DROPPED(why)                                 \
	.outcome = OUTCOME_DROP, .verdict = XDP_DROP, \
	.reason = DROP_REASON_##why

struct scenario {
	const char *name;
	enum backend_id table; /* owns every slot of T_MAIN; 0: B_IPIP4 */
	struct step steps[STEPS_MAX + 1];
};

struct scenario_list {
	const struct scenario *rows;
	size_t n;
};

#define SCENARIO_LIST(rows) { rows, sizeof(rows) / sizeof((rows)[0]) }

extern const struct scenario_list scenarios_pass;
extern const struct scenario_list scenarios_drop;
extern const struct scenario_list scenarios_encap;
extern const struct scenario_list scenarios_flow;
extern const struct scenario_list scenarios_rare;
extern const struct scenario_list scenarios_fragment;
extern const struct scenario_list scenarios_options;
extern const struct scenario_list scenarios_quic;
extern const struct scenario_list scenarios_icmp;
extern const struct scenario_list scenarios_too_big;

#endif
