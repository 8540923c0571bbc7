/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_ABI_H
#define FAIRLEAD_ABI_H

/*
 * What the BPF programs and user space share: map keys, map values, limits.
 *
 *   vips4, vips6  (address, port, protocol) --> struct vip
 *                                                 | table
 *   tables        table id --> inner array: [0] struct table_header
 *                                           [1..] struct table_line, 32 ids each
 *                                                 | backend id
 *   backends      backend id --> struct backend  (outer header, egress)
 *
 *   flows4, flows6  CPU --> LRU hash: struct flow_key --> struct flow
 *
 * Numbers are in host byte order unless their type is __be. Id 0 means none in
 * every id space. Any change of a size or a meaning raises FAIRLEAD_ABI.
 */

#include <linux/types.h>

#define FAIRLEAD_ABI 1

#define FAIRLEAD_BPFFS "/sys/fs/bpf"
#define FAIRLEAD_PIN_ROOT FAIRLEAD_BPFFS "/fairlead"

/* Ids are __u16 and 0 is none, so this is also the number of objects. */
#define MAX_VIPS 65535
#define MAX_TABLES 65535
#define MAX_BACKENDS 65535
#define MAX_EGRESS 256

#define TABLE_SIZE_MIN 251
#define TABLE_SIZE_MAX 655373
#define TABLE_SIZE_DEFAULT 65537
#define TABLE_LINE_SLOTS 32

/* GUE, draft-ietf-intarea-gue, section 8.1: the port that IANA assigned. */
#define GUE_PORT_DEFAULT 6080

/* A VIP for every port has port 0. Protocol 0 is the address itself, below. */
struct vip_key4 {
	__be32 addr;
	__be16 port;
	__u8 protocol; /* IPPROTO_TCP or IPPROTO_UDP */
	__u8 pad;
};

struct vip_key6 {
	__u8 addr[16];
	__be16 port;
	__u8 protocol;
	__u8 pad;
};

/*
 * Each VIP address also has an entry with port 0 and protocol 0: it says that
 * the address is ours whatever the port, and which any-port VIPs exist on it.
 */
enum vip_flag {
	VIP_ADDRESS = 1 << 0,
	VIP_ANY_PORT_TCP = 1 << 1,
	VIP_ANY_PORT_UDP = 1 << 2,
};

struct vip {
	__u16 id;    /* index into vip_counters */
	__u16 table; /* index into tables */
	__u16 flags; /* enum vip_flag */
	__u16 pad;
};

/*
 * Line 0 of an inner table. The size travels with the slots, so that one swap
 * of the outer entry changes both: a VIP never looks into a table of one size
 * with another.
 */
struct table_header {
	__u32 size;   /* M: slots in use, a prime */
	__u32 n_live; /* backends that own at least one slot */
	/* FNV-1a 64 of the builder's output, the same on every host */
	__u64 digest;
	/* FNV-1a 64 of the lines as they are: backend ids of this host */
	__u64 ids_digest;
	__u64 reserved[5];
};

/* Slot s is ids[s % 32] of line 1 + s / 32; id 0 is a slot without backend. */
struct table_line {
	__u16 ids[TABLE_LINE_SLOTS];
};

enum encap {
	ENCAP_IPIP = 0, /* RFC 2003, RFC 2473, RFC 4213 */
	ENCAP_GUE = 1,  /* draft-ietf-intarea-gue, variant 0 */
	ENCAP__MAX,
};

enum backend_flag {
	BACKEND_VALID = 1 << 0,    /* the id is in use */
	BACKEND_DRAINING = 1 << 1, /* known flows only */
	BACKEND_RESOLVED = 1 << 2, /* MAC addresses and ifindex are good */
	BACKEND_OUTER_V6 = 1 << 3, /* outer header is IPv6 */
	BACKEND_DOWN = 1 << 4,     /* its known flows are chosen again */
};

/*
 * One cache line: all that the packet path needs to send to a backend. The
 * address, encap and family of an id never change while it is in use; only the
 * next hop does.
 */
