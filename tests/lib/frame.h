/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TESTS_FRAME_H
#define FAIRLEAD_TESTS_FRAME_H

/*
 * Ethernet frames for tests: build one from a few words, wrap it as a balancer
 * should, print it, compare two. Bytes are laid by hand at the offsets that the
 * RFCs give; nothing of include/ or bpf/ is used, so that a mistake there does
 * not cancel out.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Room for an IPv6 packet longer than any IPv4 packet. */
#define FRAME_MAX 66000
#define ETH_SIZE 14
#define ETH_FRAME_MIN 60 /* without its check sequence */

/* Addresses out of the documentation ranges, RFC 5737 and RFC 3849. */
#define CLIENT4 "198.51.100.7"
#define CLIENT6 "2001:db8:c::7"
#define CLIENT_PORT 40000
#define VIP4 "203.0.113.10"
#define VIP6 "2001:db8::10"
#define VIP_PORT 443

enum tcp_flag {
	TCP_FIN = 0x01,
	TCP_SYN = 0x02,
	TCP_RST = 0x04,
	TCP_PSH = 0x08,
	TCP_ACK = 0x10,
	TCP_URG = 0x20,
	TCP_ECE = 0x40, /* alone: as good as none, and not zero */
};

struct frame {
	size_t size;
	uint8_t data[FRAME_MAX];
};

/*
 * What differs from a TCP segment with ACK from the client to the VIP. A field
 * that is zero has its usual value.
 */
struct frame_spec {
	bool v6;
	const char *src, *dst;
	uint16_t sport, dport;
	uint8_t protocol;  /* TCP */
	bool protocol0;    /* IPv4 with protocol 0, which stands for TCP above */
	uint8_t tcp_flags; /* TCP_ACK */
	uint8_t tos;       /* or traffic class */
	uint8_t options;   /* bytes of IPv4 options, a multiple of 4 */
	/*
	 * IPv4 flags and offset, host order; of IPv6 offset and more-fragments as
	 * IPv4 has them, for the 'f' among the extensions.
	 */
	uint16_t fragment;
	uint16_t id;       /* IPv4 identification, or of the fragment header */
	uint8_t tags;      /* VLAN tags, 0 to 2 */
	/*
	 * IPv6 extension headers in order: h hop-by-hop, d destination, r routing,
	 * f fragment, a authentication; L hop-by-hop of 2048 bytes.
	 */
	const char *extensions;
	uint16_t payload;  /* bytes behind the transport header */
	const char *head;  /* the first of them, as hexadecimal digits and blanks */
	uint16_t padding;  /* bytes behind the IP packet */
	/* Not as it should be: */
	uint16_t ethertype;
	uint8_t version, ihl; /* ihl in words, as in the packet */
	uint16_t ip_len;      /* the field: IPv4 total, IPv6 payload length */
	uint16_t size;        /* of the frame: the rest is cut off */
};

enum tunnel_kind {
	TUNNEL_PLAIN, /* IPIP, or GUE variant 0 when there is a port */
	TUNNEL_GUE1,  /* variant 1 */
	TUNNEL_GRE,
	TUNNEL_L2, /* MAC addresses only */
};

/* How a backend wants its packets. */
struct tunnel {
	enum tunnel_kind kind;
	uint8_t mac_dst[6], mac_src[6];
	bool outer6;
	const char *src, *dst;
	uint16_t gue_port; /* 0: IPIP */
};

/* 4 or 16 bytes in network order; aborts on what is no address. */
void frame_address(const char *text, bool v6, uint8_t *bytes);

void frame_build(const struct frame_spec *spec, struct frame *out);

/* Where the IP header is, behind the tags. */
size_t frame_l3(const struct frame *frame);

/*
 * The frame as it must leave for a backend: its tags, DF, TTL 64, DSCP and ECN
 * of the inner packet, and nothing behind that. Flow label and UDP source port are the sender's choice:
 * frame_copy_entropy takes them from a frame that was sent.
 */
void frame_wrap(const struct frame *in, const struct tunnel *tunnel,
		struct frame *out);
void frame_copy_entropy(const struct frame *from, const struct tunnel *tunnel,
			struct frame *to);

uint32_t frame_flow_label(const struct frame *frame);
/* Of the UDP header behind the outer IP header. */
uint16_t frame_udp_source(const struct frame *frame, bool outer6);

/* Length of the IP packet by its own header. */
size_t frame_ip_length(const struct frame *frame);

/* One line a header. */
void frame_print(FILE *to, const struct frame *frame);
/* True when equal; else prints both, decoded, and the lines that differ. */
bool frame_equal(FILE *to, const struct frame *expected,
		 const struct frame *got);

#endif
