// SPDX-License-Identifier: GPL-2.0-only
#include "checks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "checks_private.h"
#include "dp/probe.h"
#include "sys/log.h"

#define SAVE_MS 10000     /* how old the file may be, for want of news */
#define SAVE_PART 20      /* of the time is the most that writing news may take */
#define UNCLEAR_MS 600000 /* between two complaints of one agent */
#define SAVE_WAIT_MS 10   /* while tables change */

uint64_t checks_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * 1000ULL + now.tv_nsec / 1000000;
}

static int compare_names(const void *key, const void *element)
{
	return strcmp(key, ((const struct subject *)element)->name);
}

struct subject *subject_find(const struct checks *checks, const struct watched_way *way,
			     const char *name)
{
	return way->n ? bsearch(name, &checks->subjects[way->first], way->n,
				sizeof(*checks->subjects), compare_names) : NULL;
}

static void params_of(const struct cfg_pool *pool, struct health_params *out)
{
	*out = (struct health_params){
		.rise = pool->check.rise,
		.fall = pool->check.fall,
		.initial_up = pool->initial_up,
		.initial_timeout = pool->initial_timeout,
		.suppress = pool->damping_suppress,
		.reuse = pool->damping_reuse,
		.half_life = pool->damping_half_life,
		.slow_start = pool->slow_start,
	};
}

struct health_facts subject_facts(const struct checks *checks, const struct subject *s)
{
	return (struct health_facts){
		.admin = s->admin,
		.weight = s->weight,
		.checked = s->checked,
		.reached = !nexthops_failed(checks->daemon->nexthops, &s->addr),
		.initial_up = s->params.initial_up,
		.state = s->health.state,
		.presumed = s->health.presumed,
		.damped = s->health.damped,
		.agent = s->health.agent,
		.weightless = !s->health.agent_share,
	};
}

enum effective_state subject_judge(const struct checks *checks, const struct subject *s,
				  const char **why)
{
	struct health_facts facts = subject_facts(checks, s);

	return health_effective(&facts, why);
}

uint8_t subject_share(const struct subject *s)
{
	if (!s->checked)
		return HEALTH_SHARE_FULL;
	return health_share(&s->health, &s->params);
}

/* A subject as the configuration has it, of which nothing is known. */
void subject_init(struct subject *s, const struct cfg_pool *pool,
		  const struct cfg_backend *backend)
{
	*s = (struct subject){
		.addr = backend->addr,
		.admin = backend->state,
		.weight = backend->weight,
		.checked = pool->check.kind != CHECK_NONE,
		.fresh = true,
	};
	memcpy(s->name, backend->name, sizeof(s->name));
	params_of(pool, &s->params);
	health_init(&s->health, checks_now());
}

void checks_ask(void *context, const struct cfg_pool *pool, const struct way *way,
		const struct cfg_backend *backend, struct plan_backend_health *out)
{
	const struct checks *checks = context;
	const struct watched_way *before = way_before(checks, pool->name, way);
	const struct subject *known =
		before ? subject_find(checks, before, backend->name) : NULL;
	struct health_facts facts;
	struct subject s;
	const char *why;

	/* As it will be known when the configuration to come is followed. */
	subject_init(&s, pool, backend);
	if (known)
		subject_inherit(&s, known);
	facts = subject_facts(checks, &s);
	*out = (struct plan_backend_health){
		.state = health_effective(&facts, &why),
		.share = subject_share(&s),
		.keeps_flows = health_keeps_flows(&facts),
		.presumed = health_is_presumed(&facts),
	};
}

/* Does somebody else of its pool serve, by the same way, and it does not? */
static bool others_serve(const struct subject *s)
{
	return s->way->up > (s->told == EFFECTIVE_UP) && !s->way->facts.all_serve;
}

static void on_settle(uv_timer_t *timer);

void settle_soon(struct checks *checks)
{
	if (!uv_is_active((uv_handle_t *)&checks->settle))
		uv_timer_start(&checks->settle, on_settle, 0, 0);
}

/* What is said of damping or of a check alone moves nothing. */
static bool has_share(enum event_kind kind)
{
	return kind == EVENT_BACKEND_UP || kind == EVENT_BACKEND_DRAIN ||
	       kind == EVENT_BACKEND_DOWN || kind == EVENT_BACKEND_SHARE;
}

static void tell(struct checks *checks, const struct subject *s, enum event_kind kind,
		 const char *why)
{
	char address[ADDR_TEXT_MAX], vip[VIP_SPEC_TEXT_MAX];

	events_emit(&checks->daemon->events, &(struct event){
		.kind = kind,
		.pool = s->way->pool,
		.vip = way_name(s->way, vip),
		.backend = s->name,
		.address = addr_format(&s->addr, address),
		.why = why,
		.share = has_share(kind) ? s->told_share : -1,
	});
}

