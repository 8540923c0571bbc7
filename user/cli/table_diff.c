// SPDX-License-Identifier: GPL-2.0-only
/* table compare: what lies between two configurations, pool by pool. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "config.h"
#include "core/whatif.h"
#include "table_diff.h"
#include "verbs.h"

/* One pool of either configuration, or of both. */
struct pair {
	const char *name;
	struct whatif_set sets[2]; /* old, new; empty where it is not */
	struct whatif_table *tables[2];
	struct table_comparison *moves; /* NULL: only in one */
};

static void pair_free(struct pair *pair)
{
	free(pair->moves);
	for (int i = 0; i < 2; i++) {
		whatif_table_free(&pair->tables[i]);
		whatif_set_clear(&pair->sets[i]);
	}
}

static int pair_side(struct pair *pair, int side, const struct cfg_pool *pool,
		     struct err *err)
{
	struct table_params params;
	int r = whatif_set_of(pool, &pair->sets[side], err);

	pair->name = pool->name;
	cfg_table_params(pool, &params);
	if (!r)
		r = whatif_table_build(&params, &pair->sets[side], false,
				       &pair->tables[side], err);
	return r < 0 ? err_prefix(err, "pool '%s'", pool->name) : 0;
}

/* Either may be NULL. */
static int pair_make(const struct cfg_pool *old, const struct cfg_pool *new,
		     struct pair *out, struct err *err)
{
	int r = old ? pair_side(out, 0, old, err) : 0;

	if (!r && new)
		r = pair_side(out, 1, new, err);
	if (!r && old && new)
		r = whatif_compare(&out->sets[0], out->tables[0], &out->sets[1],
				   out->tables[1], &out->moves, err);
	for (int i = 0; i < 2; i++) {
		if (out->tables[i])
			whatif_table_drop_slots(out->tables[i]);
	}
	return r;
}

static const char *change_name(const struct pair *pair)
{
	if (!pair->tables[0])
		return "added";
	if (!pair->tables[1])
		return "removed";
	if (pair->moves->moved || !whatif_params_same(&pair->tables[0]->params,
						      &pair->tables[1]->params))
		return "changed";
	return "same";
}

static void put_algorithm(struct writer *w, const char *key,
			  const struct whatif_table *table)
{
	writer_str(w, key,
		   table ? table_algorithm_name(table->params.algorithm) : NULL);
}

static void put_size(struct writer *w, const char *key,
		     const struct whatif_table *table)
{
	if (table)
		writer_int(w, key, table->params.size);
	else
		writer_null(w, key);
}

void put_moves(struct writer *w, const struct table_comparison *c)
{
	if (!c) {
		writer_null(w, "moved");
		writer_null(w, "percent");
		writer_null(w, "minimum");
		writer_null(w, "ratio");
		return;
	}

	writer_int(w, "moved", c->moved);
	writer_real(w, "percent", 100.0 * c->moved / c->size, 2);
	writer_int(w, "minimum", c->minimum);
	/* 0: moved where nothing had to. */
	writer_real(w, "ratio", c->ratio > 0 ? c->ratio : NAN, 2);
}

static void put_pair(struct writer *w, const struct pair *pair)
{
	writer_record(w, NULL);
	writer_str(w, "pool", pair->name);
	writer_str(w, "change", change_name(pair));
	put_algorithm(w, "algorithm_old", pair->tables[0]);
	put_algorithm(w, "algorithm_new", pair->tables[1]);
	put_size(w, "size_old", pair->tables[0]);
	put_size(w, "size_new", pair->tables[1]);
	put_moves(w, pair->moves);
	writer_close(w);
}

static void put_if(struct writer *w, const char *key, bool there, uint32_t value)
{
	if (there)
		writer_int(w, key, value);
	else
		writer_null(w, key);
}

