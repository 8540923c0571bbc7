/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_FRAGMENT_BPF_H
#define FAIRLEAD_FRAGMENT_BPF_H

/*
 * Fragments of one packet must reach one backend, and only the first has the
 * ports. It leaves a note of where it went, which the later ones follow. The
 * notes are shared by all CPUs, since fragments have no ports for RSS to hash.
 *
 * Not inline, so that the key takes no stack from what comes after: all frames
 * of a call chain share 512 bytes.
 */

#include "maps.bpf.h"
#include "packet.bpf.h"

static __always_inline struct fragment_key fragment_key(const struct pkt *pkt, bool v6)
{
	struct fragment_key key = { .id = pkt->fragment_id };

	if (v6) {
		__builtin_memcpy(key.src, pkt->key6.src, sizeof(key.src));
		__builtin_memcpy(key.dst, pkt->key6.dst, sizeof(key.dst));
		/* The next header is not the same in each; the id is enough. */
		key.protocol = IPPROTO_FRAGMENT;
	} else {
		__builtin_memcpy(key.src, &pkt->key4.src, sizeof(pkt->key4.src));
		__builtin_memcpy(key.dst, &pkt->key4.dst, sizeof(pkt->key4.dst));
		key.protocol = pkt->key4.protocol;
	}
	return key;
}

/*
 * A VIP that hashes fragments sends them by what each of them has, so that their
 * order does not matter: as one flow without ports, for the first as well.
 */
static __always_inline void fragment_drop_ports(struct pkt *pkt, bool v6)
{
	pkt->syn = false;
	if (v6) {
		pkt->key6.sport = pkt->key6.dport = 0;
		pkt->key6.protocol = pkt->fragment_protocol;
	} else {
		pkt->key4.sport = pkt->key4.dport = 0;
	}
}

static __always_inline bool fragment_is_hashed(const struct pkt *pkt)
{
	return pkt->fragment != FRAGMENT_NONE && pkt->vip.flags & VIP_FRAGMENT_HASH;
}

static __noinline void fragment_note(const struct pkt *pkt, bool v6)
{
	struct fragment_key key = fragment_key(pkt, v6);
	struct fragment_note note = {
		.backend = pkt->backend_id,
		.vip = pkt->vip_id,
		.oversize = !!(pkt->vip.flags & VIP_OVERSIZE),
	};

	/* When it fails the later fragments are dropped, with their reason. */
	bpf_map_update_elem(&fragments, &key, &note, BPF_ANY);
}

/* NULL: the first fragment was not seen, or too long ago. */
static __noinline const struct fragment_note *fragment_find(const struct pkt *pkt,
							    bool v6)
{
	struct fragment_key key = fragment_key(pkt, v6);

	return bpf_map_lookup_elem(&fragments, &key);
}

#endif
