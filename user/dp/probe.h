/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_PROBE_H
#define FAIRLEAD_PROBE_H

/*
 * In-path probes: sockets of this host whose packets to a VIP go to one backend, by the
 * way of traffic. include/probe_abi.h has the marks, bpf/probe.bpf.c is the program.
 *
 * The owner of a socket sets SO_MARK to the mark of a probe before it connects to the
 * VIP, for which it needs CAP_NET_RAW (since Linux 5.17) or CAP_NET_ADMIN. Its packets
 * leave by the interface that the host's own route to the VIP names, so that is where the
 * program has to be (probes_route, probes_attach); there they get the backend's outer
 * header and leave by the backend's interface. By an interface without the program they
 * would leave in the clear: ask for the route again whenever routes change. Answers come
 * from the VIP directly, past the tunnel.
 *
 * A TCP probe that sends much should set TCP_MAXSEG to PROBE_TCP_MSS: nobody tells its
 * socket of the smaller MTU behind the tunnel, and what does not fit is dropped.
 *
 * The program outlives the daemon as a filter of tc, with the marks that it had: each
 * daemon has a map of its own, and its first probes_attach() exchanges both at once.
 * What is kept in /sys/fs/bpf/fairlead/INSTANCE/ (pin_dir) beside the balancer's maps:
 *
 *   probe_counters   packets by enum probe_fate, for the next daemon to go on with
 *   probe_qdiscs     interfaces on which the clsact qdisc is ours
 *
 * Two instances cannot have probes on one interface: to each, marks of the other would be
 * unknown. The second is refused.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/addr.h"
#include "core/err.h"
#include "probe_abi.h"

/* Fits any tunnel over a path of 1280 bytes, the least that IPv6 has. */
#define PROBE_TCP_MSS 1100

struct probes;

/*
 * Loads the program over the balancer's map of backends. pin_dir is there already; NULL:
 * nothing is pinned, and nothing can be attached. The caller closes *out.
 */
int probes_open(const char *pin_dir, int backends_fd, struct probes **out,
		struct err *err);
/* What is attached stays attached, and goes on with the marks that it has. */
void probes_close(struct probes **probes);
/* The program, for trial runs; it lives as long as `probes`. */
int probes_program_fd(const struct probes *probes);

/*
 * The VIP, port (host order; 0 for ICMP) and protocol that packets must be for, and the
 * id of the backend that gets them.
 */
struct probe_target probe_target(const struct addr *vip, uint16_t port, uint8_t protocol,
				 uint16_t backend);

/*
 * A mark for the target, which is not given out again soon after probes_del(). -ENOSPC:
 * all PROBES_MAX are in use.
 */
int probes_add(struct probes *probes, const struct probe_target *target, uint32_t *mark,
	       struct err *err);
/* Another target under a mark that probes_add() gave. */
int probes_set(struct probes *probes, uint32_t mark, const struct probe_target *target,
	       struct err *err);
/* Packets that still have the mark are dropped from now on. */
void probes_del(struct probes *probes, uint32_t mark);

/*
 * By which interface probes of the VIP leave, or why there can be none: negative errno
 * and a sentence. `answers`: the interface at which the backends' answers are expected,
 * the balancer's own; 0 when that is not known. Routes change: ask again when they do.
 *
 *   -EADDRINUSE    the VIP is an address of this host
 *   -ENETUNREACH   no route, or one that forbids it
 *   -EHOSTUNREACH  no gateway on the way: nobody answers for the VIP's own address
 *   -ENOTUNIQ      routed by several interfaces
 *   -ENOTSUP       the interface is not Ethernet
 *   -EXDEV         rp_filter of `answers` drops packets from the VIP
 */
int probes_route(struct probes *probes, const struct addr *vip, unsigned int answers,
		 unsigned int *ifindex, struct err *err);

/*
 * The program is on these interfaces, and on no others, whoever put it there. On failure
 * it is where it was, and perhaps on some of these. -EBUSY: another instance's is there.
 */
int probes_attach(struct probes *probes, const unsigned int *ifindexes, size_t n,
		  struct err *err);

/* Nobody has taken it off since; one that cannot be asked is taken to have it. */
bool probes_attached(struct probes *probes, unsigned int ifindex);

/* Packets of all CPUs since the instance's maps were made. */
int probes_read(const struct probes *probes, uint64_t packets[PROBE_FATE__MAX],
		struct err *err);
const char *probe_fate_name(enum probe_fate fate);

/*
 * Take the program of an instance off every interface, and the qdiscs that are ours and
 * that nobody else uses. For --teardown, before the pins go; 0 when there was nothing.
 */
int probes_remove(const char *pin_dir, struct err *err);

#endif
