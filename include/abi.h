/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_ABI_H
#define FAIRLEAD_ABI_H

/*
 * What the BPF programs and user space share: map keys, map values, limits.
 *
 *   vip_sets4, 6  (address, port, protocol) --> struct vip_brief, of plain VIPs
 *   vips4, vips6  (address, port, protocol) --> struct vip, of all
 *                                                 | table
 *   tables        table id --> inner array: [0] struct table_header
 *                                           [1..] struct table_line, 32 ids each
 *                                                 | backend id
 *   backends      backend id --> struct backend  (outer header, egress)
 *   verdicts      (VIP id, backend id) --> struct verdict, of BACKEND_VERDICTS
 *
 *   flow_sets4, 6  CPU --> array: hash of the flow --> set of four flows
 *   flows4, 6      CPU --> LRU hash: struct flow_key --> struct flow
 *
 * Numbers are in host byte order unless their type is __be. Id 0 means none in
 * every id space. Any change of a size or a meaning raises FAIRLEAD_ABI.
 */

#include <linux/types.h>

#define FAIRLEAD_ABI 3

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
 * the address is ours whatever the port. Its `id` is the group under which the
 * services trie has the VIPs of the address that are not for one port. VIPs of
 * a prefix are in the services as well, and its address entry in a trie.
 */
enum vip_flag {
	VIP_ADDRESS = 1 << 0,  /* the address entry, not a service */
	VIP_SERVICES = 1 << 1, /* of an address: look into the services trie */
	VIP_NO_ECHO = 1 << 2,  /* echo requests to it are dropped */

	/* Of a service, which has VIP_NO_ECHO only for the daemon to read back: */
	VIP_ACL = 1 << 3,          /* look the source up in the ACL tries */
	VIP_ACL_DENY = 1 << 4,     /* sources that no list names are denied */
	VIP_QUIC = 1 << 5,         /* route by QUIC connection id first */
	VIP_TCP_JUNK = 1 << 6,     /* impossible TCP flags are let through */
	VIP_FRAGMENT_HASH = 1 << 7, /* all fragments by the hash of the 3-tuple */
	VIP_OVERSIZE = 1 << 8,     /* without DF: send what exceeds the MTU, DF clear */
	VIP_CAP = 1 << 9,          /* new_flow_cap counts */
	VIP_HASH_MODE = 1 << 10,   /* hash_mode is not HASH_5_TUPLE */
	/* More than one address or protocol: its flows are keyed by the whole tuple */
	VIP_WIDE = 1 << 11,
	VIP_KEEP_DOWN = 1 << 12,   /* flows of a backend that fails its check stay */
};

/* What of a packet chooses the slot; the rest counts as zero (flow_hash.h). */
enum hash_mode {
	HASH_5_TUPLE,
	HASH_SOURCE,          /* source address */
	HASH_SOURCE_DEST,     /* both addresses and the protocol */
	HASH_DEST_PORT,       /* destination port and protocol */
	HASH__MAX,
};

struct vip {
	__u16 id;    /* index into vip_counters */
	__u16 table; /* index into tables */
	__u16 flags; /* enum vip_flag */
	/*
	 * A known flow idle for longer is chosen again; FLOW_IDLE_MAX: never. Of a
	 * VIP of any protocol: one that is not TCP.
	 */
	__u16 idle; /* ticks */
	__u8 hash_mode; /* enum hash_mode */
	__u8 quic; /* QUIC_OPTION, when VIP_QUIC */
	__u16 tcp_idle; /* as idle, of TCP */
	/* New flows a second and CPU that are remembered, when VIP_CAP. */
	__u32 new_flow_cap;
};

/*
 * What most packets need of a VIP: the first eight bytes of struct vip, which
 * change in one store. VIPs of one port, TCP or UDP, without VIP_ACL or VIP_QUIC,
 * are in sets of four by flow_mix of their key, so that a plain packet finds its
 * VIP in one cache line. Where a set is full the rest is found the other way, in
 * vips4 and vips6, which have every VIP of one port.
 */