/* What made it so: the operator's word, or what the check has found. */
static const char *told_reason(const struct subject *s, const char *why)
{
	if (strcmp(why, "check") || !s->health.cause[0])
		return why;
	return s->health.cause;
}

/* The operator has taken it up, and it stays down all the same. */
static void tell_stays_down(struct checks *checks, const struct subject *s, const char *why)
{
	if (s->told_admin != ADMIN_DOWN || s->admin == ADMIN_DOWN)
		return;
	tell(checks, s, EVENT_BACKEND_DOWN, told_reason(s, why));
	checks->state_changes++;
}

/* True: it is told that its state is another. */
static bool consider(struct checks *checks, struct subject *s)
{
	static const enum event_kind kinds[] = {
		[EFFECTIVE_UP] = EVENT_BACKEND_UP,
		[EFFECTIVE_DRAIN] = EVENT_BACKEND_DRAIN,
		[EFFECTIVE_DOWN] = EVENT_BACKEND_DOWN,
	};
	const char *why;
	enum effective_state state = subject_judge(checks, s, &why);
	uint8_t share = state == EFFECTIVE_UP ? subject_share(s) : 0;
	bool turned = state != s->told, climbs = share != s->told_share;

	s->way->up += (state == EFFECTIVE_UP) - (s->told == EFFECTIVE_UP);
	if (!turned && state == EFFECTIVE_DOWN && !s->fresh)
		tell_stays_down(checks, s, why);
	s->told = state;
	s->told_share = share;
	s->told_admin = s->admin;
	if (s->fresh || (!turned && !climbs)) {
		s->fresh = false;
		return false;
	}
	if (turned)
		tell(checks, s, kinds[state], told_reason(s, why));
	else
		tell(checks, s, EVENT_BACKEND_SHARE, NULL);
	s->way->changed = true;
	checks->stale = true;
	checks->state_changes += turned;
	settle_soon(checks);
	return turned;
}

/*
 * Its check has found what moves nothing, as it is out anyway, but is news. It was out
 * for want of a result, and is so now by one; or it is out for another reason. Of one
 * that is damped nothing is told until it has calmed down.
 */
static void tell_verdict(struct checks *checks, const struct subject *s,
			 enum health_state was)
{
	bool failed = s->health.state == HEALTH_DOWN;
	const char *why;

	if (s->told != EFFECTIVE_DOWN || s->health.damped ||
	    (!failed && was == HEALTH_UNKNOWN))
		return;
	subject_judge(checks, s, &why);
	if (failed && was == HEALTH_UNKNOWN && !strcmp(why, "check")) {
		tell(checks, s, EVENT_BACKEND_DOWN, told_reason(s, why));
		checks->state_changes++;
		return;
	}
	tell(checks, s, failed ? EVENT_CHECK_FAILED : EVENT_CHECK_PASSED, s->health.cause);
}

/* What a result or time has changed of it; `was` is its health before. */
static void subject_changed(struct checks *checks, struct subject *s,
			    enum health_state was, unsigned int changes)
{
	if (changes & HEALTH_CHANGED_DAMPED)
		tell(checks, s, s->health.damped ? EVENT_BACKEND_DAMPED : EVENT_BACKEND_CALM,
		     s->health.cause);
	if (!changes)
		return;
	checks->unsaved = true;
	if (!consider(checks, s) && was != s->health.state)
		tell_verdict(checks, s, was);
	/* It has served, though it was not up. */
	if (changes & HEALTH_CHANGED_PRESUMED) {
		checks->stale = true;
		settle_soon(checks);
	}
	/* Also one that was not up, and is not: its pool may be known now. */
	if (was == HEALTH_UNKNOWN && s->health.state != was) {
		s->way->changed = true;
		settle_soon(checks);
	}
}

void subject_reconsider(struct checks *checks, struct subject *s)
{
	consider(checks, s);
}

void checks_reconsider(struct checks *checks)
{
	size_t i;

	for (i = 0; i < checks->n_subjects; i++)
		consider(checks, &checks->subjects[i]);
}

static void arm_tick(struct checks *checks);

/* Is there anything for the file, or in it that is no longer so? */
static bool has_news(const struct checks *checks)
{
	return checks->n_checked || checks->n_drains || checks->saved_drains;
}

