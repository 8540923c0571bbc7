/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_PROBE_ABI_H
#define FAIRLEAD_PROBE_ABI_H

/*
 * In-path probes: what bpf/probe.bpf.c and user space share.
 *
 *   probe_marks    SO_MARK --> struct probe_target
 *                                | backend
 *   backends       backend id --> struct backend, the balancer's own map
 *
 * A mark is a whole number and not a set of bits: it is compared as a whole and
 * never masked into other marks. All that begin with PROBE_MARK_BASE in the bits of
 * PROBE_MARK_FIXED are ours, and nobody else on the host may set one of these:
 *
 *   31            20 19  16 15 14 13            0
 *   1111 1010 0001   nnnn   0  0  nn nnnn nnnn nnnn    n: which probe
 *
 * Rules of others that look at single bits mostly look at bits 14 and 15 (0x4000 and
 * 0x8000, what Kubernetes masquerades and drops), which are zero in ours, or compare
 * bits 16 to 23 with small numbers (0x04 and 0x08, Tailscale), where ours have 0x10
 * and more. Where another rule of the host matches all the same, another base does.
 */

#include <linux/types.h>

#ifndef PROBE_MARK_BASE
#define PROBE_MARK_BASE 0xfa100000U
#endif
#define PROBE_MARK_FIXED 0xfff0c000U

#define PROBE_LOW_BITS 14
#define PROBE_NUMBER_BITS 18
#define PROBES_MAX (1U << PROBE_NUMBER_BITS)

/* The mark of probe n, which is less than PROBES_MAX; and back. */
#define PROBE_MARK(n)                                                          \
	(PROBE_MARK_BASE | ((n) & ((1U << PROBE_LOW_BITS) - 1)) |              \
	 (n) >> PROBE_LOW_BITS << 16)
#define PROBE_NUMBER(mark)                                                     \
	(((mark) & ((1U << PROBE_LOW_BITS) - 1)) |                             \
	 ((mark) >> 16 & 0xf) << PROBE_LOW_BITS)

#define PROBE_MARK_IS_OURS(mark) (((mark) & PROBE_MARK_FIXED) == PROBE_MARK_BASE)

_Static_assert(!(PROBE_MARK_BASE & ~PROBE_MARK_FIXED), "the base has no bits of n");
_Static_assert(PROBE_MARK_BASE, "packets without a mark are nobody's");

/* Where packets with a mark go, and what they have to be. */
struct probe_target {
	__u8 addr[16]; /* the VIP; IPv4 in the first four bytes, the rest zero */
	__be16 port;   /* 0: the protocol has none */
	__u16 backend; /* id */
	__u8 protocol;
	__u8 v6;
	__u8 pad[2];
};

_Static_assert(sizeof(struct probe_target) == 24, "probe_target");

/*
 * What becomes of packets with a mark of ours. X(NAME, "label", "help"); the place in
 * the list is the index into probe_counters.
 */
#define PROBE_FATES(X)                                                         \
	X(SENT, "sent", "into the tunnel")                                     \
	X(UNKNOWN, "unknown", "dropped: the mark is no probe's, or no longer") \
	X(DESTINATION, "destination",                                          \
	  "dropped: address, port or protocol are not those of the probe")     \
	X(MALFORMED, "malformed",                                              \
	  "dropped: in fragments, with a VLAN tag, or its headers are wrong")  \
	X(BACKEND_INVALID, "backend_invalid", "dropped: there is no such backend") \
	X(BACKEND_UNRESOLVED, "backend_unresolved",                            \
	  "dropped: next hop of the backend has no link-layer address")        \
	X(TOO_BIG, "too_big",                                                  \
	  "dropped: encapsulated packet exceeds the MTU towards the backend")  \
	X(NO_ROOM, "no_room", "dropped: the kernel makes no room for the tunnel's headers")

enum probe_fate {
#define X(name, label, help) PROBE_FATE_##name,
	PROBE_FATES(X)
#undef X
	PROBE_FATE__MAX,
};

#endif
