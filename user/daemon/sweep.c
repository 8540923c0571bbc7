// SPDX-License-Identifier: GPL-2.0-only
/*
 * When may the id of a removed backend be given to another? When no flow names it, as
 * its backend or as the alternate of a guess. Now and then the flows are read on a
 * worker thread, and ids that nothing names are released by a transaction.
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

struct sweep {
	uv_work_t work;
	struct daemon *daemon;
	int rc;
	uint32_t now; /* tick */
	uint8_t state[IDS];
};

static void name_id(struct sweep *s, uint16_t id)
{
	if (s->state[id] == ID_DRAINING)
		s->state[id] = ID_NAMED;
}

static int visit_flow(void *context, const struct flow_seen *seen)
{
	struct sweep *s = context;

	if (FLOW_LEFT(seen->flow.stamp, s->now) > FLOW_IDLE_MAX)
		return FLOW_FORGET;
	name_id(s, seen->flow.backend);
	name_id(s, seen->flow.alternate);
	return FLOW_KEEP;
}

static void sweep_work(uv_work_t *work)
{
	struct sweep *s = work->data;

	s->rc = flows_now(&s->daemon->dp, &s->now);
	if (!s->rc)
		s->rc = flows_walk(&s->daemon->dp, visit_flow, s);
}

/* Only ids that were draining before the flows were read, and are still. */
static bool is_forgotten(void *context, uint16_t id)
{
	const struct sweep *s = context;

	return s->state[id] == ID_DRAINING;
}

static void release_done(void *context, int rc, const struct err *err,
			 const struct txn_changes *changes)
{
	(void)changes;
	if (rc)
		log_warn("cannot release ids of removed backends, trying again later: %s",
			 err->text);
	free(context);
}

static void sweep_after_work(uv_work_t *work, int status)
{
	struct sweep *s = work->data;
	size_t i, forgotten = 0;

	for (i = 0; i < IDS; i++)
		forgotten += s->state[i] == ID_DRAINING;
	if (s->rc)
		log_warn("cannot read the flow maps: %s", strerror(-s->rc));
	if (s->rc || status || !forgotten) {
		free(s);
		return;
	}
	log_info("%zu removed backend%s without a flow left", forgotten, plural(forgotten));
	txn_submit(s->daemon, &(struct txn_request){ .release = is_forgotten,
						     .done = release_done,
						     .context = s });
}

static void on_sweep_timer(uv_timer_t *timer)
{
	struct daemon *d = timer->data;
	struct sweep *s;
	size_t i, draining = 0;

	for (i = 0; i < d->plan->n_backends; i++)
		draining += d->plan->backends[i].draining;
	s = draining || ++d->sweeps_skipped >= SWEEPS_IDLE ? calloc(1, sizeof(*s)) : NULL;
	if (!s)
		return;

	for (i = 0; i < d->plan->n_backends; i++)
		if (d->plan->backends[i].draining)
			s->state[d->plan->backends[i].id] = ID_DRAINING;
	d->sweeps_skipped = 0;
	s->daemon = d;
	s->work.data = s;
	uv_queue_work(&d->loop, &s->work, sweep_work, sweep_after_work);
}

void sweep_start(struct daemon *d)
{
	uv_timer_init(&d->loop, &d->sweep_timer);
	d->sweep_timer.data = d;
	uv_timer_start(&d->sweep_timer, on_sweep_timer, SWEEP_MS, SWEEP_MS);
}
