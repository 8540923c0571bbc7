// SPDX-License-Identifier: GPL-2.0-only
#include "fixture_words.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "drop_reasons.h"
#include "quote.h"

#define LIST_MAX 480

static int find_word(const char *word, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(word, words[i]))
			return i;
	return -ENOENT;
}

static uint32_t find_reason(const char *label)
{
	for (uint32_t i = 1; i < DROP_REASON__MAX; i++)
		if (fixture_reason_name(i) && !strcmp(fixture_reason_name(i), label))
			return i;
	return 0;
}

/* "vip ADDRESS MEMBER" or "backend NAME MEMBER", cut into its words. */
static int parse_object_counter(char *words, struct fixture_counter *c)
{
	static const char *const vip_members[] = { "packets", "bytes", "new_flows",
						   "drops", "quic_unknown", NULL };
	static const char *const backend_members[] = { "packets", "bytes", "new_flows",
						       NULL };
	char *kind = strsep(&words, " "), *object = strsep(&words, " ");
	bool vip = !strcmp(kind, "vip");
	int member;

	if ((!vip && strcmp(kind, "backend")) || !object || !words)
		return -EINVAL;
	member = find_word(words, vip ? vip_members : backend_members);
	if (member < 0)
		return -EINVAL;
	c->kind = vip ? COUNTER_VIP : COUNTER_BACKEND;
	c->member = member;
	if (vip)
		return vip_spec_parse(object, &c->vip, NULL);
	if (strlen(object) > CFG_NAME_MAX)
		return -EINVAL;
	snprintf(c->backend, sizeof(c->backend), "%s", object);
	return 0;
}

int fixture_parse_counter(struct fixture_counter *c)
{
	static const char *const totals[] = { "passed", "sent_tx", "sent_redirect", NULL };
	char words[sizeof(c->text)];
	int total = find_word(c->text, totals);

	if (total >= 0) {
		c->kind = COUNTER_TOTAL;
		c->member = total;
		return 0;
	}
	if (!strncmp(c->text, "drop ", 5)) {
		c->kind = COUNTER_DROP;
		c->reason = find_reason(c->text + 5);
		return c->reason ? 0 : -EINVAL;
	}
	memcpy(words, c->text, sizeof(words));
	return parse_object_counter(words, c);
}

int fixture_set_verdict(void *object, const char *text, struct err *err)
{
	struct fixture_step *step = object;

	for (int i = 0; i < FIXTURE_VERDICT__MAX; i++) {
		if (strcmp(text, fixture_verdict_name(i)))
			continue;
		step->verdict = i;
		step->has_verdict = true;
		return 0;
	}
	return err_set(err, -EINVAL,
		       "verdict %s is not known; allowed: pass, tx, redirect, drop",
		       QUOTE(text));
}

int fixture_set_reason(void *object, const char *text, struct err *err)
{
	struct fixture_step *step = object;
	char list[LIST_MAX];
	size_t n = 0;

	step->reason = find_reason(text);
	if (step->reason)
		return 0;
	for (uint32_t i = 1; i < DROP_REASON__MAX && n < sizeof(list); i++)
		if (fixture_reason_name(i))
			n += snprintf(list + n, sizeof(list) - n, "%s%s", n ? ", " : "",
				      fixture_reason_name(i));
	return err_set(err, -EINVAL, "reason %s is not known; allowed: %s", QUOTE(text),
		       list);
}

int fixture_set_name(void *object, const char *text, struct err *err)
{
	struct fixture_case *c = object;

	if (!*text || strlen(text) > FIXTURE_NAME_MAX)
		return err_set(err, -EINVAL,
			       "name has %zu characters; allowed: 1 to %d", strlen(text),
			       FIXTURE_NAME_MAX);
	for (const char *at = text; *at; at++)
		if (iscntrl((unsigned char)*at) || *at == '#')
			return err_set(err, -EINVAL,
				       "name %s has a control character or '#' in it",
				       QUOTE(text));
	snprintf(c->name, sizeof(c->name), "%s", text);
	return 0;
}
