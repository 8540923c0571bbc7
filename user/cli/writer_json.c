// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

#include "json_text.h"
#include "writer_private.h"

/* The open containers; the outermost one owns the others. */
struct json_state {
	json_t *open[WRITER_DEPTH];
	size_t depth;
};

static int json_init(struct writer *w)
{
	struct json_state *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;

	w->state = s;
	s->open[0] = json_object();
	s->depth = 1;
	return s->open[0] ? 0 : -ENOMEM;
}

/* Takes over the reference, also on failure. */
static int attach(struct json_state *s, const char *key, json_t *item)
{
	json_t *parent = s->open[s->depth - 1];
	int r;

	if (!item)
		return -ENOMEM;

	r = key ? json_object_set_new(parent, key, item)
		: json_array_append_new(parent, item);
	return r < 0 ? -ENOMEM : 0;
}

static int json_open(struct writer *w, const char *key, enum level level,
		     bool minor)
{
	struct json_state *s = w->state;
	json_t *item = level == LEVEL_LIST ? json_array() : json_object();
	int r = attach(s, key, item);

	(void)minor;
	/* Without the item, what follows goes into its parent and is lost. */
	s->open[s->depth] = r < 0 ? s->open[s->depth - 1] : item;
	s->depth++;
	return r;
}

static int json_close(struct writer *w)
{
	struct json_state *s = w->state;

	s->depth--;
	return 0;
}

/* No more digits than were asked for, as far as a double can. */
static json_t *real_json(const struct value *value)
{
	char text[64];

	snprintf(text, sizeof(text), "%.*f", (int)value->decimals, value->real);
	return json_real(strtod(text, NULL));
}

static json_t *to_json(const struct value *value)
{
	switch (value->kind) {
	case VALUE_STRING:
		return json_text(value->string);
	case VALUE_INTEGER:
		return json_integer(value->integer);
	case VALUE_BOOLEAN:
		return json_boolean(value->boolean);
	case VALUE_REAL:
		return real_json(value);
	case VALUE_JSON:
		return value->json ? json_incref(value->json) : json_null();
	case VALUE_BAR: /* left out before */
	case VALUE_NULL:
		break;
	}
	return json_null();
}

static int json_value(struct writer *w, const char *key, const struct value *value)
{
	if (value->kind == VALUE_BAR)
		return 0;

	return attach(w->state, key, to_json(value));
}

static int json_render(struct writer *w, FILE *file)
{
	struct json_state *s = w->state;
	size_t flags = w->settings.form == WRITER_JSON_PRETTY ? JSON_INDENT(2)
							      : JSON_COMPACT;
	/* Of a real, 12 digits hide that most fractions have no end in binary. */
	_cleanup_free_ char *text =
		json_dumps(s->open[0], flags | JSON_REAL_PRECISION(12));

	if (!text)
		return -ENOMEM;

	if (fputs(text, file) == EOF || fputc('\n', file) == EOF)
		return errno ? -errno : -EIO;

	return 0;
}

static void json_free_state(struct writer *w)
{
	struct json_state *s = w->state;

	if (!s)
		return;

	json_decref(s->open[0]);
	free(s);
	w->state = NULL;
}

const struct writer_ops writer_json_ops = {
	.init = json_init,
	.open = json_open,
	.close = json_close,
	.value = json_value,
	.render = json_render,
	.free = json_free_state,
};
