/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_PACKET_SPEC_H
#define FAIRLEAD_PACKET_SPEC_H

/* A packet in words, between its text and its bytes. Private to packet*.c. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "addr.h"
#include "packet.h"
#include "packet_wire.h"

#define SPEC_OPTIONS_MAX 40
#define SPEC_EXTENSIONS_MAX 16
#define SPEC_UNSET (-1)

struct packet_spec {
	uint8_t smac[6], dmac[6];
	uint16_t vlan[WIRE_VLAN_TAGS_MAX]; /* tag control information */
	size_t n_vlans;
	struct addr src, dst;
	bool has_ports;
	uint16_t sport, dport;
	uint8_t protocol;
	bool raw; /* `ip`: the payload is all behind the IP header, whatever it is */
	uint8_t ttl, tos;
	uint32_t label, id;
	bool df;
	bool fragment, more; /* one of several; more follow */
	uint16_t offset;     /* of the fragment, in bytes */
	uint8_t options[SPEC_OPTIONS_MAX];
	size_t n_options; /* bytes of IPv4 options, padded */
	uint8_t extensions[SPEC_EXTENSIONS_MAX]; /* IPv6 header numbers */
	size_t n_extensions;
	uint8_t tcp_flags;
	uint32_t seq, ack;
	uint16_t window;
	const char *icmp_word; /* a type whose number the family decides */
	uint8_t icmp_type;
	int icmp_code; /* SPEC_UNSET: the word's, else 0 */
	uint32_t icmp_rest;
	bool whole; /* an IP packet without Ethernet: what an ICMP error quotes */
	uint32_t quoted; /* bytes of it; 0: all */
	bool has_payload, has_quote;
	struct packet payload;
	/* Not as it should be; SPEC_UNSET: as it should be. */
	int version, ihl, ip_length, ip_check, l4_check;
	uint32_t pad, cut;
};

/*
 * Reads from text, the packet alone when out->whole is set; *at as
 * packet_from_text(). The caller clears *out always.
 */
int packet_spec_parse(const char *text, struct packet_spec *out, size_t *at,
		      struct err *err);
void packet_spec_clear(struct packet_spec *spec);
#define _cleanup_packet_spec_ __attribute__((cleanup(packet_spec_clear)))

/* -EINVAL: it is longer than an IP packet or a frame can be. */
int packet_build(const struct packet_spec *spec, struct packet *out,
		 struct err *err);

#endif
