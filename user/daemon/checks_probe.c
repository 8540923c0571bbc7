// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who is asked what: from pools with their checks to distinct probes. Backends that
 * are asked the same at the same place share one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "checks_private.h"
#include "core/cleanup.h"
#include "sys/log.h"

/* A probe that a subject wants. Its strings are the configuration's. */
struct want {
	struct probe probe;
	enum check_via via;
	struct subject *subject;
};

/* All that makes two probes the same one. Ids and marks come later. */
static int compare_probes(const struct probe *a, enum check_via a_via,
			  const struct probe *b, enum check_via b_via)
{
	int order = addr_compare(&a->backend, &b->backend);

	if (!order)
		order = addr_compare(&a->addr, &b->addr);
	if (!order)
		order = (a->port > b->port) - (a->port < b->port);
	if (!order)
		order = (a_via > b_via) - (a_via < b_via);
	return order ? order : check_compare(&a->check, &b->check);
}

static int compare_wants(const void *a, const void *b)
{
	const struct want *x = a, *y = b;

	return compare_probes(&x->probe, x->via, &y->probe, y->via);
}

/* The VIP that a pool's checks are made for: the first that has one port. */
static const struct cfg_vip *pool_vip(const struct cfg *cfg, const struct cfg_pool *pool)
{
	const struct cfg_vip *any = NULL, *vip;
	size_t i;

	for (i = 0; i < cfg->n_vips; i++) {
		vip = &cfg->vips[i];
		if (strcmp(vip->pool, pool->name))
			continue;
		if (vip_spec_is_exact(&vip->spec))
			return vip;
		any = any ? any : vip;
	}
	return any;
}

static void want_probe(const struct cfg_pool *pool, const struct cfg_vip *vip,
		       struct subject *subject, struct want *want)
{
	*want = (struct want){
		.probe = {
			.check = pool->check,
			.addr = subject->addr,
			.port = pool->check.port ? pool->check.port : vip->spec.port,
			.backend = subject->addr,
		},
		.via = CHECK_VIA_DIRECT,
		.subject = subject,
	};
	if (pool->check.kind == CHECK_ICMP)
		want->probe.port = 0;
}

/* Sorted; *n of them. */
static struct want *collect_wants(const struct checks *checks, const struct cfg *cfg,
				  size_t *n)
{
	struct want *wants = calloc(checks->n_checked + 1, sizeof(*wants));
	const struct cfg_vip *vip;
	size_t i, j;

	*n = 0;
	for (i = 0; wants && i < cfg->n_pools; i++) {
		const struct cfg_pool *pool = &cfg->pools[i];

		vip = pool->check.kind ? pool_vip(cfg, pool) : NULL;
		for (j = 0; vip && j < pool->n_backends; j++)
			want_probe(pool, vip,
				   subject_find(checks, pool->name, pool->backends[j].name),
				   &wants[(*n)++]);
	}
	if (wants && *n)
		qsort(wants, *n, sizeof(*wants), compare_wants);
	return wants;
}

static int compare_asked(const void *key, const void *element)
{
	const struct want *want = key;
	const struct asked *asked = *(struct asked *const *)element;

	return compare_probes(&want->probe, want->via, &asked->probe, asked->via);
}

static struct asked *find_asked(const struct checks *checks, const struct want *want)
{
	struct asked **found = checks->n_asked ?
		bsearch(want, checks->asked, checks->n_asked, sizeof(*checks->asked),
			compare_asked) : NULL;

	return found ? *found : NULL;
}

static void asked_free(struct asked *asked)
{
	if (asked)
		check_clear(&asked->probe.check);
	free(asked);
}

/*
 * False: no memory. Room for `n` places more than there are asked. The first is
 * nobody's, so that no id is 0.
 */
static bool grow_places(struct checks *checks, size_t n)
{
	size_t wanted = checks->n_asked + n + 1, i = checks->n_places;
	struct asked **places;
	uint16_t *uses;

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
	asked->probe = want->probe;
	asked->via = want->via;
	if (check_copy(&want->probe.check, &asked->probe.check)) {
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
		while (j < n && compare_probes(&list[j]->probe, list[j]->via, &old->probe,
					       old->via) < 0)
			j++;
		if (j < n && list[j] == old)
			continue;
		checker_del(checks->checker, old->probe.id);
		checks->places[old->probe.id & (ASKED_MAX - 1)] = NULL;
		asked_free(old);
	}
}

static void link_askers(struct checks *checks, const struct want *wants, size_t n,
			struct asked **list)
{
	size_t i, at = 0;

	for (i = 0; i < n; i++) {
		if (i && compare_wants(&wants[i - 1], &wants[i]))
			at++;
		else if (i)
			list[at]->n++;
		if (!i || compare_wants(&wants[i - 1], &wants[i])) {
			list[at]->subjects = &checks->askers[i];
			list[at]->n = 1;
		}
		checks->askers[i] = wants[i].subject;
		wants[i].subject->asked = list[at];
	}
}

int asked_follow(struct checks *checks, const struct cfg *cfg, struct err *err)
{
	size_t n, n_list, i;
	_cleanup_free_ struct want *wants = collect_wants(checks, cfg, &n);
	_cleanup_free_ struct asked **list = calloc(n + 1, sizeof(*list));
	_cleanup_free_ struct subject **askers = calloc(n + 1, sizeof(*askers));

	if (!wants || !list || !askers)
		return err_set(err, -ENOMEM, "out of memory");
	if (make_asked(checks, wants, n, list, &n_list) || !grow_places(checks, n_list)) {
		drop_new(list, n_list);
		return err_set(err, -ENOMEM, "out of memory");
	}
	retire(checks, list, n_list);
	free(checks->askers);
	checks->askers = TAKE_PTR(askers);
	link_askers(checks, wants, n, list);
	free(checks->asked);
	checks->asked = TAKE_PTR(list);
	checks->n_asked = n_list;
	for (i = 0; i < n_list; i++)
		if (!checks->asked[i]->probe.id) {
			take_place(checks, checks->asked[i]);
			checker_add(checks->checker, &checks->asked[i]->probe);
		}
	return 0;
}

void asked_tell(const struct checks *checks)
{
	size_t i;

	for (i = 0; i < checks->n_asked; i++)
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
