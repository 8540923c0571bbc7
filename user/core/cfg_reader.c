// SPDX-License-Identifier: GPL-2.0-only
#include "cfg_reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "quote.h"

int reader_open(struct reader *r, const char *text, size_t length, struct err *err)
{
	static const char bom[] = "\xef\xbb\xbf";

	if (length >= strlen(bom) && !memcmp(text, bom, strlen(bom))) {
		text += strlen(bom);
		length -= strlen(bom);
	}

	*r = (struct reader){ .text = text, .length = length, .err = err };
	if (!yaml_parser_initialize(&r->parser))
		return err_set(err, -ENOMEM, "out of memory");

	/* Said, not guessed: a mark at the start must not turn it into UTF-16. */
	yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r->parser, (const unsigned char *)text,
				     length);
	return 0;
}

void reader_close(struct reader *r)
{
	yaml_event_delete(&r->event);
	yaml_parser_delete(&r->parser);
}

static struct cfg_pos mark_pos(yaml_mark_t mark)
{
	return (struct cfg_pos){ mark.line + 1, mark.column + 1 };
}

struct cfg_pos reader_pos(const struct reader *r)
{
	return mark_pos(r->event.start_mark);
}

int reader_failed(struct reader *r, struct cfg_pos pos, int rc)
{
	r->failed = pos;
	return rc;
}

int reader_fail(struct reader *r, struct cfg_pos pos, const char *format, ...)
{
	struct err err;
	va_list args;

	va_start(args, format);
	vsnprintf(err.text, sizeof(err.text), format, args);
	va_end(args);
	return reader_failed(r, pos, err_set(r->err, -EINVAL, "%s", err.text));
}

/* libyaml gives only the offset of a byte that it cannot take. */
static struct cfg_pos offset_pos(const struct reader *r, size_t offset)
{
	struct cfg_pos pos = { 1, 1 };

	for (size_t i = 0; i < offset && i < r->length; i++) {
		unsigned char c = r->text[i];

		if (c == '\n')
			pos = (struct cfg_pos){ pos.line + 1, 1 };
		else if ((c & 0xc0) != 0x80)
			pos.column++;
	}
	return pos;
}

static const char *find_line(const struct reader *r, unsigned int line)
{
	const char *end = r->text + r->length, *at = r->text;

	while (--line && at) {
		at = memchr(at, '\n', end - at);
		at = at ? at + 1 : NULL;
	}
	return at;
}

/* Whether a tab indents the line: libyaml's word for that is not clear. */
static bool has_tab_indent(const struct reader *r, unsigned int line)
{
	const char *at = find_line(r, line), *end = r->text + r->length;

	while (at && at < end && *at == ' ')
		at++;
	return at && at < end && *at == '\t';
}

static int fail_syntax(struct reader *r)
{
	const yaml_parser_t *p = &r->parser;
	struct cfg_pos pos = mark_pos(p->problem_mark);

	if (p->error == YAML_MEMORY_ERROR)
		return reader_failed(r, mark_pos(p->mark),
				     err_set(r->err, -ENOMEM, "out of memory"));
	if (p->error == YAML_READER_ERROR)
		return reader_fail(r, offset_pos(r, p->problem_offset),
				   "%s (0x%02x); allowed: printable UTF-8 text",
				   p->problem, p->problem_value);
	if (has_tab_indent(r, pos.line))
		return reader_fail(r, pos,
				   "a tab indents the line; allowed: spaces");
	return reader_fail(r, pos, "not valid YAML: %s%s%s",
			   p->context ? p->context : "", p->context ? ", " : "",
			   p->problem ? p->problem : "unknown problem");
}

static int refuse(struct reader *r, const char *kind, const yaml_char_t *name)
{
	return reader_fail(r, reader_pos(r),
			   "%s %s is not supported; allowed: the value itself",
			   kind, QUOTE((const char *)name));
}

