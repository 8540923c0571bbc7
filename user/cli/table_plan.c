// SPDX-License-Identifier: GPL-2.0-only
/*
 * table plan: a change that has not been made, by every algorithm side by side,
 * so that a person can choose one before it matters.
 *
 * Edits go to each pool that they make sense in: to remove a backend, to those
 * that have it. An edit that no pool takes is a mistake and refused.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "core/quote.h"
#include "core/whatif.h"
#include "table_diff.h"
#include "verbs.h"

/* The command line. */
struct whatif_request {
	const char *file, *pool;
	struct whatif_edit *edits;
	size_t n_edits;
};

static void request_free(struct whatif_request *request)
{
	free(request->edits);
}

/* An algorithm's line. */
struct outlook {
	struct table_params params;
	enum whatif_method method;
	bool in_use, refused;
	struct table_comparison *moves;
	double max_mean_old, max_mean_new;
};

/* Each algorithm once, and once more rebuilt when there is an overlay. */
#define OUTLOOKS_MAX (2 * WHATIF_CHOICES_MAX)

struct planned {
	const struct cfg_pool *pool;
	struct whatif_set old, new;
	bool *taken; /* edits */
	size_t n_taken;
	struct outlook outlooks[OUTLOOKS_MAX];
	size_t n_outlooks;
};

static void planned_free(struct planned *p)
{
	for (size_t i = 0; i < p->n_outlooks; i++)
		free(p->outlooks[i].moves);
	whatif_set_clear(&p->new);
	whatif_set_clear(&p->old);
	free(p->taken);
}

struct planned_list {
	struct planned *items;
	size_t n;
};

static void planned_list_free(struct planned_list *list)
{
	while (list->n > 0)
		planned_free(&list->items[--list->n]);
	free(list->items);
}

/* "--name VALUE" and "--name=VALUE"; NULL: it is another word. */
static const char *plan_option(const char *name, int argc, char **argv, int *i,
			       struct err *err)
{
	size_t length = strlen(name);
	const char *word = argv[*i];

	if (strncmp(word, name, length) != 0)
		return NULL;
	if (word[length] == '=')
		return word + length + 1;
	if (word[length])
		return NULL;
	if (*i + 1 < argc)
		return argv[++*i];

	err_set(err, -EINVAL, "option '%s' needs a value", name);
	return NULL;
}

static const struct {
	const char *name;
	enum whatif_op op;
} edit_options[] = {
	{"--remove", WHATIF_REMOVE},
	{"--add", WHATIF_ADD},
	{"--set", WHATIF_SET},
	{"--down", WHATIF_DOWN},
};

/* 1: the word is an edit. */
static int take_edit(struct whatif_request *request, int argc, char **argv,
		     int *i, struct err *err)
{
	for (size_t o = 0; o < sizeof(edit_options) / sizeof(*edit_options); o++) {
		const char *value =
			plan_option(edit_options[o].name, argc, argv, i, err);
		int r;

		if (err->code)
			return err->code;
		if (!value)
			continue;

		r = whatif_edit_parse(edit_options[o].op, value,
				      &request->edits[request->n_edits], err);
		if (r < 0)
			return err_prefix(err, "%s", edit_options[o].name);
		request->n_edits++;
		return 1;
	}
	return 0;
}

static int take_plan_word(struct whatif_request *request, int argc, char **argv,
			  int *i, struct err *err)
{
	const char *word = argv[*i];
	const char *pool = plan_option("--pool", argc, argv, i, err);
	int r = err->code;

	if (pool && request->pool)
		return err_set(err, -EINVAL, "option '--pool' stands twice");
	if (pool)
		request->pool = pool;
	if (pool || r)
		return r;

	r = take_edit(request, argc, argv, i, err);
	if (r)
		return r < 0 ? r : 0;
	if (word[0] == '-' && word[1])
		return err_set(err, -EINVAL,
			       "unknown option %s; allowed: --pool, --remove, "
			       "--add, --set, --down",
			       QUOTE(word));
	if (request->file)
		return err_set(err, -EINVAL,
			       "'table plan' takes one file, and %s is another",
			       QUOTE(word));

	request->file = word;
	return 0;
}

static int request_parse(int argc, char **argv, struct whatif_request *out,
			 struct err *err)
{
	int r = 0;

