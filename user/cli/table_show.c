// SPDX-License-Identifier: GPL-2.0-only
/*
 * table show: who has how many slots, and should have. Of a file the tables are
 * built here; the daemon is asked for those that it has published, over the
 * socket that everybody may use.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "abi.h"
#include "call.h"
#include "config.h"
#include "core/whatif.h"
#include "json_text.h"
#include "verbs.h"

/* A backend's line. */
struct share {
	const char *pool, *name, *state;
	uint32_t weight, slots, size;
	double ideal; /* slots */
	double full;  /* the longest bar of its pool */
};

static void put_share(struct writer *w, const struct share *s)
{
	struct writer_bar bar = {
		.value = s->slots,
		.mark = s->ideal,
		.full = s->full,
		.fill = '#',
	};

	writer_record(w, NULL);
	writer_str(w, "pool", s->pool);
	writer_str(w, "name", s->name);
	writer_int(w, "weight", s->weight);
	writer_str(w, "state", s->state);
	writer_int(w, "slots", s->slots);
	writer_real(w, "share", 100.0 * s->slots / s->size, 3);
	writer_real(w, "ideal", 100.0 * s->ideal / s->size, 3);
	writer_real(w, "deviation", 100.0 * (s->slots - s->ideal) / s->ideal, 2);
	writer_bar(w, "bar", &bar);
	writer_close(w);
}

static double longest(const uint32_t *counts, const double *ideal, size_t n)
{
	double most = 1;

	for (size_t i = 0; i < n; i++) {
		most = counts[i] > most ? counts[i] : most;
		most = ideal[i] > most ? ideal[i] : most;
	}
	return most;
}

/* Of a file. */

struct shown {
	struct whatif_set set;
	struct whatif_table *table;
};

static void shown_free(struct shown *shown)
{
	whatif_table_free(&shown->table);
	whatif_set_clear(&shown->set);
}

static void put_built_pool(struct writer *w, const struct shown *shown)
{
	const struct whatif_table *t = shown->table;
	char digest[17];

	snprintf(digest, sizeof(digest), "%016" PRIx64, t->digest);
	writer_record(w, NULL);
	writer_str(w, "pool", shown->set.pool->name);
	writer_str(w, "algorithm", table_algorithm_name(t->params.algorithm));
	if (t->params.algorithm == TABLE_CAPPED)
		writer_int(w, "slack", t->params.slack_percent);
	else
		writer_null(w, "slack");
	writer_int(w, "table_size", t->params.size);
	writer_int(w, "backends", (int64_t)t->n);
	writer_int(w, "serving", (int64_t)t->n_serving);
	writer_str(w, "method", whatif_method_name(t->method));
	writer_real(w, "max_mean", t->n_serving ? t->max_mean : NAN, 4);
	writer_str(w, "digest", digest);
	writer_close(w);
}

static void put_built_shares(struct writer *w, const struct shown *shown)
{
	const struct whatif_table *t = shown->table;
	const struct cfg_pool *pool = shown->set.pool;
	struct share share = {
		.pool = pool->name,
		.size = t->params.size,
		.full = longest(t->counts, t->ideal, t->n),
	};

	for (size_t i = 0; i < t->n; i++) {
		share.name = pool->backends[i].name;
		share.state = admin_state_name(pool->backends[i].state);
		share.weight = pool->backends[i].weight;
		share.slots = t->counts[i];
		share.ideal = t->ideal[i];
		put_share(w, &share);
	}
}

static int build_shown(const struct cfg_pool *pool, struct shown *out,
		       struct err *err)
{
	struct table_params params;
	int r = whatif_set_of(pool, &out->set, err);

	cfg_table_params(pool, &params);
	if (!r)
		r = whatif_table_build(&params, &out->set, false, &out->table,
				       err);
	if (r < 0)
		return err_prefix(err, "pool '%s'", pool->name);

	whatif_table_drop_slots(out->table);
	return 0;
}

