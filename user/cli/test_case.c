// SPDX-License-Identifier: GPL-2.0-only
#include "test.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <linux/bpf.h>

#include "core/cleanup.h"
#include "core/plural.h"

void test_result_clear(struct test_result *result)
{
	packet_clear(&result->got);
}

static int xdp_action(enum fixture_verdict verdict)
{
	switch (verdict) {
	case FIXTURE_PASS:
		return XDP_PASS;
	case FIXTURE_TX:
		return XDP_TX;
	case FIXTURE_REDIRECT:
		return XDP_REDIRECT;
	default:
		return XDP_DROP;
	}
}

const char *test_verdict_text(int verdict, uint32_t reason, char text[TEST_VALUE_MAX])
{
	static const char *const names[] = {
		[XDP_ABORTED] = "aborted", [XDP_DROP] = "drop",
		[XDP_PASS] = "pass",	   [XDP_TX] = "tx",
		[XDP_REDIRECT] = "redirect",
	};
	const char *name = verdict >= 0 && verdict <= XDP_REDIRECT ? names[verdict] : "?";

	if (verdict == XDP_DROP && fixture_reason_name(reason))
		snprintf(text, TEST_VALUE_MAX, "%s (%s)", name,
			 fixture_reason_name(reason));
	else
		snprintf(text, TEST_VALUE_MAX, "%s", name);
	return text;
}

static void problem(struct test_result *r, const char *what, const char *expected,
		    const char *got)
{
	struct test_problem *p;

	if (r->n_problems == TEST_PROBLEMS_MAX)
		return;
	p = &r->problems[r->n_problems++];
	snprintf(p->what, sizeof(p->what), "%s", what);
	snprintf(p->expected, sizeof(p->expected), "%s", expected);
	snprintf(p->got, sizeof(p->got), "%s", got);
}

/* The first that has the address, in any pool, under any name or a given one. */
static const struct cfg_backend *find_backend(const struct cfg *cfg,
					      const struct addr *addr, const char *name)
{
	for (size_t i = 0; i < cfg->n_pools; i++)
		for (size_t j = 0; j < cfg->pools[i].n_backends; j++) {
			const struct cfg_backend *b = &cfg->pools[i].backends[j];

			if (!addr_compare(&b->addr, addr) &&
			    (!name || fixture_is_backend(b, name)))
				return b;
		}
	return NULL;
}

const char *test_backend_name(const struct trial *t, const struct packet *out)
{
	const struct addr *addr = trial_sent_to(t, out);
	const struct cfg_backend *b = addr ? find_backend(t->plan->cfg, addr, NULL) : NULL;

	return b ? b->name : NULL;
}

static void check_backend(const struct trial *t, const struct fixture_step *step,
			  struct test_result *r)
{
	const struct addr *addr = trial_sent_to(t, &r->got);
	char expected[TEST_VALUE_MAX] = "";
	const char *got = test_backend_name(t, &r->got);
	size_t n = 0;

	for (size_t i = 0; i < step->n_backends; i++) {
		const char *name = step->backends[i].name;

		if (addr && find_backend(t->plan->cfg, addr, name))
			return;
		if (n < sizeof(expected))
			n += snprintf(expected + n, sizeof(expected) - n, "%s%s",
				      i ? " or " : "", name);
	}
	if (step->n_backends)
		problem(r, "backend", expected, got ? got : "none");
}

static void check_outer(const struct fixture_step *step, struct test_result *r)
{
	char text[PACKET_FIELD_MAX], what[PACKET_FIELD_MAX];

	for (size_t i = 0; i < step->n_outer; i++) {
		const struct fixture_field *field = &step->outer[i];

		packet_field(&r->got, field->key, text);
		snprintf(what, sizeof(what), "outer %s", field->key);
		if (strcmp(text, field->value))
			problem(r, what, field->value, text);
	}
}

static void check_out(const struct fixture_step *step, struct test_result *r)
{
	const struct packet *e = r->expected;
	char expected[64], got[64];
	size_t at = 0;

	if (step->out.kind == FRAME_NONE)
		return;
	if (e->size == r->got.size && !memcmp(e->data, r->got.data, e->size))
		return;
	while (at < e->size && at < r->got.size && e->data[at] == r->got.data[at])
		at++;
	snprintf(expected, sizeof(expected), "%zu byte%s", e->size,
		 plural(e->size));
	snprintf(got, sizeof(got), "%zu byte%s, others from byte %zu on", r->got.size,
		 plural(r->got.size), at);
	problem(r, "packet out", expected, got);
}

