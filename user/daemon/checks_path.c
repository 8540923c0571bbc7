// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether checks take the path of traffic, through the tunnel: "auto" has them do so
 * wherever it works. Where routes change it is decided anew, of each way to a pool.
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

/* Once for each reason; louder when it was asked for by name. */
static void explain(struct watched_way *way, const char *why)
{
	char vip[VIP_SPEC_TEXT_MAX];
	const char *name = way_name(way, vip);

	if (!strcmp(way->path_problem, why))
		return;
	snprintf(way->path_problem, sizeof(way->path_problem), "%s", why);
	if (*why)
		log_write(way->wish.via == CHECK_VIA_VIP ? LOG_LEVEL_WARN : LOG_LEVEL_NOTICE,
			  "checks of pool '%s'%s%s go to its backends directly, and not through the tunnel: %s",
			  way->pool, name ? " for vip " : "", name ? name : "", why);
}

static bool open_probes(struct checks *checks, struct err *err)
{
	const struct daemon *d = checks->daemon;

	return checks->probes || !probes_open(d->dp.pin_dir, d->kernel.backends,
					      &checks->probes, err);
}

void path_choose(struct checks *checks, struct watched_way *way, struct path *out)
{
	const char *interface = checks->daemon->plan->cfg->interface;
	struct err err = { 0 };

	*out = (struct path){ .via = CHECK_VIA_DIRECT };
	if (!way->wish.through) {
		explain(way, way->has_vip && way->wish.via == CHECK_VIA_VIP ?
			"no VIP of it has one address, one port and the protocol of the check" :
			"");
		return;
	}
	if (checks->attach_failed[0]) {
		explain(way, checks->attach_failed);
	} else if (!open_probes(checks, &err) ||
		   probes_route(checks->probes, &way->vip.addr, if_nametoindex(interface),
				&out->ifindex, &err)) {
		explain(way, err.text);
	} else {
		out->via = CHECK_VIA_VIP;
		out->vip = way->vip.addr;
		out->protocol = way_protocol(way->wish.kind);
	}
}

void path_is_open(struct watched_way *way)
{
	way->path_problem[0] = '\0';
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
static bool way_path_changed(struct checks *checks, struct watched_way *way,
			     unsigned int *attached)
{
	struct path path;

	path_choose(checks, way, &path);
	if (path.via != way->via || path.ifindex != way->ifindex) {
		checks->path_lost = checks_now();
		return true;
	}
	if (path.via != CHECK_VIA_VIP || path.ifindex == *attached)
		return false;
	*attached = path.ifindex;
	if (probes_attached(checks->probes, path.ifindex))
		return false;
	checks->path_lost = checks_now();
	return true;
}

/*
 * Do the routes say otherwise than when it was chosen, or is the program gone from
 * where it has to be? Of all ways.
 */
static bool path_changed(struct checks *checks)
{
	unsigned int attached = 0;
	size_t i;

	for (i = 0; i < checks->n_ways; i++)
		if (checks->ways[i].wish.through &&
		    way_path_changed(checks, &checks->ways[i], &attached))
			return true;
	return false;
}

/* How often the path of one way is looked at for the sake of its failures. */
#define JUDGE_MS 100

bool path_is_to_blame(struct checks *checks, const struct asked *asked,
		      const struct probe_result *result, bool *again)
{
	struct watched_way *way = asked->n ? asked->subjects[0]->way : NULL;
	uint64_t now = checks_now();
	unsigned int attached = 0;

	*again = false;
	if (asked->via != CHECK_VIA_VIP || !way)
		return false;
	if (now < checks->path_lost + result->ms)
		return true;
	if (now < way->path_judged + JUDGE_MS)
		return false;
	way->path_judged = now;
	*again = way_path_changed(checks, way, &attached);
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
	if (path_changed(checks))
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
