// SPDX-License-Identifier: GPL-2.0-only
#include "txn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check_user.h"
#include "checks.h"
#include "core/cleanup.h"
#include "daemon.h"
#include "flows_migrate.h"
#include "preview.h"
#include "sys/log.h"

#define RETRY_MS 2000

struct txn {
	STAILQ_ENTRY(txn) entry;
	struct daemon *daemon;
	struct txn_request request;

	struct plan *next;
	struct publish publish;
	struct err err;
	int rc;
	bool understood; /* the request itself was in order */
	uv_work_t work;
	uint64_t known; /* ms, checks_now(): as of when health is in the plan */
	uint64_t begun, planned, built; /* ns, uv_hrtime */
};

void txn_queue_init(struct txn_queue *queue, uv_loop_t *loop)
{
	*queue = (struct txn_queue){ 0 };
	STAILQ_INIT(&queue->waiting);
	uv_timer_init(loop, &queue->refresh);
}

static int compare_addrs(const void *a, const void *b)
{
	return addr_compare(a, b);
}

static size_t count_addrs(const struct plan *plan, const struct cfg *cfg)
{
	size_t i, n = plan->n_backends;

	for (i = 0; cfg && i < cfg->n_pools; i++)
		n += cfg->pools[i].n_backends;
	return n;
}

static size_t collect_addrs(const struct plan *plan, const struct cfg *cfg,
			    struct addr *addrs)
{
	size_t i, j, n = 0, distinct = 0;

	for (i = 0; i < plan->n_backends; i++)
		addrs[n++] = plan->backends[i].ident.addr;
	for (i = 0; cfg && i < cfg->n_pools; i++)
		for (j = 0; j < cfg->pools[i].n_backends; j++)
			addrs[n++] = cfg->pools[i].backends[j].addr;
	if (n)
		qsort(addrs, n, sizeof(*addrs), compare_addrs);
	for (i = 0; i < n; i++)
		if (!i || addr_compare(&addrs[i], &addrs[distinct - 1]))
			addrs[distinct++] = addrs[i];
	return distinct;
}

/*
 * Follow the next hops of the plan and, before it is planned, of the coming
 * configuration, so that the plan knows what is reachable. cfg may be NULL.
 */
static int track_next_hops(struct daemon *d, const struct plan *plan,
			   const struct cfg *cfg, struct err *err)
{
	_cleanup_free_ struct addr *addrs =
		calloc(count_addrs(plan, cfg) + 1, sizeof(*addrs));

	if (!addrs)
		return err_set(err, -ENOMEM, "out of memory");
	return nexthops_track(d->nexthops, addrs, collect_addrs(plan, cfg, addrs), err);
}

/*
 * Health alone brings no backend: whose next hops are followed stays, which spares the
 * loop the sorting of all addresses twice for each table that follows.
 */
static bool is_refresh(const struct txn *txn)
{
	return !txn->request.make && !txn->request.release;
}

/* Only with a commit: next hops that change before it must not show a new source. */
static void set_source(struct daemon *d, const struct cfg *cfg)
{
	if (cfg)
		nexthops_set_source(d->nexthops, &cfg->tunnel_source4,
				    &cfg->tunnel_source6);
}

static int make_cfg(struct txn *txn, struct cfg **cfg)
{
	const struct cfg *running = txn->daemon->plan->cfg;
	struct err *err = &txn->err;
	int rc;

	if (!txn->request.make)
		return cfg_clone(running, cfg, err);
	rc = txn->request.make(txn->request.context, running, cfg, err);
	return rc ? rc : cfg_check(*cfg, err);
}

static int make_plan(struct txn *txn, struct cfg **cfg)
{
	struct daemon *d = txn->daemon;
	struct plan_health health = { checks_ask, d->checks, checks_has_drained };

	txn->known = checks_now();
	if (txn->request.release)
		return plan_release(d->plan, &health, txn->request.release,
				    txn->request.context, &txn->next, &txn->err);
	return plan_make(cfg, d->plan, &health, &txn->next, &txn->err);
}

/* On the loop: what to change, and everything that it depends on. */
static int txn_begin(struct txn *txn)
{
	_cleanup_cfg_ struct cfg *cfg = NULL;
	struct daemon *d = txn->daemon;
	int rc;

	txn->begun = uv_hrtime();
	rc = make_cfg(txn, &cfg);
	if (!rc)
		rc = check_user_allow(d->plan->cfg, cfg, &txn->err);
	if (rc)
		return rc;
	txn->understood = true;
	if (dataplane_needs_restart(&d->dp, cfg))
		return err_set(&txn->err, -EBUSY,
			       "hash_key cannot change while fairleadd runs; restart it to use the new key");
	rc = is_refresh(txn) ? 0 : track_next_hops(d, d->plan, cfg, &txn->err);
	if (!rc)
		rc = make_plan(txn, &cfg);
	txn->planned = uv_hrtime();
	return rc;
}