struct vip_brief {
	__u16 id, table, flags, idle;
};

#define VIP_WAYS 4
#define VIP_SET_BITS 15
#define VIP_SETS (1 << VIP_SET_BITS)

/* A way is in use when its key is not 0, which no VIP has. */
struct vip_set4 {
	__u64 key[VIP_WAYS]; /* struct vip_key4 as it lies in memory */
	struct vip_brief vip[VIP_WAYS];
};

struct vip_set6 {
	__u64 addr[2][VIP_WAYS]; /* halves of the address as they lie in memory */
	__u64 service[VIP_WAYS]; /* port, protocol of struct vip_key6; rest 0 */
	struct vip_brief vip[VIP_WAYS];
};

/* Bits by mix of an address: clear, and it is no VIP's. Not for prefixes. */
#define VIP_FILTER_BITS 19 /* log2 of their number */
#define VIP_FILTER_LINES (1 << (VIP_FILTER_BITS - 9))
struct vip_filter_line {
	__u64 bits[8];
};

/*
 * QUIC-LB: the id that the config bits of a connection id have to have, in the
 * same three bits, and how long the server id behind them is.
 */
#define QUIC_OPTION(config_id, length) ((config_id) << 5 | (length))
#define QUIC_CONFIG_ID(octet) ((octet) >> 5)
#define QUIC_SERVER_ID_LENGTH(option) ((option) & 0x0f)
#define QUIC_CONFIG_ID_MAX 6 /* 7: not for routing */
#define QUIC_SERVER_ID_MAX 15

/*
 * Which backend of a VIP has a server id: value, a backend id (__u16). The
 * daemon writes the entries before the VIP says VIP_QUIC, and takes them away
 * after it does no more.
 */
struct quic_server_key {
	__u16 vip;   /* id */
	__u8 length; /* of the server id; the rest of id is zero */
	__u8 id[QUIC_SERVER_ID_MAX];
};

#define MAX_QUIC_SERVERS (1 << 20) /* over all VIPs */

/*
 * Key of the services trie: of the bits behind prefix_len, group and protocol
 * and port in that order, the longest match wins, so that a range of ports (as
 * prefixes) beats any port and that beats any protocol. The daemon makes ranges
 * and prefixes disjoint, so that the most specific VIP is always the longest.
 */
struct service_key {
	__u32 prefix_len;
	__u32 group; /* of an address entry; whole, or no match */
	__u8 protocol;
	__u8 pad; /* always 0: counts as 8 more bits */
	__be16 port;
};

/* Which tries of prefixes have something: packets look into no other. */
enum vip_prefixes {
	VIP_PREFIXES4 = 1 << 0,
	VIP_PREFIXES6 = 1 << 1,
};

#define SERVICE_PREFIX_LEN_MAX 64
#define SERVICE_PREFIX_ANY_PROTOCOL 32
#define SERVICE_PREFIX_ANY_PORT 48
#define MAX_SERVICES (16 * MAX_VIPS)

/*
 * A VIP that no entry of vips4 or vips6 spells out, by its id: for the daemon
 * that adopts the maps. Packets do not read it.
 */
struct vip_record {
	__u8 addr[16]; /* IPv4 in the first four bytes */
	__be16 port, port_last;
	__u8 prefix_len;
	__u8 protocol; /* 0: any */
	__u8 v6;
	__u8 pad;
};

/* Key of the tries of VIP addresses that are prefixes; value: struct vip. */
struct prefix_key4 {
	__u32 prefix_len;
	__be32 addr;
};

struct prefix_key6 {
	__u32 prefix_len;
	__u8 addr[16];
};

/*
 * Keys of the ACL tries: the longest prefix of the source address wins among
 * those of the VIP, whose id is whole or no match. The daemon writes the entries
 * before the VIP gets VIP_ACL, and takes them away after it has lost it.
 */
struct acl_key4 {
	__u32 prefix_len; /* 32 of the id and those of the address */
	__u32 vip;        /* id */
	__be32 addr;
};

