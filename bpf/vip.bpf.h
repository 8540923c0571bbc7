/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_VIP_BPF_H
#define FAIRLEAD_VIP_BPF_H

/*
 * Which VIP, if any, is a packet for? One lookup for a VIP of one port, two for
 * a packet that is not ours: the address entry says whether the address is ours
 * at all and whether it is worth looking for other services. The tries of
 * prefixes are asked only while there are VIPs that are prefixes.
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

/* enum vip_prefixes; the daemon writes it. */
__u32 vip_prefixes;

static __noinline const struct vip *vip_prefix4(const struct pkt *pkt)
{
	struct prefix_key4 key = { .prefix_len = 32, .addr = pkt->key4.dst };

	return bpf_map_lookup_elem(&prefixes4, &key);
}

static __noinline const struct vip *vip_prefix6(const struct pkt *pkt)
{
	struct prefix_key6 key = { .prefix_len = 128 };

	__builtin_memcpy(key.addr, pkt->key6.dst, sizeof(key.addr));
	return bpf_map_lookup_elem(&prefixes6, &key);
}

/* NULL: not an address of ours. */
static __always_inline const struct vip *vip_address(const struct pkt *pkt,
						     bool v6)
{
	const struct vip *address = vip_lookup(pkt, v6, 0, 0);

	if (address || !(vip_prefixes & (v6 ? VIP_PREFIXES6 : VIP_PREFIXES4)))
		return address;
	return v6 ? vip_prefix6(pkt) : vip_prefix4(pkt);
}

/*
 * The VIP of the address that takes packets of the protocol and port, but not
 * by an entry of its own: any port, a range of ports, any protocol.
 */
static __always_inline const struct vip *vip_service(__u32 group, __u8 protocol,
						     __be16 port)
{
	struct service_key key = {
		.prefix_len = SERVICE_PREFIX_LEN_MAX,
		.group = group,
		.protocol = protocol,
		.port = port,
	};

	return bpf_map_lookup_elem(&services, &key);
}

/*
 * Numbers that keys of our own have in the place of the protocol: the address
 * entry, and the VIP that takes fragments. IPv4 packets may have them, too.
 */
static __always_inline bool vip_is_own_number(__u8 protocol)
{
	return protocol == 0 || protocol == IPPROTO_FRAGMENT;
}

/* The packet is for it; NULL: for none. */
static __always_inline bool vip_take(struct pkt *pkt, const struct vip *vip)
{
	if (vip)
		pkt->vip = *vip;
	else
		pkt->vip.id = 0;
	return vip;
}

/* 0 with pkt->vip set, XDP_PASS, or minus a drop reason. */
static __always_inline int vip_find(struct pkt *pkt, bool v6)
{
	__u8 protocol = v6 ? pkt->key6.protocol : pkt->key4.protocol;
	__be16 port = v6 ? pkt->key6.dport : pkt->key4.dport;
	const struct vip *address;

	if (vip_is_own_number(protocol))
		protocol = IPPROTO_RAW; /* 255 is reserved: what no VIP names */
	if (vip_take(pkt, vip_lookup(pkt, v6, port, protocol)))
		return 0;
	address = vip_address(pkt, v6);
	if (!address)
		return XDP_PASS;
	if (address->flags & VIP_SERVICES &&
	    vip_take(pkt, vip_service(address->id, protocol, port)))
		return 0;
	return -DROP_REASON_NO_SERVICE;
}

/*
 * The VIP that takes later fragments whose first was not seen: the daemon gives
 * it port 0 and the fragment header's number, on the address or among the
 * services. Protocols without ports need none: each fragment has all there is.
 */
static __always_inline int vip_find_fragment(struct pkt *pkt, bool v6)
{
	__u8 protocol = v6 ? pkt->key6.protocol : pkt->key4.protocol;
	const struct vip *address;

	/* Behind an extension header in the fragments may be anything. */
	if (protocol != IPPROTO_TCP && protocol != IPPROTO_UDP &&
	    !(v6 && is_extension_header(protocol)))
		return vip_find(pkt, v6);
	if (vip_take(pkt, vip_lookup(pkt, v6, 0, IPPROTO_FRAGMENT)))
		return 0;
	address = vip_address(pkt, v6);
	if (address && address->flags & VIP_SERVICES &&
	    vip_take(pkt, vip_service(address->id, IPPROTO_FRAGMENT, 0)) &&
	    pkt->vip.flags & VIP_FRAGMENT_HASH)
		return 0;
	pkt->vip.id = 0;
	return -DROP_REASON_FRAGMENT_UNKNOWN;
}

#endif
