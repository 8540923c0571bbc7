// SPDX-License-Identifier: GPL-2.0-only
#include "fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drop_reasons.h"
#include "quote.h"

static const char *const verdict_names[] = {
	[FIXTURE_PASS] = "pass",
	[FIXTURE_TX] = "tx",
	[FIXTURE_REDIRECT] = "redirect",
	[FIXTURE_DROP] = "drop",
};

_Static_assert(sizeof(verdict_names) / sizeof(verdict_names[0]) == FIXTURE_VERDICT__MAX,
	       "verdict_names");

const char *fixture_verdict_name(enum fixture_verdict verdict)
{
	return verdict_names[verdict];
}

const char *fixture_reason_name(uint32_t reason)
{
	static const char *const names[DROP_REASON__MAX] = {
#define X(id, name, label, help) [id] = label,
		DROP_REASONS(X)
#undef X
	};

	return reason < DROP_REASON__MAX ? names[reason] : NULL;
}

static void frame_free(struct fixture_frame *frame)
{
	packet_clear(&frame->bytes);
	free(frame->pcap);
}

static void case_free(struct fixture_case *c)
{
	for (size_t i = 0; i < c->n_steps; i++) {
		frame_free(&c->steps[i].in);
		frame_free(&c->steps[i].out);
		free(c->steps[i].backends);
		free(c->steps[i].counters);
	}
	free(c->steps);
}

void fixture_free(struct fixture **fixture)
{
	struct fixture *f = *fixture;

	if (!f)
		return;
	for (size_t i = 0; i < f->n_cases; i++)
		case_free(&f->cases[i]);
	free(f->cases);
	free(f);
	*fixture = NULL;
}

int fixture_place(const struct fixture *fixture, struct cfg_pos pos, struct err *err)
{
	return pos.line ? err_prefix(err, "%s:%u:%u", fixture->file, pos.line,
				     pos.column) :
			  err_prefix(err, "%s", fixture->file);
}

bool fixture_is_backend(const struct cfg_backend *backend, const char *name)
{
	struct addr addr;

	return !strcmp(backend->name, name) ||
	       (!addr_parse(name, "the backend", &addr, NULL) &&
		!addr_compare(&addr, &backend->addr));
}

static int check_backend(const struct fixture *f, const struct cfg *cfg,
			 const char *name, struct cfg_pos pos, struct err *err)
{
	char list[256] = "";
	size_t n = 0;

	for (size_t i = 0; i < cfg->n_pools; i++) {
		const struct cfg_pool *pool = &cfg->pools[i];

		for (size_t j = 0; j < pool->n_backends; j++) {
			if (fixture_is_backend(&pool->backends[j], name))
				return 0;
			if (n < sizeof(list))
				n += snprintf(list + n, sizeof(list) - n, "%s%s",
					      n ? ", " : "", pool->backends[j].name);
		}
	}
	err_set(err, -EINVAL,
		"backend %s is not in the configuration; allowed: a name or an address of %s",
		QUOTE(name), n ? list : "none, it has no backend");
	return fixture_place(f, pos, err);
}

static int check_vip(const struct fixture *f, const struct cfg *cfg,
		     const struct fixture_counter *counter, struct err *err)
{
	char text[VIP_SPEC_TEXT_MAX], list[256] = "";
	size_t n = 0;

	if (cfg_find_vip(cfg, &counter->vip))
		return 0;
	for (size_t i = 0; i < cfg->n_vips && n < sizeof(list); i++)
		n += snprintf(list + n, sizeof(list) - n, "%s%s", n ? ", " : "",
			      vip_spec_format(&cfg->vips[i].spec, text));
	err_set(err, -EINVAL, "vip '%s' is not in the configuration; allowed: %s",
		vip_spec_format(&counter->vip, text), n ? list : "none, it has no vip");
	return fixture_place(f, counter->pos, err);
}

static int check_step(const struct fixture *f, const struct cfg *cfg,
		      const struct fixture_step *step, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < step->n_backends && !rc; i++)
		rc = check_backend(f, cfg, step->backends[i].name,
				   step->backends[i].pos, err);
	for (size_t i = 0; i < step->n_counters && !rc; i++) {
		const struct fixture_counter *counter = &step->counters[i];

		if (counter->kind == COUNTER_VIP)
			rc = check_vip(f, cfg, counter, err);
		else if (counter->kind == COUNTER_BACKEND)
			rc = check_backend(f, cfg, counter->backend, counter->pos, err);
	}
	return rc;
}

int fixture_check(const struct fixture *fixture, const struct cfg *cfg, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < fixture->n_cases; i++)
		for (size_t j = 0; j < fixture->cases[i].n_steps && !rc; j++)
			rc = check_step(fixture, cfg, &fixture->cases[i].steps[j], err);
	return rc;
}
