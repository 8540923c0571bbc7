/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_QUIC_BPF_H
#define FAIRLEAD_QUIC_BPF_H

/*
 * Routing by what a QUIC server has written into its connection ids (QUIC-LB,
 * draft-ietf-quic-load-balancers, plaintext algorithm), so that a client that
 * changes its address or port keeps its backend:
 *
 *   config id (3 bits), length or random (5) | server id | nonce
 *
 * The client makes up the first destination id itself: an Initial or 0-RTT
 * packet goes by the tuple, whatever its id looks like. Which other long headers
 * carry an id of the server's is known for the versions below only. A short
 * header always does (RFC 8999, section 5.2; RFC 9000, section 7.2).
 */

#include <stddef.h>

#include "fragment.bpf.h"
#include "maps.bpf.h"
#include "packet.bpf.h"

#define QUIC_LONG_HEADER 0x80
#define QUIC_V1 0x00000001 /* RFC 9000 */
#define QUIC_V2 0x6b3343cf /* RFC 9369 */

/* Byte offsets: RFC 8999, sections 5.1 and 5.2. */
#define QUIC_LONG_VERSION 1
#define QUIC_LONG_ID_LENGTH 5
#define QUIC_LONG_ID 6
#define QUIC_SHORT_ID 1

struct quic_head {
	struct udphdr udp;
	__u8 quic[QUIC_LONG_ID];
};

/*
 * Length of the QUIC packet in the `length` bytes that the IP packet has from its
 * UDP header on; what of `head` is behind that is zero.
 */
static __always_inline __u32 quic_read(struct xdp_md *ctx, __u32 l4_off, __u32 length,
				       struct quic_head *head)
{
	__u64 part = length;

	if (part > sizeof(*head))
		part = sizeof(*head);
	/* Clang knows the bounds by now, and the verifier of Linux 6.1 wants to see them. */
	asm volatile("" : "+r"(part));
	if (part <= sizeof(head->udp) || part > sizeof(*head) ||
	    bpf_xdp_load_bytes(ctx, l4_off, head, part))
		return 0;
	/* What follows the datagram inside the IP packet is none of it. */
	if (length > bpf_ntohs(head->udp.len))
		length = bpf_ntohs(head->udp.len);
	return length > sizeof(head->udp) ? length - sizeof(head->udp) : 0;
}

/* Types that follow once the client knows an id that the server has chosen. */
static __always_inline bool quic_id_is_the_servers(const __u8 *quic)
{
	__u8 type = quic[0] >> 4 & 3;
	__be32 version;

	__builtin_memcpy(&version, quic + QUIC_LONG_VERSION, sizeof(version));
	if (version == bpf_htonl(QUIC_V1))
		return type >= 2; /* not Initial 0, 0-RTT 1 */
	if (version == bpf_htonl(QUIC_V2))
		return type == 3 || type == 0; /* not Initial 1, 0-RTT 2 */
	return false;
}

/*
 * How long, at the most, the connection id is that the server has chosen, and
 * where in the QUIC packet it is; 0: the packet has none.
 */
static __always_inline __u32 quic_server_chosen_id(const struct quic_head *head,
						   __u32 length, __u32 *offset)
{
	const __u8 *quic = head->quic;

	*offset = quic[0] & QUIC_LONG_HEADER ? QUIC_LONG_ID : QUIC_SHORT_ID;
	if (length <= *offset)
		return 0;
	length -= *offset;
	if (!(quic[0] & QUIC_LONG_HEADER))
		return length;
	if (!quic_id_is_the_servers(quic))
		return 0;
	return quic[QUIC_LONG_ID_LENGTH] < length ? quic[QUIC_LONG_ID_LENGTH] : length;
}

static __always_inline void quic_count_unknown(__u32 vip)
{
	struct vip_counters *c = bpf_map_lookup_elem(&vip_counters, &vip);

	if (c)
		c->quic_unknown++;
}

/*
 * The server id in the packet, as a key. False: there is none, or with another
 * config id, whose octet is read into the place of the length.
 */
static __always_inline bool quic_server_id(struct xdp_md *ctx, __u32 l4_off, __u32 l4_len,
					   __u8 option, struct quic_server_key *key)
{
	__u32 length = QUIC_SERVER_ID_LENGTH(option), offset;
	struct quic_head head = { 0 };

	if (quic_server_chosen_id(&head, quic_read(ctx, l4_off, l4_len, &head), &offset) <
	    1 + length)
		return false;
	if (bpf_xdp_load_bytes(ctx, l4_off + sizeof(head.udp) + offset,
			       (void *)key + offsetof(struct quic_server_key, length),
			       1 + length) ||
	    QUIC_CONFIG_ID(key->length) != QUIC_CONFIG_ID(option))
		return false;
	key->length = length;
	return true;
}

/*
 * The id of the backend that the connection id names; 0: none. The UDP header is
 * at l4_off, l4_len bytes of the IP packet. Not static: so the verifier walks it
 * once, and not for each of the ways that lead here.
 */
__noinline int quic_backend_id(struct xdp_md *ctx, __u32 l4_off, __u32 l4_len, __u32 vip,
			       __u32 option)
{
	struct quic_server_key key = { 0 };
	const __u16 *server;

	if (!quic_server_id(ctx, l4_off, l4_len, option, &key))
		return 0;
	key.vip = vip;
	server = bpf_map_lookup_elem(&quic_servers, &key);
	if (server)
		return *server;
	quic_count_unknown(vip);
	return 0;
}

/*
 * The backend that the connection id names, with pkt->backend_id set; NULL: by the tuple,
 * as any other packet. Only for VIPs with VIP_QUIC.
 */
static __noinline const struct backend *quic_backend(struct xdp_md *ctx, struct pkt *pkt)
{
	const struct backend *backend;
	__u32 id;

	/* Fragments that are hashed go where those go that have no ports. */
	if (pkt->fragment == FRAGMENT_LATER || fragment_is_hashed(pkt))
		return NULL;
	id = quic_backend_id(ctx, pkt->l3_off + pkt->l4_off, pkt->ip_len - pkt->l4_off,
			     pkt->vip.id, pkt->vip.quic);
	backend = bpf_map_lookup_elem(&backends, &id);
	if (!backend || !(backend->flags & BACKEND_VALID) ||
	    !backend_keeps_flows(backend, id, &pkt->vip))
		return NULL;
	pkt->backend_id = id;
	return backend;
}

#endif
