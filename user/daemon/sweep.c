// SPDX-License-Identifier: GPL-2.0-only
/*
 * When may the id of a removed backend be given to another? When no flow names
 * it. Now and then the flow maps are read on a worker thread; flows of removed
 * backends that have been idle for longer than any live TCP connection may be
 * are deleted, and ids that nothing names are released by a transaction.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>

#include "core/cleanup.h"
#include "daemon.h"
#include "flows.h"
#include "sys/log.h"

#define SWEEP_MS 60000
/* RFC 5382, REQ-5: an established connection may be idle for 2 h 4 min. */
#define FLOW_IDLE_S 7440
#define IDS 65536

enum id_state { ID_OTHER, ID_DRAINING, ID_NAMED };

struct sweep {
	uv_work_t work;
	struct daemon *daemon;
	int rc;
	uint32_t now; /* in the unit of struct flow */
	uint8_t state[IDS];
};

struct flow_walk {
	struct sweep *sweep;
	int fd;
};

static uint32_t flow_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return ((uint64_t)now.tv_sec * 1000000000 + now.tv_nsec) >> 30;
}

static int visit_flow(void *context, const void *key, const void *value)
{
	struct flow_walk *walk = context;
	const struct flow *flow = value;
	uint8_t *state = &walk->sweep->state[flow->backend];
	const uint32_t idle = (uint64_t)FLOW_IDLE_S * 1000000000 >> 30;

	if (*state == ID_OTHER)
		return 0;
	/* `seen` may be a tick ahead of the clock that was read before it. */
	if ((int32_t)(walk->sweep->now - flow->seen) > (int32_t)idle)
		bpf_map_delete_elem(walk->fd, key);
	else
		*state = ID_NAMED;
	return 0;
}

static void start_map(void *context, int fd)
{
	struct flow_walk *walk = context;

	walk->fd = fd;
}

static void sweep_work(uv_work_t *work)
{
	struct sweep *s = work->data;
	struct flow_walk walk = { .sweep = s, .fd = -1 };

	s->rc = flows_walk_maps(&s->daemon->dp, false, visit_flow, start_map, &walk);
	if (!s->rc)
		s->rc = flows_walk_maps(&s->daemon->dp, true, visit_flow, start_map, &walk);
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
	log_info("%zu removed backends have no flow left", forgotten);
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
	s = draining ? calloc(1, sizeof(*s)) : NULL;
	if (!s)
		return;

	for (i = 0; i < d->plan->n_backends; i++)
		if (d->plan->backends[i].draining)
			s->state[d->plan->backends[i].id] = ID_DRAINING;
	s->daemon = d;
	s->now = flow_clock();
	s->work.data = s;
	uv_queue_work(&d->loop, &s->work, sweep_work, sweep_after_work);
}

void sweep_start(struct daemon *d)
{
	uv_timer_init(&d->loop, &d->sweep_timer);
	d->sweep_timer.data = d;
	uv_timer_start(&d->sweep_timer, on_sweep_timer, SWEEP_MS, SWEEP_MS);
}
