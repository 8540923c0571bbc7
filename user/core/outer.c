// SPDX-License-Identifier: GPL-2.0-only
#include "outer.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <string.h>

#define OUTER_TTL 64
#define IP4_DONT_FRAGMENT 0x4000

int backend_ident_compare(const struct backend_ident *a,
			  const struct backend_ident *b)
{
	int order = addr_compare(&a->addr, &b->addr);

	if (order)
		return order;
	if (a->encap != b->encap)
		return a->encap < b->encap ? -1 : 1;
	return (a->gue_port > b->gue_port) - (a->gue_port < b->gue_port);
}

/* RFC 1071; what the packet decides (see include/abi.h) counts as zero. */
static uint16_t outer_ip4_sum(uint32_t src, uint32_t dst)
{
	const uint16_t words[] = {
		htons(0x4500),
		htons(IP4_DONT_FRAGMENT),
		htons(OUTER_TTL << 8),
		src & 0xffff,
		src >> 16,
		dst & 0xffff,
		dst >> 16,
	};
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		sum += words[i];
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

static void outer_fill4(const struct backend_ident *ident, const struct next_hop *hop,
			struct backend *out)
{
	out->ethertype = htons(ETH_P_IP);
	out->outer.v4.dst = ident->addr.v4.s_addr;
	if (hop && hop->source.family == AF_INET)
		out->outer.v4.src = hop->source.v4.s_addr;
	out->ip4_sum = outer_ip4_sum(out->outer.v4.src, out->outer.v4.dst);
}

static void outer_fill6(const struct backend_ident *ident, const struct next_hop *hop,
			struct backend *out)
{
	out->flags |= BACKEND_OUTER_V6;
	out->ethertype = htons(ETH_P_IPV6);
	memcpy(out->outer.v6.dst, &ident->addr.v6, sizeof(out->outer.v6.dst));
	if (hop && hop->source.family == AF_INET6)
		memcpy(out->outer.v6.src, &hop->source.v6, sizeof(out->outer.v6.src));
}

void outer_fill(const struct backend_ident *ident, const struct next_hop *hop,
		uint8_t use_flags, struct backend *out)
{
	*out = (struct backend){
		.encap = ident->encap,
		.flags = BACKEND_VALID | use_flags,
		.gue_port = htons(ident->gue_port),
	};
	if (ident->addr.family == AF_INET)
		outer_fill4(ident, hop, out);
	else
		outer_fill6(ident, hop, out);
	if (!hop)
		return;

	out->ifindex = hop->ifindex;
	out->mtu = hop->mtu;
	memcpy(out->mac_src, hop->mac_src, sizeof(out->mac_src));
	memcpy(out->mac_dst, hop->mac_dst, sizeof(out->mac_dst));
	if (hop->resolved)
		out->flags |= BACKEND_RESOLVED;
}

bool outer_ident(const struct backend *backend, struct backend_ident *ident)
{
	if (!(backend->flags & BACKEND_VALID))
		return false;

	*ident = (struct backend_ident){
		.encap = backend->encap,
		.gue_port = ntohs(backend->gue_port),
	};
	if (backend->flags & BACKEND_OUTER_V6) {
		ident->addr.family = AF_INET6;
		memcpy(&ident->addr.v6, backend->outer.v6.dst, sizeof(ident->addr.v6));
	} else {
		ident->addr.family = AF_INET;
		ident->addr.v4.s_addr = backend->outer.v4.dst;
	}
	return true;
}

void outer_next_hop(const struct backend *backend, struct next_hop *hop)
{
	*hop = (struct next_hop){
		.resolved = backend->flags & BACKEND_RESOLVED,
		.ifindex = backend->ifindex,
		.mtu = backend->mtu,
	};
	memcpy(hop->mac_src, backend->mac_src, sizeof(hop->mac_src));
	memcpy(hop->mac_dst, backend->mac_dst, sizeof(hop->mac_dst));
	if (backend->flags & BACKEND_OUTER_V6) {
		hop->source.family = AF_INET6;
		memcpy(&hop->source.v6, backend->outer.v6.src, sizeof(hop->source.v6));
	} else {
		hop->source.family = AF_INET;
		hop->source.v4.s_addr = backend->outer.v4.src;
	}
}
