/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_WRITER_PRIVATE_H
#define FAIRLEAD_WRITER_PRIVATE_H

/*
 * What the writer asks of a back end. writer.c has already checked that the
 * document keeps to its shape; a back end only keeps what it is given until
 * render. All return 0 or negative errno.
 */

#include <stddef.h>

#include "writer.h"

enum value_kind {
	VALUE_NULL,
	VALUE_STRING,
	VALUE_INTEGER,
	VALUE_BOOLEAN,
	VALUE_REAL,
	VALUE_BAR,  /* of text alone */
	VALUE_JSON, /* of JSON alone */
};

struct value {
	enum value_kind kind;
	enum tone tone;
	const char *string;
	int64_t integer;
	bool boolean;
	double real;
	unsigned int decimals;
	struct writer_bar bar;
	struct json_t *json; /* or NULL */
};

/*
 * The bar in at most `width` characters, without blanks at its end. The caller
 * frees it. NULL: no memory.
 */
char *bar_draw(const struct writer_bar *bar, size_t width);

enum level {
	LEVEL_RECORD,
	LEVEL_LIST,
};

struct writer_ops {
	int (*init)(struct writer *w);
	int (*open)(struct writer *w, const char *key, enum level level,
		    bool minor);
	int (*close)(struct writer *w);
	int (*value)(struct writer *w, const char *key,
		     const struct value *value);
	int (*render)(struct writer *w, FILE *file);
	void (*free)(struct writer *w);
};

/* The document, a list or record in it, a record in that list. */
#define WRITER_DEPTH 3

struct writer {
	struct writer_settings settings;
	const struct writer_ops *ops;
	FILE *file;
	void *state; /* the back end's own */
	enum level levels[WRITER_DEPTH];
	size_t depth; /* 1: in the document itself */
	int failed;
};

extern const struct writer_ops writer_text_ops, writer_oneline_ops,
	writer_json_ops;

#endif
