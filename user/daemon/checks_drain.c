// SPDX-License-Identifier: GPL-2.0-only
/*
 * Backends that are in no pool any more, or not in that of a VIP: how long their flows
 * stay with them, where the pool had a drain_timeout. What is then left of them is
 * chosen again.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "checks_private.h"
#include "core/cleanup.h"
#include "sys/log.h"

#define LINES_MAX 8 /* about VIPs, for each change */

static int compare_drains(const void *a, const void *b)
{
	const struct drain *x = a, *y = b;

	if (x->vip != y->vip)
		return x->vip < y->vip ? -1 : 1;
	return (x->backend > y->backend) - (x->backend < y->backend);
}

static const struct drain *find_drain(const struct checks *checks, uint16_t vip,
				      uint16_t backend)
{
	struct drain key = { .vip = vip, .backend = backend };

	return checks->n_drains ? bsearch(&key, checks->drains, checks->n_drains,
					  sizeof(key), compare_drains) : NULL;
}

bool checks_has_drained(void *context, uint16_t vip, uint16_t backend)
{
	const struct drain *drain = find_drain(context, vip, backend);

	return drain && drain->until <= checks_now();
}

static void on_drained(uv_timer_t *timer)
{
	struct checks *checks = timer->data;

	txn_refresh(checks->daemon);
}

/*
 * At the first that is not in the plan; that may be over by now, as the loop's timers
 * come some ms early, and a plan takes time.
 */
static void arm_drained(struct checks *checks, uint64_t planned)
{
	uint64_t now = checks_now(), next = HEALTH_NEVER;
	size_t i;

	for (i = 0; i < checks->n_drains; i++)
		if (checks->drains[i].until > planned && checks->drains[i].until < next)
			next = checks->drains[i].until;
	uv_timer_stop(&checks->drained);
	if (next != HEALTH_NEVER)
		uv_timer_start(&checks->drained, on_drained, next > now ? next - now : 0, 0);
}

/* The drains of a plan, in the making. */
struct list {
	const struct checks *checks;
	struct drain *drains;
	size_t n, n_leavers; /* leavers: those that begin */
	bool begun;
};

/*
 * True: it begins. What was known before a restart only the file has, so that who drains
 * without a timeout goes on with what is known.
 */
static bool add_drain(struct list *list, uint16_t vip, const struct plan_backend *backend,
		      uint32_t timeout)
{
	const struct drain *known = find_drain(list->checks, vip, backend->id);

	if (!known && !timeout)
		return false;
	list->drains[list->n++] = known ? *known : (struct drain){
		.vip = vip,
		.backend = backend->id,
		.addr = backend->ident.addr,
		.timeout = timeout,
		.until = checks_now() + timeout * 1000ULL,
	};
	list->begun = list->begun || !known;
	return !known;
}

static void add_removed(struct list *list, const struct plan_backend *backend)
{
	char address[ADDR_TEXT_MAX];

	if (backend->draining && add_drain(list, 0, backend, backend->drain_timeout))
		log_info("removed backend %s keeps its flows for %" PRIu32 " s",
			 addr_format(&backend->ident.addr, address),
			 backend->drain_timeout);
}

static const struct plan_backend *find_backend(const struct plan *plan, uint16_t id)
{
	size_t i;

	for (i = 0; i < plan->n_backends; i++)
		if (plan->backends[i].id == id)
			return &plan->backends[i];
	return NULL;
}

static void log_leaver(const struct plan *plan, const struct plan_verdict *leaver,
		       const struct addr *addr)
{
	char address[ADDR_TEXT_MAX], vip[VIP_SPEC_TEXT_MAX] = "";
	size_t i;

	for (i = 0; i < plan->n_vips; i++)
		if (plan->vips[i].id == leaver->vip)
			vip_spec_format(&plan->vips[i].spec, vip);
	log_info("backend %s, removed from the pool of VIP %s, keeps the flows of that VIP for %" PRIu32 " s",
		 addr_format(addr, address), vip, leaver->drain_timeout);
}