/* What YAML has and a configuration does not need: one meaning, one place. */
static int check_event(struct reader *r)
{
	const yaml_event_t *e = &r->event;
	const yaml_char_t *anchor = NULL, *tag = NULL;

	switch (e->type) {
	case YAML_ALIAS_EVENT:
		return refuse(r, "alias", e->data.alias.anchor);
	case YAML_SCALAR_EVENT:
		anchor = e->data.scalar.anchor;
		tag = e->data.scalar.tag;
		break;
	case YAML_SEQUENCE_START_EVENT:
		anchor = e->data.sequence_start.anchor;
		tag = e->data.sequence_start.tag;
		break;
	case YAML_MAPPING_START_EVENT:
		anchor = e->data.mapping_start.anchor;
		tag = e->data.mapping_start.tag;
		break;
	default:
		return 0;
	}
	if (anchor)
		return refuse(r, "anchor", anchor);
	if (tag)
		return refuse(r, "tag", tag);
	return 0;
}

int reader_next(struct reader *r)
{
	yaml_event_delete(&r->event);
	if (!yaml_parser_parse(&r->parser, &r->event))
		return fail_syntax(r);
	return check_event(r);
}

int reader_document(struct reader *r, const char *empty,
		    int (*read)(struct reader *r, void *object), void *object)
{
	int rc = reader_next(r); /* the stream's start */

	if (!rc)
		rc = reader_next(r);
	if (rc < 0)
		return rc;
	if (r->event.type == YAML_STREAM_END_EVENT)
		return reader_fail(r, (struct cfg_pos){ 1, 1 }, "%s", empty);

	rc = reader_next(r);
	if (!rc)
		rc = read(r, object);
	if (!rc)
		rc = reader_next(r); /* the document's end */
	if (!rc)
		rc = reader_next(r);
	if (rc < 0 || r->event.type == YAML_STREAM_END_EVENT)
		return rc;
	return reader_fail(r, reader_pos(r),
			   "a second document starts here; allowed: one");
}

static bool is_null(const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;

	if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return false;
	return !text[0] || !strcmp(text, "~") || !strcmp(text, "null") ||
	       !strcmp(text, "Null") || !strcmp(text, "NULL");
}

const char *reader_kind(const struct reader *r)
{
	switch (r->event.type) {
	case YAML_SCALAR_EVENT:
		return is_null(&r->event) ? "empty" : "a single value";
	case YAML_SEQUENCE_START_EVENT:
		return "a list";
	case YAML_MAPPING_START_EVENT:
		return "a mapping";
	default:
		return "missing";
	}
}

int reader_value(struct reader *r, const char *what, const char **text)
{
	const yaml_event_t *e = &r->event;

	if (e->type != YAML_SCALAR_EVENT || is_null(e))
		return reader_fail(r, reader_pos(r),
				   "%s is %s; allowed: a single value", what,
				   reader_kind(r));

	*text = (const char *)e->data.scalar.value;
	if (strlen(*text) != e->data.scalar.length)
		return reader_fail(r, reader_pos(r),
				   "%s contains a NUL byte; allowed: text", what);
	return 0;
}

int reader_list(struct reader *r, const char *what,
		int (*item)(struct reader *r, void *object), void *object)
{
	int rc;

	if (r->event.type != YAML_SEQUENCE_START_EVENT)
		return reader_fail(r, reader_pos(r),
				   "%s is %s; allowed: a list, [] for none",
				   what, reader_kind(r));

	for (;;) {
		rc = reader_next(r);
		if (rc < 0 || r->event.type == YAML_SEQUENCE_END_EVENT)
			return rc;
		rc = item(r, object);
		if (rc < 0)
			return rc;
	}
}

int reader_pairs(struct reader *r, const char *what, const char *allowed,
		 int (*pair)(struct reader *r, void *object), void *object)
{
	int rc;

	if (r->event.type != YAML_MAPPING_START_EVENT)
		return reader_fail(r, reader_pos(r), "%s is %s; allowed: %s", what,
				   reader_kind(r), allowed);

	for (;;) {
		rc = reader_next(r);
		if (rc < 0 || r->event.type == YAML_MAPPING_END_EVENT)
			return rc;
		rc = pair(r, object);
		if (rc < 0)
			return rc;
	}
}

/* One key of a mapping: a field of an object, or something nested. */
struct found {
	const char *key;
	size_t index;
	const struct cfg_field *field;
	void *object;
	int (*read)(struct reader *r, void *object);
};

