// SPDX-License-Identifier: GPL-2.0-only
/*
 * Backends that are in no pool any more: how long their flows stay with them, where a
 * pool that listed them had a drain_timeout. What is then left of them is chosen again.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "checks_private.h"
#include "core/cleanup.h"
#include "sys/log.h"

static const struct drain *find_drain(const struct checks *checks, uint16_t id)
{
	size_t i;

	for (i = 0; i < checks->n_drains; i++)
		if (checks->drains[i].id == id)
			return &checks->drains[i];
	return NULL;
}

bool checks_has_drained(void *context, const struct plan_backend *backend)
{
	const struct checks *checks = context;
	const struct drain *drain = find_drain(checks, backend->id);

	return drain && drain->until <= checks_now();
}

static void on_drained(uv_timer_t *timer)
{
	struct checks *checks = timer->data;

	txn_refresh(checks->daemon);
}

/* At the first that is not over; those that are, are in the plan. */
static void arm_drained(struct checks *checks)
{
	uint64_t now = checks_now(), next = HEALTH_NEVER;
	size_t i;

	for (i = 0; i < checks->n_drains; i++)
		if (checks->drains[i].until > now && checks->drains[i].until < next)
			next = checks->drains[i].until;
	uv_timer_stop(&checks->drained);
	if (next != HEALTH_NEVER)
		uv_timer_start(&checks->drained, on_drained, next - now, 0);
}

static void begin_drain(const struct plan_backend *backend, struct drain *drain)
{
	char address[ADDR_TEXT_MAX];

	*drain = (struct drain){ backend->id,
				 checks_now() + backend->drain_timeout * 1000ULL };
	log_info("removed backend %s keeps its flows for %" PRIu32 " s",
		 addr_format(&backend->ident.addr, address), backend->drain_timeout);
}

void checks_follow_drains(struct checks *checks)
{
	const struct plan *plan = checks->daemon->plan;
	struct drain *drains = calloc(plan->n_backends + 1, sizeof(*drains));
	size_t i, n = 0;

	if (!drains) {
		log_error("no memory to end the drain of removed backends in time");
		return;
	}
	for (i = 0; i < plan->n_backends; i++) {
		const struct plan_backend *backend = &plan->backends[i];
		const struct drain *known = find_drain(checks, backend->id);

		if (!backend->draining || !backend->drain_timeout)
			continue;
		if (known)
			drains[n++] = *known;
		else
			begin_drain(backend, &drains[n++]);
	}
	free(checks->drains);
	checks->drains = drains;
	checks->n_drains = n;
	arm_drained(checks);
}
