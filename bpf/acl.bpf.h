/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_ACL_BPF_H
#define FAIRLEAD_ACL_BPF_H

/* Which sources a VIP takes packets from. */

#include "maps.bpf.h"
#include "packet.bpf.h"

static __always_inline const struct acl_entry *acl_find4(const struct pkt *pkt)
{
	struct acl_key4 key = {
		.prefix_len = ACL_PREFIX_LEN_VIP + 32,
		.vip = pkt->vip.id,
		.addr = pkt->key4.src,
	};

	return bpf_map_lookup_elem(&acls4, &key);
}

static __always_inline const struct acl_entry *acl_find6(const struct pkt *pkt)
{
	struct acl_key6 key = {
		.prefix_len = ACL_PREFIX_LEN_VIP + 128,
		.vip = pkt->vip.id,
	};

	__builtin_memcpy(key.addr, pkt->key6.src, sizeof(key.addr));
	return bpf_map_lookup_elem(&acls6, &key);
}

/* 0, or minus a drop reason. Only for VIPs with VIP_ACL. */
static __noinline int acl_check(const struct pkt *pkt, bool v6)
{
	const struct acl_entry *entry = v6 ? acl_find6(pkt) : acl_find4(pkt);
	bool deny = entry ? entry->deny : pkt->vip.flags & VIP_ACL_DENY;

	return deny ? -DROP_REASON_SOURCE_DENIED : 0;
}

#endif
