/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CONNTRACK_BPF_H
#define FAIRLEAD_CONNTRACK_BPF_H

/*
 * Which backend has a flow? Two functions, ct_lookup and ct_remember, and the
 * struct ct that goes from one to the other: all that the rest of the program
 * knows of it. Plain packets of known flows do the same in plain.bpf.h.
 *
 * A first packet makes an unconfirmed entry, and the second one, other than a SYN,
 * confirms it. FIN and RST leave it a few minutes.
 */

#include "clock.bpf.h"
#include "conntrack_cpus.bpf.h"
#include "conntrack_entry.bpf.h"
#include "flow_set.bpf.h"
#include "packet.bpf.h"

/*
 * Does the entry still say where packets of the flow go? A SYN on an unconfirmed
 * one is a retransmission, on a confirmed one a new connection with an old tuple.
 */
static __always_inline bool ct_holds(const struct pkt *pkt, bool v6, const struct ct *ct)
{
	if (!ct->flow.backend)
		return false;
	if (FLOW_LEFT(ct->flow.stamp, ct->now) > FLOW_IDLE_MAX &&
	    ct_idle(pkt, v6) < FLOW_IDLE_MAX)
		return false;
	return !pkt->syn || !(ct->flow.stamp & FLOW_CONFIRMED);
}

/* What the entry says after this packet. */
static __always_inline __u16 ct_stamp(const struct pkt *pkt, bool v6,
				      const struct ct *ct, __u16 flags)
{
	bool tcp = is_tcp(pkt, v6);

	if (tcp && pkt->tcp_flags & (TCP_FIN | TCP_RST))
		flags |= FLOW_CLOSING;
	return FLOW_STAMP(ct->now + ct_life(tcp, ct_idle(pkt, v6), flags), flags);
}

static __always_inline void ct_refresh(const struct pkt *pkt, bool v6, struct ct *ct)
{
	__u16 flags = ct->flow.stamp & FLOW_FLAGS;

	ct->flow.stamp = ct_stamp(pkt, v6, ct, pkt->syn ? flags : flags | FLOW_CONFIRMED);
}

/*
 * A way of the set that the flow is due in, when it has none there. Where there is
 * none to be had, it keeps the one that it has in a set that it was due in before.
 */
static __always_inline void ct_place(const struct pkt *pkt, bool v6, struct ct *ct)
{
	struct flow_set4 *set4 = ct->set, *in = ct->in;
	bool opens = pkt->syn || !is_tcp(pkt, v6);
	__u32 way;

	if (!ct->set || ct->due)
		return;
	way = flow_victim(set4, ct->now);
	if (way >= FLOW_WAYS && !opens)
		way = flow_silent(set4, ct->now, pkt->vip.id, ct_idle(pkt, v6));
	if (way >= FLOW_WAYS)
		return;
	if (in)
		in->backend[ct->way & (FLOW_WAYS - 1)] = 0;
	ct->in = ct->set;
	ct->way = way;
	ct->due = true;
}

/* As ct->flow says, in the place of the old entry or in a new one. */
static __always_inline void ct_save(const struct pkt *pkt, bool v6, struct ct *ct)
{
	if (ct->lru) {
		*ct->lru = ct->flow;
	} else if (ct->set) {
		ct_place(pkt, v6, ct);
		ct_write_set(pkt, v6, ct);
	} else if (ct_is_lru(pkt)) {
		if (v6)
			ct_add_lru6(pkt, ct);
		else
			ct_add_lru4(pkt, ct);
	}
}

/*
 * The backend id of a known flow, or 0: choose by the table and remember. What
 * another CPU knows is taken over; so is what it knows better of a flow that has
 * been silent here.
 */
static __always_inline __u16 ct_lookup(const struct pkt *pkt, bool v6, struct ct *ct)
{
	bool settled;

	ct->now = clock_tick();
	ct_find(pkt, v6, ct, bpf_get_smp_processor_id());
	ct_rescue(pkt, v6, ct);
	if (!ct_holds(pkt, v6, ct))
		return 0;
	settled = ct_is_settled(ct);
	ct_refresh(pkt, v6, ct);
	ct_save(pkt, v6, ct);
	if (!settled && ct_is_settled(ct))
		flow_level_note(ct->in, ct->now, v6);
	return ct->flow.backend;
}

/* The same without a trace, for what only speaks of a flow, however silent. */
static __always_inline __u16 ct_peek(const struct pkt *pkt, bool v6)
{
	struct ct ct = { .now = clock_tick() };

	ct_find(pkt, v6, &ct, bpf_get_smp_processor_id());
	if (!ct.flow.backend || ct.flow.stamp & FLOW_CLOSING)
		ct_rescue(pkt, v6, &ct);
	return ct.flow.backend;
}

/* The table's choice, or another backend for a flow that has an entry. */
static __always_inline void ct_remember(const struct pkt *pkt, bool v6, struct ct *ct,
					__u16 backend, __u16 alternate)
{
	bool guess = is_tcp(pkt, v6) && !pkt->syn;

	ct_replace_others(pkt, v6, ct);
	ct->flow.backend = backend;
	ct->flow.alternate = guess ? alternate : 0;
	ct->flow.stamp = ct_stamp(pkt, v6, ct, guess ? FLOW_GUESS : 0);
	ct_save(pkt, v6, ct);
}

/* The flow is as one that was never seen: its first packet has not left. */
static __always_inline void ct_forget(const struct pkt *pkt, bool v6)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct ct ct = { .now = clock_tick() };

	ct_find(pkt, v6, &ct, cpu);
	ct_delete(pkt, v6, &ct, cpu);
}

/* Global functions, which the verifier walks once. */
__noinline int ct_forget4(const struct pkt *pkt)
{
	if (pkt)
		ct_forget(pkt, false);
	return 0;
}

__noinline int ct_forget6(const struct pkt *pkt)
{
	if (pkt)
		ct_forget(pkt, true);
	return 0;
}

#endif