struct acl_key6 {
	__u32 prefix_len;
	__u32 vip;
	__u8 addr[16];
};

#define ACL_PREFIX_LEN_VIP 32
#define MAX_ACL_ENTRIES (1 << 20) /* of each family, over all VIPs */

struct acl_entry {
	__u8 deny; /* 0: the source may */
	__u8 pad[3];
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
	/* Line of the slots' previous owners, which follow the owners; 0: none */
	__u32 previous;
	__u32 pad;
	__u64 reserved[4];
};

/* Slot s is ids[s % 32] of line 1 + s / 32; id 0 is a slot without backend. */
struct table_line {
	__u16 ids[TABLE_LINE_SLOTS];
};

enum encap {
	ENCAP_IPIP = 0, /* RFC 2003, RFC 2473, RFC 4213 */
	ENCAP_GUE = 1,  /* draft-ietf-intarea-gue, variant 0 */
	ENCAP_GUE1 = 2, /* the same, variant 1: the inner packet follows UDP */
	ENCAP_GRE = 3,  /* RFC 2784, no optional fields */
	ENCAP_L2 = 4,   /* none: only the MAC addresses are rewritten */
	ENCAP__MAX,
};

enum backend_flag {
	BACKEND_VALID = 1 << 0,    /* the id is in use */
	BACKEND_DRAINING = 1 << 1, /* known flows only */
	BACKEND_RESOLVED = 1 << 2, /* MAC addresses and ifindex are good */
	BACKEND_OUTER_V6 = 1 << 3, /* outer header is IPv6 */
	BACKEND_DOWN = 1 << 4,     /* its known flows are chosen again */
	/* IPIP or GUE variant 0 from one source: straight code knows how */
	BACKEND_PLAIN = 1 << 5,
	/* With BACKEND_DOWN, which then is not what the operator says: VIP_KEEP_DOWN counts */
	BACKEND_FAILED = 1 << 6,
	/* Of some VIPs the verdicts say how it is used: never on straight code alone */
	BACKEND_VERDICTS = 1 << 7,
};

/* Of them, what becomes of known flows, and whether those that begin may go there. */
#define BACKEND_USE_FLAGS (BACKEND_DRAINING | BACKEND_DOWN | BACKEND_FAILED)

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
	__u16 pad;
	/*
	 * Low bits of the outer source that the flow's hash fills, so that
	 * receivers spread IPIP and GRE over their queues; 0: none. For IPv6
	 * they are the last 32 bits of the address.
	 */
	__be32 source_mask;
	union {
		struct {
			__be32 src, dst;
		} v4;
		struct {
			__u8 src[16], dst[16];
		} v6;
	} outer;
};

/*
 * How one VIP uses a backend, where that is not what the flags of the backend say:
 * other VIPs have other checks of it, or this one's pool lists it no more. The daemon
 * writes an entry before the backend says BACKEND_VERDICTS, and takes the last away
 * after it says so no more.
 */
struct verdict_key {
	__u16 vip, backend; /* ids */
};

struct verdict {
	__u8 flags; /* of BACKEND_USE_FLAGS, in the place of the backend's own */
	__u8 pad[3];
};

#define MAX_VERDICTS (1 << 17)
/* New ones are written before old ones are deleted. */
#define VERDICTS_ROOM (2 * MAX_VERDICTS)

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
	/* a second packet was seen, other than a SYN: the flow is real */
	FLOW_CONFIRMED = 1 << 0,
	FLOW_CLOSING = 1 << 1, /* FIN or RST was seen */
	FLOW_GUESS = 1 << 2,   /* began in the middle: only the table said where */
};

/*
 * When an entry ends, and its flags, in 16 bits: the tick, modulo 2^13, up to
 * which it lives, above three bits of enum flow_flag. What is left is up to
 * FLOW_IDLE_MAX; anything more is an entry that has ended. Who asks after
 * another FLOW_TICKS - FLOW_IDLE_MAX ticks is told otherwise, so the daemon
 * sweeps ended entries before.
 */
