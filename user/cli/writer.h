/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_WRITER_H
#define FAIRLEAD_WRITER_H

/*
 * The one way in which commands give their answer. A command describes a
 * document; the back end that the user chose decides how it looks:
 *
 *   text     fields as "key  value" lines, a list as a table with a heading
 *   oneline  one line a record, "key value key value ..."
 *   json     one object, compact or pretty
 *
 * A document is a record: it holds fields, records of fields, lists of such
 * records and lists of plain values (key NULL), never anything deeper. Nothing
 * is written before writer_finish, so a command that fails half way has
 * printed nothing. The calls return nothing: the first failure stays in the
 * writer and writer_finish reports it.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/cleanup.h"
#include "core/err.h"

enum writer_form {
	WRITER_TEXT,
	WRITER_ONELINE,
	WRITER_JSON,
	WRITER_JSON_PRETTY,
	WRITER__MAX,
};

struct writer_settings {
	enum writer_form form;
	bool colour; /* of text; the other forms have none */
	bool all;    /* print minor records in text, too */
	size_t width; /* of a line of text, for bars; 0: no bars */
};

/* What a person should notice; back ends without colour ignore it. */
enum tone {
	TONE_PLAIN,
	TONE_GOOD,
	TONE_WARN,
	TONE_BAD,
	TONE__MAX,
};

struct writer;

/* The writer does not own `file`. -ENOMEM or 0. */
int writer_new(const struct writer_settings *settings, FILE *file,
	       struct writer **out);
/* Frees *w and sets it to NULL; what was not finished is lost. */
void writer_free(struct writer **w);
#define _cleanup_writer_ _cleanup_(writer_free)

/* Open a list or a record; key NULL for a record that is an item of a list. */
void writer_list(struct writer *w, const char *key);
void writer_record(struct writer *w, const char *key);
/* An item that text leaves out unless everything was asked for. */
void writer_record_minor(struct writer *w);
/* Close what was opened last. */
void writer_close(struct writer *w);

/* Fields; key NULL for an item of a list. A NULL string is a null. */
void writer_str(struct writer *w, const char *key, const char *value);
void writer_str_tone(struct writer *w, const char *key, const char *value,
		     enum tone tone);
void writer_int(struct writer *w, const char *key, int64_t value);
void writer_bool(struct writer *w, const char *key, bool value);
void writer_null(struct writer *w, const char *key);
/* A null when it is not finite. */
void writer_real(struct writer *w, const char *key, double value,
		 unsigned int decimals);

/*
 * What only a program reads, as deep as it is: JSON alone has it. NULL is a null. The
 * caller keeps its reference.
 */
struct json_t;
void writer_json(struct writer *w, const char *key, struct json_t *value);

/*
 * A picture of a number, as the last field of an item: text alone draws it, in
 * the room that the line has left, if any. Its figures stand in other fields.
 */
struct writer_bar {
	double value, full; /* full: as long as there is room; above 0 */
	double mark;	    /* where '|' stands; 0: nowhere */
	char fill;
};

void writer_bar(struct writer *w, const char *key, const struct writer_bar *bar);

/*
 * Print the document. Returns -EPIPE (and no sentence) when the reader has gone
 * away, which no one needs to hear of.
 */
int writer_finish(struct writer *w, struct err *err);

#endif
