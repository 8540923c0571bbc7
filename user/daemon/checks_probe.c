// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who is asked what: from pools with their checks and ways to distinct probes. Backends
 * that are asked the same at the same place share one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks_private.h"
#include "core/cleanup.h"
#include "dp/probe.h"
#include "sys/log.h"

/* A probe that a subject wants. Its strings are the configuration's. */
struct want {
	struct asked asked;
	uint8_t protocol; /* of those through the tunnel */
	struct subject *subject;
};

/* All that makes two probes the same one. Ids and marks come later. */
static int compare_asked(const struct asked *a, const struct asked *b)
{
	const struct probe *x = &a->probe, *y = &b->probe;
	int order = addr_compare(&x->backend, &y->backend);

	if (!order)
		order = addr_compare(&x->addr, &y->addr);
	if (!order)
		order = (x->port > y->port) - (x->port < y->port);
	if (!order)
		order = (a->backend > b->backend) - (a->backend < b->backend);
	return order ? order : check_compare(&x->check, &y->check);
}

static int compare_wants(const void *a, const void *b)
{
	const struct want *x = a, *y = b;

	return compare_asked(&x->asked, &y->asked);
}

static void want_probe(const struct checks *checks, const struct cfg_pool *pool,
		       const struct cfg_backend *backend, const struct path *path,
		       struct subject *s, struct want *want)
{
	const struct plan_backend *planned = NULL;
	struct backend_ident ident;

	if (path->via == CHECK_VIA_VIP) {
		backend_ident_of(pool, backend, &ident);
		planned = plan_find_backend(checks->daemon->plan, &ident);
	}
	*want = (struct want){
		.asked = {
			.probe = {
				.check = pool->check,
				.addr = planned ? path->vip : backend->addr,
				.port = way_port(&pool->check, &s->way->vip),
				.backend = backend->addr,
			},
			.via = planned ? CHECK_VIA_VIP : CHECK_VIA_DIRECT,
			.backend = planned ? planned->id : 0,
		},
		.protocol = path->protocol,
		.subject = s,
	};
}

/* What everybody wants, sorted; and where what goes through the tunnel leaves. */
struct wants {
	struct want *list;
	unsigned int *ifindexes;
	size_t n, n_ifindexes;
};

static void wants_free(struct wants *wants)
{
	free(wants->list);
	free(wants->ifindexes);
	*wants = (struct wants){ 0 };
}

/* Where none of them is yet. */
static void want_program(unsigned int ifindex, struct wants *wants)
{
	size_t i;

	for (i = 0; i < wants->n_ifindexes; i++)
		if (wants->ifindexes[i] == ifindex)
			return;
	wants->ifindexes[wants->n_ifindexes++] = ifindex;
}

/* Those of whom nothing is known, for want of memory, wait for the next change. */
static void want_way(struct checks *checks, const struct cfg_pool *pool,
		     struct watched_way *way, struct wants *wants)
{
	struct path path;
	struct subject *s;
	size_t i;

	path_choose(checks, way, &path);
	way->via = path.via;
	way->ifindex = path.ifindex;
	for (i = 0; i < pool->n_backends; i++) {
		s = subject_find(checks, way, pool->backends[i].name);
		if (s)
			want_probe(checks, pool, &pool->backends[i], &path, s,
				   &wants->list[wants->n++]);
	}
	if (path.ifindex)
		want_program(path.ifindex, wants);
}

static int collect_wants(struct checks *checks, const struct cfg *cfg,
			 struct wants *wants)
{
	const struct cfg_pool *pool = NULL;
	size_t i;

	*wants = (struct wants){
		.list = calloc(checks->n_subjects + 1, sizeof(*wants->list)),
		.ifindexes = calloc(checks->n_ways + 1, sizeof(*wants->ifindexes)),
	};
	if (!wants->list || !wants->ifindexes)
		return -ENOMEM;
	for (i = 0; i < checks->n_ways; i++) {
		if (!pool || strcmp(pool->name, checks->ways[i].pool))
			pool = cfg_find_pool(cfg, checks->ways[i].pool);
		if (pool && pool->check.kind && checks->ways[i].has_vip)
			want_way(checks, pool, &checks->ways[i], wants);
	}
	if (wants->n)
		qsort(wants->list, wants->n, sizeof(*wants->list), compare_wants);
	return 0;
}

static void paths_are_open(struct checks *checks)
{
	size_t i;

	for (i = 0; i < checks->n_ways; i++)
		if (checks->ways[i].via == CHECK_VIA_VIP)
			path_is_open(&checks->ways[i]);
}

/* The same with the tunnels' program where it has to be; without it, none goes there. */
static int attach_wants(struct checks *checks, const struct cfg *cfg,
			struct wants *wants)
{
	int rc = collect_wants(checks, cfg, wants);

