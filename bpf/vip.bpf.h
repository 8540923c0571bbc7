/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_VIP_BPF_H
#define FAIRLEAD_VIP_BPF_H

/*
 * Which VIP, if any, is a packet for? One lookup for a VIP's packet, two for a
 * packet that is not ours: the address entry says whether the address is ours
 * at all and whether it is worth looking for a VIP of any port.
 *
 * `v6` is a constant at each call site, so that every lookup has one map
 * pointer and the verifier inlines it.
 */

#include "maps.bpf.h"
#include "packet.bpf.h"

static __always_inline const struct vip *
vip_lookup(const struct pkt *pkt, bool v6, __be16 port, __u8 protocol)
{
	struct vip_key4 key4;
	struct vip_key6 key6;

	if (!v6) {
		key4 = (struct vip_key4){
			.addr = pkt->key4.dst,
			.port = port,
			.protocol = protocol,
		};
		return bpf_map_lookup_elem(&vips4, &key4);
	}

	__builtin_memcpy(key6.addr, pkt->key6.dst, sizeof(key6.addr));
	key6.port = port;
	key6.protocol = protocol;
	key6.pad = 0;
	return bpf_map_lookup_elem(&vips6, &key6);
}

/* NULL: not an address of ours. */
static __always_inline const struct vip *vip_address(const struct pkt *pkt,
						     bool v6)
{
	return vip_lookup(pkt, v6, 0, 0);
}

/* 0 with pkt->vip set, XDP_PASS, or minus a drop reason. */
static __always_inline int vip_find(struct pkt *pkt, bool v6)
{
	__u8 protocol = v6 ? pkt->key6.protocol : pkt->key4.protocol;
	__be16 port = v6 ? pkt->key6.dport : pkt->key4.dport;
	const struct vip *address;
	__u16 any_port;

	pkt->vip = vip_lookup(pkt, v6, port, protocol);
	if (pkt->vip)
		return 0;

	address = vip_address(pkt, v6);
	if (!address)
		return XDP_PASS;

	any_port = protocol == IPPROTO_TCP ? VIP_ANY_PORT_TCP : VIP_ANY_PORT_UDP;
	pkt->vip = NULL;
	if (address->flags & any_port)
		pkt->vip = vip_lookup(pkt, v6, 0, protocol);
	return pkt->vip ? 0 : -DROP_REASON_NO_SERVICE;
}

#endif
