// SPDX-License-Identifier: GPL-2.0-only
#include "check.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check_fields.h"
#include "quote.h"

#define DAY_MS (24 * 60 * 60 * 1000)

#define NUMBER(name, kind, low, high)                                  \
	.key = #name, .type = kind, .offset = offsetof(struct check, name), \
	.min = (low), .max = (high)
#define STRING(name, set)                                                       \
	.key = #name, .type = CHECK_STRING, .offset = offsetof(struct check, name), \
	.charset = set

const struct check_field check_fields[] = {
	{ NUMBER(interval, CHECK_U32, 10, DAY_MS) },
	{ NUMBER(timeout, CHECK_U32, 1, DAY_MS) },
	{ NUMBER(fast_interval, CHECK_U32, 10, DAY_MS) },
	{ NUMBER(jitter, CHECK_U8, 1, 100) },
	{ NUMBER(rise, CHECK_U16, 1, UINT16_MAX), .policy = true },
	{ NUMBER(fall, CHECK_U16, 1, UINT16_MAX), .policy = true },
	{ NUMBER(port, CHECK_U16, 1, UINT16_MAX) },
	{ STRING(path, CHECK_VISIBLE) },
	{ STRING(host, CHECK_HOST) },
	{ STRING(method, CHECK_VISIBLE) },
	{ NUMBER(status_min, CHECK_U16, 100, 599) },
	{ NUMBER(status_max, CHECK_U16, 100, 599) },
	{ STRING(body, CHECK_ANY) },
	{ NUMBER(tls_verify, CHECK_BOOL, 0, 1) },
	{ STRING(sni, CHECK_HOST) },
	{ STRING(ca_file, CHECK_ANY) },
	{ STRING(cert_file, CHECK_ANY) },
	{ STRING(key_file, CHECK_ANY) },
	{ STRING(weight_header, CHECK_TOKEN) },
	{ STRING(weight_json, CHECK_ANY) },
	{ STRING(send, CHECK_ANY) },
	{ STRING(receive, CHECK_ANY) },
	{ .key = NULL },
};

static const char *const kind_names[] = {
	[CHECK_NONE] = "none", [CHECK_TCP] = "tcp",   [CHECK_HTTP] = "http",
	[CHECK_HTTPS] = "https", [CHECK_UDP] = "udp", [CHECK_ICMP] = "icmp",
	[CHECK_EXEC] = "exec",
};
static_assert(sizeof(kind_names) / sizeof(kind_names[0]) == CHECK__MAX,
	      "a kind of check has no name");

static const char *const via_names[] = {
	[CHECK_VIA_AUTO] = "auto",
	[CHECK_VIA_VIP] = "vip",
	[CHECK_VIA_DIRECT] = "direct",
};
static_assert(sizeof(via_names) / sizeof(via_names[0]) == CHECK_VIA__MAX,
	      "a way of a check has no name");

static const char *const vips_names[] = {
	[CHECK_VIPS_EACH] = "each",
	[CHECK_VIPS_FIRST] = "first",
};
static_assert(sizeof(vips_names) / sizeof(vips_names[0]) == CHECK_VIPS__MAX,
	      "which VIPs a check is made at has no name");

const char *check_kind_name(enum check_kind kind)
{
	return (unsigned int)kind < CHECK__MAX ? kind_names[kind] : "?";
}

const char *check_via_name(enum check_via via)
{
	return (unsigned int)via < CHECK_VIA__MAX ? via_names[via] : "?";
}

const char *check_vips_name(enum check_vips vips)
{
	return (unsigned int)vips < CHECK_VIPS__MAX ? vips_names[vips] : "?";
}

uint32_t check_number(const struct check *check, const struct check_field *field)
{
	const char *at = (const char *)check + field->offset;

	switch (field->type) {
	case CHECK_U8:
		return *(const uint8_t *)at;
	case CHECK_U16:
		return *(const uint16_t *)at;
	case CHECK_U32:
		return *(const uint32_t *)at;
	case CHECK_BOOL:
		return *(const bool *)at;
	case CHECK_STRING:
		break;
	}
	return 0;
}

void check_set_number(struct check *check, const struct check_field *field,
		      uint32_t value)
{
	char *at = (char *)check + field->offset;

	switch (field->type) {
	case CHECK_U8:
		*(uint8_t *)at = value;
		break;
	case CHECK_U16:
		*(uint16_t *)at = value;
		break;
	case CHECK_U32:
		*(uint32_t *)at = value;
		break;
	case CHECK_BOOL:
		*(bool *)at = value;
		break;
	case CHECK_STRING:
		break;
	}
}

char **check_string(struct check *check, const struct check_field *field)
{
	return (char **)((char *)check + field->offset);
}

