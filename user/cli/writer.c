// SPDX-License-Identifier: GPL-2.0-only
#include "writer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "writer_private.h"

static const struct writer_ops *const back_ends[] = {
	[WRITER_TEXT] = &writer_text_ops,
	[WRITER_ONELINE] = &writer_oneline_ops,
	[WRITER_JSON] = &writer_json_ops,
	[WRITER_JSON_PRETTY] = &writer_json_ops,
};

int writer_new(const struct writer_settings *settings, FILE *file,
	       struct writer **out)
{
	_cleanup_writer_ struct writer *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return -ENOMEM;

	w->settings = *settings;
	w->file = file;
	w->ops = back_ends[settings->form];
	w->levels[0] = LEVEL_RECORD;
	w->depth = 1;

	r = w->ops->init(w);
	if (r < 0)
		return r;

	*out = TAKE_PTR(w);
	return 0;
}

void writer_free(struct writer **w)
{
	if (!*w)
		return;

	(*w)->ops->free(*w);
	free(*w);
	*w = NULL;
}

static void keep_failure(struct writer *w, int r)
{
	if (r < 0 && !w->failed)
		w->failed = r;
}

/* A member of a record has a key, an item of a list has none. */
static bool fits(const struct writer *w, const char *key)
{
	return (w->levels[w->depth - 1] == LEVEL_RECORD) == (key != NULL);
}

/* Below the document's members there are only records in lists. */
static bool may_open(const struct writer *w, enum level level)
{
	if (w->depth == 1)
		return true;

	return w->depth < WRITER_DEPTH && level == LEVEL_RECORD &&
	       w->levels[w->depth - 1] == LEVEL_LIST;
}

static void open_level(struct writer *w, const char *key, enum level level,
		       bool minor)
{
	if (!may_open(w, level) || !fits(w, key)) {
		keep_failure(w, -EINVAL);
		return;
	}

	keep_failure(w, w->ops->open(w, key, level, minor));
	w->levels[w->depth++] = level;
}

void writer_list(struct writer *w, const char *key)
{
	open_level(w, key, LEVEL_LIST, false);
}

void writer_record(struct writer *w, const char *key)
{
	open_level(w, key, LEVEL_RECORD, false);
}

void writer_record_minor(struct writer *w)
{
	open_level(w, NULL, LEVEL_RECORD, true);
}

void writer_close(struct writer *w)
{
	if (w->depth == 1) {
		keep_failure(w, -EINVAL);
		return;
	}

	keep_failure(w, w->ops->close(w));
	w->depth--;
}

static void put(struct writer *w, const char *key, const struct value *value)
{
	keep_failure(w, fits(w, key) ? w->ops->value(w, key, value) : -EINVAL);
}

void writer_str(struct writer *w, const char *key, const char *value)
{
	writer_str_tone(w, key, value, TONE_PLAIN);
}

void writer_str_tone(struct writer *w, const char *key, const char *value,
		     enum tone tone)
{
	put(w, key,
	    &(struct value){.kind = value ? VALUE_STRING : VALUE_NULL,
			    .tone = tone,
			    .string = value});
}

void writer_int(struct writer *w, const char *key, int64_t value)
{
	put(w, key, &(struct value){.kind = VALUE_INTEGER, .integer = value});
}

void writer_bool(struct writer *w, const char *key, bool value)
{
	put(w, key, &(struct value){.kind = VALUE_BOOLEAN, .boolean = value});
}

void writer_null(struct writer *w, const char *key)
{
	put(w, key, &(struct value){.kind = VALUE_NULL});
}

void writer_real(struct writer *w, const char *key, double value,
		 unsigned int decimals)
{
	put(w, key,
	    &(struct value){.kind = isfinite(value) ? VALUE_REAL : VALUE_NULL,
			    .real = value,
			    .decimals = decimals});
}

void writer_json(struct writer *w, const char *key, struct json_t *value)
{
	put(w, key, &(struct value){.kind = VALUE_JSON, .json = value});
}

void writer_bar(struct writer *w, const char *key, const struct writer_bar *bar)
{
	put(w, key, &(struct value){.kind = VALUE_BAR, .bar = *bar});
}

int writer_finish(struct writer *w, struct err *err)
{
	int r = w->failed;

	if (!r && w->depth != 1)
		r = -EINVAL;
	if (r)
		return err_set(err, r, "cannot write the answer: %s",
			       strerror(-r));

	errno = 0;
	r = w->ops->render(w, w->file);
	if (!r && (fflush(w->file) != 0 || ferror(w->file)))
		r = errno ? -errno : -EIO;
	if (r == -EPIPE)
		return r;
	if (r)
		return err_set(err, r, "cannot write the answer: %s",
			       strerror(-r));

	return 0;
}
