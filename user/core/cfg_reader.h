/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CFG_READER_H
#define FAIRLEAD_CFG_READER_H

/*
 * YAML as events, one at a time, with the place of each: mappings of known
 * keys, lists, values. Nothing is built but what the caller builds, and it goes
 * no deeper than the caller asks, so that a file meant to hurt (deep, long,
 * full of aliases) ends at the first thing that does not belong.
 *
 * Functions that read a value are called with its first event current and
 * return with its last event current. A failure leaves the sentence in *err and
 * the place in `failed`; callers put the object's name in front on the way up,
 * and the outermost puts the place. Private to cfg*.c and fixture_yaml.c.
 */

#include <yaml.h>

#include "cfg.h"
#include "cfg_fields.h"

struct reader {
	yaml_parser_t parser;
	yaml_event_t event; /* the current one */
	const char *text;
	size_t length;
	struct cfg_pos failed;
	struct err *err;
};

int reader_open(struct reader *r, const char *text, size_t length,
		struct err *err);
void reader_close(struct reader *r);
#define _cleanup_reader_ __attribute__((cleanup(reader_close)))

/*
 * All of the text, which must be one document: read is called at its first
 * event. `empty`: what is wrong with a text that has none.
 */
int reader_document(struct reader *r, const char *empty,
		    int (*read)(struct reader *r, void *object), void *object);

int reader_next(struct reader *r);
struct cfg_pos reader_pos(const struct reader *r);
/* What the current event starts, for messages: "a list". */
const char *reader_kind(const struct reader *r);

/* -EINVAL with a sentence, or the code with the one that is there already. */
int reader_fail(struct reader *r, struct cfg_pos pos, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int reader_failed(struct reader *r, struct cfg_pos pos, int rc);

/* The current event as text, which lives until the next event. */
int reader_value(struct reader *r, const char *what, const char **text);

/* Calls item at the first event of each element. */
int reader_list(struct reader *r, const char *what,
		int (*item)(struct reader *r, void *object), void *object);

/* The same at each key of a mapping whose keys are data. */
int reader_pairs(struct reader *r, const char *what, const char *allowed,
		 int (*pair)(struct reader *r, void *object), void *object);

/* A key whose value is more than text. */
struct reader_key {
	const char *key;
	int (*read)(struct reader *r, void *object);
};

#define READER_KEYS_MAX 48

/* A mapping whose keys are those of the parts and of `nested`. */
struct reader_mapping {
	const char *what; /* "a vip" */
	struct {
		const struct cfg_field *fields;
		void *object;
	} parts[2];
	const struct reader_key *nested; /* ends with an entry without key */
	void *nested_object;
	/* where each key stood, in the order of the lists; line 0: nowhere */
	struct cfg_pos seen[READER_KEYS_MAX];
};

int reader_mapping(struct reader *r, struct reader_mapping *m);
/* Where in the mapping the key stood. */
struct cfg_pos reader_seen(const struct reader_mapping *m, const char *key);

#endif