struct backend {
	__u8 mac_dst[6];
	__u8 mac_src[6];
	__be16 ethertype; /* of the outer packet */
	__u16 mtu;        /* largest outer IP packet */
	__u32 ifindex;    /* egress */
	__u8 encap;       /* enum encap */
	__u8 flags;       /* enum backend_flag */
	/*
	 * Ones' complement sum, folded, of the outer IPv4 header with what the
	 * packet decides left zero (TOS, total length, protocol) and the
	 * checksum; big-endian words as loaded by the host.
	 */
	__u16 ip4_sum;
	__be16 gue_port;
	__u16 pad[3];
	union {
		struct {
			__be32 src, dst;
		} v4;
		struct {
			__u8 src[16], dst[16];
		} v6;
	} outer;
};

struct flow_key4 {
	__be32 src, dst;
	__be16 sport, dport;
	__u8 protocol;
	__u8 pad[3];
};

struct flow_key6 {
	__u8 src[16], dst[16];
	__be16 sport, dport;
	__u8 protocol;
	__u8 pad[3];
};

enum flow_flag {
	/* a packet other than a SYN was seen: the connection is real */
	FLOW_CONFIRMED = 1 << 0,
};

struct flow {
	__u16 backend;
	__u8 flags; /* enum flow_flag */
	__u8 pad;
	__u32 seen; /* CLOCK_MONOTONIC_COARSE in units of 2^30 ns, about a second */
};

/* Counters are per CPU: one writer each, so plain increments do. */
struct vip_counters {
	__u64 packets, bytes;   /* forwarded; bytes of the inner IP packets */
	__u64 new_flows;        /* chosen by the table */
	__u64 drops;            /* dropped after the VIP was known */
};

struct backend_counters {
	__u64 packets, bytes;
	__u64 new_flows;
	__u64 pad;
};

struct drop_counters {
	__u64 packets, bytes; /* bytes of the frames */
};

struct totals {
	__u64 passed; /* not for a VIP: handed to the kernel untouched */
	__u64 sent_tx, sent_redirect;
	__u64 pad;
};

/* Written once by the daemon; a later daemon adopts the maps by it. */
struct config {
	__u32 abi;
	__u32 flows_per_cpu;
	__u64 hash_key[2]; /* flow hash: little-endian halves of the 16 bytes */
};

_Static_assert(sizeof(struct vip_key4) == 8, "vip_key4");
_Static_assert(sizeof(struct vip_key6) == 20, "vip_key6");
_Static_assert(sizeof(struct vip) == 8, "vip");
_Static_assert(sizeof(struct table_header) == 64, "table_header");
_Static_assert(sizeof(struct table_line) == 64, "table_line");
_Static_assert(sizeof(struct backend) == 64, "backend");
_Static_assert(sizeof(struct flow_key4) == 16, "flow_key4");
_Static_assert(sizeof(struct flow_key6) == 40, "flow_key6");
_Static_assert(sizeof(struct flow) == 8, "flow");
_Static_assert(sizeof(struct vip_counters) == 32, "vip_counters");
_Static_assert(sizeof(struct backend_counters) == 32, "backend_counters");
_Static_assert(sizeof(struct drop_counters) == 16, "drop_counters");
_Static_assert(sizeof(struct totals) == 32, "totals");
_Static_assert(sizeof(struct config) == 24, "config");

/* Decapsulation on the backend: */

/* A VIP address as the decap program keys it; IPv4 as ::ffff:a.b.c.d. */
struct decap_key {
	__u8 addr[16];
};

struct decap_counters {
	__u64 ipip, gue;   /* stripped */
	__u64 not_vip;     /* tunnel packet for another inner address: passed */
	__u64 malformed;   /* tunnel packet to a VIP that is cut short: dropped */
};

_Static_assert(sizeof(struct decap_key) == 16, "decap_key");
_Static_assert(sizeof(struct decap_counters) == 32, "decap_counters");

#endif
