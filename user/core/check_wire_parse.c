// SPDX-License-Identifier: GPL-2.0-only
/* The lines between fairleadd and fairlead-check: how they are read. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "check_fields.h"
#include "quote.h"
#include "text.h"

static int no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "no memory");
}

/* Every member's key is among the words; both lists end with NULL. */
static int only_keys(json_t *object, const char *const *words, struct err *err)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value) {
		const char *const *word = words;

		while (*word && strcmp(*word, key))
			word++;
		if (!*word)
			return err_set(err, -EINVAL, "key %s is unknown", QUOTE(key));
	}
	return 0;
}

/* An absent one is zero where zero is allowed. */
static int get_number(json_t *object, const char *key, uint32_t min, uint32_t max,
		      uint32_t *out, struct err *err)
{
	json_t *value = json_object_get(object, key);

	if (!value && min == 0) {
		*out = 0;
		return 0;
	}
	if (!value)
		return err_set(err, -EINVAL, "%s is missing", key);
	if (!json_is_integer(value) || json_integer_value(value) < min ||
	    json_integer_value(value) > max)
		return err_set(err, -EINVAL, "%s is not a whole number of %u to %u", key,
			       min, max);
	*out = json_integer_value(value);
	return 0;
}

/* Zero is a number like others, so it has to be said. */
static int get_id(json_t *object, const char *key, uint32_t *out, struct err *err)
{
	if (!json_object_get(object, key))
		return err_set(err, -EINVAL, "%s is missing", key);
	return get_number(object, key, 0, UINT32_MAX, out, err);
}

/* *out stays when nothing is said. */
static int get_bool(json_t *object, const char *key, bool *out, struct err *err)
{
	json_t *value = json_object_get(object, key);

	if (value && !json_is_boolean(value))
		return err_set(err, -EINVAL, "%s is not true or false", key);
	if (value)
		*out = json_is_true(value);
	return 0;
}

static int get_text(json_t *object, const char *key, const char **out, struct err *err)
{
	json_t *value = json_object_get(object, key);

	if (!json_is_string(value))
		return err_set(err, -EINVAL, "%s is %s", key,
			       value ? "not a string" : "missing");
	*out = json_string_value(value);
	return 0;
}

static int get_addr(json_t *object, const char *key, struct addr *out, struct err *err)
{
	const char *text = NULL;
	int rc = get_text(object, key, &text, err);

	return rc ? rc : addr_parse(text, key, out, err);
}

/* The index of the word among the first n; they may have holes. */
static int get_word(json_t *object, const char *key, const char *(*name)(int), int n,
		    uint8_t *out, struct err *err)
{
	const char *text = NULL;
	int rc = get_text(object, key, &text, err);

	if (rc)
		return rc;
	for (int i = 0; i < n; i++) {
		if (name(i) && !strcmp(name(i), text)) {
			*out = i;
			return 0;
		}
	}
	return err_set(err, -EINVAL, "%s %s is unknown", key, QUOTE(text));
}

static const char *kind_word(int kind)
{
	return kind == CHECK_NONE ? NULL : check_kind_name(kind);
}

static const char *via_word(int via)
{
	return check_via_name(via);
}

static const char *agent_word(int agent)
{
	static const char *const words[] = { NULL, "up", "drain", "down" };

	return words[agent];
}

static bool in_charset(char c, enum check_charset charset)
{
	switch (charset) {
	case CHECK_ANY:
		return true;
	case CHECK_VISIBLE:
		return c > ' ' && c < 0x7f;
	case CHECK_HOST:
		return isascii(c) && (isalnum(c) || strchr(".-_:[]", c));
	case CHECK_TOKEN:
		return isascii(c) && (isalnum(c) || strchr("!#$%&'*+-.^_`|~", c));
	}
	return false;
}

static int judge_text(const char *key, const char *text, enum check_charset charset,
		      struct err *err)
{
	if (strlen(text) > CHECK_TEXT_MAX)
		return err_set(err, -EINVAL, "%s has %zu bytes; allowed: up to %d", key,
			       strlen(text), CHECK_TEXT_MAX);
	if (charset != CHECK_ANY && !*text)
		return err_set(err, -EINVAL, "%s is empty", key);
	for (const char *c = text; *c; c++)
		if (!in_charset(*c, charset))
			return err_set(err, -EINVAL,
				       "%s %s has a character that is not allowed there",
				       key, QUOTE(text));
	return 0;
}