	out->edits = calloc((size_t)argc + 1, sizeof(*out->edits));
	if (!out->edits)
		return err_set(err, -ENOMEM, "out of memory");

	for (int i = 0; !r && i < argc; i++)
		r = take_plan_word(out, argc, argv, &i, err);
	return r;
}

/* The pools there are, as many as fit. */
static int no_pool(const struct cfg *cfg, const char *name, struct err *err)
{
	char list[256] = "";
	size_t used = 0, i;

	for (i = 0; i < cfg->n_pools; i++) {
		const char *next = cfg->pools[i].name;

		if (used + strlen(next) + 2 >= sizeof(list))
			break;
		used += (size_t)sprintf(list + used, "%s%s", i ? ", " : "", next);
	}
	return err_set(err, -ENOENT, "there is no pool %s; there are: %s%s",
		       QUOTE(name), i ? list : "none",
		       i < cfg->n_pools ? ", ..." : "");
}

/* Edits that the pool has no use for are left to the others. */
static int take_edits(struct planned *p, const struct whatif_request *request,
		      struct err *err)
{
	for (size_t i = 0; i < request->n_edits; i++) {
		int r = whatif_set_edit(&p->new, &request->edits[i], err);

		if (r < 0 && r != -ENOENT && r != -EEXIST)
			return r;
		p->taken[i] = r == 0;
		p->n_taken += p->taken[i];
	}
	return 0;
}

static int planned_of(const struct cfg_pool *pool,
		      const struct whatif_request *request, struct planned *p,
		      struct err *err)
{
	int r;

	p->pool = pool;
	p->taken = calloc(request->n_edits + 1, sizeof(*p->taken));
	if (!p->taken)
		return err_set(err, -ENOMEM, "out of memory");

	r = whatif_set_of(pool, &p->old, err);
	if (!r)
		r = whatif_set_of(pool, &p->new, err);
	return r < 0 ? r : take_edits(p, request, err);
}

/* "pool 'api' has a, b; pool 'web' has c and 9 more", as many as fit. */
static void list_pools(const struct planned_list *list, char *text, size_t size)
{
	char names[120], line[sizeof(names) + CFG_NAME_MAX + 32];
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < list->n; i++) {
		const struct planned *p = &list->items[i];
		int n = snprintf(line, sizeof(line), "%spool '%s' has %s",
				 i ? "; " : "", p->pool->name,
				 p->old.n ? whatif_set_names(&p->old, names,
							     sizeof(names)) :
					    "none");

		if (used + (size_t)n + sizeof("; ...") > size) {
			snprintf(text + used, size - used, "; ...");
			return;
		}
		memcpy(text + used, line, (size_t)n + 1);
		used += (size_t)n;
	}
}

/* The one pool's own sentence, or one about all. */
static int refuse_edit(const struct planned_list *list,
		       const struct whatif_edit *edit, struct err *err)
{
	char pools[400];

	if (list->n == 1)
		return whatif_set_edit(&list->items[0].new, edit, err);
	if (edit->op == WHATIF_ADD)
		return err_set(err, -EEXIST, "every pool has backend %s already",
			       QUOTE(edit->backend));

	list_pools(list, pools, sizeof(pools));
	return err_set(err, -ENOENT, "no pool has backend %s; %s",
		       QUOTE(edit->backend), pools);
}

static int check_edits(const struct planned_list *list,
		       const struct whatif_request *request, struct err *err)
{
	for (size_t e = 0; e < request->n_edits && list->n > 0; e++) {
		bool taken = false;

		for (size_t i = 0; i < list->n; i++)
			taken = taken || list->items[i].taken[e];
		if (!taken)
			return refuse_edit(list, &request->edits[e], err);
	}
	return 0;
}

static int plan_pools(const struct cfg *cfg, const struct whatif_request *request,
		      struct planned_list *list, struct err *err)
{
	list->items = calloc(cfg->n_pools + 1, sizeof(*list->items));
	if (!list->items)
		return err_set(err, -ENOMEM, "out of memory");

	for (size_t i = 0; i < cfg->n_pools; i++) {
		const struct cfg_pool *pool = &cfg->pools[i];
		int r;

		if (request->pool && strcmp(request->pool, pool->name) != 0)
			continue;

		r = planned_of(pool, request, &list->items[list->n++], err);
		if (r < 0)
			return r;
	}
	if (list->n == 0)
		return no_pool(cfg, request->pool ? request->pool : "", err);