	if (rc)
		return rc;
	if (path_attach(checks, wants->ifindexes, wants->n_ifindexes)) {
		paths_are_open(checks);
		return 0;
	}
	wants_free(wants);
	return collect_wants(checks, cfg, wants);
}

static int compare_to_want(const void *key, const void *element)
{
	const struct want *want = key;

	return compare_asked(&want->asked, *(struct asked *const *)element);
}

static struct asked *find_asked(const struct checks *checks, const struct want *want)
{
	struct asked **found = checks->n_asked ?
		bsearch(want, checks->asked, checks->n_asked, sizeof(*checks->asked),
			compare_to_want) : NULL;

	return found ? *found : NULL;
}

static void asked_free(struct asked *asked)
{
	if (asked)
		check_clear(&asked->probe.check);
	free(asked);
}

/*
 * False: no memory. Room for `n` places more than there are asked, or for all that an
 * id has room for: then those that retire make room. The first is nobody's, so that no
 * id is 0.
 */
static bool grow_places(struct checks *checks, size_t n)
{
	size_t wanted = checks->n_asked + n + 1, i = checks->n_places;
	struct asked **places;
	uint16_t *uses;

	if (wanted > ASKED_MAX)
		wanted = ASKED_MAX;
	if (wanted <= i)
		return true;
	places = realloc(checks->places, wanted * sizeof(*places));
	if (places)
		checks->places = places;
	uses = realloc(checks->uses, wanted * sizeof(*uses));
	if (uses)
		checks->uses = uses;
	if (!places || !uses)
		return false;
	for (; i < wanted; i++) {
		places[i] = NULL;
		uses[i] = 0;
	}
	checks->n_places = wanted;
	return true;
}

/* There is room. The place rests before it is used again, and then has another id. */
static void take_place(struct checks *checks, struct asked *asked)
{
	size_t place = checks->last_place;

	do
		place = place % (checks->n_places - 1) + 1;
	while (checks->places[place]);
	checks->last_place = place;
	checks->places[place] = asked;
	asked->probe.id = (uint32_t)++checks->uses[place] << ASKED_BITS | place;
}

static struct asked *asked_new(const struct want *want)
{
	struct asked *asked = calloc(1, sizeof(*asked));

	if (!asked)
		return NULL;
	*asked = want->asked;
	if (check_copy(&want->asked.probe.check, &asked->probe.check)) {
		free(asked);
		return NULL;
	}
	return asked;
}

/* What is asked from now on, one for each run of equal wants; ids 0 of the new ones. */
static int make_asked(const struct checks *checks, const struct want *wants, size_t n,
		      struct asked **list, size_t *n_list)
{
	size_t i;

	*n_list = 0;
	for (i = 0; i < n; i++) {
		if (i && !compare_wants(&wants[i - 1], &wants[i]))
			continue;
		list[*n_list] = find_asked(checks, &wants[i]);
		if (!list[*n_list])
			list[*n_list] = asked_new(&wants[i]);
		if (!list[*n_list])
			return -ENOMEM;
		++*n_list;
	}
	return 0;
}

static void drop_new(struct asked **list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!list[i]->probe.id)
			asked_free(list[i]);
}

/* Those that nobody wants any more. */
static void retire(struct checks *checks, struct asked **list, size_t n)
{
	size_t i, j = 0;

	for (i = 0; i < checks->n_asked; i++) {
		struct asked *old = checks->asked[i];

		/* Both are sorted alike. */
		while (j < n && compare_asked(list[j], old) < 0)
			j++;
		if (j < n && list[j] == old)
			continue;
		/* Of one without a mark fairlead-check does not know. */
		if (!old->muted)
			checker_del(checks->checker, old->probe.id);
		checks->places[old->probe.id & (ASKED_MAX - 1)] = NULL;
		if (old->probe.mark)
			probes_del(checks->probes, old->probe.mark);
		asked_free(old);
	}
}

static void link_askers(struct checks *checks, const struct want *wants, size_t n,
			struct asked **list)
{
	struct asked *asked = NULL;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!asked || compare_wants(&wants[i - 1], &wants[i])) {
			asked = *list++;
			asked->subjects = &checks->askers[i];
			asked->n = 0;
		}
		asked->n++;
		checks->askers[i] = wants[i].subject;
		wants[i].subject->asked = asked;
	}
}

/*
 * fairlead-check runs one soon until it is settled for everyone: the most in a row that
 * anybody wants.
 */