static uint32_t vip_id(const struct trial *t, const struct vip_spec *spec)
{
	const struct plan_vip *vip = plan_find_vip(t->plan, spec);

	return vip ? vip->id : 0;
}

/* All ids that a backend has: one for each encapsulation that a pool gives it. */
static uint64_t count_backend(const struct trial *t, const struct fixture_counter *c)
{
	const struct plan *plan = t->plan;
	uint64_t sum = 0;

	for (size_t i = 0; i < plan->n_backends; i++)
		if (find_backend(plan->cfg, &plan->backends[i].ident.addr, c->backend))
			sum += trial_count(t, TRIAL_BACKEND, plan->backends[i].id,
					   c->member);
	return sum;
}

static uint64_t count(const struct trial *t, const struct fixture_counter *c)
{
	switch (c->kind) {
	case COUNTER_DROP:
		return trial_count(t, TRIAL_DROPS, c->reason, 0);
	case COUNTER_VIP:
		return trial_count(t, TRIAL_VIP, vip_id(t, &c->vip), c->member);
	case COUNTER_BACKEND:
		return count_backend(t, c);
	default:
		return trial_count(t, TRIAL_TOTALS, 0, c->member);
	}
}

static void count_all(const struct trial *t, const struct fixture_step *step,
		      uint64_t *counts)
{
	for (size_t i = 0; i < step->n_counters; i++)
		counts[i] = count(t, &step->counters[i]);
}

static void check_counters(const struct fixture_step *step, const uint64_t *before,
			   const uint64_t *after, struct test_result *r)
{
	char what[sizeof(r->problems->what)], expected[32], got[32];

	for (size_t i = 0; i < step->n_counters; i++) {
		if (after[i] - before[i] == step->counters[i].delta)
			continue;
		snprintf(what, sizeof(what), "counter %.200s", step->counters[i].text);
		snprintf(expected, sizeof(expected), "+%" PRIu64, step->counters[i].delta);
		snprintf(got, sizeof(got), "+%" PRIu64, after[i] - before[i]);
		problem(r, what, expected, got);
	}
}

/* With another verdict than expected the packet is another, too. */
static void check_step(const struct trial *t, const struct fixture_step *step,
		       struct test_result *r)
{
	char expected[TEST_VALUE_MAX], got[TEST_VALUE_MAX];

	if (r->verdict != xdp_action(step->verdict) ||
	    (step->reason && step->reason != r->reason)) {
		test_verdict_text(xdp_action(step->verdict), step->reason, expected);
		problem(r, "verdict", expected,
			test_verdict_text(r->verdict, r->reason, got));
		return;
	}
	if (step->verdict == FIXTURE_DROP)
		return;
	check_backend(t, step, r);
	check_outer(step, r);
	check_out(step, r);
}

static const struct packet *expected_packet(const struct fixture_step *step)
{
	switch (step->out.kind) {
	case FRAME_BYTES:
		return &step->out.bytes;
	case FRAME_SAME:
		return &step->in.bytes;
	default:
		return NULL;
	}
}

static int run_step(struct trial *t, const struct fixture_step *step,
		    struct test_result *r, struct err *err)
{
	_cleanup_free_ uint64_t *before = calloc(step->n_counters + 1, sizeof(*before));
	_cleanup_free_ uint64_t *after = calloc(step->n_counters + 1, sizeof(*after));
	struct trial_result run;
	int rc;

	if (!before || !after)
		return err_set(err, -ENOMEM, "out of memory");
	count_all(t, step, before);
	rc = trial_run(t, &step->in.bytes, &run, err);
	if (rc)
		return rc;
	count_all(t, step, after);

	packet_clear(&r->got);
	r->got = run.out;
	r->verdict = run.verdict;
	r->reason = run.reason;
	r->in = &step->in.bytes;
	r->expected = expected_packet(step);
	check_step(t, step, r);
	check_counters(step, before, after, r);
	return 0;
}

int test_case_run(struct trial *t, const struct fixture *fixture,
		  const struct fixture_case *c, struct test_result *out,
		  struct err *err)
{
	int rc = trial_reset(t, fixture->mtu, err);

	*out = (struct test_result){ .fixture = fixture, .c = c };
	for (size_t i = 0; i < c->n_steps && !rc && !out->n_problems; i++) {
		rc = run_step(t, &c->steps[i], out, err);
		if (rc)
			fixture_place(fixture, c->steps[i].in.pos, err);
		else if (out->n_problems)
			out->step = i + 1;
	}
	if (rc)
		test_result_clear(out);
	return rc;
}
