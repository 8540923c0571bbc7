// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether the checks of a pool go the way of traffic, through the tunnel: "auto" has
 * them do so wherever it works. Where routes change it is decided anew.
 */
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "checks_private.h"
#include "core/cleanup.h"
#include "dp/probe.h"
#include "sys/log.h"

/*
 * How late a change of routes is seen by checks that go through the tunnel when netlink
 * says nothing; and when it does.
 */
#define ROUTES_MS 5000
#define ROUTES_SOON_MS 50

uint8_t path_protocol(enum check_kind kind)
{
	switch (kind) {
	case CHECK_TCP:
	case CHECK_HTTP:
	case CHECK_HTTPS:
		return IPPROTO_TCP;
	case CHECK_UDP:
		return IPPROTO_UDP;
	default:
		return 0;
	}
}

/* Is that what its checks are, whatever the routes say? UDP only when it is asked for. */
static bool may_go_through(const struct cfg_pool *pool, const struct cfg_vip *vip)
{
	uint8_t protocol = path_protocol(pool->check.kind);

	if (pool->check.via == CHECK_VIA_DIRECT || !protocol ||
	    !vip_spec_is_exact(&vip->spec) || vip->spec.protocol != protocol)
		return false;
	return protocol == IPPROTO_TCP || pool->check.via == CHECK_VIA_VIP;
}

/* Once for each reason; louder when it was asked for by name. */
static void explain(const struct cfg_pool *pool, struct watched_pool *watched,
		    const char *why)
{
	if (!strcmp(watched->path_problem, why))
		return;
	snprintf(watched->path_problem, sizeof(watched->path_problem), "%s", why);
	if (*why)
		log_write(pool->check.via == CHECK_VIA_VIP ? LOG_LEVEL_WARN : LOG_LEVEL_NOTICE,
			  "checks of pool '%s' go to its backends directly, and not through the tunnel: %s",
			  pool->name, why);
}

static bool open_probes(struct checks *checks, struct err *err)
{
	const struct daemon *d = checks->daemon;

	return checks->probes || !probes_open(d->dp.pin_dir, d->kernel.backends,
					      &checks->probes, err);
}

void path_choose(struct checks *checks, const struct cfg *cfg,
		 const struct cfg_pool *pool, const struct cfg_vip *vip, struct path *out)
{
	struct watched_pool *watched = pool_find(checks, pool->name);
	struct err err = { 0 };

	*out = (struct path){ .via = CHECK_VIA_DIRECT };
	if (!vip || !may_go_through(pool, vip)) {
		explain(pool, watched, vip && pool->check.via == CHECK_VIA_VIP ?
			"no VIP of it has one address, one port and the protocol of the check" :
			"");
		return;
	}
	if (checks->attach_failed[0]) {
		explain(pool, watched, checks->attach_failed);
	} else if (!open_probes(checks, &err) ||
		   probes_route(checks->probes, &vip->spec.addr,
				if_nametoindex(cfg->interface), &out->ifindex, &err)) {
		explain(pool, watched, err.text);
	} else {
		out->via = CHECK_VIA_VIP;
		out->vip = vip->spec.addr;
		out->protocol = path_protocol(pool->check.kind);
	}
}

void path_is_open(struct watched_pool *watched)
{
	watched->path_problem[0] = '\0';
}

/* By this daemon; or, when it looks for the first time, by one before it. */
static bool may_be_attached(const struct checks *checks)
{
	char path[192];

	snprintf(path, sizeof(path), "%s/probe_counters", checks->daemon->dp.pin_dir);
	return checks->attaches || (!checks->looked && access(path, F_OK) == 0);
}

bool path_attach(struct checks *checks, const unsigned int *ifindexes, size_t n)
{
	struct err err;
	bool done;

	if (!n && !may_be_attached(checks))
		return checks->looked = true;
	checks->looked = true;
	done = open_probes(checks, &err) &&
	       !probes_attach(checks->probes, ifindexes, n, &err);
	snprintf(checks->attach_failed, sizeof(checks->attach_failed), "%s",
		 done ? "" : err.text);
	checks->attaches = n || !done;
	return done || !n;
}

/* *attached: an interface that is known to have the program; 0: none is yet. */
static bool pool_path_changed(struct checks *checks, const struct cfg *cfg,
			      const struct cfg_pool *pool, unsigned int *attached)
{
	const struct watched_pool *watched = pool_find(checks, pool->name);
	struct path path;

	path_choose(checks, cfg, pool, pool_vip(cfg, pool), &path);
	if (path.via != watched->via || path.ifindex != watched->ifindex)
		return true;
	if (path.via != CHECK_VIA_VIP || path.ifindex == *attached)
		return false;
	*attached = path.ifindex;
	if (probes_attached(checks->probes, path.ifindex))
		return false;
	checks->path_lost = checks_now();
	return true;
}

bool path_changed(struct checks *checks, const struct cfg *cfg)
{
	unsigned int attached = 0;
	size_t i;

	for (i = 0; i < cfg->n_pools; i++) {
		const struct cfg_pool *pool = &cfg->pools[i];

		if (pool->check.kind && pool->check.via != CHECK_VIA_DIRECT &&
		    pool_find(checks, pool->name) &&
		    pool_path_changed(checks, cfg, pool, &attached))
			return true;
	}
	return false;
}

/* How often the way of one pool is looked at for the sake of its failures. */
#define JUDGE_MS 100

bool path_is_to_blame(struct checks *checks, const struct asked *asked,
		      const struct probe_result *result, bool *again)
{
	const struct cfg *cfg = checks->daemon->plan->cfg;
	const char *name = asked->n ? asked->subjects[0]->pool : "";
	struct watched_pool *watched = pool_find(checks, name);
	const struct cfg_pool *pool = cfg_find_pool(cfg, name);
	uint64_t now = checks_now();
	unsigned int attached = 0;

	*again = false;
	if (asked->via != CHECK_VIA_VIP || !watched || !pool)
		return false;
	if (now < checks->path_lost + result->ms)
		return true;
	if (now < watched->path_judged + JUDGE_MS)
		return false;
	watched->path_judged = now;
	*again = pool_path_changed(checks, cfg, pool, &attached);
	return *again;
}

void path_follow(struct checks *checks)
{
	struct err err;

	if (asked_follow(checks, checks->daemon->plan->cfg, &err))
		log_error("checks go on as they were: %s", err.text);
}

static void look_at_routes_in(struct checks *checks, uint64_t ms);

/* To look may take a tenth of the time at most. */
static void on_routes(uv_timer_t *timer)
{
	struct checks *checks = timer->data;
	uint64_t begun = checks_now();

	checks->attach_failed[0] = '\0';
	if (path_changed(checks, checks->daemon->plan->cfg))
		path_follow(checks);
	asked_retry(checks);
	checks->routes_rest = checks_now() + 9 * (checks_now() - begun);
	look_at_routes_in(checks, ROUTES_MS);
}

static void look_at_routes_in(struct checks *checks, uint64_t ms)
{
	uv_update_time(&checks->daemon->loop);
	uv_timer_start(&checks->routes, on_routes, ms, 0);
}

void checks_follow_routes(struct checks *checks)
{
	uint64_t now = checks_now(), rest = checks->routes_rest, in = ROUTES_SOON_MS;

	if (rest > now && rest - now > in)
		in = rest - now;
	/* One that is due sooner is not put off. */
	if (uv_timer_get_due_in(&checks->routes) > in)
		look_at_routes_in(checks, in);
}

void path_watch(struct checks *checks)
{
	look_at_routes_in(checks, ROUTES_MS);
}