	return check_edits(list, request, err);
}

/* Both tables and what lies between, kept without the slots. */
static int look(const struct planned *p, bool rebuild, struct outlook *o,
		struct err *err)
{
	_cleanup_whatif_table_ struct whatif_table *old = NULL, *new = NULL;
	int r = whatif_table_build(&o->params, &p->old, false, &old, err);

	if (!r)
		r = whatif_table_build(&o->params, &p->new, rebuild, &new, err);
	if (!r)
		r = whatif_compare(&p->old, old, &p->new, new, &o->moves, err);
	if (r < 0)
		return r;

	o->method = new->method;
	o->max_mean_old = old->n_serving ? old->max_mean : NAN;
	o->max_mean_new = new->n_serving ? new->max_mean : NAN;
	return 0;
}

/* A table that this algorithm cannot have is no reason to hide the others. */
static int add_outlook(struct cli *cli, struct planned *p,
		       const struct table_params *params, bool rebuild)
{
	struct outlook *o = &p->outlooks[p->n_outlooks++];
	struct table_params own;
	struct err err = {};
	int r;

	cfg_table_params(p->pool, &own);
	o->params = *params;
	o->in_use = whatif_params_same(params, &own);
	r = look(p, rebuild, o, &err);
	if (r == -E2BIG) {
		o->refused = true;
		o->max_mean_old = o->max_mean_new = NAN;
		cli_warn(cli, "pool '%s': %s", p->pool->name, err.text);
		return EXIT_OK;
	}
	return r < 0 ? cli_fail_err(cli, &err) : EXIT_OK;
}

/* Beside the overlay, what a rebuild would move; when that is the question. */
static bool wants_rebuild(const struct planned *p,
			  const struct whatif_request *request)
{
	if (p->outlooks[p->n_outlooks - 1].method != WHATIF_OVERLAY)
		return false;

	for (size_t e = 0; e < request->n_edits; e++) {
		if (p->taken[e] && request->edits[e].op == WHATIF_DOWN)
			return true;
	}
	return false;
}

static int look_at(struct cli *cli, struct planned *p,
		   const struct whatif_request *request)
{
	struct table_params own, choices[WHATIF_CHOICES_MAX];
	int status = EXIT_OK;
	size_t n;

	cfg_table_params(p->pool, &own);
	n = whatif_choices(&own, choices);
	for (size_t i = 0; !status && i < n; i++) {
		status = add_outlook(cli, p, &choices[i], false);
		if (!status && wants_rebuild(p, request))
			status = add_outlook(cli, p, &choices[i], true);
	}
	return status;
}

static size_t serving(const struct whatif_set *set)
{
	size_t n = 0;

	for (size_t i = 0; i < set->n; i++)
		n += set->up[i] && set->backends[i].weight > 0;
	return n;
}

static void put_planned(struct writer *w, const struct planned *p)
{
	writer_record(w, NULL);
	writer_str(w, "pool", p->pool->name);
	writer_str(w, "algorithm", table_algorithm_name(p->pool->algorithm));
	writer_int(w, "table_size", p->pool->table_size);
	writer_int(w, "backends_old", (int64_t)p->old.n);
	writer_int(w, "backends_new", (int64_t)p->new.n);
	writer_int(w, "serving_old", (int64_t)serving(&p->old));
	writer_int(w, "serving_new", (int64_t)serving(&p->new));
	writer_close(w);
}

static void put_weight(struct writer *w, const char *key,
		       const struct table_backend *backend)
{
	if (backend)
		writer_int(w, key, backend->weight);
	else
		writer_null(w, key);
}

static void put_edit(struct writer *w, const struct planned *p,
		     const struct whatif_edit *edit)
{
	const struct table_backend *old = whatif_set_find(&p->old, edit->backend);
	const struct table_backend *new = whatif_set_find(&p->new, edit->backend);

	writer_record(w, NULL);
	writer_str(w, "pool", p->pool->name);
	writer_str(w, "change", whatif_op_name(edit->op));
	writer_str(w, "name", old ? old->name : edit->backend);
	put_weight(w, "weight_old", old);
	put_weight(w, "weight_new", new);
	writer_close(w);
}

