/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CLOCK_BPF_H
#define FAIRLEAD_CLOCK_BPF_H

/* Coarse clocks, all of them: none reads the hardware. */

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "abi.h"

/* 2^32 over the jiffies of a tick; the daemon sets it before loading. */
const volatile __u32 clock_tick_multiplier = CLOCK_TICK_MULTIPLIER(250);

/*
 * The tick of struct flow's stamps. It costs a load and a multiplication: the kernel
 * inlines the reading of jiffies, and has no helper for it to call.
 */
static __always_inline __u32 clock_tick(void)
{
	return bpf_jiffies64() * clock_tick_multiplier >> 32;
}

/* For limits a second: 2^30 ns, by CLOCK_MONOTONIC_COARSE. */
static __always_inline __u32 clock_second(void)
{
	return bpf_ktime_get_coarse_ns() >> 30;
}

#endif
