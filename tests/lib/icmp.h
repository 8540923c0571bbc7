/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TESTS_ICMP_H
#define FAIRLEAD_TESTS_ICMP_H

/*
 * ICMP for tests: messages to a VIP, and the answers that a balancer must give,
 * every byte of them. Like frame.h it shares nothing with bpf/: checksums are
 * computed over the whole message each time.
 */

#include "frame.h"

struct icmp_spec {
	bool v6;
	const char *src, *dst; /* the client, the VIP */
	uint8_t type, code;
	uint8_t hop_limit;   /* or TTL; 64 */
	uint8_t options;     /* bytes of IPv4 options, or a destination options header */
	uint16_t fragment;   /* IPv4 flags and offset */
	uint16_t id, seq;    /* the four bytes behind the checksum */
	uint16_t payload;    /* bytes behind them, when nothing is quoted */
	const uint8_t *data; /* those bytes; NULL: letters */
	/* The packet that an error quotes, and how much behind its IP header. */
	const struct frame_spec *quote;
	uint8_t quote_l4;       /* 0: 8 bytes */
	uint8_t quote_headers;  /* bytes of destination options in a quoted IPv6 packet */
	bool quote_cut_short;   /* nothing behind the IP header, nor all of that */
	uint16_t padding, size; /* as in struct frame_spec */
};

void icmp_build(const struct icmp_spec *spec, struct frame *out);

/* 802.1Q, behind an 802.1ad one when there are two. */
void frame_add_tags(struct frame *frame, unsigned int n);

void icmp_echo_answer(const struct frame *request, struct frame *out);
void icmp_too_big_answer(const struct frame *packet, uint16_t mtu, struct frame *out);

#endif
