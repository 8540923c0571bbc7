// SPDX-License-Identifier: GPL-2.0-only
#include "answer.h"

#include <errno.h>
#include <string.h>

#define REAL_DECIMALS 3

static const char *const kind_names[] = {
	[FIELD_STRING] = "a string",
	[FIELD_INTEGER] = "an integer",
	[FIELD_BOOLEAN] = "true or false",
	[FIELD_REAL] = "a number",
	[FIELD_LIST] = "a list",
};
_Static_assert(sizeof(kind_names) / sizeof(*kind_names) == FIELD__MAX, "kinds");

static bool is_kind(const json_t *value, enum field_kind kind)
{
	switch (kind) {
	case FIELD_STRING:
		return json_is_string(value);
	case FIELD_INTEGER:
		return json_is_integer(value);
	case FIELD_BOOLEAN:
		return json_is_boolean(value);
	case FIELD_REAL:
		return json_is_number(value);
	case FIELD_LIST:
		return json_is_array(value);
	case FIELD__MAX:
		break;
	}
	return false;
}

static enum tone field_tone(const struct field *field, const char *value)
{
	bool toned = !field->tone_word || strcmp(field->tone_word, value) == 0;

	return toned ? field->tone : TONE_PLAIN;
}

static void write_value(struct writer *w, const char *key, const json_t *value,
			const struct field *field)
{
	const char *string = json_string_value(value);

	if (string)
		writer_str_tone(w, key, string,
				field ? field_tone(field, string) : TONE_PLAIN);
	else if (json_is_integer(value))
		writer_int(w, key, json_integer_value(value));
	else if (json_is_real(value))
		writer_real(w, key, json_real_value(value), REAL_DECIMALS);
	else if (json_is_boolean(value))
		writer_bool(w, key, json_is_true(value));
	else
		writer_null(w, key);
}

int answer_check(const json_t *object, const struct field *fields, size_t n,
		 struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		const struct field *field = &fields[i];
		const json_t *value = json_object_get(object, field->key);

		if (!value && !field->may_miss)
			return err_set(err, -EPROTO, "'%s' is missing",
				       field->key);

		if (value && !json_is_null(value) && !is_kind(value, field->kind))
			return err_set(err, -EPROTO, "'%s' is not %s",
				       field->key, kind_names[field->kind]);
	}
	return 0;
}

static void write_field(struct writer *w, const json_t *object,
			const struct field *field)
{
	json_t *value = json_object_get(object, field->key);

	if (field->kind == FIELD_LIST)
		writer_json(w, field->key, value);
	else
		write_value(w, field->key, value, field);
}

int answer_fields(struct writer *w, const json_t *object,
		  const struct field *fields, size_t n, struct err *err)
{
	int r = answer_check(object, fields, n, err);

	for (size_t i = 0; i < n && !r; i++)
		write_field(w, object, &fields[i]);
	return r;
}

/* How each item of a list is told. */
struct telling {
	const struct field *fields;
	size_t n;
	bool (*minor)(const json_t *item);
	void (*row)(struct writer *w, const json_t *item); /* or NULL: fields */
};

static int write_item(struct writer *w, const json_t *item,
		      const struct telling *t, struct err *err)
{
	int r = t->row ? answer_check(item, t->fields, t->n, err) : 0;

	if (r < 0)
		return r;

	if (t->minor && t->minor(item))
		writer_record_minor(w);
	else
		writer_record(w, NULL);
	if (t->row)
		t->row(w, item);
	else
		r = answer_fields(w, item, t->fields, t->n, err);
	writer_close(w);
	return r;
}

static int write_items(struct writer *w, const json_t *answer, const char *key,
		       const struct telling *t, struct err *err)
{
	const json_t *list = json_object_get(answer, key);
	size_t i;
	json_t *item;

	if (!json_is_array(list))
		return err_set(err, -EPROTO, "'%s' is %s", key,
			       list ? "not a list" : "missing");

	writer_list(w, key);
	json_array_foreach(list, i, item)
	{
		if (write_item(w, item, t, err) < 0)
			return err_prefix(err, "%s[%zu]", key, i);
	}
	writer_close(w);
	return 0;
}

int answer_list(struct writer *w, const json_t *answer, const char *key,
		const struct field *fields, size_t n,
		bool (*minor)(const json_t *item), struct err *err)
{
	struct telling t = {.fields = fields, .n = n, .minor = minor};

	return write_items(w, answer, key, &t, err);
}

int answer_rows(struct writer *w, const json_t *answer, const char *key,
		const struct field *fields, size_t n,
		void (*row)(struct writer *w, const json_t *item), struct err *err)
{
	struct telling t = {.fields = fields, .n = n, .row = row};

	return write_items(w, answer, key, &t, err);
}

/* What the writer has no shape for is shown as the JSON it came as. */
static void write_any(struct writer *w, const char *key, const json_t *value)
{
	_cleanup_free_ char *text = NULL;

	if (!json_is_object(value) && !json_is_array(value) &&
	    !json_is_real(value)) {
		write_value(w, key, value, NULL);
		return;
	}

	text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	writer_str(w, key, text);
}

int answer_record(struct writer *w, const json_t *answer, const char *key,
		  struct err *err)
{
	json_t *record = json_object_get(answer, key), *value;
	const char *name;

	if (!json_is_object(record))
		return err_set(err, -EPROTO, "'%s' is %s", key,
			       record ? "not an object" : "missing");

	writer_record(w, key);
	json_object_foreach(record, name, value) write_any(w, name, value);
	writer_close(w);
	return 0;
}

int answer_string(const json_t *answer, const char *key, const char **out,
		  struct err *err)
{
	const json_t *value = json_object_get(answer, key);

	if (!json_is_string(value))
		return err_set(err, -EPROTO, "'%s' is %s", key,
			       value ? "not a string" : "missing");

	*out = json_string_value(value);
	return 0;
}
