/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_VIP_SPEC_H
#define FAIRLEAD_VIP_SPEC_H

/*
 * What a VIP is for, as a value: an address or a prefix, ports, a protocol.
 *
 *   203.0.113.10:443/tcp          one port
 *   203.0.113.10:8000-8999/udp    a range of ports
 *   203.0.113.10:any/tcp          every port
 *   203.0.113.10:any/any          every protocol but ICMP
 *   203.0.113.0/28:443/tcp        every address of a prefix
 *   [2001:db8::/64]:443/tcp
 *
 * Several VIPs may take a packet; the most specific has it: the longest prefix,
 * then a protocol of its own before any, then the fewest ports. Two VIPs of one
 * prefix and protocol may not share ports in part, so that there always is one.
 */

#include <stdbool.h>
#include <stdint.h>

#include "addr.h"

struct vip_spec {
	struct addr addr;
	uint8_t prefix_len; /* 32 or 128: one address; the bits behind are zero */
	uint8_t protocol;   /* IPPROTO_TCP, IPPROTO_UDP, or 0: any but ICMP */
	/* Host order, inclusive; 0 to 65535 when it takes every port. */
	uint16_t port, port_last;
};

#define VIP_SPEC_TEXT_MAX 72 /* "[v6/128]:65535-65535/tcp" */

/* The shortest prefix that a VIP may be, of either family. */
#define VIP_PREFIX_LEN_MIN 8

/*
 * Port 0 is refused: the word "any" is the only way to say every port. A prefix
 * of one address, and a range of one port, are what they hold.
 */
int vip_spec_parse(const char *text, struct vip_spec *out, struct err *err);
const char *vip_spec_format(const struct vip_spec *spec,
			    char text[VIP_SPEC_TEXT_MAX]);

/* Total order: address, prefix (the shorter first), ports, protocol. */
int vip_spec_compare(const struct vip_spec *a, const struct vip_spec *b);

/* One address, one port and a protocol: no VIP is more specific. */
bool vip_spec_is_exact(const struct vip_spec *spec);
bool vip_spec_any_port(const struct vip_spec *spec);
/* Of its family: 32 or 128. */
uint8_t addr_bits(const struct addr *addr);
/* Is the address in the prefix that the VIP is for? */
bool vip_spec_covers(const struct vip_spec *spec, const struct addr *addr);
/* Some packet of the first's own prefix and protocol is for both, and neither
 * has all the ports of the other. */
bool vip_spec_clash(const struct vip_spec *a, const struct vip_spec *b);

/*
 * Does a take packets before b, when both could? Negative: a does. Not zero
 * for VIPs that take a packet in common and do not clash.
 */
int vip_spec_precedence(const struct vip_spec *a, const struct vip_spec *b);

#endif
