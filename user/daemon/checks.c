// SPDX-License-Identifier: GPL-2.0-only
#include "checks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "checks_private.h"
#include "core/cleanup.h"
#include "dp/probe.h"
#include "sys/log.h"

#define SAVE_MS 10000     /* how old the file may be, for want of news */
#define SAVE_NEWS_MS 1000 /* how old at the most when there is news */
#define SAVE_WAIT_MS 10   /* while tables change */

uint64_t checks_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * 1000ULL + now.tv_nsec / 1000000;
}

static int compare_subjects(const void *a, const void *b)
{
	const struct subject *x = a, *y = b;
	int order = strcmp(x->pool, y->pool);

	return order ? order : strcmp(x->name, y->name);
}

static struct subject *find_among(struct subject *subjects, size_t n, const char *pool,
				  const char *name)
{
	struct subject key;

	snprintf(key.pool, sizeof(key.pool), "%s", pool);
	snprintf(key.name, sizeof(key.name), "%s", name);
	return n ? bsearch(&key, subjects, n, sizeof(key), compare_subjects) : NULL;
}

struct subject *subject_find(const struct checks *checks, const char *pool,
			     const char *name)
{
	return find_among(checks->subjects, checks->n_subjects, pool, name);
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

static struct health_facts facts_of(const struct checks *checks, const struct subject *s)
{
	return (struct health_facts){
		.admin = s->admin,
		.weight = s->weight,
		.checked = s->checked,
		.reached = !nexthops_failed(checks->daemon->nexthops, &s->addr),
		.initial_up = s->params.initial_up,
		.state = s->health.state,
		.damped = s->health.damped,
		.agent = s->health.agent,
	};
}

static enum effective_state judge(const struct checks *checks, const struct subject *s,
				  const char **why)
{
	struct health_facts facts = facts_of(checks, s);

	return health_effective(&facts, why);
}

static uint8_t share_of(const struct subject *s)
{
	if (!s->checked)
		return HEALTH_SHARE_FULL;
	return health_share(&s->health, &s->params);
}

/* A subject as the configuration has it, of which nothing is known. */
static void subject_init(struct subject *s, const struct cfg_pool *pool,
			 const struct cfg_backend *backend)
{
	*s = (struct subject){
		.addr = backend->addr,
		.admin = backend->state,
		.weight = backend->weight,
		.checked = pool->check.kind != CHECK_NONE,
		.fresh = true,
	};
	memcpy(s->pool, pool->name, sizeof(s->pool));
	memcpy(s->name, backend->name, sizeof(s->name));
	params_of(pool, &s->params);
	health_init(&s->health, checks_now());
}

void checks_ask(void *context, const struct cfg_pool *pool,
		const struct cfg_backend *backend, struct plan_backend_health *out)
{
	const struct checks *checks = context;
	const struct subject *known = subject_find(checks, pool->name, backend->name);
	struct health_facts facts;
	struct subject s;
	const char *why;

	/* As the configuration to come has it, with the health that is known. */
	subject_init(&s, pool, backend);
	if (known && !addr_compare(&known->addr, &s.addr) && known->checked)
		s.health = known->health;
	facts = facts_of(checks, &s);
	*out = (struct plan_backend_health){
		.state = health_effective(&facts, &why),
		.share = share_of(&s),
		.keeps_flows = health_keeps_flows(&facts),
	};
}

static int compare_pools(const void *key, const void *element)
{
	return strcmp(key, ((const struct watched_pool *)element)->name);
}

struct watched_pool *pool_find(const struct checks *checks, const char *name)
{
	return checks->n_pools ? bsearch(name, checks->pools, checks->n_pools,
					 sizeof(*checks->pools), compare_pools) : NULL;
}

static struct watched_pool *pool_of(const struct checks *checks, const struct subject *s)
{
	size_t at = s - checks->subjects, low = 0, high = checks->n_pools, middle;

	while (high - low > 1) {
		middle = (low + high) / 2;
		if (checks->pools[middle].first <= at)
			low = middle;
		else
			high = middle;
	}
	return &checks->pools[low];
}

/* Does somebody else of its pool serve? */
static bool others_serve(const struct checks *checks, const struct subject *s)
{
	const struct watched_pool *pool = pool_of(checks, s);
	size_t i;

	for (i = 0; i < pool->n; i++) {
		const struct subject *other = &checks->subjects[pool->first + i];

		if (other != s && other->told == EFFECTIVE_UP)
			return true;
	}
	return false;
}

static void on_settle(uv_timer_t *timer);

/* Once for all that changes in one turn of the loop. */
static void settle_soon(struct checks *checks)
{
	if (!uv_is_active((uv_handle_t *)&checks->settle))
		uv_timer_start(&checks->settle, on_settle, 0, 0);
}

static void tell(struct checks *checks, const struct subject *s, enum event_kind kind,
		 const char *why)
{
	char address[ADDR_TEXT_MAX];

	events_emit(&checks->daemon->events, &(struct event){
		.kind = kind,
		.pool = s->pool,
		.backend = s->name,
		.address = addr_format(&s->addr, address),
		.why = why,
		.share = s->told_share,
	});
}

/* What made it so: the operator's word, or what the check has found. */
static const char *told_reason(const struct subject *s, const char *why)
{
	if (strcmp(why, "check") || !s->health.reason[0])
		return why;
	return s->health.reason;
}

static void consider(struct checks *checks, struct subject *s)
{
	static const enum event_kind kinds[] = {
		[EFFECTIVE_UP] = EVENT_BACKEND_UP,
		[EFFECTIVE_DRAIN] = EVENT_BACKEND_DRAIN,
		[EFFECTIVE_DOWN] = EVENT_BACKEND_DOWN,
	};
	const char *why;
	enum effective_state state = judge(checks, s, &why);
	uint8_t share = state == EFFECTIVE_UP ? share_of(s) : 0;
	bool turned = state != s->told, climbs = share != s->told_share;

	s->told = state;
	s->told_share = share;
	if (s->fresh || (!turned && !climbs)) {
		s->fresh = false;
		return;
	}
	if (turned)
		tell(checks, s, kinds[state], told_reason(s, why));
	else
		tell(checks, s, EVENT_BACKEND_SHARE, NULL);
	pool_of(checks, s)->changed = true;
	checks->stale = true;
	checks->state_changes += turned;
	settle_soon(checks);
}

/* What a result or time has changed of it. */
static void subject_changed(struct checks *checks, struct subject *s, unsigned int changes)
{
	if (changes & HEALTH_CHANGED_DAMPED)
		tell(checks, s, s->health.damped ? EVENT_BACKEND_DAMPED : EVENT_BACKEND_CALM,
		     s->health.reason);
	if (!changes)
		return;
	checks->unsaved = true;
	consider(checks, s);
}

void checks_reconsider(struct checks *checks)
{
	size_t i;

	for (i = 0; i < checks->n_subjects; i++)
		consider(checks, &checks->subjects[i]);
}

static void judge_pool(const struct checks *checks, const struct watched_pool *pool,
		       struct pool_facts *out)
{
	uint64_t weight = 0, up = 0;
	size_t i;

	for (i = 0; i < pool->n; i++) {
		const struct subject *s = &checks->subjects[pool->first + i];

		if (s->admin != ADMIN_UP)
			continue;
		weight += s->weight;
		up += s->told == EFFECTIVE_UP ? s->weight : 0;
	}
	pool_judge(&pool->policy, weight, up, pool->facts.quorum, out);
}

static void tell_pool(struct checks *checks, const struct watched_pool *pool,
		      enum event_kind kind)
{
	char why[96];

	snprintf(why, sizeof(why), "%" PRIu64 " of weight %" PRIu64 " is up",
		 pool->facts.weight_up, pool->facts.weight);
	events_emit(&checks->daemon->events,
		    &(struct event){ .kind = kind, .pool = pool->name, .why = why,
				     .share = -1 });
}

static void settle_pool(struct checks *checks, struct watched_pool *pool)
{
	struct pool_facts before = pool->facts;

	pool->changed = false;
	judge_pool(checks, pool, &pool->facts);
	if (pool->facts.panic != before.panic)
		tell_pool(checks, pool,
			  pool->facts.panic ? EVENT_POOL_PANIC : EVENT_POOL_CALM);
	if (pool->facts.quorum != before.quorum)
		tell_pool(checks, pool,
			  pool->facts.quorum ? EVENT_QUORUM_REGAINED : EVENT_QUORUM_LOST);
}

static void arm_tick(struct checks *checks);

static void on_save(uv_timer_t *timer)
{
	struct checks *checks = timer->data;

	/* To write of 10,000 backends takes a tenth of a second: tables go first. */
	if (checks->daemon->txns.active && checks_now() - checks->saved < SAVE_MS) {
		uv_timer_start(timer, on_save, SAVE_WAIT_MS, 0);
		return;
	}
	checks->unsaved = false;
	checks->saved = checks_now();
	if (checks->n_checked)
		checks_save(checks);
	uv_timer_start(timer, on_save, SAVE_MS, 0);
}

/* At once, so that not even kill -9 loses it, unless there is news all the time. */
static void save_news(struct checks *checks)
{
	uint64_t age = checks_now() - checks->saved;

	uv_timer_start(&checks->save, on_save, age < SAVE_NEWS_MS ? SAVE_NEWS_MS - age : 0,
		       0);
}


static void on_settle(uv_timer_t *timer)
{
	struct checks *checks = timer->data;
	size_t i;

	for (i = 0; i < checks->n_pools; i++)
		if (checks->pools[i].changed)
			settle_pool(checks, &checks->pools[i]);
	if (checks->stale)
		txn_refresh(checks->daemon);
	checks->stale = false;
	if (checks->unsaved)
		save_news(checks);
	arm_tick(checks);
}

/* Not for those of whom nothing is known because nobody asks: then nobody is to blame. */
static bool time_counts(const struct checks *checks, const struct subject *s)
{
	return s->checked && (s->health.state != HEALTH_UNKNOWN ||
			      checker_status(checks->checker).pid);
}

/* Time has passed for those for whom it means something. */
static void on_tick(uv_timer_t *timer)
{
	struct checks *checks = timer->data;
	uint64_t now = checks_now();
	size_t i;

	for (i = 0; i < checks->n_subjects; i++) {
		struct subject *s = &checks->subjects[i];

		if (time_counts(checks, s))
			subject_changed(checks, s, health_tick(&s->health, &s->params, now));
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

	events_emit(&checks->daemon->events,
		    &(struct event){ .kind = EVENT_CHECKER_DIED, .why = why, .share = -1 });
}

/*
 * A failure says nothing of the backend when this host's own route to the VIP is gone, or
 * another. To look costs a question to the kernel, which who is down already is not worth.
 */
static bool tells_of_backend(struct checks *checks, const struct asked *asked,
			     const struct probe_result *result)
{
	size_t i;

	if (result->ok || asked->via != CHECK_VIA_VIP)
		return true;
	for (i = 0; i < asked->n; i++)
		if (asked->subjects[i]->health.state != HEALTH_DOWN)
			return path_holds(checks, asked);
	return true;
}

static void on_result(void *context, const struct probe_result *result)
{
	struct checks *checks = context;
	struct asked *asked = asked_find(checks, result->id);
	unsigned int changes;
	bool others;
	size_t i;

	if (!asked)
		return;
	checks->results++;
	if (!tells_of_backend(checks, asked, result)) {
		checks_follow_routes(checks);
		return;
	}
	for (i = 0; i < asked->n; i++) {
		struct subject *s = asked->subjects[i];

		others = s->health.state == HEALTH_DOWN && others_serve(checks, s);
		changes = health_result(&s->health, &s->params, result, others,
					checks_now());
		subject_changed(checks, s, changes);
		if (changes)
			settle_soon(checks); /* time may mean something now */
	}
}

/* What was known of it goes on, also under another check: nothing fell meanwhile. */
static void inherit(struct subject *s, const struct subject *old)
{
	s->fresh = false;
	s->told = old->told;
	s->told_share = old->told_share;
	if (!s->checked || addr_compare(&s->addr, &old->addr))
		return;
	if (old->checked) {
		s->health = old->health;
		s->health.row = 0;
		return;
	}
	/* It has served without being checked, so it takes failures to stop it. */
	s->health.state = HEALTH_UP;
	snprintf(s->health.reason, sizeof(s->health.reason), "not checked before");
}

static void collect_pool(struct checks *checks, const struct checks *old,
			 const struct cfg_pool *pool)
{
	struct watched_pool *watched = &checks->pools[checks->n_pools++];
	uint64_t digest = pool->check.kind ? check_digest(&pool->check) : 0;
	size_t i;

	*watched = (struct watched_pool){
		.first = checks->n_subjects,
		.n = pool->n_backends,
		.policy = { pool->panic_threshold, pool->quorum, pool->quorum_hysteresis },
		.facts.quorum = true,
		.changed = true,
	};
	memcpy(watched->name, pool->name, sizeof(watched->name));
	for (i = 0; i < pool->n_backends; i++) {
		struct subject *s = &checks->subjects[checks->n_subjects++], *before;

		subject_init(s, pool, &pool->backends[i]);
		s->digest = digest;
		s->interval = pool->check.interval;
		before = subject_find(old, s->pool, s->name);
		if (before)
			inherit(s, before);
		checks->n_checked += s->checked;
	}
}

/* Both are sorted by name. */
static void keep_known(struct checks *checks, const struct checks *old)
{
	size_t i, j = 0;
	int order;

	for (i = 0; i < checks->n_pools; i++) {
		for (order = -1; j < old->n_pools && order < 0; j += order < 0)
			order = strcmp(old->pools[j].name, checks->pools[i].name);
		if (order)
			continue;
		checks->pools[i].facts = old->pools[j].facts;
		memcpy(checks->pools[i].path_problem, old->pools[j].path_problem,
		       sizeof(old->pools[j].path_problem));
	}
}

/* Pools and backends are sorted by name, so the subjects are. */
static int collect(struct checks *checks, const struct cfg *cfg, struct err *err)
{
	struct checks old = *checks;
	size_t i, n = 0;

	for (i = 0; i < cfg->n_pools; i++)
		n += cfg->pools[i].n_backends;
	checks->subjects = calloc(n + 1, sizeof(*checks->subjects));
	checks->pools = calloc(cfg->n_pools + 1, sizeof(*checks->pools));
	if (!checks->subjects || !checks->pools) {
		free(checks->subjects);
		free(checks->pools);
		*checks = old;
		return err_set(err, -ENOMEM, "out of memory");
	}
	checks->n_subjects = checks->n_pools = checks->n_checked = 0;
	for (i = 0; i < cfg->n_pools; i++)
		collect_pool(checks, &old, &cfg->pools[i]);
	keep_known(checks, &old);
	free(old.subjects);
	free(old.pools);
	return 0;
}

/* Nobody is asked: those who were, are of a configuration that is gone. */
static void forget_askers(struct checks *checks)
{
	size_t i;

	for (i = 0; i < checks->n_asked; i++)
		checks->asked[i]->n = 0;
}

int checks_begin(struct checks *checks, const struct cfg *cfg, struct err *err)
{
	int rc = collect(checks, cfg, err);

	if (rc)
		return rc;
	checks_load(checks);
	checks_reconsider(checks);
	return 0;
}

void checks_follow(struct checks *checks, const struct cfg *cfg)
{
	struct err err;
	int rc = collect(checks, cfg, &err);

	if (!rc) {
		forget_askers(checks);
		rc = asked_follow(checks, cfg, &err);
	}
	if (rc)
		log_error("checks go on as they were: %s", err.text);
	checker_want(checks->checker, checks->n_asked, cfg->check_user, cfg->check_exec);
	checks->unsaved = true;
	checks_reconsider(checks);
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
	checks->tick.data = checks->settle.data = checks->save.data = checks;
	checks->routes.data = checks;
	path_watch(checks);
	*out = checks;
	return 0;
}

/* The last of the timers to be closed takes the rest with it. */
static void checks_freed(uv_handle_t *handle)
{
	struct checks *checks = handle->data;

	if (++checks->closed < 4)
		return;
	asked_clear(checks);
	probes_close(&checks->probes);
	free(checks->subjects);
	free(checks->pools);
	free(checks);
}

void checks_close(struct checks *checks)
{
	if (!checks)
		return;
	if (checks->n_checked)
		checks_save(checks);
	checker_close(checks->checker);
	uv_close((uv_handle_t *)&checks->tick, checks_freed);
	uv_close((uv_handle_t *)&checks->settle, checks_freed);
	uv_close((uv_handle_t *)&checks->save, checks_freed);
	uv_close((uv_handle_t *)&checks->routes, checks_freed);
}

void checks_view(const struct checks *checks, const struct cfg_pool *pool,
		 const struct cfg_backend *backend, struct checks_view *out)
{
	const struct subject *s = subject_find(checks, pool->name, backend->name);
	uint64_t now = checks_now();

	*out = (struct checks_view){ .state = EFFECTIVE_DOWN, .why = "" };
	if (!s)
		return;
	out->state = judge(checks, s, &out->why);
	out->share = out->state == EFFECTIVE_UP ? share_of(s) : 0;
	out->checked = s->checked;
	if (!s->checked)
		return;
	out->health = &s->health;
	out->via = s->asked ? check_via_name(s->asked->via) : NULL;
	out->since_ms = now > s->health.since ? now - s->health.since : 0;
	out->penalty = s->health.penalty;
}

bool checks_pool(const struct checks *checks, const char *name,
		 struct checks_pool_view *out)
{
	const struct watched_pool *pool = pool_find(checks, name);
	size_t i;

	if (!pool)
		return false;
	*out = (struct checks_pool_view){ .facts = pool->facts, .backends = pool->n };
	for (i = 0; i < pool->n; i++)
		out->up += checks->subjects[pool->first + i].told == EFFECTIVE_UP;
	return true;
}

struct checks_status checks_status(const struct checks *checks)
{
	struct checker_status checker = checker_status(checks->checker);

	return (struct checks_status){
		.probes = checks->n_asked,
		.backends = checks->n_checked,
		.checker_pid = checker.pid,
		.checker_restarts = checker.restarts,
		.results = checks->results,
		.state_changes = checks->state_changes,
	};
}