static void count_for_all(struct checks *checks, struct asked *asked)
{
	struct check *check = &asked->probe.check;
	uint16_t rise = 1, fall = 1;
	size_t i;

	for (i = 0; i < asked->n; i++) {
		const struct health_params *params = &asked->subjects[i]->params;

		rise = params->rise > rise ? params->rise : rise;
		fall = params->fall > fall ? params->fall : fall;
	}
	if (check->rise == rise && check->fall == fall)
		return;
	check->rise = rise;
	check->fall = fall;
	if (!asked->probe.id || asked->muted)
		return;
	checker_del(checks->checker, asked->probe.id);
	checker_add(checks->checker, &asked->probe);
}

/* Without its mark it would go to the VIP by the host's own route: then it is not asked. */
static bool mark(struct checks *checks, struct asked *asked, uint8_t protocol)
{
	struct probe_target target = probe_target(&asked->probe.addr, asked->probe.port,
						  protocol, asked->backend);
	struct err err;

	if (asked->via != CHECK_VIA_VIP || asked->probe.mark ||
	    !probes_add(checks->probes, &target, &asked->probe.mark, &err))
		return true;
	if (!checks->mark_failed[0])
		log_error("a check through the tunnel cannot be made, and is tried again: %s",
			  err.text);
	snprintf(checks->mark_failed, sizeof(checks->mark_failed),
		 "not checked, as a check through the tunnel cannot be made: %s", err.text);
	return false;
}

/* Those that are new get their ids, and begin. */
static void begin_asked(struct checks *checks, const struct want *wants, size_t n)
{
	struct asked *asked;
	size_t i;

	for (i = 0; i < n; i++) {
		asked = wants[i].subject->asked;
		if (asked->probe.id)
			continue;
		take_place(checks, asked);
		asked->muted = !mark(checks, asked, wants[i].protocol);
		if (!asked->muted)
			checker_add(checks->checker, &asked->probe);
	}
}

/* It begins: from now on its time counts. */
static void unmute(struct checks *checks, struct asked *asked)
{
	size_t i;

	asked->muted = false;
	for (i = 0; i < asked->n; i++)
		if (asked->subjects[i]->health.state == HEALTH_UNKNOWN)
			asked->subjects[i]->health.since = checks_now();
	checker_add(checks->checker, &asked->probe);
	settle_soon(checks);
}

/* Up to the first that has no mark again: what is short for one is so for all. */
void asked_retry(struct checks *checks)
{
	size_t i;

	if (!checks->mark_failed[0])
		return;
	for (i = 0; i < checks->n_asked; i++) {
		struct asked *asked = checks->asked[i];

		if (!asked->muted)
			continue;
		if (!mark(checks, asked, way_protocol(asked->probe.check.kind)))
			return;
		unmute(checks, asked);
	}
	checks->mark_failed[0] = '\0';
	log_notice("all checks through the tunnel are made again");
}

int asked_follow(struct checks *checks, const struct cfg *cfg, struct err *err)
{
	_cleanup_(wants_free) struct wants wants = { 0 };
	_cleanup_free_ struct subject **askers = NULL;
	_cleanup_free_ struct asked **list = NULL;
	size_t i, n_list;
	int rc = attach_wants(checks, cfg, &wants);

	list = calloc(wants.n + 1, sizeof(*list));
	askers = calloc(wants.n + 1, sizeof(*askers));
	if (rc || !list || !askers)
		return err_set(err, -ENOMEM, "out of memory");
	if (make_asked(checks, wants.list, wants.n, list, &n_list) ||
	    !grow_places(checks, n_list)) {
		drop_new(list, n_list);
		return err_set(err, -ENOMEM, "out of memory");
	}
	retire(checks, list, n_list);
	free(checks->askers);
	checks->askers = TAKE_PTR(askers);
	link_askers(checks, wants.list, wants.n, list);
	free(checks->asked);
	checks->asked = TAKE_PTR(list);
	checks->n_asked = n_list;
	for (i = 0; i < n_list; i++)
		count_for_all(checks, checks->asked[i]);
	begin_asked(checks, wants.list, wants.n);
	return 0;
}

void asked_tell(const struct checks *checks)
{
	size_t i;

	for (i = 0; i < checks->n_asked; i++)
		if (!checks->asked[i]->muted)
			checker_add(checks->checker, &checks->asked[i]->probe);
}

struct asked *asked_find(const struct checks *checks, uint32_t id)
{
	size_t place = id & (ASKED_MAX - 1);
	struct asked *asked = place < checks->n_places ? checks->places[place] : NULL;

	return asked && asked->probe.id == id ? asked : NULL;
}

void asked_clear(struct checks *checks)
{
	size_t i;

	for (i = 0; i < checks->n_asked; i++)
		asked_free(checks->asked[i]);
	free(checks->asked);
	free(checks->askers);
	free(checks->places);
	free(checks->uses);
}