/* Of one that is in no pool at all, and drains as long for all, all is said above. */
static void add_leaver(struct list *list, const struct plan *plan,
		       const struct plan_backend *backend,
		       const struct plan_verdict *verdict)
{
	bool for_all = backend->draining &&
		       backend->drain_timeout == verdict->drain_timeout;
	uint32_t timeout = for_all ? 0 : verdict->drain_timeout;

	if (add_drain(list, verdict->vip, backend, timeout) &&
	    ++list->n_leavers <= LINES_MAX)
		log_leaver(plan, verdict, &backend->ident.addr);
}

/* Those of one backend often lie apart, so all are found by id at once. */
static void add_leavers(struct list *list, const struct plan *plan)
{
	_cleanup_free_ const struct plan_backend **by_id =
		calloc(MAX_BACKENDS + 1, sizeof(*by_id));
	size_t i;

	if (!by_id) {
		log_error("no memory to end the drain of backends that left a pool in time");
		return;
	}
	for (i = 0; i < plan->n_backends; i++)
		by_id[plan->backends[i].id] = &plan->backends[i];
	for (i = 0; i < plan->n_verdicts; i++)
		if (plan->verdicts[i].left)
			add_leaver(list, plan, by_id[plan->verdicts[i].backend],
				   &plan->verdicts[i]);
	if (list->n_leavers > LINES_MAX)
		log_info("%zu more VIPs keep their flows on backends that were removed from their pools",
			 list->n_leavers - LINES_MAX);
}

void checks_follow_drains(struct checks *checks, uint64_t planned)
{
	const struct plan *plan = checks->daemon->plan;
	size_t i, max = plan->n_backends + plan->n_verdicts;
	struct list list = { .checks = checks, .drains = calloc(max + 1, sizeof(struct drain)) };

	if (!list.drains) {
		log_error("no memory to end the drain of removed backends in time");
		return;
	}
	for (i = 0; i < plan->n_backends; i++)
		add_removed(&list, &plan->backends[i]);
	add_leavers(&list, plan);
	if (list.n)
		qsort(list.drains, list.n, sizeof(*list.drains), compare_drains);
	if (list.begun)
		checks_save_soon(checks);
	free(checks->drains);
	checks->drains = list.drains;
	checks->n_drains = list.n;
	arm_drained(checks, planned);
}

json_t *drains_json(const struct checks *checks)
{
	json_t *list = json_array();
	char address[ADDR_TEXT_MAX];
	size_t i;

	for (i = 0; i < checks->n_drains; i++) {
		const struct drain *drain = &checks->drains[i];

		json_array_append_new(list, json_pack("{s:i, s:i, s:s, s:I, s:I}", "vip",
						      drain->vip, "id", drain->backend,
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
	const struct plan_backend *backend = find_backend(plan, drain->backend);

	if (!backend || addr_compare(&backend->ident.addr, &drain->addr))
		return false;
	/* One that had failed is not told from one that a pool lists before there is a plan. */
	return drain->vip ? !!plan_find_verdict(plan, drain->vip, drain->backend) :
			    backend->draining || backend->use >= USE_DRAIN;
}

/* False: not of a form that we write. Where its end is not believed it begins anew. */
static bool parse_drain(json_t *object, bool believed, struct drain *out)
{
	json_int_t vip = 0, id, timeout, until;
	uint64_t latest;
	const char *address;

	if (json_unpack(object, "{s?:I, s:I, s:s, s:I, s:I}", "vip", &vip, "id", &id,
			"address", &address, "timeout", &timeout, "until", &until) ||
	    vip < 0 || vip > UINT16_MAX || id < 0 || id > UINT16_MAX || timeout < 1 ||
	    timeout > UINT32_MAX ||
	    addr_parse(address, "address", &out->addr, NULL))
		return false;
	out->vip = vip;
	out->backend = id;
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
	if (checks->n_drains) {
		qsort(checks->drains, checks->n_drains, sizeof(*checks->drains),
		      compare_drains);
		log_notice("removed backends that go on draining for as long as they had: %zu",
			   checks->n_drains);
	}
}
