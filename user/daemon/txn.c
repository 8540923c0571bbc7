// SPDX-License-Identifier: GPL-2.0-only
#include "txn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/cleanup.h"
#include "daemon.h"
#include "sys/log.h"

struct txn {
	STAILQ_ENTRY(txn) entry;
	struct daemon *daemon;
	txn_make *make;
	txn_done *done;
	void *context;

	struct plan *next;
	struct publish publish;
	struct err err;
	int rc;
	uv_work_t work;
};

void txn_queue_init(struct txn_queue *queue)
{
	*queue = (struct txn_queue){ 0 };
	STAILQ_INIT(&queue->waiting);
}

int txn_plan_cfg(struct cfg **cfg, const struct plan *current, struct plan **next,
		 struct err *err)
{
	int rc = cfg_check(*cfg, err);

	return rc ? rc : plan_make(cfg, current, next, err);
}

/* Addresses of a plan, distinct: backends are sorted by address first. */
static int track_next_hops(struct daemon *d, const struct plan *plan, struct err *err)
{
	_cleanup_free_ struct addr *addrs = calloc(plan->n_backends + 1, sizeof(*addrs));
	size_t i, n = 0;

	if (!addrs)
		return err_set(err, -ENOMEM, "out of memory");
	for (i = 0; i < plan->n_backends; i++)
		if (!n || addr_compare(&addrs[n - 1], &plan->backends[i].ident.addr))
			addrs[n++] = plan->backends[i].ident.addr;
	if (plan->cfg)
		nexthops_set_source(d->nexthops, &plan->cfg->tunnel_source4,
				    &plan->cfg->tunnel_source6);
	return nexthops_track(d->nexthops, addrs, n, err);
}

/* On the loop: what to change, and everything that it depends on. */
static int txn_begin(struct txn *txn)
{
	struct daemon *d = txn->daemon;
	int rc = txn->make(txn->context, d->plan, &txn->next, &txn->err);

	if (rc)
		return rc;
	if (dataplane_needs_restart(&d->dp, txn->next->cfg))
		return err_set(&txn->err, -EBUSY,
			       "hash_key cannot change while fairleadd runs; restart it to use the new key");
	return track_next_hops(d, txn->next, &txn->err);
}

/* On any thread: new tables, where no packet sees them. */
static int txn_prepare(struct txn *txn)
{
	struct daemon *d = txn->daemon;

	return publish_prepare(&d->kernel, d->plan, txn->next, &txn->publish, &txn->err);
}

/* On the loop: the maps, then the interface; both or neither. */
static int txn_commit(struct txn *txn)
{
	struct daemon *d = txn->daemon;
	int rc = publish_commit(&d->kernel, &txn->publish, &txn->err);

	if (rc)
		return rc;
	if (!attach_is_current(&d->at, txn->next->cfg))
		rc = attach_apply(&d->at, &d->dp, txn->next->cfg, &txn->err);
	if (rc) {
		publish_undo(&d->kernel, &txn->publish);
		return rc;
	}
	publish_finish(&d->kernel, &txn->publish);
	return 0;
}

static void count_changes(const struct txn *txn, struct txn_changes *out)
{
	const struct plan *from = txn->publish.from, *to = txn->publish.to;
	size_t i;

	for (i = 0; i < to->n_vips; i++)
		out->vips_added += !plan_find_vip(from, &to->vips[i].spec);
	for (i = 0; i < from->n_vips; i++)
		out->vips_removed += !plan_find_vip(to, &from->vips[i].spec);
	for (i = 0; i < to->n_tables; i++)
		out->tables_changed += txn->publish.changed[i];
	for (i = 0; i < to->n_backends; i++) {
		const struct plan_backend *now = &to->backends[i];
		const struct plan_backend *old = plan_find_backend(from, &now->ident);

		out->backends_added += !now->draining && (!old || old->draining);
		out->backends_removed += now->draining && old && !old->draining;
	}
}

static void txn_settle(struct txn *txn, struct txn_changes *changes)
{
	struct daemon *d = txn->daemon;

	if (txn->rc) {
		d->txns.failed++;
		memcpy(d->last_error, txn->err.text, sizeof(d->last_error));
		/* The undo wrote next hops as the failed change saw them. */
		track_next_hops(d, d->plan, NULL);
		publish_backends(&d->kernel, d->plan, NULL);
		plan_free(&txn->next);
	} else {
		d->txns.applied++;
		count_changes(txn, changes);
		/* publish.from and .to end with the old plan. */
		publish_release(&txn->publish);
		plan_free(&d->plan);
		d->plan = TAKE_PTR(txn->next);
	}
}

static void txn_next(struct daemon *d);

static void txn_finish(struct txn *txn)
{
	struct daemon *d = txn->daemon;
	struct txn_changes changes = { .map_writes = d->kernel.map_writes };

	if (!txn->rc)
		txn->rc = txn_commit(txn);
	changes.map_writes = d->kernel.map_writes - changes.map_writes;
	if (txn->rc && txn->publish.built)
		publish_release(&txn->publish);
	txn_settle(txn, &changes);
	d->txns.active = NULL;
	txn->done(txn->context, txn->rc, &txn->err, &changes);
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

static struct txn *txn_new(struct daemon *d, txn_make *make, txn_done *done,
			   void *context)
{
	struct txn *txn = calloc(1, sizeof(*txn));

	if (!txn)
		return NULL;
	txn->daemon = d;
	txn->make = make;
	txn->done = done;
	txn->context = context;
	return txn;
}

void txn_submit(struct daemon *d, txn_make *make, txn_done *done, void *context)
{
	struct txn *txn = txn_new(d, make, done, context);
	struct txn_changes none = { 0 };
	struct err err;

	if (!txn) {
		err_set(&err, -ENOMEM, "out of memory");
		done(context, -ENOMEM, &err, &none);
		return;
	}
	STAILQ_INSERT_TAIL(&d->txns.waiting, txn, entry);
	txn_next(d);
}

struct run {
	txn_make *make;
	void *context;
	int rc;
	struct err *err;
};

static int run_make(void *context, const struct plan *current, struct plan **next,
		    struct err *err)
{
	struct run *run = context;

	return run->make(run->context, current, next, err);
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
	struct txn *txn = txn_new(d, run_make, run_done, &run);

	if (!txn)
		return err_set(err, -ENOMEM, "out of memory");
	d->txns.active = txn;
	txn->rc = txn_begin(txn);
	if (!txn->rc)
		txn->rc = txn_prepare(txn);
	txn_finish(txn);
	return run.rc;
}