#define FLOW_TICK_SECONDS 2
/* 2^32 over the jiffies of a tick, of which the kernel counts hz a second */
#define CLOCK_TICK_MULTIPLIER(hz) ((1ULL << 32) / ((hz) * FLOW_TICK_SECONDS))
#define FLOW_FLAG_BITS 3
#define FLOW_FLAGS ((1 << FLOW_FLAG_BITS) - 1)
#define FLOW_TICKS (1 << (16 - FLOW_FLAG_BITS))
#define FLOW_IDLE_MAX 7680

#define FLOW_STAMP(until, flags) ((__u16)((until) << FLOW_FLAG_BITS | (flags)))
/* Ticks that are left; over FLOW_IDLE_MAX: none. */
#define FLOW_LEFT(stamp, now)                                                  \
	((((stamp) >> FLOW_FLAG_BITS) - (now)) & (FLOW_TICKS - 1))

struct flow {
	__u16 backend;   /* 0: no entry */
	__u16 alternate; /* of a guess: whose slot it was before; 0: nobody's */
	__u16 stamp;     /* FLOW_STAMP */
	__u16 pad;
};

/*
 * Flows by hash of their addresses and ports. The four ways' fields lie beside
 * each other, so that one load reads all source ports and an IPv4 set is one
 * cache line; in an IPv6 set the addresses are the second. A way is empty when its
 * backend is 0. A VIP in the sets has one address and protocol, so its id stands
 * for both.
 */
#define FLOW_WAYS 4

#define FLOW_SET_BITS_MAX 26
#define FLOW_SET_BITS_START 12 /* in use when there are no flows yet */

/*
 * How many sets are in use, on all CPUs, by family (1: IPv6). Packets keep it, and a
 * program that takes over from another begins with it.
 */
struct flow_levels {
	__u32 mask[2]; /* the number less one; 0: nobody has said yet */
	__u32 crowds[2]; /* since then: flows confirmed in a set that had two and more */
};

struct flow_set4 {
	__be16 sport[FLOW_WAYS], dport[FLOW_WAYS];
	__u16 vip[FLOW_WAYS]; /* id */
	__u16 backend[FLOW_WAYS], alternate[FLOW_WAYS], stamp[FLOW_WAYS];
	__be32 src[FLOW_WAYS];
};

struct flow_set6 {
	__be16 sport[FLOW_WAYS], dport[FLOW_WAYS];
	__u16 vip[FLOW_WAYS];
	__u16 backend[FLOW_WAYS], alternate[FLOW_WAYS], stamp[FLOW_WAYS];
	__u64 pad[2];
	__u64 src[FLOW_WAYS][2]; /* as they lie in memory */
};

/* Where flows are kept. */
enum flow_form {
	FLOW_FORM_SETS, /* flow_sets4, 6; those of wide VIPs in flows4, 6 */
	FLOW_FORM_LRU,  /* all in flows4, 6 */
	FLOW_FORM__MAX,
};

/* What the first fragment of a packet leaves for the later ones. */
struct fragment_key {
	__u8 src[16], dst[16]; /* IPv4 in the first four bytes */
	__be32 id;             /* IPv4: the 16-bit identification */
	__u8 protocol;         /* IPv4: of the packet; IPv6: IPPROTO_FRAGMENT */
	__u8 pad[3];
};

struct fragment_note {
	__u16 backend;
	__u16 vip; /* id, for the counters */
	__u16 oversize; /* 1: the VIP lets through what is too big */
	__u16 pad;
};

#define MAX_FRAGMENTED_PACKETS 65536

/* Counters are per CPU: one writer each, so plain increments do. */
struct vip_counters {
	__u64 packets, bytes;   /* forwarded; bytes of the inner IP packets */
	__u64 new_flows;        /* chosen by the table */
	__u64 drops;            /* dropped after the VIP was known */
	__u64 quic_unknown;     /* of these by the hash: nobody's server id */
};

