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

/* Where the QUIC packet starts in the frame. */
static __always_inline __u32 quic_offset(const struct pkt *pkt)
{
	return pkt->l3_off + pkt->l4_off + sizeof(struct udphdr);
}

/* Length of the QUIC packet; what of `head` is behind that is zero. */
static __always_inline __u32 quic_read(struct xdp_md *ctx, const struct pkt *pkt,
				       struct quic_head *head)
{
	__u32 length = pkt->ip_len - pkt->l4_off;
	__u32 part = length;

	if (part > sizeof(*head))
		part = sizeof(*head);
	if (part <= sizeof(head->udp) ||
	    bpf_xdp_load_bytes(ctx, quic_offset(pkt) - sizeof(head->udp), head, part))
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
static __always_inline bool quic_server_id(struct xdp_md *ctx, const struct pkt *pkt,
					   struct quic_server_key *key)
{
	__u32 length = QUIC_SERVER_ID_LENGTH(pkt->vip->quic), offset;
	struct quic_head head = { 0 };

	if (quic_server_chosen_id(&head, quic_read(ctx, pkt, &head), &offset) < 1 + length)
		return false;
	if (bpf_xdp_load_bytes(ctx, quic_offset(pkt) + offset,
			       (void *)key + offsetof(struct quic_server_key, length),
			       1 + length) ||
	    QUIC_CONFIG_ID(key->length) != QUIC_CONFIG_ID(pkt->vip->quic))
		return false;
	key->vip = pkt->vip->id;
	key->length = length;
	return true;
}

/*
 * The backend that the connection id names, with pkt->backend_id set; NULL: by the tuple,
 * as any other packet. Only for VIPs with VIP_QUIC.
 */
static __noinline const struct backend *quic_backend(struct xdp_md *ctx,
						     struct pkt *pkt)
{
	struct quic_server_key key = { 0 };
	const struct backend *backend;
	const __u16 *server;
	__u32 id;

	/* Fragments that are hashed go where those go that have no ports. */
	if (pkt->fragment == FRAGMENT_LATER || fragment_is_hashed(pkt) ||
	    !quic_server_id(ctx, pkt, &key))
		return NULL;
	server = bpf_map_lookup_elem(&quic_servers, &key);
	if (!server) {
		quic_count_unknown(pkt->vip->id);
		return NULL;
	}
	id = *server;
	backend = bpf_map_lookup_elem(&backends, &id);
	if (!backend || !(backend->flags & BACKEND_VALID) || backend->flags & BACKEND_DOWN)
		return NULL;
	pkt->backend_id = id;
	return backend;
}

#endif
