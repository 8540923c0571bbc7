// SPDX-License-Identifier: GPL-2.0-only
/* The lines between fairleadd and fairlead-check: how they are written. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "check_fields.h"
#include "cleanup.h"

/* Takes the object, which is NULL when there was no memory for it. */
static int write_line(json_t *object, char **line, struct err *err)
{
	char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
	size_t length = text ? strlen(text) : 0;

	json_decref(object);
	if (!text)
		return err_set(err, -ENOMEM, "no memory");
	if (length > CHECK_WIRE_LINE_MAX) {
		free(text);
		return err_set(err, -E2BIG,
			       "a line of %zu bytes is too long; allowed: up to %d",
			       length, CHECK_WIRE_LINE_MAX);
	}
	*line = text;
	return 0;
}

static int write_number(const char *op, const char *key, uint32_t number, char **line,
			struct err *err)
{
	return write_line(json_pack("{s:s, s:I}", "op", op, key, (json_int_t)number), line,
			  err);
}

int check_wire_del(uint32_t id, char **line, struct err *err)
{
	return write_number("del", "id", id, line, err);
}

int check_wire_ping(uint32_t seq, char **line, struct err *err)
{
	return write_number("ping", "seq", seq, line, err);
}

int check_wire_pong(uint32_t seq, char **line, struct err *err)
{
	return write_number("pong", "seq", seq, line, err);
}

/* -EINVAL: text that is not UTF-8. */
static int put_text(json_t *object, const char *key, const char *text, struct err *err)
{
	json_t *value = json_string(text);

	if (!value)
		return err_set(err, -EINVAL, "%s is not text in UTF-8", key);
	return json_object_set_new(object, key, value);
}

static int put_field(json_t *object, const struct check *check,
		     const struct check_field *f, struct err *err)
{
	const char *text = f->type == CHECK_STRING ? check_string_const(check, f) : NULL;
	uint32_t number = check_number(check, f);

	if (text)
		return put_text(object, f->key, text, err);
	if (!number)
		return 0;
	if (f->type == CHECK_BOOL)
		return json_object_set_new(object, f->key, json_true());
	return json_object_set_new(object, f->key, json_integer(number));
}

static int put_args(json_t *object, const struct check *check, struct err *err)
{
	json_t *args = json_array();

	if (json_object_set_new(object, "args", args))
		return -ENOMEM;
	for (int i = 0; i < check->n_args; i++) {
		json_t *arg = json_string(check->args[i]);

		if (!arg)
			return err_set(err, -EINVAL, "an argument is not text in UTF-8");
		if (json_array_append_new(args, arg))
			return -ENOMEM;
	}
	return 0;
}

static int put_check(json_t *object, const struct check *check, struct err *err)
{
	int rc = json_object_set_new(object, "kind",
				     json_string(check_kind_name(check->kind)));

	if (!rc)
		rc = json_object_set_new(object, "via",
					 json_string(check_via_name(check->via)));
	for (const struct check_field *f = check_fields; !rc && f->key; f++)
		rc = put_field(object, check, f, err);
	return rc || !check->n_args ? rc : put_args(object, check, err);
}

static json_t *pack_probe(const struct probe *probe, json_t *check)
{
	char addr[ADDR_TEXT_MAX], backend[ADDR_TEXT_MAX];

	return json_pack("{s:s, s:I, s:s, s:i, s:I, s:s, s:O}", "op", "add", "id",
			 (json_int_t)probe->id, "addr", addr_format(&probe->addr, addr),
			 "port", probe->port, "mark", (json_int_t)probe->mark, "backend",
			 addr_format(&probe->backend, backend), "check", check);
}

static int write_add(const struct probe *probe, char **line, struct err *err)
{
	struct err why = { .code = -ENOMEM, .text = "no memory" };
	json_t *check = json_object();
	int rc = check ? put_check(check, &probe->check, &why) : -ENOMEM;

	if (rc)
		rc = err_set(err, why.code, "%s", why.text);
	else
		rc = write_line(pack_probe(probe, check), line, err);
	json_decref(check);
	return rc;
}

/* The other side would end at a probe that it refuses, so it is refused here. */
int check_wire_add(const struct probe *probe, char **line, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	struct check_message message;
	int rc = write_add(probe, &text, err);

	if (!rc)
		rc = check_wire_parse(text, strlen(text), &message, err);
	if (rc)
		return rc;
	check_clear(&message.probe.check);
	*line = TAKE_PTR(text);
	return 0;
}

static const char *const agent_names[] = { [AGENT_UP] = "up", [AGENT_DRAIN] = "drain",
					   [AGENT_DOWN] = "down" };

int check_wire_result(const struct probe_result *result, char **line, struct err *err)
{
	json_t *object = json_pack("{s:s, s:I, s:b, s:I, s:s}", "op", "result", "id",
				   (json_int_t)result->id, "ok", result->ok, "ms",
				   (json_int_t)result->ms, "reason", result->reason);
	int rc = 0;

	if (!object)
		return err_set(err, -EINVAL, "the reason of a result is not text in UTF-8");
	if (result->weight >= 0)
		rc = json_object_set_new(object, "weight", json_integer(result->weight));
	if (!rc && result->agent != AGENT_SILENT && result->agent < AGENT__MAX)
		rc = json_object_set_new(object, "agent",
					 json_string(agent_names[result->agent]));
	if (!rc && result->agent_unclear)
		rc = json_object_set_new(object, "agent_unclear", json_true());
	if (!rc)
		return write_line(object, line, err);
	json_decref(object);
	return err_set(err, -ENOMEM, "no memory");
}