static int read_string(json_t *object, const struct check_field *f, struct check *check,
		       struct err *err)
{
	const char *text = NULL;
	int rc;

	if (!json_object_get(object, f->key))
		return 0;
	rc = get_text(object, f->key, &text, err);
	if (!rc)
		rc = judge_text(f->key, text, f->charset, err);
	if (rc)
		return rc;
	*check_string(check, f) = strdup(text);
	return *check_string(check, f) ? 0 : no_memory(err);
}

static int read_field(json_t *object, const struct check_field *f, struct check *check,
		      struct err *err)
{
	uint32_t number = 0;
	bool yes = false;
	int rc;

	if (f->type == CHECK_STRING)
		return read_string(object, f, check, err);
	if (f->type == CHECK_BOOL) {
		rc = get_bool(object, f->key, &yes, err);
		number = yes;
	} else {
		rc = json_object_get(object, f->key) ?
			     get_number(object, f->key, f->min, f->max, &number, err) :
			     0;
	}
	if (!rc)
		check_set_number(check, f, number);
	return rc;
}

static int read_args(json_t *object, struct check *check, struct err *err)
{
	json_t *args = json_object_get(object, "args"), *arg;
	size_t i;

	if (!args)
		return 0;
	if (!json_is_array(args) || json_array_size(args) > CHECK_ARGS_MAX)
		return err_set(err, -EINVAL, "args is no array of up to %d strings",
			       CHECK_ARGS_MAX);
	json_array_foreach(args, i, arg) {
		int rc;

		if (!json_is_string(arg))
			return err_set(err, -EINVAL, "args is no array of up to %d strings",
				       CHECK_ARGS_MAX);
		rc = judge_text("args", json_string_value(arg), CHECK_ANY, err);
		if (rc)
			return rc;
		check->args[i] = strdup(json_string_value(arg));
		if (!check->args[i])
			return no_memory(err);
		check->n_args++;
	}
	return 0;
}

static int check_keys(json_t *object, struct err *err)
{
	const char *words[64] = { "kind", "via", "args" };
	int n = 3;

	for (const struct check_field *f = check_fields; f->key; f++)
		words[n++] = f->key;
	return only_keys(object, words, err);
}

/* *check may own something also after a failure. */
static int read_check(json_t *object, struct check *check, struct err *err)
{
	int rc;

	if (!json_is_object(object))
		return err_set(err, -EINVAL, "check is %s",
			       object ? "not an object" : "missing");
	rc = check_keys(object, err);
	if (!rc)
		rc = get_word(object, "kind", kind_word, CHECK__MAX, &check->kind, err);
	if (!rc)
		rc = get_word(object, "via", via_word, CHECK_VIA__MAX, &check->via, err);
	for (const struct check_field *f = check_fields; !rc && f->key; f++)
		rc = read_field(object, f, check, err);
	if (!rc)
		rc = read_args(object, check, err);
	return rc ? rc : check_judge(check, err);
}

static int judge_port(const struct probe *probe, struct err *err)
{
	bool has_ports = probe->check.kind != CHECK_ICMP && probe->check.kind != CHECK_EXEC;

	if (has_ports && !probe->port)
		return err_set(err, -EINVAL, "port is missing, which a check of kind %s needs",
			       check_kind_name(probe->check.kind));
	return 0;
}

static int read_add(json_t *object, struct check_message *out, struct err *err)
{
	static const char *const keys[] = { "op",      "id",    "addr", "port", "mark",
					    "backend", "check", NULL };
	struct probe *probe = &out->probe;
	uint32_t port = 0;
	int rc = only_keys(object, keys, err);

	if (!rc)
		rc = get_id(object, "id", &probe->id, err);
	if (!rc)
		rc = get_addr(object, "addr", &probe->addr, err);
	if (!rc)
		rc = get_number(object, "port", 0, UINT16_MAX, &port, err);
	if (!rc)
		rc = get_number(object, "mark", 0, UINT32_MAX, &probe->mark, err);
	if (!rc)
		rc = get_addr(object, "backend", &probe->backend, err);
	if (!rc)
		rc = read_check(json_object_get(object, "check"), &probe->check, err);
	probe->port = port;
	return rc ? rc : judge_port(probe, err);
}