/* New flows of a VIP with a limit, on one CPU. */
struct new_flow_counters {
	__u32 tick;  /* when `count` began, in units of struct flow's seen */
	__u32 count; /* since then */
	__u64 unremembered; /* packets forwarded by the table beyond the limit */
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
	__u32 flows_per_cpu; /* of each family */
	__u32 flow_form;     /* enum flow_form */
	__u32 flow_set_bits; /* log2 of the most sets of each family and CPU */
	__u64 mix_key;       /* of flow_mix.h: random, odd */
	__u64 hash_key[2]; /* flow hash: little-endian halves of the 16 bytes */
};

_Static_assert(sizeof(struct vip_key4) == 8, "vip_key4");
_Static_assert(sizeof(struct vip_key6) == 20, "vip_key6");
_Static_assert(sizeof(struct vip) == 16, "vip");
_Static_assert(sizeof(struct service_key) == 12, "service_key");
_Static_assert(sizeof(struct quic_server_key) == 18, "quic_server_key");
_Static_assert(sizeof(struct vip_record) == 24, "vip_record");
_Static_assert(sizeof(struct prefix_key4) == 8, "prefix_key4");
_Static_assert(sizeof(struct prefix_key6) == 20, "prefix_key6");
_Static_assert(sizeof(struct acl_key4) == 12, "acl_key4");
_Static_assert(sizeof(struct acl_key6) == 24, "acl_key6");
_Static_assert(sizeof(struct acl_entry) == 4, "acl_entry");
_Static_assert(sizeof(struct table_header) == 64, "table_header");
_Static_assert(sizeof(struct table_line) == 64, "table_line");
_Static_assert(sizeof(struct backend) == 64, "backend");
_Static_assert(sizeof(struct verdict_key) == 4, "verdict_key");
_Static_assert(sizeof(struct verdict) == 4, "verdict");
_Static_assert(sizeof(struct flow_key4) == 16, "flow_key4");
_Static_assert(sizeof(struct flow_key6) == 40, "flow_key6");
_Static_assert(sizeof(struct flow) == 8, "flow");
_Static_assert(sizeof(struct fragment_key) == 40, "fragment_key");
_Static_assert(sizeof(struct fragment_note) == 8, "fragment_note");
_Static_assert(sizeof(struct vip_counters) == 40, "vip_counters");
_Static_assert(sizeof(struct new_flow_counters) == 16, "new_flow_counters");
_Static_assert(sizeof(struct backend_counters) == 32, "backend_counters");
_Static_assert(sizeof(struct drop_counters) == 16, "drop_counters");
_Static_assert(sizeof(struct totals) == 32, "totals");
_Static_assert(sizeof(struct vip_brief) == 8, "vip_brief");
_Static_assert(sizeof(struct vip_set4) == 64, "vip_set4");
_Static_assert(sizeof(struct vip_set6) == 128, "vip_set6");
_Static_assert(sizeof(struct vip_filter_line) == 64, "vip_filter_line");
_Static_assert(sizeof(struct flow_set4) == 64, "flow_set4");
_Static_assert(sizeof(struct flow_set6) == 128, "flow_set6");
_Static_assert(sizeof(struct flow_levels) == 16, "flow_levels");
_Static_assert(sizeof(struct config) == 40, "config");

/* Decapsulation on the backend: */

/* A VIP address as the decap program keys it; IPv4 as ::ffff:a.b.c.d. */
struct decap_key {
	__u8 addr[16];
};

struct decap_counters {
	__u64 ipip, gue;   /* stripped; gue is variant 0, gue1 variant 1 */
	__u64 gue1, gre;
	__u64 not_vip;     /* tunnel packet for another inner address: passed */
	__u64 malformed;   /* tunnel packet to a VIP that is cut short: dropped */
};

_Static_assert(sizeof(struct decap_key) == 16, "decap_key");
_Static_assert(sizeof(struct decap_counters) == 48, "decap_counters");

#endif