static double most_moved(const struct table_comparison *c)
{
	double most = 1;

	for (size_t i = 0; i < c->n; i++) {
		double net = fabs((double)c->changes[i].slots_new -
				  c->changes[i].slots_old);

		most = net > most ? net : most;
	}
	return most;
}

static void put_change(struct writer *w, const char *pool,
		       const struct table_change *c, double full)
{
	double net = (double)c->slots_new - c->slots_old;
	struct writer_bar bar = {
		.value = fabs(net),
		.full = full,
		.fill = net > 0 ? '+' : '-',
	};

	if (c->gained || c->lost || c->weight_old != c->weight_new)
		writer_record(w, NULL);
	else
		writer_record_minor(w);
	writer_str(w, "pool", pool);
	writer_str(w, "name", c->name);
	put_if(w, "weight_old", c->in_old, c->weight_old);
	put_if(w, "weight_new", c->in_new, c->weight_new);
	put_if(w, "slots_old", c->in_old, c->slots_old);
	put_if(w, "slots_new", c->in_new, c->slots_new);
	writer_int(w, "gained", c->gained);
	writer_int(w, "lost", c->lost);
	writer_bar(w, "bar", &bar);
	writer_close(w);
}

static void put_changes(struct writer *w, const struct pair *pair)
{
	const struct table_comparison *c = pair->moves;

	for (size_t i = 0; c && i < c->n; i++)
		put_change(w, pair->name, &c->changes[i], most_moved(c));
}

/* Both are sorted by name; *i and *j move past what is returned. */
static void next_pair(const struct cfg *old, size_t *i, const struct cfg *new,
		      size_t *j, const struct cfg_pool *out[2])
{
	const struct cfg_pool *a = *i < old->n_pools ? &old->pools[*i] : NULL;
	const struct cfg_pool *b = *j < new->n_pools ? &new->pools[*j] : NULL;
	int order = !a ? 1 : !b ? -1 : strcmp(a->name, b->name);

	out[0] = order <= 0 ? a : NULL;
	out[1] = order >= 0 ? b : NULL;
	*i += order <= 0;
	*j += order >= 0;
}

static int make_pairs(const struct cfg *old, const struct cfg *new,
		      struct pair *pairs, size_t *n, struct err *err)
{
	size_t i = 0, j = 0;
	int r = 0;

	while (!r && (i < old->n_pools || j < new->n_pools)) {
		const struct cfg_pool *pools[2];

		next_pair(old, &i, new, &j, pools);
		r = pair_make(pools[0], pools[1], &pairs[(*n)++], err);
	}
	return r;
}

static void put_pairs(struct writer *w, const struct pair *pairs, size_t n)
{
	writer_list(w, "pools");
	for (size_t i = 0; i < n; i++)
		put_pair(w, &pairs[i]);
	writer_close(w);

	writer_list(w, "backends");
	for (size_t i = 0; i < n; i++)
		put_changes(w, &pairs[i]);
	writer_close(w);
}

static int compare_configs(struct cli *cli, const struct cfg *old,
			   const struct cfg *new)
{
	struct pair *pairs =
		calloc(old->n_pools + new->n_pools + 1, sizeof(*pairs));
	struct err err = {};
	size_t n = 0;
	int r;

	r = pairs ? make_pairs(old, new, pairs, &n, &err) :
		    err_set(&err, -ENOMEM, "out of memory");
	if (!r)
		put_pairs(cli->out, pairs, n);

	while (n > 0)
		pair_free(&pairs[--n]);
	free(pairs);
	return r < 0 ? cli_fail_err(cli, &err) : EXIT_OK;
}

int cmd_table_compare(struct cli *cli, int argc, char **argv)
{
	_cleanup_cfg_ struct cfg *old = NULL, *new = NULL;
	int status = config_of_tables(cli, cli->args.positional[0], &old);

	(void)argc;
	(void)argv;
	if (!status)
		status = config_of_tables(cli, cli->args.positional[1], &new);

	return status ? status : compare_configs(cli, old, new);
}
