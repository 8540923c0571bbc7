/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_PACKET_SPEC_KEYS_H
#define FAIRLEAD_PACKET_SPEC_KEYS_H

/*
 * Every KEY=VALUE of a packet's text, in one list: for which packets it is,
 * what values it takes, how the value is set. Private to packet*.c.
 */

#include <stdbool.h>

#include "packet_spec.h"

/* `ip` until protocol=NUMBER says which: the number that IANA has reserved. */
#define SPEC_PROTOCOL_NONE 255

enum spec_use {
	USE_TCP4 = 1 << 0,
	USE_UDP4 = 1 << 1,
	USE_ICMP4 = 1 << 2,
	USE_IP4 = 1 << 3,
	USE_TCP6 = 1 << 4,
	USE_UDP6 = 1 << 5,
	USE_ICMP6 = 1 << 6,
	USE_IP6 = 1 << 7,
	USE_4 = 0x0f,
	USE_6 = 0xf0,
	USE_ANY = 0xff,
	USE_TCP = USE_TCP4 | USE_TCP6,
	USE_ICMP = USE_ICMP4 | USE_ICMP6,
	USE_IP = USE_IP4 | USE_IP6,
	USE_CHECK = USE_ANY & ~(USE_IP4 | USE_IP6),
	USE_FRAME = 1 << 8, /* beside the others: not in a quoted packet */
};

/* All but SPEC_WORD say what the packet carries, which one key can. */
enum spec_kind {
	SPEC_WORD,    /* set() gets it */
	SPEC_LENGTH,  /* the same */
	SPEC_PAYLOAD, /* text in quotes, or 0x and digits */
	SPEC_QUOTE,   /* the rest of the text, a packet */
};

struct spec_key {
	const char *key;
	unsigned int uses; /* enum spec_use */
	bool flag;         /* stands alone, without a value */
	enum spec_kind kind;
	int (*set)(struct packet_spec *spec, const char *value, struct err *err);
	const char *allowed;
};

/* Ends with an entry without key; at most 64. */
extern const struct spec_key spec_keys[];

/* NULL: no such key. */
const struct spec_key *spec_key_find(const char *key);
unsigned int spec_key_use(const struct packet_spec *spec);
/* "an IPv4 TCP packet" */
const char *spec_use_name(const struct packet_spec *spec);
/* "with tcp" */
const char *spec_uses_text(unsigned int uses);

/* Turns the word for an ICMP type into the family's number. */
int spec_finish_icmp(struct packet_spec *spec, struct err *err);

#endif