/* On any thread: new tables, where no packet sees them. */
static int txn_prepare(struct txn *txn)
{
	struct daemon *d = txn->daemon;

	if (txn->request.preview)
		return preview_make(&d->kernel, &d->dp, d->plan, txn->next,
				    txn->request.preview, &txn->err);
	return publish_prepare(&d->kernel, d->plan, txn->next, &txn->publish, &txn->err);
}

/* On the loop: the maps, then the interface; both or neither. */
static int txn_commit(struct txn *txn)
{
	struct daemon *d = txn->daemon;
	int rc;

	txn->built = uv_hrtime();
	set_source(d, txn->next->cfg);
	rc = publish_commit(&d->kernel, &txn->publish, &txn->err);

	if (rc)
		return rc;
	/* Late, since the old program remembers flows until the new one runs. */
	if (d->dp.migrates)
		rc = flows_migrate(&d->dp, txn->next, &txn->err);
	if (!rc && !attach_is_current(&d->at, txn->next->cfg))
		rc = attach_apply(&d->at, &d->dp, txn->next->cfg, &txn->err);
	if (rc) {
		publish_undo(&d->kernel, &txn->publish);
		return rc;
	}
	publish_finish(&d->kernel, &txn->publish);
	d->txns.times = (struct txn_times){
		.plan_ms = (txn->planned - txn->begun) / 1e6,
		.build_ms = (txn->built - txn->planned) / 1e6,
		.commit_ms = (uv_hrtime() - txn->built) / 1e6,
	};
	return 0;
}

static bool table_changes(const struct txn *txn, size_t i)
{
	const struct plan_table *table = &txn->next->tables[i];
	const struct plan_table *old;

	if (!txn->request.preview)
		return txn->publish.changed[i];
	old = plan_find_table(txn->daemon->plan, table->id);
	return !old || !plan_table_same(old, table);
}

static void count_changes(const struct txn *txn, struct txn_changes *out)
{
	const struct plan *from = txn->daemon->plan, *to = txn->next;
	size_t i;

	for (i = 0; i < to->n_vips; i++)
		out->vips_added += !plan_find_vip(from, &to->vips[i].spec);
	for (i = 0; i < from->n_vips; i++)
		out->vips_removed += !plan_find_vip(to, &from->vips[i].spec);
	for (i = 0; i < to->n_tables; i++)
		out->tables_changed += table_changes(txn, i);
	for (i = 0; i < to->n_backends; i++) {
		const struct plan_backend *now = &to->backends[i];
		const struct plan_backend *old = plan_find_backend(from, &now->ident);

		out->backends_added += !now->draining && (!old || old->draining);
		out->backends_removed += now->draining && old && !old->draining;
	}
}

/* What was prepared goes, and what runs stays as it is. */
static void txn_drop(struct txn *txn)
{
	struct daemon *d = txn->daemon;

	if (txn->publish.built)
		publish_release(&txn->publish);
	plan_free(&txn->next);
	track_next_hops(d, d->plan, NULL, NULL);
	/* The undo of a failed commit wrote next hops as the commit saw them. */
	set_source(d, d->plan->cfg);
	publish_backends(&d->kernel, d->plan, NULL);
}

/* It is said when it begins. */
static void warn_of_no_room(const struct plan *from, const struct plan *to)
{
	if (to->verdicts_left_out && !from->verdicts_left_out)
		log_warn("known flows of %zu pairs of VIP and backend fare as the kindest VIP of the backend says: at most %d pairs can differ from that",
			 to->verdicts_left_out, MAX_VERDICTS);
}

/* What was committed is now what runs. */
static void txn_adopt(struct txn *txn)
{
	struct daemon *d = txn->daemon;
	/* It may end the draining of some. */
	bool same = is_refresh(txn) && txn->next->n_backends == d->plan->n_backends;

	warn_of_no_room(d->plan, txn->next);

	/* Its plans end with the old one. */
	publish_release(&txn->publish);
	plan_free(&d->plan);
	d->plan = TAKE_PTR(txn->next);
	if (!same)
		track_next_hops(d, d->plan, NULL, NULL);
	if (txn->request.make) {
		d->txns.configured++;
		checks_follow(d->checks, d->plan->cfg);
	}
	checks_follow_drains(d->checks, txn->known);
}

static void txn_settle(struct txn *txn, struct txn_changes *changes)
{
	struct daemon *d = txn->daemon;

	if (!txn->rc)
		count_changes(txn, changes);
	if (txn->rc || txn->request.preview)
		txn_drop(txn);
	else
		txn_adopt(txn);
	if (txn->request.preview || (txn->request.attended && !txn->understood))
		return;
	d->txns.applied += !txn->rc;
	d->txns.failed += !!txn->rc;
	if (txn->rc)
		memcpy(d->last_error, txn->err.text, sizeof(d->last_error));
}

