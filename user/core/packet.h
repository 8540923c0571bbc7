/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_PACKET_H
#define FAIRLEAD_PACKET_H

/*
 * Ethernet frames as people write and read them: a line of text to bytes, and
 * bytes to lines of text. Pure, and apart from the packet path: offsets are
 * those of the RFCs, nothing of bpf/ is used.
 *
 *   tcp 198.51.100.7:40000 > 203.0.113.10:443 flags=S vlan=10 payload="hello"
 *
 * fairlead.test(5) explains the words. Checksums and lengths are right unless
 * the line says otherwise.
 */

#include <stddef.h>
#include <stdint.h>

#include "err.h"

/* What BPF_PROG_RUN takes: a whole Ethernet header, and no more than this. */
#define PACKET_MIN 14
#define PACKET_MAX 65600

/* Where frames of tests come from and go to when nothing else is said. */
#define PACKET_ROUTER_MAC { 0x02, 0, 0, 0, 0xfe, 0x01 }
#define PACKET_OUR_MAC { 0x02, 0, 0, 0, 0, 0 }

struct packet {
	uint8_t *data; /* owned */
	size_t size;
};

/* Leaves it empty. */
void packet_clear(struct packet *p);
#define _cleanup_packet_ __attribute__((cleanup(packet_clear)))

int packet_copy(const void *data, size_t size, struct packet *out, struct err *err);

/*
 * Both write *at, when they fail, to where in the text the mistake is, counted
 * in bytes from its start. -EINVAL or -ENOMEM.
 */
int packet_from_text(const char *text, struct packet *out, size_t *at,
		     struct err *err);
/* Pairs of hexadecimal digits; blanks, ':' and line ends may part them. */
int packet_from_hex(const char *text, struct packet *out, size_t *at,
		    struct err *err);

/* One line a fact, short enough that two stand side by side. */
#define PACKET_LINE_MAX 56
#define PACKET_LINES_MAX 80

struct packet_lines {
	char line[PACKET_LINES_MAX][PACKET_LINE_MAX];
	size_t n;
};

void packet_describe(const struct packet *p, struct packet_lines *out);

/* "tcp 198.51.100.7:40000 > 203.0.113.10:443 S, 54 bytes": for a comment. */
#define PACKET_SUMMARY_MAX 160
const char *packet_summary(const struct packet *p, char text[PACKET_SUMMARY_MAX]);

/*
 * A field of the outermost headers as text: addresses canonical, numbers
 * decimal. -ENOENT: the frame has no such field; "-" is in the text then.
 */
#define PACKET_FIELD_MAX 48
int packet_field(const struct packet *p, const char *key,
		 char text[PACKET_FIELD_MAX]);

/* How the value of a field is written, in the form that packet_field() has. */
int packet_field_parse(const char *key, const char *value,
		       char text[PACKET_FIELD_MAX], struct err *err);

/* The keys of packet_field(), ending in NULL. */
extern const char *const packet_fields[];

#endif
