/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_ICMP_LIMIT_BPF_H
#define FAIRLEAD_ICMP_LIMIT_BPF_H

/*
 * How many ICMP answers a CPU may send (RFC 1812, section 4.3.2.8; RFC 4443,
 * section 2.4 f). Each kind has its own budget: a flood of echo requests does
 * not keep clients from hearing of the MTU.
 */

#include "clock.bpf.h"
#include "maps.bpf.h"

enum icmp_answer_kind {
	ICMP_ANSWER_ECHO,
	ICMP_ANSWER_TOO_BIG,
	ICMP_ANSWER__MAX,
};

/* Of each kind, on each CPU, in a tick of clock_second(), which is about a second. */
const volatile __u32 icmp_answers_max = 10000;

struct icmp_spent {
	__u32 tick;
	__u32 answers[ICMP_ANSWER__MAX];
};

/* Packets write and read. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct icmp_spent);
} icmp_spent SEC(".maps");

static __always_inline bool icmp_may_answer(enum icmp_answer_kind kind)
{
	__u32 zero = 0, now = clock_second();
	struct icmp_spent *spent = bpf_map_lookup_elem(&icmp_spent, &zero);

	if (!spent)
		return false;
	if (spent->tick != now)
		*spent = (struct icmp_spent){ .tick = now };
	if (spent->answers[kind] >= icmp_answers_max)
		return false;
	spent->answers[kind]++;
	return true;
}

#endif
