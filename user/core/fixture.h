/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_FIXTURE_H
#define FAIRLEAD_FIXTURE_H

/*
 * Files of cases for `fairlead test`: packets that go in, and what must become
 * of each. Pure: packets out of pcap files are named here and read elsewhere.
 *
 *   fixture --> cases[] --> steps[]     the steps of a case share flow state
 *
 * fairlead.test(5) explains the format.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cfg.h"
#include "err.h"
#include "packet.h"

#define FIXTURE_NAME_MAX 127
#define FIXTURE_OUTER_MAX 16
#define FIXTURE_MTU_DEFAULT 1500
#define FIXTURE_MTU_MIN 576
#define FIXTURE_MTU_MAX 65535

enum fixture_verdict {
	FIXTURE_PASS,
	FIXTURE_TX,
	FIXTURE_REDIRECT,
	FIXTURE_DROP,
	FIXTURE_VERDICT__MAX,
};

enum fixture_frame_kind {
	FRAME_NONE,  /* not said */
	FRAME_BYTES, /* the bytes are there */
	FRAME_PCAP,  /* to be read; then FRAME_BYTES */
	FRAME_SAME,  /* as it went in */
};

struct fixture_frame {
	enum fixture_frame_kind kind;
	struct packet bytes;
	char *pcap;     /* as written in the file */
	uint32_t index; /* of the frame in it, from 1 */
	struct cfg_pos pos;
};

struct fixture_field {
	const char *key; /* one of packet_fields[] */
	char value[PACKET_FIELD_MAX];
};

enum fixture_counter_kind {
	COUNTER_TOTAL,
	COUNTER_DROP,
	COUNTER_VIP,
	COUNTER_BACKEND,
};

/* By how much a counter grows in a step. */
struct fixture_counter {
	char text[2 * FIXTURE_NAME_MAX]; /* "vip 203.0.113.10:443/tcp packets" */
	enum fixture_counter_kind kind;
	uint32_t reason;                    /* COUNTER_DROP */
	struct vip_spec vip;                /* COUNTER_VIP */
	char backend[CFG_NAME_MAX + 1];     /* COUNTER_BACKEND: name or address */
	size_t member; /* of the counter's struct, as an array of u64 */
	uint64_t delta;
	struct cfg_pos pos;
};

struct fixture_backend {
	char name[CFG_NAME_MAX + 1]; /* or address */
	struct cfg_pos pos;
};

struct fixture_step {
	struct cfg_pos pos;
	struct fixture_frame in, out;
	bool has_verdict;
	enum fixture_verdict verdict;
	uint32_t reason; /* enum drop_reason; 0: not said */
	struct fixture_backend *backends; /* any of them; none: not said */
	size_t n_backends;
	struct fixture_field outer[FIXTURE_OUTER_MAX];
	size_t n_outer;
	struct fixture_counter *counters;
	size_t n_counters;
};

struct fixture_case {
	char name[FIXTURE_NAME_MAX + 1];
	struct cfg_pos pos;
	struct fixture_step *steps;
	size_t n_steps;
};

struct fixture {
	char file[256]; /* for messages */
	uint16_t mtu;   /* of the way to every backend */
	struct fixture_case *cases;
	size_t n_cases;
};

/*
 * Text to a checked fixture; messages read "FILE:LINE:COLUMN: sentence".
 * -EINVAL or -ENOMEM.
 */
int fixture_parse(const char *text, size_t length, const char *file,
		  struct fixture **out, struct err *err);
/* Frees *fixture and sets it to NULL. */
void fixture_free(struct fixture **fixture);
#define _cleanup_fixture_ __attribute__((cleanup(fixture_free)))

/* Do the backends and VIPs that it names exist in the configuration? */
int fixture_check(const struct fixture *fixture, const struct cfg *cfg,
		  struct err *err);

/* A sentence about a place in the file: puts "FILE:LINE:COLUMN: " in front. */
int fixture_place(const struct fixture *fixture, struct cfg_pos pos,
		  struct err *err);

/* Is the backend called so, by its name or its address? */
bool fixture_is_backend(const struct cfg_backend *backend, const char *name);

const char *fixture_verdict_name(enum fixture_verdict verdict);
/* NULL: no such reason. */
const char *fixture_reason_name(uint32_t reason);

#endif
