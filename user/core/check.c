// SPDX-License-Identifier: GPL-2.0-only
#include "check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fnv.h"

static const char *const kind_names[] = {
	[CHECK_NONE] = "none",
	[CHECK_TCP] = "tcp",
	[CHECK_HTTP] = "http",
	[CHECK_HTTPS] = "https",
	[CHECK_UDP] = "udp",
	[CHECK_ICMP] = "icmp",
	[CHECK_EXEC] = "exec",
};
_Static_assert(sizeof(kind_names) / sizeof(*kind_names) == CHECK__MAX,
	       "every kind of check has a name");

static const char *const via_names[] = {
	[CHECK_VIA_AUTO] = "auto",
	[CHECK_VIA_VIP] = "vip",
	[CHECK_VIA_DIRECT] = "direct",
};
_Static_assert(sizeof(via_names) / sizeof(*via_names) == CHECK_VIA__MAX,
	       "every way of a check has a name");

/* All strings that a check owns. */
static const size_t texts[] = {
	offsetof(struct check, path),	       offsetof(struct check, host),
	offsetof(struct check, method),	       offsetof(struct check, body),
	offsetof(struct check, sni),	       offsetof(struct check, ca_file),
	offsetof(struct check, cert_file),     offsetof(struct check, key_file),
	offsetof(struct check, weight_header), offsetof(struct check, weight_json),
	offsetof(struct check, send),	       offsetof(struct check, receive),
};
#define N_TEXTS (sizeof(texts) / sizeof(*texts))

static char **text_at(struct check *check, size_t i)
{
	return (char **)((char *)check + texts[i]);
}

static const char *text_of(const struct check *check, size_t i)
{
	return *(char *const *)((const char *)check + texts[i]);
}

const char *check_kind_name(enum check_kind kind)
{
	return kind < CHECK__MAX ? kind_names[kind] : "unknown";
}

const char *check_via_name(enum check_via via)
{
	return via < CHECK_VIA__MAX ? via_names[via] : "unknown";
}

void check_clear(struct check *check)
{
	size_t i;

	for (i = 0; i < N_TEXTS; i++)
		free(*text_at(check, i));
	for (i = 0; i < CHECK_ARGS_MAX; i++)
		free(check->args[i]);
	*check = (struct check){ 0 };
}

/* *to is a copy of all but what is owned, which it has none of yet. */
static int copy_owned(const struct check *from, struct check *to)
{
	size_t i;

	for (i = 0; i < N_TEXTS; i++) {
		if (!text_of(from, i))
			continue;
		*text_at(to, i) = strdup(text_of(from, i));
		if (!*text_at(to, i))
			return -ENOMEM;
	}
	for (i = 0; i < from->n_args; i++) {
		to->args[i] = strdup(from->args[i]);
		if (!to->args[i])
			return -ENOMEM;
	}
	return 0;
}

int check_copy(const struct check *from, struct check *to)
{
	int rc;

	*to = *from;
	for (size_t i = 0; i < N_TEXTS; i++)
		*text_at(to, i) = NULL;
	memset(to->args, 0, sizeof(to->args));
	rc = copy_owned(from, to);
	if (rc < 0)
		check_clear(to);
	return rc;
}

int check_init(struct check *check, enum check_kind kind)
{
	*check = (struct check){ .kind = kind };
	if (kind == CHECK_NONE)
		return 0;

	check->interval = 5000;
	check->timeout = 2000;
	check->jitter = 10;
	check->rise = 2;
	check->fall = 3;
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

/* The numbers, in the order in which checks are sorted; rise and fall aside. */
#define N_NUMBERS 10

static void numbers_of(const struct check *check, uint32_t numbers[N_NUMBERS])
{
	const uint32_t all[N_NUMBERS] = {
		check->kind,	   check->via,	      check->interval, check->timeout,
		check->jitter,	   check->port,	      check->status_min,
		check->status_max, check->tls_verify, check->n_args,
	};

	memcpy(numbers, all, sizeof(all));
}

/* One that is not said comes first. */
static int compare_texts(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

int check_compare(const struct check *a, const struct check *b)
{
	uint32_t x[N_NUMBERS], y[N_NUMBERS];
	int order = 0;
	size_t i;

	numbers_of(a, x);
	numbers_of(b, y);
	for (i = 0; i < N_NUMBERS; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	for (i = 0; i < N_TEXTS && !order; i++)
		order = compare_texts(text_of(a, i), text_of(b, i));
	for (i = 0; i < a->n_args && !order; i++)
		order = compare_texts(a->args[i], b->args[i]);
	return order;
}

/* With its length in front, so that no two lists of texts are the same bytes. */
static uint64_t digest_text(uint64_t hash, const char *text)
{
	if (!text)
		return fnv64_le32(hash, UINT32_MAX);
	return fnv64_text(fnv64_le32(hash, strlen(text)), text);
}

uint64_t check_digest(const struct check *check)
{
	uint32_t numbers[N_NUMBERS];
	uint64_t hash = FNV64_OFFSET;
	size_t i;

	numbers_of(check, numbers);
	for (i = 0; i < N_NUMBERS; i++)
		hash = fnv64_le32(hash, numbers[i]);
	for (i = 0; i < N_TEXTS; i++)
		hash = digest_text(hash, text_of(check, i));
	for (i = 0; i < check->n_args; i++)
		hash = digest_text(hash, check->args[i]);
	return hash;
}
