// SPDX-License-Identifier: GPL-2.0-only
/*
 * A check as a whole: its mapping in a file, or its type alone, and the JSON of
 * it. The keys are in cfg_fields_check.c.
 */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "cfg_fields.h"
#include "cfg_fields_health.h"
#include "cfg_reader.h"
#include "cleanup.h"
#include "duration.h"
#include "quote.h"

#define _cleanup_check_ _cleanup_(check_clear)

/*
 * All texts of a check: with each byte escaped, as JSON may have to, and the rest
 * of the line, they fit into CHECK_WIRE_LINE_MAX.
 */
#define TEXTS_MAX 8192
_Static_assert(TEXTS_MAX * 6 + 8192 <= CHECK_WIRE_LINE_MAX, "a check fits into a line");

static int no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory");
}

static bool is_web(const struct check *check)
{
	return check->kind == CHECK_HTTP || check->kind == CHECK_HTTPS;
}

static void drop_text(char **text)
{
	free(*text);
	*text = NULL;
}

/* The type may stand last, so every key has its default until it is known. */
static void drop_unused_defaults(struct check *check)
{
	if (check->kind != CHECK_HTTPS)
		check->tls_verify = false;
	if (is_web(check))
		return;
	drop_text(&check->path);
	drop_text(&check->method);
	check->status_min = check->status_max = 0;
}

static const char *list_used(unsigned int kind, char list[CFG_KEYS_MAX])
{
	list[0] = '\0';
	for (size_t i = 0; cfg_check_fields[i].key; i++)
		if (cfg_check_uses(i, kind))
			cfg_keys_add(list, cfg_check_fields[i].key);
	return list;
}

static int refuse_unused(struct reader *r, const struct reader_mapping *m,
			 const struct check *check)
{
	char list[CFG_KEYS_MAX];

	for (size_t i = 0; cfg_check_fields[i].key; i++)
		if (m->seen[i].line && !cfg_check_uses(i, check->kind))
			return reader_fail(r, m->seen[i],
					   "key '%s' is not used by checks of type %s; "
					   "allowed: %s",
					   cfg_check_fields[i].key,
					   check_kind_name(check->kind),
					   list_used(check->kind, list));
	return 0;
}

static size_t count_texts(const struct check *check)
{
	const char *const texts[] = {
		check->path,	 check->host,	   check->body,		 check->sni,
		check->ca_file,	 check->cert_file, check->key_file,	 check->weight_header,
		check->weight_json, check->send,   check->receive,
	};
	size_t n = 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		n += texts[i] ? strlen(texts[i]) : 0;
	for (size_t i = 0; i < check->n_args; i++)
		n += strlen(check->args[i]) + 1;
	return n;
}

static bool reads_no_body(const struct check *check)
{
	return check->method && !strcmp(check->method, "HEAD");
}

/* What is right alone and not together; whose place is in *key. */
static int check_together(const struct check *check, const char **key, struct err *err)
{
	*key = "type";
	if (check->kind == CHECK_UDP && !check->send)
		return err_set(err, -EINVAL, "check has type udp and no 'send', so no "
					     "answer would come; required: what to send");
	if (check->kind == CHECK_EXEC && !check->n_args)
		return err_set(err, -EINVAL, "check has type exec and no 'command'; "
					     "required: a list, the path first");
	if (count_texts(check) > TEXTS_MAX)
		return err_set(err, -EINVAL,
			       "the texts of check have %zu bytes; allowed: %u together",
			       count_texts(check), TEXTS_MAX);
	*key = "body";
	if (check->body && reads_no_body(check))
		return err_set(err, -EINVAL, "body is not used, as method is HEAD; "
					     "allowed: body with GET");
	*key = "weight_json";
	if (check->weight_json && reads_no_body(check))
		return err_set(err, -EINVAL, "weight_json is not used, as method is HEAD; "
					     "allowed: weight_header, or GET");
	if (check->weight_json && check->weight_header)
		return err_set(err, -EINVAL, "weight_json and weight_header are both "
					     "given; allowed: one of them");
	*key = "ca_file";
	if (check->ca_file && !check->tls_verify)
		return err_set(err, -EINVAL, "ca_file is not used, as tls_verify is false; "
					     "allowed: ca_file with 'tls_verify: true'");
	*key = "key_file";
	if (check->key_file && !check->cert_file)
		return err_set(err, -EINVAL, "key_file is not used without cert_file; "
					     "allowed: both, or cert_file with the key in it");
	return 0;
}