static void put_choice(struct writer *w, const struct planned *p,
		       const struct outlook *o)
{
	bool capped = o->params.algorithm == TABLE_CAPPED;

	writer_record(w, NULL);
	writer_str(w, "pool", p->pool->name);
	writer_str(w, "algorithm", table_algorithm_name(o->params.algorithm));
	if (capped)
		writer_int(w, "slack", o->params.slack_percent);
	else
		writer_null(w, "slack");
	writer_str(w, "method", o->refused ? NULL : whatif_method_name(o->method));
	writer_bool(w, "in_use", o->in_use);
}

/* Of the second that is no number nothing is kept. */
static double larger(double most, double value)
{
	return value > most ? value : most;
}

static void put_disruption(struct writer *w, const struct planned *p)
{
	struct writer_bar bar = {.full = 1, .fill = '#'};

	for (size_t i = 0; i < p->n_outlooks; i++) {
		const struct table_comparison *c = p->outlooks[i].moves;

		bar.full = c ? larger(bar.full, c->moved) : bar.full;
	}
	for (size_t i = 0; i < p->n_outlooks; i++) {
		const struct outlook *o = &p->outlooks[i];

		put_choice(w, p, o);
		put_moves(w, o->moves);
		bar.value = o->moves ? o->moves->moved : 0;
		bar.mark = o->moves ? o->moves->minimum : 0;
		writer_bar(w, "bar", &bar);
		writer_close(w);
	}
}

/* How far the fullest is above its share, of the least even algorithm. */
static double worst_excess(const struct planned *p)
{
	double most = 0.001;

	for (size_t i = 0; i < p->n_outlooks; i++)
		most = larger(most, p->outlooks[i].max_mean_new - 1);
	return most;
}

static void put_balance(struct writer *w, const struct planned *p)
{
	struct writer_bar bar = {.full = worst_excess(p), .fill = '#'};

	for (size_t i = 0; i < p->n_outlooks; i++) {
		const struct outlook *o = &p->outlooks[i];

		put_choice(w, p, o);
		writer_real(w, "max_mean_old", o->max_mean_old, 4);
		writer_real(w, "max_mean_new", o->max_mean_new, 4);
		bar.value = isfinite(o->max_mean_new) ? o->max_mean_new - 1 : 0;
		writer_bar(w, "bar", &bar);
		writer_close(w);
	}
}

/* Pools that none of the edits touch have nothing to tell. */
static bool is_told(const struct planned *p, const struct whatif_request *request)
{
	return p->n_taken > 0 || request->n_edits == 0;
}

static void put_plan(struct writer *w, const struct whatif_request *request,
		     const struct planned_list *list)
{
	const struct planned *end = list->items + list->n, *p;

	writer_list(w, "pools");
	for (p = list->items; p < end; p++) {
		if (is_told(p, request))
			put_planned(w, p);
	}
	writer_close(w);

	writer_list(w, "changes");
	for (p = list->items; p < end; p++) {
		for (size_t e = 0; e < request->n_edits; e++) {
			if (p->taken[e])
				put_edit(w, p, &request->edits[e]);
		}
	}
	writer_close(w);

	writer_list(w, "disruption");
	for (p = list->items; p < end; p++) {
		if (p->n_taken > 0)
			put_disruption(w, p);
	}
	writer_close(w);

	writer_list(w, "balance");
	for (p = list->items; p < end; p++)
		put_balance(w, p);
	writer_close(w);
}

static int plan_config(struct cli *cli, const struct cfg *cfg,
		       const struct whatif_request *request)
{
	_cleanup_(planned_list_free) struct planned_list list = {};
	struct err err = {};
	int status = EXIT_OK;

	if (plan_pools(cfg, request, &list, &err) < 0)
		return cli_fail_err(cli, &err);

	for (size_t i = 0; !status && i < list.n; i++) {
		if (is_told(&list.items[i], request))
			status = look_at(cli, &list.items[i], request);
	}
	if (!status)
		put_plan(cli->out, request, &list);
	return status;
}

int cmd_table_plan(struct cli *cli, int argc, char **argv)
{
	_cleanup_(request_free) struct whatif_request request = {};
	_cleanup_cfg_ struct cfg *cfg = NULL;
	struct err err = {};
	int status;

	if (request_parse(argc, argv, &request, &err) < 0)
		return cli_fail_usage(cli, "%s", err.text);

	status = config_of_tables(cli, request.file, &cfg);
	return status ? status : plan_config(cli, cfg, &request);
}