/* Goes through the keys in order; false after the last. Starts from { 0 }. */
static bool next_key(const struct reader_mapping *m, struct found *f, size_t i)
{
	f->index = i;
	for (size_t part = 0; part < 2 && m->parts[part].fields; part++) {
		f->field = m->parts[part].fields;
		f->object = m->parts[part].object;
		for (; f->field->key; f->field++)
			if (!i--) {
				f->key = f->field->key;
				return true;
			}
	}
	f->field = NULL;
	f->object = m->nested_object;
	for (const struct reader_key *n = m->nested; n && n->key; n++)
		if (!i--) {
			f->key = n->key;
			f->read = n->read;
			return true;
		}
	return false;
}

static const char *list_keys(const struct reader_mapping *m,
			     char list[CFG_KEYS_MAX])
{
	struct found f = { 0 };

	list[0] = '\0';
	for (size_t i = 0; next_key(m, &f, i); i++)
		cfg_keys_add(list, f.key);
	return list;
}

static int find_key(struct reader *r, const struct reader_mapping *m,
		    const char *key, struct found *f)
{
	char list[CFG_KEYS_MAX];

	for (size_t i = 0; next_key(m, f, i); i++)
		if (!strcmp(f->key, key))
			return 0;
	return reader_fail(r, reader_pos(r),
			   "key %s is not known in %s; allowed: %s", QUOTE(key),
			   m->what, list_keys(m, list));
}

struct cfg_pos reader_seen(const struct reader_mapping *m, const char *key)
{
	struct found f = { 0 };

	for (size_t i = 0; next_key(m, &f, i); i++)
		if (!strcmp(f.key, key))
			return m->seen[i];
	return (struct cfg_pos){ 0 };
}

static int read_item(struct reader *r, void *found)
{
	const struct found *f = found;
	const char *text;
	int rc = reader_value(r, f->key, &text);

	if (rc < 0)
		return rc;
	return reader_failed(r, reader_pos(r), f->field->add(f->object, text, r->err));
}

/* A mapping whose keys are all required. */
static int read_fields(struct reader *r, const struct found *f)
{
	struct reader_mapping m = {
		.what = f->key,
		.parts = { { f->field->fields, f->object } },
	};
	struct cfg_pos pos = reader_pos(r);
	char list[CFG_KEYS_MAX];
	int rc = reader_mapping(r, &m);

	for (size_t i = 0; !rc && f->field->fields[i].key; i++)
		if (!m.seen[i].line)
			rc = reader_fail(r, pos, "key '%s' is missing in %s; required: %s",
					 f->field->fields[i].key, f->key,
					 list_keys(&m, list));
	return rc;
}

static int read_key_value(struct reader *r, const struct found *f)
{
	const char *text;
	int rc;

	if (f->read)
		return f->read(r, f->object);
	if (f->field->read)
		return f->field->read(r, f->object);
	if (f->field->add)
		return reader_list(r, f->key, read_item, (void *)f);

	if (f->field->fields)
		return read_fields(r, f);
	rc = reader_value(r, f->key, &text);
	if (rc < 0)
		return rc;
	rc = f->field->set(f->object, text, r->err);
	return reader_failed(r, reader_pos(r), rc);
}

static int read_pair(struct reader *r, struct reader_mapping *m)
{
	struct found f = { 0 };
	const char *key;
	int rc = reader_value(r, "a key", &key);

	if (!rc)
		rc = find_key(r, m, key, &f);
	if (rc < 0)
		return rc;
	if (m->seen[f.index].line)
		return reader_fail(r, reader_pos(r),
				   "key '%s' is already on line %u; allowed: "
				   "each key once",
				   f.key, m->seen[f.index].line);

	m->seen[f.index] = reader_pos(r);
	rc = reader_next(r);
	if (rc < 0)
		return rc;
	return read_key_value(r, &f);
}

int reader_mapping(struct reader *r, struct reader_mapping *m)
{
	char list[CFG_KEYS_MAX];
	int rc;

	if (r->event.type != YAML_MAPPING_START_EVENT)
		return reader_fail(r, reader_pos(r),
				   "%s is %s; allowed: a mapping with the keys "
				   "%s",
				   m->what, reader_kind(r), list_keys(m, list));

	for (;;) {
		rc = reader_next(r);
		if (rc < 0 || r->event.type == YAML_MAPPING_END_EVENT)
			return rc;
		rc = read_pair(r, m);
		if (rc < 0)
			return rc;
	}
}