/* What nobody has given gives way to a short interval. */
static int check_time(struct reader *r, const struct reader_mapping *m, const char *key,
		      uint32_t *time, const struct check *check)
{
	struct cfg_pos pos = reader_seen(m, key);
	char text[DURATION_TEXT_MAX], interval[DURATION_TEXT_MAX];

	if (*time <= check->interval)
		return 0;
	if (!pos.line) {
		*time = check->interval;
		return 0;
	}
	return reader_fail(r, pos,
			   "%s %s is longer than interval %s; allowed: at most the interval",
			   key, duration_format(*time, text),
			   duration_format(check->interval, interval));
}

static int check_times(struct reader *r, const struct reader_mapping *m,
		       struct check *check)
{
	int rc = check_time(r, m, "timeout", &check->timeout, check);

	return rc < 0 ? rc :
			check_time(r, m, "fast_interval", &check->fast_interval, check);
}

static int finish_check(struct reader *r, const struct reader_mapping *m,
			struct cfg_pos pos, struct check *check)
{
	const char *key;
	int rc;

	if (check->kind == CHECK_NONE)
		return reader_fail(r, pos, "check has no type; allowed: 'type: tcp', http, "
					   "https, udp, icmp or exec");
	rc = refuse_unused(r, m, check);
	if (rc < 0)
		return rc;

	drop_unused_defaults(check);
	rc = check_together(check, &key, r->err);
	if (rc < 0)
		return reader_failed(r, reader_seen(m, key), rc);
	return check_times(r, m, check);
}

static int read_mapping(struct reader *r, struct check *check)
{
	struct reader_mapping m = {
		.what = "check",
		.parts = { { cfg_check_fields, check } },
	};
	struct cfg_pos pos = reader_pos(r);
	int rc;

	/* Its defaults are those of all types. */
	if (check_init(check, CHECK_HTTPS))
		return no_memory(r->err);
	check->kind = CHECK_NONE;
	rc = reader_mapping(r, &m);
	return rc < 0 ? rc : finish_check(r, &m, pos, check);
}

int cfg_pool_read_check(struct reader *r, void *object)
{
	_cleanup_check_ struct check check = { 0 };
	struct cfg_pos pos = reader_pos(r);
	struct cfg_pool *pool = object;
	const char *text;
	int rc;

	if (r->event.type == YAML_SCALAR_EVENT) {
		rc = reader_value(r, "check", &text);
		if (rc < 0)
			return rc;
		rc = reader_failed(r, pos, cfg_pool_set_check(pool, text, r->err));
	} else {
		rc = read_mapping(r, &check);
		if (!rc) {
			check_clear(&pool->check);
			pool->check = check;
			check = (struct check){ 0 };
		}
	}
	pool->check_pos = pos;
	return rc;
}

/* The type alone, of those that need no more: then all keys have their defaults. */
int cfg_pool_set_check(void *object, const char *text, struct err *err)
{
	static const enum check_kind kinds[] = { CHECK_NONE, CHECK_TCP, CHECK_HTTP,
						 CHECK_HTTPS, CHECK_ICMP };
	const char *words[sizeof(kinds) / sizeof(*kinds)];
	struct cfg_pool *pool = object;
	struct check check = { 0 };
	int word;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		words[i] = check_kind_name(kinds[i]);
	word = cfg_parse_word(text, "check", words, sizeof(kinds) / sizeof(*kinds), err);
	if (word < 0)
		return word;
	if (kinds[word] != CHECK_NONE && check_init(&check, kinds[word]))
		return no_memory(err);

	check_clear(&pool->check);
	pool->check = check;
	pool->check_pos = (struct cfg_pos){ 0 };
	return 0;
}

/* Leaves out what `defaults` says, too, but for the type. Steals nothing. */
static int put_fields(json_t *json, const struct check *check,
		      const struct check *defaults)
{
	for (const struct cfg_field *f = cfg_check_fields; f->key; f++) {
		json_t *value = f->get(check), *other = f->get(defaults);
		bool said = value && other && !json_is_null(value) &&
			    (f == cfg_check_fields || !json_equal(value, other));
		int rc = value && other ? 0 : -1;

		if (said)
			rc = json_object_set_nocheck(json, f->key, value);
		json_decref(value);
		json_decref(other);
		if (rc)
			return -1;
	}
	return 0;
}

json_t *cfg_pool_get_check(const void *object)
{
	const struct cfg_pool *pool = object;
	const struct check *check = &pool->check;
	_cleanup_check_ struct check defaults = { 0 };
	json_t *json;

	if (check->kind == CHECK_NONE)
		return json_null();
	if (check_init(&defaults, check->kind))
		return NULL;
	if (defaults.timeout > check->interval)
		defaults.timeout = check->interval;
	if (defaults.fast_interval > check->interval)
		defaults.fast_interval = check->interval;
	json = json_object();
	if (json && put_fields(json, check, &defaults)) {
		json_decref(json);
		return NULL;
	}
	return json;
}