static void on_save(uv_timer_t *timer)
{
	struct checks *checks = timer->data;
	uint64_t begun = checks_now();

	/* To write of 10,000 backends takes a tenth of a second: tables go first. */
	if (checks->daemon->txns.active && begun - checks->saved < SAVE_MS) {
		uv_timer_start(timer, on_save, SAVE_WAIT_MS, 0);
		return;
	}
	checks->unsaved = false;
	if (has_news(checks))
		checks_save(checks);
	checks->saved = checks_now();
	checks->save_took = checks->saved - begun;
	uv_timer_start(timer, on_save, SAVE_MS, 0);
}

/* At once, so that not even kill -9 loses it, unless writing takes long. */
void checks_save_soon(struct checks *checks)
{
	uint64_t age = checks_now() - checks->saved, least = SAVE_PART * checks->save_took;

	if (least > SAVE_MS)
		least = SAVE_MS;
	uv_timer_start(&checks->save, on_save, age < least ? least - age : 0, 0);
}

static void on_settle(uv_timer_t *timer)
{
	struct checks *checks = timer->data;
	size_t i;

	for (i = 0; i < checks->n_ways; i++)
		if (checks->ways[i].changed)
			way_settle(checks, &checks->ways[i]);
	if (checks->stale)
		txn_refresh(checks->daemon);
	checks->stale = false;
	if (checks->unsaved)
		checks_save_soon(checks);
	arm_tick(checks);
}

/* Not for those of whom nothing is known because nobody asks: then nobody is to blame. */
static bool time_counts(const struct checks *checks, const struct subject *s)
{
	return s->checked && (s->health.state != HEALTH_UNKNOWN ||
			      (s->asked && !s->asked->muted &&
			       checker_status(checks->checker).pid));
}

/* Time has passed for those for whom it means something. */
static void on_tick(uv_timer_t *timer)
{
	struct checks *checks = timer->data;
	uint64_t now = checks_now();
	size_t i;

	for (i = 0; i < checks->n_subjects; i++) {
		struct subject *s = &checks->subjects[i];
		enum health_state was = s->health.state;

		if (time_counts(checks, s))
			subject_changed(checks, s, was,
					health_tick(&s->health, &s->params, now));
	}
	arm_tick(checks);
}

static void arm_tick(struct checks *checks)
{
	uint64_t now = checks_now(), next = HEALTH_NEVER, due;
	size_t i;

	for (i = 0; i < checks->n_subjects; i++) {
		const struct subject *s = &checks->subjects[i];

		due = time_counts(checks, s) ? health_next(&s->health, &s->params, now) :
					       HEALTH_NEVER;
		next = due < next ? due : next;
	}
	uv_timer_stop(&checks->tick);
	if (next == HEALTH_NEVER)
		return;
	uv_update_time(&checks->daemon->loop);
	uv_timer_start(&checks->tick, on_tick, next > now ? next - now : 1, 0);
}

static void on_started(void *context)
{
	struct checks *checks = context;
	size_t i;

	events_emit(&checks->daemon->events,
		    &(struct event){ .kind = EVENT_CHECKER_STARTED, .share = -1 });
	asked_tell(checks);
	for (i = 0; i < checks->n_subjects; i++)
		if (checks->subjects[i].health.state == HEALTH_UNKNOWN)
			checks->subjects[i].health.since = checks_now();
	settle_soon(checks);
}

static void on_died(void *context, const char *why)
{
	struct checks *checks = context;

	snprintf(checks->checker_died, sizeof(checks->checker_died),
		 "not checked any more: %s", why);
	events_emit(&checks->daemon->events,
		    &(struct event){ .kind = EVENT_CHECKER_DIED, .why = why, .share = -1 });
}

/* Of an agent that makes sense now and then, no more often than that. */
static void tell_unclear(struct subject *s, const struct probe_result *result)
{
	char address[ADDR_TEXT_MAX];
	uint64_t now = checks_now();

	if (!result->agent_unclear || s->health.agent_unclear ||
	    (s->unclear_told && now - s->unclear_told < UNCLEAR_MS))
		return;
	s->unclear_told = now;
	log_warn("backend '%s' (%s) of pool '%s' passes its check, but its %s; it counts as if it had said none",
		 s->name, addr_format(&s->addr, address), s->way->pool, result->reason);
}

static void take_result(struct checks *checks, struct subject *s,
			const struct probe_result *result)
{
	enum health_state was = s->health.state;
	bool others = (was == HEALTH_DOWN || s->health.agent == AGENT_DOWN) &&
		      others_serve(s);
	unsigned int changes;

	tell_unclear(s, result);
	changes = health_result(&s->health, &s->params, result, others, checks_now());
	subject_changed(checks, s, was, changes);
	if (changes)
		settle_soon(checks); /* time may mean something now */
}

