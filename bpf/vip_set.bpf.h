/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_VIP_SET_BPF_H
#define FAIRLEAD_VIP_SET_BPF_H

/*
 * The VIP of a plain packet, out of one cache line; and, for what finds none,
 * whether its address is certainly nobody's here.
 *
 * Plain stores of the daemon change a way, its key last, so that each eight bytes
 * that a packet reads are whole. A way is used again only when no packet can be on
 * the way from its old key to its VIP.
 */

#include "flow_mix.h"
#include "maps.bpf.h"
#include "vip.bpf.h"

/* Odd and secret; the daemon sets it before loading. */
const volatile __u64 mix_key = 1;

static __always_inline __u64 load64(const void *p)
{
	return *(const __u64 *)p;
}

/* key: struct vip_key4 as it lies in memory. False: not among the sets. */
static __always_inline bool vip_set_find4(__u64 key, struct vip_brief *vip)
{
	__u32 index = vip_mix4(mix_key, key);
	const struct vip_set4 *set = bpf_map_lookup_elem(&vip_sets4, &index);

	if (!set)
		return false;
#pragma unroll
	for (int way = 0; way < VIP_WAYS; way++) {
		if (likely(set->key[way] == key)) {
			*vip = set->vip[way];
			return true;
		}
	}
	return false;
}

static __always_inline bool vip_set_find6(const __u64 *addr, __u64 service,
					  struct vip_brief *vip)
{
	__u32 index = vip_mix6(mix_key, addr, service);
	const struct vip_set6 *set = bpf_map_lookup_elem(&vip_sets6, &index);

	if (!set)
		return false;
#pragma unroll
	for (int way = 0; way < VIP_WAYS; way++) {
		if (likely(set->service[way] == service && set->addr[0][way] == addr[0] &&
			   set->addr[1][way] == addr[1])) {
			*vip = set->vip[way];
			return true;
		}
	}
	return false;
}

/* False: no VIP has the address that was mixed. */
static __always_inline bool vip_filter_has(__u64 mix)
{
	__u32 bit = flow_mix_index(mix, VIP_FILTER_BITS);
	__u32 index = bit / 512;
	const struct vip_filter_line *line = bpf_map_lookup_elem(&vip_filter, &index);

	return !line || line->bits[bit / 64 % 8] >> bit % 64 & 1;
}

static __always_inline bool vip_filter_has4(__be32 addr)
{
	return vip_prefixes & VIP_PREFIXES4 ||
	       vip_filter_has(flow_mix(mix_key, addr, 0));
}

static __always_inline bool vip_filter_has6(const __u64 *addr)
{
	return vip_prefixes & VIP_PREFIXES6 ||
	       vip_filter_has(flow_mix(mix_key, flow_mix_address(mix_key, addr), 0));
}

#endif
