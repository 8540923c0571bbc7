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

	*drain = (struct drain){
		.id = backend->id,
		.addr = backend->ident.addr,
		.timeout = backend->drain_timeout,
		.until = checks_now() + backend->drain_timeout * 1000ULL,
	};
	log_info("removed backend %s keeps its flows for %" PRIu32 " s",
		 addr_format(&backend->ident.addr, address), backend->drain_timeout);
}

void checks_follow_drains(struct checks *checks)
{
	const struct plan *plan = checks->daemon->plan;
	struct drain *drains = calloc(plan->n_backends + 1, sizeof(*drains));
	bool begun = false;
	size_t i, n = 0;

	if (!drains) {
		log_error("no memory to end the drain of removed backends in time");
		return;
	}
	for (i = 0; i < plan->n_backends; i++) {
		const struct plan_backend *backend = &plan->backends[i];
		const struct drain *known = find_drain(checks, backend->id);

		/* What was known before a restart only the file has. */
		if (!backend->draining || (!known && !backend->drain_timeout))
			continue;
		if (known)
			drains[n++] = *known;
		else
			begin_drain(backend, &drains[n++]);
		begun = begun || !known;
	}
	if (begun)
		checks_save_soon(checks);
	free(checks->drains);
	checks->drains = drains;
	checks->n_drains = n;
	arm_drained(checks);
}

json_t *drains_json(const struct checks *checks)
{
	json_t *list = json_array();
	char address[ADDR_TEXT_MAX];
	size_t i;

	for (i = 0; i < checks->n_drains; i++) {
		const struct drain *drain = &checks->drains[i];

		json_array_append_new(list, json_pack("{s:i, s:s, s:I, s:I}", "id", drain->id,
						      "address",
						      addr_format(&drain->addr, address),
						      "timeout", (json_int_t)drain->timeout,
						      "until", (json_int_t)drain->until));
	}
	return list;
}

/* Is that what the maps say, too? Ids are given out again. */
static bool still_drains(const struct checks *checks, const struct drain *drain)
{
	const struct plan *plan = checks->daemon->plan;
	size_t i;

	for (i = 0; i < plan->n_backends; i++)
		if (plan->backends[i].id == drain->id)
			return plan->backends[i].draining &&
			       !addr_compare(&plan->backends[i].ident.addr, &drain->addr);
	return false;
}

/* False: not of a form that we write. Where its end is not believed it begins anew. */
static bool parse_drain(json_t *object, bool believed, struct drain *out)
{
	json_int_t id, timeout, until;
	uint64_t latest;
	const char *address;

	if (json_unpack(object, "{s:I, s:s, s:I, s:I}", "id", &id, "address", &address,
			"timeout", &timeout, "until", &until) ||
	    id < 0 || id > UINT16_MAX || timeout < 1 || timeout > UINT32_MAX ||
	    addr_parse(address, "address", &out->addr, NULL))
		return false;
	out->id = id;
	out->timeout = timeout;
	latest = checks_now() + out->timeout * 1000ULL;
	out->until = believed && until >= 0 && (uint64_t)until <= latest ? (uint64_t)until :
									    latest;
	return true;
}

void drains_load(struct checks *checks, json_t *list, bool believed)
{
	size_t i, n = json_array_size(list);
	json_t *object;

	free(checks->drains);
	checks->n_drains = 0;
	checks->drains = calloc(n + 1, sizeof(*checks->drains));
	if (!checks->drains)
		return;
	checks->saved_drains = n;
	json_array_foreach(list, i, object) {
		struct drain drain;

		if (parse_drain(object, believed, &drain) && still_drains(checks, &drain))
			checks->drains[checks->n_drains++] = drain;
	}
	if (checks->n_drains)
		log_notice("removed backends that go on draining for as long as they had: %zu",
			   checks->n_drains);
}