static void txn_next(struct daemon *d);

static void txn_finish(struct txn *txn)
{
	struct daemon *d = txn->daemon;
	struct txn_changes changes = { .map_writes = d->kernel.map_writes };

	if (!txn->rc && !txn->request.preview)
		txn->rc = txn_commit(txn);
	changes.map_writes = d->kernel.map_writes - changes.map_writes;
	txn_settle(txn, &changes);
	d->txns.active = NULL;
	txn->request.done(txn->request.context, txn->rc, &txn->err, &changes);
	free(txn);
	txn_next(d);
}

static void txn_work(uv_work_t *work)
{
	struct txn *txn = work->data;

	txn->rc = txn_prepare(txn);
}

static void txn_after_work(uv_work_t *work, int status)
{
	struct txn *txn = work->data;

	if (status && !txn->rc)
		txn->rc = err_set(&txn->err, -ECANCELED, "fairleadd is stopping");
	txn_finish(txn);
}

static void txn_next(struct daemon *d)
{
	struct txn *txn = STAILQ_FIRST(&d->txns.waiting);

	if (!txn || d->txns.active)
		return;
	STAILQ_REMOVE_HEAD(&d->txns.waiting, entry);
	d->txns.active = txn;
	txn->rc = txn_begin(txn);
	if (txn->rc) {
		txn_finish(txn);
		return;
	}
	txn->work.data = txn;
	uv_queue_work(&d->loop, &txn->work, txn_work, txn_after_work);
}

static struct txn *txn_new(struct daemon *d, const struct txn_request *request)
{
	struct txn *txn = calloc(1, sizeof(*txn));

	if (!txn)
		return NULL;
	txn->daemon = d;
	txn->request = *request;
	return txn;
}

void txn_submit(struct daemon *d, const struct txn_request *request)
{
	struct txn *txn = txn_new(d, request);
	struct txn_changes none = { 0 };
	struct err err;

	if (!txn) {
		err_set(&err, -ENOMEM, "out of memory");
		request->done(request->context, -ENOMEM, &err, &none);
		return;
	}
	STAILQ_INSERT_TAIL(&d->txns.waiting, txn, entry);
	txn_next(d);
}

static void on_refresh(uv_timer_t *timer);

/* It is said once: nothing else may change until the tables can follow. */
static void refresh_done(void *context, int rc, const struct err *err,
			 const struct txn_changes *changes)
{
	struct daemon *d = context;
	bool was_behind = d->txns.behind;

	d->txns.behind = rc && rc != -ECANCELED;
	if (d->txns.behind && !was_behind)
		log_error("cannot lay health over the tables, keeping last state and trying again: %s",
			  err->text);
	if (d->txns.behind && !uv_is_active((uv_handle_t *)&d->txns.refresh))
		uv_timer_start(&d->txns.refresh, on_refresh, RETRY_MS, 0);
	else if (!rc && changes->tables_changed)
		log_info("lookup tables that follow the health of their backends: %zu",
			 changes->tables_changed);
}

static void on_refresh(uv_timer_t *timer)
{
	struct daemon *d = timer->data;
	struct txn_request request = { .done = refresh_done, .context = d };

	d->txns.refreshed_ms = uv_now(&d->loop);
	txn_submit(d, &request);
}

void txn_refresh(struct daemon *d)
{
	uint64_t since = uv_now(&d->loop) - d->txns.refreshed_ms;
	uint32_t interval = d->plan->cfg->publish_interval;
	struct txn *txn;

	STAILQ_FOREACH(txn, &d->txns.waiting, entry)
		if (!txn->request.make && !txn->request.release)
			return; /* it will see what is new */
	if (uv_is_active((uv_handle_t *)&d->txns.refresh))
		return;
	d->txns.refresh.data = d;
	uv_timer_start(&d->txns.refresh, on_refresh, since < interval ? interval - since : 0,
		       0);
}

struct run {
	txn_make *make;
	void *context;
	int rc;
	struct err *err;
};

static int run_make(void *context, const struct cfg *running, struct cfg **next,
		    struct err *err)
{
	struct run *run = context;

	return run->make(run->context, running, next, err);
}

static void run_done(void *context, int rc, const struct err *err,
		     const struct txn_changes *changes)
{
	struct run *run = context;

	(void)changes;
	run->rc = rc;
	if (rc && run->err)
		*run->err = *err;
}

int txn_run(struct daemon *d, txn_make *make, void *context, struct err *err)
{
	struct run run = { make, context, 0, err };
	struct txn_request request = { .make = run_make, .done = run_done,
				       .context = &run };
	struct txn *txn = txn_new(d, &request);

	if (!txn)
		return err_set(err, -ENOMEM, "out of memory");
	d->txns.active = txn;
	txn->rc = txn_begin(txn);
	if (!txn->rc)
		txn->rc = txn_prepare(txn);
	txn_finish(txn);
	return run.rc;
}
