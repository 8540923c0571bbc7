/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_ANSWER_H
#define FAIRLEAD_ANSWER_H

/*
 * From the daemon's JSON to the writer, through a list of the fields that the
 * protocol promises: a missing one, or one of another kind, is an error; one
 * that is not in the list is of a later version and left alone. Those that the
 * daemon leaves out where they mean nothing are null then.
 */

#include <jansson.h>
#include <stdbool.h>

#include "core/err.h"
#include "writer.h"

enum field_kind {
	FIELD_STRING,
	FIELD_INTEGER,
	FIELD_BOOLEAN,
	FIELD_REAL,
	FIELD_LIST, /* of any shape; only JSON shows it */
	FIELD__MAX,
};

/* Every field may be null. */
struct field {
	const char *key;
	enum field_kind kind;
	enum tone tone;
	const char *tone_word; /* tone only when it reads so; NULL: always */
	bool may_miss;
};

/* Whether they are as promised. -EPROTO or 0. */
int answer_check(const json_t *object, const struct field *fields, size_t n,
		 struct err *err);

/* The fields of one object into the record that is open. -EPROTO or 0. */
int answer_fields(struct writer *w, const json_t *object,
		  const struct field *fields, size_t n, struct err *err);

/* list[key] as a list of records. `minor` may be NULL. */
int answer_list(struct writer *w, const json_t *answer, const char *key,
		const struct field *fields, size_t n,
		bool (*minor)(const json_t *item), struct err *err);

/* The same list, checked as before, with each record's fields from `row`. */
int answer_rows(struct writer *w, const json_t *answer, const char *key,
		const struct field *fields, size_t n,
		void (*row)(struct writer *w, const json_t *item), struct err *err);

/* answer[key], a record whose members are not known beforehand. */
int answer_record(struct writer *w, const json_t *answer, const char *key,
		  struct err *err);

/* answer[key] as a string that belongs to `answer`, or NULL and -EPROTO. */
int answer_string(const json_t *answer, const char *key, const char **out,
		  struct err *err);

#endif
