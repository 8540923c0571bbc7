// SPDX-License-Identifier: GPL-2.0-only
/* Sets and edits; the tables are in whatif_table.c. */
#include "whatif.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "num.h"
#include "quote.h"

static const char *const op_names[] = {
	[WHATIF_REMOVE] = "remove",
	[WHATIF_ADD] = "add",
	[WHATIF_SET] = "set",
	[WHATIF_DOWN] = "down",
};
_Static_assert(sizeof(op_names) / sizeof(*op_names) == WHATIF__MAX,
	       "every edit has a name");

const char *whatif_op_name(enum whatif_op op)
{
	return op < WHATIF__MAX ? op_names[op] : "unknown";
}

void whatif_set_clear(struct whatif_set *set)
{
	free(set->backends);
	free(set->wanted);
	free(set->up);
	*set = (struct whatif_set){ 0 };
}

/* Room for n. Edits are typed by hand, so growing by one will do. */
static int set_reserve(struct whatif_set *set, size_t n, struct err *err)
{
	struct table_backend *backends =
		realloc(set->backends, n * sizeof(*backends));
	bool *wanted = realloc(set->wanted, n * sizeof(*wanted));
	bool *up = realloc(set->up, n * sizeof(*up));

	set->backends = backends ? backends : set->backends;
	set->wanted = wanted ? wanted : set->wanted;
	set->up = up ? up : set->up;
	if (!backends || !wanted || !up)
		return err_set(err, -ENOMEM, "out of memory");
	return 0;
}

int whatif_set_of(const struct cfg_pool *pool, struct whatif_set *out,
		  struct err *err)
{
	_cleanup_whatif_set_ struct whatif_set set = { .pool = pool };
	int rc = set_reserve(&set, pool->n_backends + 1, err);

	if (rc < 0)
		return rc;

	for (; set.n < pool->n_backends; set.n++) {
		const struct cfg_backend *backend = &pool->backends[set.n];

		set.backends[set.n] = (struct table_backend){
			.name = backend->name,
			.weight = backend->weight,
		};
		set.wanted[set.n] = backend->state == ADMIN_UP;
		set.up[set.n] = set.wanted[set.n];
	}
	*out = set;
	set = (struct whatif_set){ 0 };
	return 0;
}

static bool has_weight(enum whatif_op op)
{
	return op == WHATIF_ADD || op == WHATIF_SET;
}

/* The name as a configuration would have it. */
static int set_name(const char *text, size_t length, struct whatif_edit *edit,
		    struct err *err)
{
	struct addr addr;

	if (length == 0 || length > CFG_NAME_MAX)
		return err_set(err, -EINVAL,
			       "%s: the name of a backend has 1 to %d characters",
			       QUOTE(text), CFG_NAME_MAX);

	memcpy(edit->backend, text, length);
	edit->backend[length] = '\0';
	if (!addr_parse(edit->backend, "backend", &addr, NULL))
		addr_format(&addr, edit->backend);
	return 0;
}

int whatif_edit_parse(enum whatif_op op, const char *text,
		      struct whatif_edit *out, struct err *err)
{
	struct whatif_edit edit = { .op = op };
	const char *colon = has_weight(op) ? strrchr(text, ':') : NULL;
	int rc;

	if (has_weight(op) && !colon)
		return err_set(err, -EINVAL,
			       "%s has no weight; allowed: BACKEND:WEIGHT, as "
			       "10.1.0.11:2",
			       QUOTE(text));

	rc = set_name(text, colon ? (size_t)(colon - text) : strlen(text),
		      &edit, err);
	if (!rc && colon)
		rc = parse_u32(colon + 1, "weight", 0, CFG_WEIGHT_MAX,
			       &edit.weight, err);
	if (rc < 0)
		return rc;

	*out = edit;
	return 0;
}

static bool find_name(const struct whatif_set *set, const char *name, size_t *at)
{
	for (size_t i = 0; i < set->n; i++) {
		if (strcmp(set->backends[i].name, name) != 0)
			continue;
		*at = i;
		return true;
	}
	return false;
}

/* By name or, when none is called so, by an address of the pool. */
static bool find(const struct whatif_set *set, const char *which, size_t *at)
{
	const struct cfg_pool *pool = set->pool;
	struct addr addr;

	if (find_name(set, which, at))
		return true;
	if (addr_parse(which, "backend", &addr, NULL))
		return false;

	for (size_t i = 0; i < pool->n_backends; i++) {
		const struct cfg_backend *backend = &pool->backends[i];

		if (!addr_compare(&backend->addr, &addr))
			return find_name(set, backend->name, at);
	}
	return false;
}

const struct table_backend *whatif_set_find(const struct whatif_set *set,
					    const char *which)
{
	size_t at;

	return find(set, which, &at) ? &set->backends[at] : NULL;
}

const char *whatif_set_names(const struct whatif_set *set, char *text,
			     size_t size)
{
	const size_t tail = sizeof(" and 65535 more");
	size_t used = 0, i;

	text[0] = '\0';
	for (i = 0; i < set->n; i++) {
		const char *name = set->backends[i].name;

		if (used + strlen(name) + 2 + tail > size)
			break;
		used += (size_t)sprintf(text + used, "%s%s", i ? ", " : "",
					name);
	}
	if (i < set->n)
		snprintf(text + used, size - used, "%s%zu more",
			 i ? " and " : "", set->n - i);
	return text;
}

static const char *kind(const struct cfg_pool *pool)
{
	return pool->private ? "vip" : "pool";
}

static int not_there(const struct whatif_set *set, const char *which,
		     struct err *err)
{
	char names[200];

	if (!set->n)
		return err_set(err, -ENOENT, "%s %s has no backends",
			       kind(set->pool), QUOTE(set->pool->name));

	return err_set(err, -ENOENT,
		       "%s %s has no backend %s; there are: %s",
		       kind(set->pool), QUOTE(set->pool->name), QUOTE(which),
		       whatif_set_names(set, names, sizeof(names)));
}

static int add(struct whatif_set *set, const struct whatif_edit *edit,
	       struct err *err)
{
	size_t at;
	int rc;

	if (find(set, edit->backend, &at))
		return err_set(err, -EEXIST, "%s %s has backend %s already",
			       kind(set->pool), QUOTE(set->pool->name),
			       QUOTE(edit->backend));

	rc = set_reserve(set, set->n + 1, err);
	if (rc < 0)
		return rc;

	set->backends[set->n] = (struct table_backend){
		.name = edit->backend,
		.weight = edit->weight,
	};
	set->wanted[set->n] = true;
	set->up[set->n++] = true;
	return 0;
}

static void take_out(struct whatif_set *set, size_t at)
{
	set->n--;
	memmove(&set->backends[at], &set->backends[at + 1],
		(set->n - at) * sizeof(*set->backends));
	memmove(&set->wanted[at], &set->wanted[at + 1],
		(set->n - at) * sizeof(*set->wanted));
	memmove(&set->up[at], &set->up[at + 1],
		(set->n - at) * sizeof(*set->up));
}

int whatif_set_edit(struct whatif_set *set, const struct whatif_edit *edit,
		    struct err *err)
{
	size_t at;

	if (edit->op == WHATIF_ADD)
		return add(set, edit, err);
	if (!find(set, edit->backend, &at))
		return not_there(set, edit->backend, err);

	if (edit->op == WHATIF_REMOVE)
		take_out(set, at);
	else if (edit->op == WHATIF_SET)
		set->backends[at].weight = edit->weight;
	else
		set->up[at] = false;
	return 0;
}
