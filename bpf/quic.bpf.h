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

/* The part of a connection id that counts: its first byte and the server id. */
#define QUIC_ID_BYTES (1 + QUIC_SERVER_ID_MAX)

struct quic_head {
	struct udphdr udp;
	__u8 quic[QUIC_LONG_ID + QUIC_ID_BYTES];
};

/* How many bytes of the QUIC packet are in `head`; the rest of that is zero. */
static __always_inline __u32 quic_read(struct xdp_md *ctx, const struct pkt *pkt,
				       struct quic_head *head)
{
	__u32 l4_off = pkt->l3_off + pkt->l4_off;
	__u32 length = pkt->ip_len - pkt->l4_off;

	if (length > sizeof(*head))
		length = sizeof(*head);
	if (length <= sizeof(head->udp) || bpf_xdp_load_bytes(ctx, l4_off, head, length))
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

/* The start of the connection id into `id`; how long that is, at the most. */
static __always_inline __u32 quic_server_chosen_id(const struct quic_head *head,
						   __u32 length, __u8 id[QUIC_ID_BYTES])
{
	const __u8 *quic = head->quic;

	if (!(quic[0] & QUIC_LONG_HEADER)) {
		__builtin_memcpy(id, quic + QUIC_SHORT_ID, QUIC_ID_BYTES);
		return length > QUIC_SHORT_ID ? length - QUIC_SHORT_ID : 0;
	}
	__builtin_memcpy(id, quic + QUIC_LONG_ID, QUIC_ID_BYTES);
	if (length <= QUIC_LONG_ID || !quic_id_is_the_servers(quic))
		return 0;
	length -= QUIC_LONG_ID;
	return quic[QUIC_LONG_ID_LENGTH] < length ? quic[QUIC_LONG_ID_LENGTH] : length;
}

static __always_inline void quic_count_unknown(__u32 vip)
{
	struct vip_counters *c = bpf_map_lookup_elem(&vip_counters, &vip);

	if (c)
		c->quic_unknown++;
}

/* NULL: no server of the VIP has the server id behind the first byte of `id`. */
static __always_inline const __u16 *quic_server(const struct vip *vip, const __u8 *id,
						__u32 length)
{
	struct quic_server_key key = { .vip = vip->id, .length = length };

#pragma unroll
	for (__u32 i = 0; i < QUIC_SERVER_ID_MAX; i++)
		if (i < length)
			key.id[i] = id[1 + i];
	return bpf_map_lookup_elem(&quic_servers, &key);
}

/*
 * The backend that the connection id names, with pkt->backend_id set; NULL: by the tuple,
 * as any other packet. Only for VIPs with VIP_QUIC.
 */
static __noinline const struct backend *quic_backend(struct xdp_md *ctx,
						     struct pkt *pkt)
{
	__u32 server_id_length = QUIC_SERVER_ID_LENGTH(pkt->vip->quic), key;
	const struct backend *backend;
	struct quic_head head = { 0 };
	__u8 id[QUIC_ID_BYTES];
	const __u16 *server;
	__u32 length;

	/* Fragments that are hashed go where those go that have no ports. */
	if (pkt->fragment == FRAGMENT_LATER || fragment_is_hashed(pkt))
		return NULL;
	length = quic_server_chosen_id(&head, quic_read(ctx, pkt, &head), id);
	if (length < 1 + server_id_length ||
	    QUIC_CONFIG_ID(id[0]) != QUIC_CONFIG_ID(pkt->vip->quic))
		return NULL;

	server = quic_server(pkt->vip, id, server_id_length);
	if (!server) {
		quic_count_unknown(pkt->vip->id);
		return NULL;
	}
	key = *server;
	backend = bpf_map_lookup_elem(&backends, &key);
	if (!backend || !(backend->flags & BACKEND_VALID) || backend->flags & BACKEND_DOWN)
		return NULL;
	pkt->backend_id = key;
	return backend;
}

#endif