static void put_shown(struct writer *w, const struct shown *shown, size_t n)
{
	writer_list(w, "pools");
	for (size_t i = 0; i < n; i++)
		put_built_pool(w, &shown[i]);
	writer_close(w);

	writer_list(w, "backends");
	for (size_t i = 0; i < n; i++)
		put_built_shares(w, &shown[i]);
	writer_close(w);
}

static int show_config(struct cli *cli, const struct cfg *cfg)
{
	struct shown *shown = calloc(cfg->n_pools + 1, sizeof(*shown));
	struct err err = {};
	size_t n;
	int r = shown ? 0 : err_set(&err, -ENOMEM, "out of memory");

	for (n = 0; !r && n < cfg->n_pools; n++)
		r = build_shown(&cfg->pools[n], &shown[n], &err);
	if (!r)
		put_shown(cli->out, shown, n);

	for (size_t i = 0; i < n; i++)
		shown_free(&shown[i]);
	free(shown);
	return r < 0 ? cli_fail_err(cli, &err) : EXIT_OK;
}

static int show_file(struct cli *cli, const char *path)
{
	_cleanup_cfg_ struct cfg *cfg = NULL;
	int status = config_of_tables(cli, path, &cfg);

	return status ? status : show_config(cli, cfg);
}

/* Of the daemon. */

struct live_backend {
	const char *name, *state;
	json_int_t weight, slots;
};

struct live_pool {
	const char *name;
	const json_t *vip; /* one that uses it, or NULL */
	size_t n;
	struct live_backend *backends;
	uint32_t *counts;
	double *ideal;
	uint32_t size;
	size_t n_serving;
};

static void live_pool_free(struct live_pool *pool)
{
	free(pool->backends);
	free(pool->counts);
	free(pool->ideal);
}

/* Who owns slots serves; the daemon knows who is up, and this is what it shows. */
static int live_ideal(struct live_pool *pool, struct err *err)
{
	_cleanup_free_ struct table_backend *set = calloc(pool->n + 1, sizeof(*set));
	_cleanup_free_ bool *up = calloc(pool->n + 1, sizeof(*up));

	if (!set || !up)
		return err_set(err, -ENOMEM, "out of memory");

	for (size_t i = 0; i < pool->n; i++) {
		pool->counts[i] = (uint32_t)pool->backends[i].slots;
		pool->size += pool->counts[i];
		set[i].weight = (uint32_t)pool->backends[i].weight;
		up[i] = pool->counts[i] > 0;
		pool->n_serving += up[i];
	}
	whatif_ideal(set, up, pool->n, pool->size, pool->ideal);
	return 0;
}

static int live_pool_of(const char *name, json_t *parts, struct live_pool *pool,
			struct err *err)
{
	const json_t *list = json_object_get(parts, "backends");
	json_t *item;
	size_t i;

	pool->name = name;
	pool->vip = json_object_get(parts, "vip");
	pool->n = json_array_size(list);
	pool->backends = calloc(pool->n + 1, sizeof(*pool->backends));
	pool->counts = calloc(pool->n + 1, sizeof(*pool->counts));
	pool->ideal = calloc(pool->n + 1, sizeof(*pool->ideal));
	if (!pool->backends || !pool->counts || !pool->ideal)
		return err_set(err, -ENOMEM, "out of memory");

	json_array_foreach(list, i, item)
	{
		struct live_backend *b = &pool->backends[i];
		json_error_t error;

		if (json_unpack_ex(item, &error, 0, "{s:s, s:s, s:I, s:I}",
				   "name", &b->name, "state", &b->state,
				   "weight", &b->weight, "slots", &b->slots) < 0)
			return err_set(err, -EPROTO, "backends: %s", error.text);
		if (b->weight < 0 || b->weight > CFG_WEIGHT_MAX ||
		    b->slots < 0 || b->slots > TABLE_SIZE_MAX)
			return err_set(err, -EPROTO,
				       "backend '%s' has a number out of range",
				       b->name);
	}
	return live_ideal(pool, err);
}