const char *check_string_const(const struct check *check,
			       const struct check_field *field)
{
	return *(char *const *)((const char *)check + field->offset);
}

void check_clear(struct check *check)
{
	for (const struct check_field *f = check_fields; f->key; f++)
		if (f->type == CHECK_STRING)
			free(*check_string(check, f));
	for (int i = 0; i < CHECK_ARGS_MAX; i++)
		free(check->args[i]);
	*check = (struct check){ 0 };
}

/* *to has nothing of its own yet. */
static int copy_strings(const struct check *from, struct check *to)
{
	for (const struct check_field *f = check_fields; f->key; f++) {
		const char *text;

		if (f->type != CHECK_STRING)
			continue;
		text = check_string_const(from, f);
		if (text && !(*check_string(to, f) = strdup(text)))
			return -ENOMEM;
	}
	for (int i = 0; i < from->n_args; i++) {
		to->args[i] = strdup(from->args[i]);
		if (!to->args[i])
			return -ENOMEM;
	}
	return 0;
}

int check_copy(const struct check *from, struct check *to)
{
	struct check copy = { .kind = from->kind, .via = from->via, .vips = from->vips,
			      .n_args = from->n_args };
	int rc;

	for (const struct check_field *f = check_fields; f->key; f++)
		check_set_number(&copy, f, check_number(from, f));
	rc = copy_strings(from, &copy);
	if (rc) {
		check_clear(&copy);
		return rc;
	}
	*to = copy;
	return 0;
}

int check_init(struct check *check, enum check_kind kind)
{
	*check = (struct check){
		.kind = kind,
		.interval = 5000,
		.timeout = 2000,
		.fast_interval = 1000,
		.jitter = 10,
		.rise = 2,
		.fall = 3,
	};
	if (kind != CHECK_HTTP && kind != CHECK_HTTPS)
		return 0;
	check->status_min = 200;
	check->status_max = 299;
	check->tls_verify = kind == CHECK_HTTPS;
	check->path = strdup("/");
	check->method = strdup("GET");
	if (check->path && check->method)
		return 0;
	check_clear(check);
	return -ENOMEM;
}

static int compare_numbers(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

/* What is not said comes first. */
static int compare_texts(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : !!a - !!b;
}

static int compare_fields(const struct check *a, const struct check *b,
			  const struct check_field *field)
{
	if (field->type == CHECK_STRING)
		return compare_texts(check_string_const(a, field),
				     check_string_const(b, field));
	return compare_numbers(check_number(a, field), check_number(b, field));
}

static int compare_args(const struct check *a, const struct check *b)
{
	int rc = compare_numbers(a->n_args, b->n_args);

	for (int i = 0; !rc && i < a->n_args; i++)
		rc = compare_texts(a->args[i], b->args[i]);
	return rc;
}

int check_compare(const struct check *a, const struct check *b)
{
	int rc = compare_numbers(a->kind, b->kind);

	if (!rc)
		rc = compare_numbers(a->via, b->via);
	for (const struct check_field *f = check_fields; !rc && f->key; f++)
		if (!f->policy)
			rc = compare_fields(a, b, f);
	return rc ? rc : compare_args(a, b);
}

static int judge_http(const struct check *check, struct err *err)
{
	if (check->path && check->path[0] != '/')
		return err_set(err, -EINVAL, "path %s does not begin with '/'",
			       QUOTE(check->path));
	if (check->method && strcmp(check->method, "GET") && strcmp(check->method, "HEAD"))
		return err_set(err, -EINVAL, "method %s is unknown; allowed: GET, HEAD",
			       QUOTE(check->method));
	if (!check->status_min || check->status_min > check->status_max)
		return err_set(err, -EINVAL,
			       "status_min %u and status_max %u are no range of 100 to 599",
			       check->status_min, check->status_max);
	return 0;
}

static int judge_exec(const struct check *check, struct err *err)
{
	if (!check->n_args)
		return err_set(err, -EINVAL, "an exec check has no command");
	if (check->args[0][0] != '/')
		return err_set(err, -EINVAL, "command %s is not an absolute path",
			       QUOTE(check->args[0]));
	return 0;
}

int check_judge(const struct check *check, struct err *err)
{
	if (!check->interval || !check->timeout)
		return err_set(err, -EINVAL, "interval or timeout is missing");
	if (!check->rise || !check->fall)
		return err_set(err, -EINVAL, "rise or fall is missing");
	switch (check->kind) {
	case CHECK_HTTP:
	case CHECK_HTTPS:
		return judge_http(check, err);
	case CHECK_EXEC:
		return judge_exec(check, err);
	default:
		return 0;
	}
}
