/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TESTS_DECAP_ROWS_H
#define FAIRLEAD_TESTS_DECAP_ROWS_H

/* What the decap program must do, one row a case. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/lib/frame.h"

#define GUE_PORT 6080
#define OTHER_GUE_PORT 7000

/*
 * The outer header, as far as it is not what a balancer sends for the inner
 * packet. A field that is zero has its usual value.
 */
struct outer {
	bool v6, gue, gue1, gre;
	uint8_t options; /* bytes of IPv4 options */
	uint8_t ecn;
	uint16_t padding; /* bytes behind the outer packet */
	uint16_t extra;   /* bytes between the inner packet's end and the outer's */
	uint8_t hlen;     /* words of GUE extension data, which are there */
	uint16_t dport;   /* of UDP */
	/* Not as it should be: */
	uint8_t version, ihl;
	uint16_t fragment;
	uint8_t protocol;     /* of the outer header */
	const char *dst;      /* of the outer IPv4 header */
	uint8_t gue_first;    /* bits over hlen: variant and C */
	bool gue_first_long;  /* as much extension data as if they were length */
	uint8_t gue_protocol; /* of the GUE header */
	uint16_t gue_flags;
	uint16_t gre_flags; /* flags and version */
	uint16_t gre_type;  /* ethertype */
	int16_t ip_len_off;  /* added to the outer IP length field */
	int16_t udp_len_off; /* added to the UDP length field */
	uint16_t size;       /* of the frame: the rest is cut off */
};

enum fate {
	STRIPPED_IPIP,
	STRIPPED_GUE,
	STRIPPED_GUE1,
	STRIPPED_GRE,
	PASSED,         /* untouched, counted nowhere */
	PASSED_NOT_VIP, /* untouched, counted */
	DROPPED,        /* counted as malformed */
};

struct row {
	const char *name;
	struct frame_spec inner;
	bool bare; /* the inner packet is sent as it is */
	struct outer outer;
	enum fate fate;
	uint8_t tos_after;       /* of the inner packet, when it changes */
	bool other_port_program; /* the program that was loaded for that port */
};

extern const struct row rows[];
extern const size_t n_rows;

#endif