static void put_live_pool(struct writer *w, const struct live_pool *pool)
{
	writer_record(w, NULL);
	writer_str(w, "pool", pool->name);
	/* Null of a daemon that does not tell. */
	writer_str(w, "algorithm",
		   json_string_value(json_object_get(pool->vip, "algorithm")));
	writer_null(w, "slack");
	if (pool->size)
		writer_int(w, "table_size", pool->size);
	else
		writer_null(w, "table_size");
	writer_int(w, "backends", (int64_t)pool->n);
	writer_int(w, "serving", (int64_t)pool->n_serving);
	writer_null(w, "method");
	writer_real(w, "max_mean",
		    pool->size ? whatif_max_mean(pool->counts, pool->ideal,
						 pool->n) :
				 NAN,
		    4);
	writer_str(w, "digest",
		   json_string_value(json_object_get(pool->vip, "digest")));
	writer_close(w);
}

static void put_live_shares(struct writer *w, const struct live_pool *pool)
{
	struct share share = {
		.pool = pool->name,
		.size = pool->size,
		.full = longest(pool->counts, pool->ideal, pool->n),
	};

	for (size_t i = 0; i < pool->n; i++) {
		share.name = pool->backends[i].name;
		share.state = pool->backends[i].state;
		share.weight = (uint32_t)pool->backends[i].weight;
		share.slots = pool->counts[i];
		share.ideal = pool->ideal[i];
		put_share(w, &share);
	}
}

/* pools[name], which is made when it is not there; borrowed. */
static json_t *pool_parts(json_t *pools, const json_t *item)
{
	const char *name = json_string_value(json_object_get(item, "pool"));
	json_t *parts = name ? json_object_get(pools, name) : NULL;

	if (parts || !name)
		return parts;

	parts = json_pack("{s:[]}", "backends");
	return json_object_set_new(pools, name, parts) < 0 ? NULL : parts;
}

/* {pool: {"vip": one of its VIPs, "backends": [...]}, ...} */
static json_t *gather(json_t *vips, json_t *backends)
{
	json_t *pools = json_object(), *item, *parts;
	size_t i;

	json_array_foreach(vips, i, item)
	{
		parts = pool_parts(pools, item);
		if (parts)
			json_object_set(parts, "vip", item);
	}
	json_array_foreach(backends, i, item)
	{
		/* What no pool lists any more has no share. */
		parts = pool_parts(pools, item);
		if (parts)
			json_array_append(json_object_get(parts, "backends"),
					  item);
	}
	return pools;
}

static int put_live(struct writer *w, json_t *pools, struct err *err)
{
	const char *name;
	json_t *parts;

	for (int shares = 0; shares < 2; shares++) {
		writer_list(w, shares ? "backends" : "pools");
		json_object_foreach(pools, name, parts)
		{
			_cleanup_(live_pool_free) struct live_pool pool = {};
			int r = live_pool_of(name, parts, &pool, err);

			if (r < 0)
				return r;
			if (shares)
				put_live_shares(w, &pool);
			else
				put_live_pool(w, &pool);
		}
		writer_close(w);
	}
	return 0;
}

static int show_running(struct cli *cli)
{
	json_auto_t *vips = NULL, *backends = NULL, *pools = NULL;
	struct err err = {};
	int status = cli_call(cli, CALL_READ, "vip.show", json_object(), &vips);

	if (!status)
		status = cli_call(cli, CALL_READ, "backend.show", json_object(),
				  &backends);
	if (status)
		return status;

	pools = gather(json_object_get(vips, "vips"),
		       json_object_get(backends, "backends"));
	if (put_live(cli->out, pools, &err) < 0)
		return cli_fail_answer(cli, "backend.show", &err);

	return EXIT_OK;
}

int cmd_table_show(struct cli *cli, int argc, char **argv)
{
	const char *path = cli->args.positional[0];

	(void)argc;
	(void)argv;
	return path && strcmp(path, "-") != 0 ? show_file(cli, path) :
						show_running(cli);
}
