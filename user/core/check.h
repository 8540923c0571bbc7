/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CHECK_H
#define FAIRLEAD_CHECK_H

/*
 * Health checks as values: what is asked of a backend (struct check, from the
 * configuration), of whom (struct probe), what came of it (struct probe_result), and
 * all three as the lines that fairleadd and fairlead-check exchange. Pure.
 *
 * fairleadd starts fairlead-check with one end of a stream socket pair as file
 * descriptor CHECK_WIRE_FD. Both write JSON objects, one a line of at most
 * CHECK_WIRE_LINE_MAX bytes:
 *
 *   to fairlead-check     {"op": "add", "id": N, ...}     a probe, struct probe
 *                         {"op": "del", "id": N}
 *                         {"op": "ping", "seq": N}
 *   to fairleadd          {"op": "result", "id": N, ...}  struct probe_result
 *                         {"op": "pong", "seq": N}        its loop turns
 *
 * An id names one probe from its "add" to its "del"; results that cross a "del" on
 * their way name an id that nobody has, and are dropped. Either side that reads what
 * it does not understand ends the connection with a sentence in its log.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "addr.h"
#include "err.h"

#define CHECK_WIRE_FD 3
#define CHECK_WIRE_LINE_MAX 65536

enum check_kind {
	CHECK_NONE, /* only the next hop says whether a backend lives */
	CHECK_TCP,  /* connects */
	CHECK_HTTP,
	CHECK_HTTPS,
	CHECK_UDP,  /* a datagram, and one that comes back */
	CHECK_ICMP, /* echo */
	CHECK_EXEC, /* a command that exits with 0 */
	CHECK__MAX,
};

/* Where a probe goes. */
enum check_via {
	CHECK_VIA_AUTO,   /* CHECK_VIA_VIP where it can work, else CHECK_VIA_DIRECT */
	CHECK_VIA_VIP,    /* to the VIP, through the tunnel to that very backend */
	CHECK_VIA_DIRECT, /* to the backend's own address */
	CHECK_VIA__MAX,
};

/* At which VIPs of its pool. */
enum check_vips {
	CHECK_VIPS_EACH,  /* at each that it can be made at: way.h */
	CHECK_VIPS_FIRST, /* at the first of these, for all */
	CHECK_VIPS__MAX,
};

#define CHECK_ARGS_MAX 32
#define CHECK_TEXT_MAX 4096 /* bytes of each string below */

/*
 * What is asked. Strings are owned, NULL: not said. Times are in ms. What a kind
 * does not use is zero.
 */
struct check {
	uint8_t kind; /* enum check_kind */
	uint8_t via;  /* enum check_via */
	uint8_t vips; /* enum check_vips; no part of what is asked of one target */
	uint32_t interval, timeout;
	uint32_t fast_interval; /* while it is not settled, check_pace.h; 0: as interval */
	uint8_t jitter;      /* percent of the interval, either way */
	uint16_t rise, fall; /* results in a row; at least 1 */
	uint16_t port;       /* host order; 0: the VIP's */

	/* http, https */
	char *path;     /* default "/" */
	char *host;     /* the Host header, and the name for TLS; default: the address */
	char *method;   /* GET or HEAD */
	uint16_t status_min, status_max; /* inclusive */
	char *body;     /* text that the answer's first 64 KiB have somewhere */
	bool tls_verify;
	char *sni;      /* default: host */
	char *ca_file, *cert_file, *key_file;
	/* An answer may say a weight (percent of the configured one) or a state. */
	char *weight_header, *weight_json; /* header name; dotted path of fields */

	/* tcp, udp: what is sent, and what the answer begins with */
	char *send, *receive;

	/* exec: absolute path and arguments; n_args 0: not exec */
	char *args[CHECK_ARGS_MAX];
	uint8_t n_args;
};

/* One check of one target. */
struct probe {
	uint32_t id;
	struct check check;
	struct addr addr; /* where packets go: a VIP's address, or the backend's */
	uint16_t port;    /* host order; 0 for icmp */
	uint32_t mark;    /* SO_MARK that leads it into the tunnel; 0: direct */
	struct addr backend; /* whom it is about: for exec and messages */
};

#define PROBE_REASON_MAX 160

/* What a backend says of itself beside that it lives. */
enum agent_state {
	AGENT_SILENT, /* says nothing */
	AGENT_UP,
	AGENT_DRAIN,
	AGENT_DOWN,
	AGENT__MAX,
};

struct probe_result {
	uint32_t id;
	bool ok;
	uint32_t ms; /* that it took */
	int16_t weight; /* percent, 0..100; -1: not said */
	uint8_t agent;  /* enum agent_state */
	bool agent_unclear; /* it said something else, which the reason quotes */
	/* "connection refused", "HTTP status 503", "no answer within 2000 ms" */
	char reason[PROBE_REASON_MAX];
};

/* Everything that a struct check owns; leaves it zero. */
void check_clear(struct check *check);
/* Deep copy; *to is overwritten. -ENOMEM or 0. */
int check_copy(const struct check *from, struct check *to);
/* The defaults of a kind: 5 s, 2 s, fast 1 s, 10 %, 2 and 3, status 200 to 299, tls_verify. */
int check_init(struct check *check, enum check_kind kind);
/* Total order of all that is asked; rise, fall and vips aside: equal ones run once. */
int check_compare(const struct check *a, const struct check *b);

const char *check_kind_name(enum check_kind kind);
const char *check_via_name(enum check_via via);
const char *check_vips_name(enum check_vips vips);

/*
 * Lines without their newline; the caller frees *line. -ENOMEM, -E2BIG when the line
 * would be longer than CHECK_WIRE_LINE_MAX, or -EINVAL when the other side would refuse
 * it: a check that makes no sense, text that is not UTF-8.
 */
int check_wire_add(const struct probe *probe, char **line, struct err *err);
int check_wire_del(uint32_t id, char **line, struct err *err);
int check_wire_ping(uint32_t seq, char **line, struct err *err);
int check_wire_pong(uint32_t seq, char **line, struct err *err);
int check_wire_result(const struct probe_result *result, char **line, struct err *err);

enum check_wire_op { CHECK_ADD, CHECK_DEL, CHECK_PING, CHECK_PONG, CHECK_RESULT };

struct check_message {
	enum check_wire_op op;
	struct probe probe;         /* of CHECK_ADD; its check is owned */
	uint32_t id, seq;           /* of CHECK_DEL; of CHECK_PING and CHECK_PONG */
	struct probe_result result; /* of CHECK_RESULT */
};

/* One line. -EINVAL: *err says what is wrong with it. -ENOMEM. */
int check_wire_parse(const char *line, size_t length, struct check_message *out,
		     struct err *err);

#endif
