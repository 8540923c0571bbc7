/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_DROP_REASONS_H
#define FAIRLEAD_DROP_REASONS_H

/*
 * Every way in which the data plane refuses a packet, in one list.
 *
 * X(id, NAME, "label", "one line of help")
 *
 * The list generates the enum, the label table of the command and the metrics,
 * and the table in the manual page. It is append-only: an id is an index into
 * the pinned counters and a metric's history, so a retired reason stays a hole.
 */
#define DROP_REASONS(X)                                                        \
	X(1, IP_MALFORMED, "ip_malformed",                                     \
	  "IP version, header length or total length is wrong")                \
	X(2, L4_TRUNCATED, "l4_truncated",                                     \
	  "TCP or UDP header is not complete")                                 \
	X(3, FRAGMENT, "fragment", "fragment of an IP packet")                 \
	X(4, PROTOCOL, "protocol",                                             \
	  "protocol or extension header that no VIP serves")                   \
	X(5, NO_SERVICE, "no_service",                                         \
	  "port and protocol are not configured on the VIP address")           \
	X(6, TABLE_MISSING, "table_missing",                                   \
	  "lookup table of the VIP is not loaded")                             \
	X(7, NO_BACKEND, "no_backend", "VIP has no usable backend")            \
	X(8, BACKEND_INVALID, "backend_invalid",                               \
	  "table names a backend that is not loaded")                          \
	X(9, BACKEND_UNRESOLVED, "backend_unresolved",                         \
	  "next hop of the backend has no link-layer address")                 \
	X(10, TOO_BIG, "too_big",                                              \
	  "encapsulated packet exceeds the MTU towards the backend")           \
	X(11, HEADROOM, "headroom",                                            \
	  "driver left no room in front of the packet")                        \
	X(12, EGRESS_MISSING, "egress_missing",                                \
	  "egress interface is not in the redirect map")

enum drop_reason {
	DROP_REASON_NONE = 0,
#define X(id, name, label, help) DROP_REASON_##name = id,
	DROP_REASONS(X)
#undef X
	DROP_REASON__MAX,
};

#endif
