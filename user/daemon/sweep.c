// SPDX-License-Identifier: GPL-2.0-only
/*
 * When may the id of a removed backend be given to another? When no flow names it, as
 * its backend or as the alternate of a guess. Now and then the flows are read on a
 * worker thread, and ids that nothing names are released by a transaction. So are
 * backends that left the pool of a VIP, when none of that VIP's flows names them.
 *
 * Flows that have ended are taken away on the way: the clock of their stamps comes
 * round after four and a half hours, and would have them live again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/cleanup.h"
#include "core/plural.h"
#include "daemon.h"
#include "flows.h"
#include "sys/log.h"

#define SWEEP_MS 60000
/* A sweep for its own sake: well within the ticks for which an end is known. */
#define SWEEPS_IDLE 5
#define IDS 65536

enum id_state { ID_OTHER, ID_DRAINING, ID_NAMED };

/* A backend that a VIP's pool lists no more, while others do. */
struct leaver {
	uint16_t vip, backend; /* ids */
	bool named;
};

struct sweep {
	uv_work_t work;
	struct daemon *daemon;
	int rc;
	uint32_t now; /* tick */
	uint64_t configured; /* of txns, when it began */
	uint8_t state[IDS];
	bool left[IDS]; /* by backend id: some VIP's pool */
	bool any[IDS];  /* by backend id: a flow names it that does not say whose it is */
	struct leaver *leavers; /* sorted by ids */
	size_t n_leavers;
};

static void sweep_free(struct sweep *s)
{
	free(s->leavers);
	free(s);
}

static int compare_leavers(const void *a, const void *b)
{
	const struct leaver *x = a, *y = b;

	if (x->vip != y->vip)
		return x->vip < y->vip ? -1 : 1;
	return (x->backend > y->backend) - (x->backend < y->backend);
}

static struct leaver *find_leaver(const struct sweep *s, uint16_t vip, uint16_t backend)
{
	struct leaver key = { .vip = vip, .backend = backend };

	return s->n_leavers ? bsearch(&key, s->leavers, s->n_leavers, sizeof(key),
				      compare_leavers) : NULL;
}

/* Of a flow that does not say whose it is, any VIP's. */
static void name_leavers(struct sweep *s, uint16_t vip, uint16_t backend)
{
	struct leaver *leaver = vip ? find_leaver(s, vip, backend) : NULL;

	if (leaver)
		leaver->named = true;
	s->any[backend] = s->any[backend] || !vip;
}

static bool is_named(const struct sweep *s, const struct leaver *leaver)
{
	return leaver->named || s->any[leaver->backend];
}

static void name_id(struct sweep *s, uint16_t vip, uint16_t id)
{
	if (s->state[id] == ID_DRAINING)
		s->state[id] = ID_NAMED;
	if (s->left[id])
		name_leavers(s, vip, id);
}

static int visit_flow(void *context, const struct flow_seen *seen)
{
	struct sweep *s = context;

	if (FLOW_LEFT(seen->flow.stamp, s->now) > FLOW_IDLE_MAX)
		return FLOW_FORGET;
	name_id(s, seen->vip, seen->flow.backend);
	name_id(s, seen->vip, seen->flow.alternate);
	return FLOW_KEEP;
}

static void sweep_work(uv_work_t *work)
{
	struct sweep *s = work->data;

	s->rc = flows_now(&s->daemon->dp, &s->now);
	if (!s->rc)
		s->rc = flows_walk(&s->daemon->dp, visit_flow, s);
}

/* Who returned and left again may have new flows where the walk had been. */
static bool is_outdated(const struct sweep *s)
{
	return s->configured != s->daemon->txns.configured;
}

/* Only who was draining before the flows were read, and has been ever since. */
static bool is_forgotten(void *context, uint16_t vip, uint16_t backend)
{
	const struct sweep *s = context;
	const struct leaver *leaver;

	if (is_outdated(s))
		return false;
	if (!vip)
		return s->state[backend] == ID_DRAINING;
	leaver = find_leaver(s, vip, backend);
	return leaver && !is_named(s, leaver);
}

static void release_done(void *context, int rc, const struct err *err,
			 const struct txn_changes *changes)
{
	(void)changes;
	if (rc)
		log_warn("cannot release ids of removed backends, trying again later: %s",
			 err->text);
	sweep_free(context);
}

static void sweep_after_work(uv_work_t *work, int status)
{
	struct sweep *s = work->data;
	size_t i, forgotten = 0, left = 0;

	for (i = 0; i < IDS; i++)
		forgotten += s->state[i] == ID_DRAINING;
	for (i = 0; i < s->n_leavers; i++)
		left += !is_named(s, &s->leavers[i]);
	if (s->rc)
		log_warn("cannot read the flow maps: %s", strerror(-s->rc));
	if (s->rc || status || is_outdated(s) || !(forgotten + left)) {
		sweep_free(s);
		return;
	}
	if (forgotten)
		log_info("%zu removed backend%s without a flow left", forgotten,
			 plural(forgotten));
	txn_submit(s->daemon, &(struct txn_request){ .release = is_forgotten,
						     .done = release_done,
						     .context = s });
}

static bool has_draining(const struct plan *plan)
{
	size_t i, n = 0;

	for (i = 0; i < plan->n_backends; i++)
		n += plan->backends[i].draining;
	for (i = 0; i < plan->n_verdicts; i++)
		n += plan->verdicts[i].left;
	return n;
}

/* NULL: no memory. */
static struct sweep *sweep_new(const struct plan *plan)
{
	struct sweep *s = calloc(1, sizeof(*s));
	size_t i;

	if (!s)
		return NULL;
	for (i = 0; i < plan->n_backends; i++)
		if (plan->backends[i].draining)
			s->state[plan->backends[i].id] = ID_DRAINING;
	s->leavers = calloc(plan->n_verdicts + 1, sizeof(*s->leavers));
	for (i = 0; s->leavers && i < plan->n_verdicts; i++)
		if (plan->verdicts[i].left) {
			s->leavers[s->n_leavers++] = (struct leaver){
				plan->verdicts[i].vip, plan->verdicts[i].backend, false
			};
			s->left[plan->verdicts[i].backend] = true;
		}
	return s;
}

static void on_sweep_timer(uv_timer_t *timer)
{
	struct daemon *d = timer->data;
	struct sweep *s;

	s = has_draining(d->plan) || ++d->sweeps_skipped >= SWEEPS_IDLE ?
		    sweep_new(d->plan) : NULL;
	if (!s)
		return;

	d->sweeps_skipped = 0;
	s->daemon = d;
	s->configured = d->txns.configured;
	s->work.data = s;
	uv_queue_work(&d->loop, &s->work, sweep_work, sweep_after_work);
}

void sweep_start(struct daemon *d)
{
	uv_timer_init(&d->loop, &d->sweep_timer);
	d->sweep_timer.data = d;
	uv_timer_start(&d->sweep_timer, on_sweep_timer, SWEEP_MS, SWEEP_MS);
}