static void on_result(void *context, const struct probe_result *result)
{
	struct checks *checks = context;
	struct asked *asked = asked_find(checks, result->id);
	bool again;
	size_t i;

	if (!asked)
		return;
	checks->results++;
	checks->checker_died[0] = '\0';
	if (!result->ok && path_is_to_blame(checks, asked, result, &again)) {
		if (again)
			path_follow(checks);
		return;
	}
	asked->last = *result;
	asked->answered = true;
	for (i = 0; i < asked->n; i++)
		take_result(checks, asked->subjects[i], result);
}

/*
 * Those that are new to a check that runs have its last result, and need not wait for
 * the next one, which may come long after initial_timeout.
 */
static void catch_up(struct checks *checks)
{
	size_t i;

	for (i = 0; i < checks->n_subjects; i++) {
		struct subject *s = &checks->subjects[i];

		if (s->asked && s->asked->answered && !s->health.checked &&
		    s->health.state == HEALTH_UNKNOWN)
			take_result(checks, s, &s->asked->last);
	}
}

/* Nobody is asked: those who were, are of a configuration that is gone. */
static void forget_askers(struct checks *checks)
{
	size_t i;

	for (i = 0; i < checks->n_asked; i++)
		checks->asked[i]->n = 0;
}

/* Of those in pools that no VIP uses nothing is known, nor was when one begins to. */
static void forget_unasked(struct checks *checks)
{
	size_t i;

	for (i = 0; i < checks->n_subjects; i++) {
		struct subject *s = &checks->subjects[i];

		if (s->checked && (!s->asked || s->unasked)) {
			health_init(&s->health, checks_now());
			s->fresh = true;
		}
		s->unasked = s->checked && !s->asked;
	}
}

int checks_begin(struct checks *checks, const struct cfg *cfg, struct err *err)
{
	int rc = subjects_collect(checks, cfg, err);

	if (rc)
		return rc;
	checks_load(checks);
	ways_presume(checks);
	checks_reconsider(checks);
	return 0;
}

void checks_follow(struct checks *checks, const struct cfg *cfg)
{
	struct err err;
	int rc = subjects_collect(checks, cfg, &err);

	if (!rc) {
		forget_askers(checks);
		rc = asked_follow(checks, cfg, &err);
	}
	if (rc)
		log_error("checks go on as they were: %s", err.text);
	else
		forget_unasked(checks);
	ways_presume(checks);
	checker_want(checks->checker, checks->n_asked, cfg->check_user, cfg->check_exec);
	checks->unsaved = true;
	checks_reconsider(checks);
	catch_up(checks);
	settle_soon(checks);
}

int checks_open(struct daemon *d, struct checks **out, struct err *err)
{
	static const struct checker_events events = { on_started, on_result, on_died };
	struct checks *checks = calloc(1, sizeof(*checks));
	int rc;

	if (!checks)
		return err_set(err, -ENOMEM, "out of memory");
	checks->daemon = d;
	rc = checker_new(&d->loop, &events, checks, &checks->checker, err);
	if (rc) {
		free(checks);
		return rc;
	}
	uv_timer_init(&d->loop, &checks->tick);
	uv_timer_init(&d->loop, &checks->settle);
	uv_timer_init(&d->loop, &checks->save);
	uv_timer_init(&d->loop, &checks->routes);
	uv_timer_init(&d->loop, &checks->drained);
	checks->tick.data = checks->settle.data = checks->save.data = checks;
	checks->routes.data = checks->drained.data = checks;
	path_watch(checks);
	*out = checks;
	return 0;
}

/* The last of the timers to be closed takes the rest with it. */
static void checks_freed(uv_handle_t *handle)
{
	struct checks *checks = handle->data;

	if (++checks->closed < 5)
		return;
	asked_clear(checks);
	probes_close(&checks->probes);
	free(checks->subjects);
	free(checks->ways);
	free(checks->vips);
	free(checks->drains);
	free(checks);
}

void checks_close(struct checks *checks)
{
	if (!checks)
		return;
	if (has_news(checks))
		checks_save(checks);
	checker_close(checks->checker);
	uv_close((uv_handle_t *)&checks->tick, checks_freed);
	uv_close((uv_handle_t *)&checks->settle, checks_freed);
	uv_close((uv_handle_t *)&checks->save, checks_freed);
	uv_close((uv_handle_t *)&checks->routes, checks_freed);
	uv_close((uv_handle_t *)&checks->drained, checks_freed);
}