static int read_one_number(json_t *object, const char *key, uint32_t *out, struct err *err)
{
	const char *const keys[] = { "op", key, NULL };
	int rc = only_keys(object, keys, err);

	return rc ? rc : get_id(object, key, out, err);
}

static int read_reason(json_t *object, struct probe_result *result, struct err *err)
{
	const char *reason = NULL;
	int rc = get_text(object, "reason", &reason, err);

	if (rc)
		return rc;
	if (strlen(reason) >= PROBE_REASON_MAX)
		return err_set(err, -EINVAL, "reason has %zu bytes; allowed: up to %d",
			       strlen(reason), PROBE_REASON_MAX - 1);
	memcpy(result->reason, reason, strlen(reason) + 1);
	text_clean(result->reason);
	return 0;
}

static int read_agent(json_t *object, struct probe_result *result, struct err *err)
{
	uint32_t weight = 0;
	int rc = 0;

	result->weight = -1;
	if (json_object_get(object, "weight")) {
		rc = get_number(object, "weight", 0, 100, &weight, err);
		result->weight = weight;
	}
	if (!rc && json_object_get(object, "agent"))
		rc = get_word(object, "agent", agent_word, AGENT__MAX, &result->agent, err);
	return rc ? rc : get_bool(object, "agent_unclear", &result->agent_unclear, err);
}

static int read_result(json_t *object, struct probe_result *result, struct err *err)
{
	static const char *const keys[] = { "op",     "id",	"ok",	 "ms",
					    "reason", "weight", "agent", "agent_unclear",
					    NULL };
	int rc = only_keys(object, keys, err);

	if (!rc)
		rc = get_id(object, "id", &result->id, err);
	if (!rc && !json_object_get(object, "ok"))
		rc = err_set(err, -EINVAL, "ok is missing");
	if (!rc)
		rc = get_number(object, "ms", 0, UINT32_MAX, &result->ms, err);
	if (!rc)
		rc = get_bool(object, "ok", &result->ok, err);
	if (!rc)
		rc = read_reason(object, result, err);
	return rc ? rc : read_agent(object, result, err);
}

static const char *op_word(int op)
{
	static const char *const words[] = { [CHECK_ADD] = "add", [CHECK_DEL] = "del",
					     [CHECK_PING] = "ping", [CHECK_PONG] = "pong",
					     [CHECK_RESULT] = "result" };

	return words[op];
}

static int read_message(json_t *object, struct check_message *out, struct err *err)
{
	uint8_t op = 0;
	int rc = get_word(object, "op", op_word, CHECK_RESULT + 1, &op, err);

	if (rc)
		return rc;
	out->op = op;
	switch (out->op) {
	case CHECK_ADD:
		return read_add(object, out, err);
	case CHECK_DEL:
		return read_one_number(object, "id", &out->id, err);
	case CHECK_PING:
	case CHECK_PONG:
		return read_one_number(object, "seq", &out->seq, err);
	case CHECK_RESULT:
		return read_result(object, &out->result, err);
	}
	return -EINVAL;
}

int check_wire_parse(const char *line, size_t length, struct check_message *out,
		     struct err *err)
{
	struct check_message message = { 0 };
	json_error_t why;
	json_t *object;
	int rc;

	if (length > CHECK_WIRE_LINE_MAX)
		return err_set(err, -EINVAL, "a line has %zu bytes; allowed: up to %d",
			       length, CHECK_WIRE_LINE_MAX);
	object = json_loadb(line, length, JSON_REJECT_DUPLICATES, &why);
	if (!object)
		return err_set(err, -EINVAL, "a line is not JSON: %s", QUOTE(why.text));
	rc = json_is_object(object) ? read_message(object, &message, err) :
				      err_set(err, -EINVAL, "a line is not a JSON object");
	json_decref(object);
	if (rc)
		check_clear(&message.probe.check);
	else
		*out = message;
	return rc;
}
