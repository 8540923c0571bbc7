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
 * the pinned counters and a metric's history, so a retired reason stays a hole:
 * 4, for all protocols but TCP and UDP.
 */
#define DROP_REASONS(X)                                                        \
	X(1, IP_MALFORMED, "ip_malformed",                                     \
	  "IP version, header length or total length is wrong")                \
	X(2, L4_TRUNCATED, "l4_truncated",                                     \
	  "TCP, UDP or ICMP header is not complete")                           \
	X(3, FRAGMENT, "fragment", "echo request in fragments")                \
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
	  "egress interface is not in the redirect map")                       \
	X(13, TCP_FLAGS, "tcp_flags", "TCP flags that no sender means")         \
	X(14, FRAGMENT_UNKNOWN, "fragment_unknown",                            \
	  "later fragment whose first fragment was not seen")                  \
	X(15, EXTENSION_HEADERS, "extension_headers",                          \
	  "more IPv6 extension headers than are walked")                       \
	X(16, SOURCE_DENIED, "source_denied",                                  \
	  "source address is on a deny list, or on no allow list")             \
	X(17, ICMP_UNHANDLED, "icmp_unhandled",                                \
	  "ICMP message to a VIP that is not answered and quotes no flow of it")  \
	X(18, ICMP_LIMIT, "icmp_limit",                                        \
	  "ICMP answer not sent: the limit of this CPU is reached")            \
	X(19, TOO_BIG_NO_REPLY, "too_big_no_reply",                            \
	  "packet exceeds the MTU and must not be answered with ICMP")         \
	X(20, ECHO_OFF, "echo_off", "echo request to a VIP that answers none")

enum drop_reason {
	DROP_REASON_NONE = 0,
#define X(id, name, label, help) DROP_REASON_##name = id,
	DROP_REASONS(X)
#undef X
	DROP_REASON__MAX,
};

#endif
