// SPDX-License-Identifier: GPL-2.0-only
/* From nothing to balancing, and back. The data plane stays when this ends. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>

#include "checks.h"
#include "core/cleanup.h"
#include "core/plural.h"
#include "ctl.h"
#include "daemon.h"
#include "flows.h"
#include "dp/program.h"
#include "sys/bpffs.h"
#include "sys/log.h"

/* Each table in use keeps a file descriptor. */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static const struct next_hop *find_hop(void *context, const struct addr *addr)
{
	return nexthops_get(context, addr);
}

/* Backends that have a next hop in the maps, for the addresses of the plan. */
static int seed_next_hops(struct daemon *d, struct err *err)
{
	_cleanup_free_ struct nexthop_seed *seeds =
		calloc(d->plan->n_backends + 1, sizeof(*seeds));
	size_t i, n = 0;

	if (!seeds)
		return err_set(err, -ENOMEM, "out of memory");
	for (i = 0; i < d->plan->n_backends; i++) {
		const struct plan_backend *b = &d->plan->backends[i];

		if (!(d->kernel.backend[b->id].flags & BACKEND_RESOLVED) ||
		    (n && !addr_compare(&seeds[n - 1].addr, &b->ident.addr)))
			continue;
		seeds[n].addr = b->ident.addr;
		outer_next_hop(&d->kernel.backend[b->id], &seeds[n++].hop);
	}
	return nexthops_seed(d->nexthops, seeds, n, err);
}

/* What is remembered, for a plan that may now give ids to other VIPs. */
static int adopt_flows(struct daemon *d, struct err *err)
{
	int rc = flows_forget_removed(&d->dp, d->plan);

	return rc ? err_set(err, rc, "cannot read the flow maps: %s", strerror(-rc)) : 0;
}

static int open_kernel(struct daemon *d, struct err *err)
{
	struct kernel *k = &d->kernel;
	int rc;

	rc = program_maps(d->dp.skel, d->dp.cpus, k, err);
	if (rc)
		return rc;
	k->hop = find_hop;
	k->hop_context = d->nexthops;
	rc = kernel_init(k, err);
	if (rc)
		return rc;
	if (!d->dp.adopted)
		return plan_new(&d->plan, err);
	rc = kernel_adopt(k, &d->plan, err);
	if (!rc)
		rc = adopt_flows(d, err);
	return rc ? rc : seed_next_hops(d, err);
}

/* An interface that came back under its name has a new index. */
static void follow_interface(struct daemon *d)
{
	const struct cfg *cfg = d->plan->cfg;
	struct err err;

	if (!if_nametoindex(cfg->interface) || attach_is_current(&d->at, cfg))
		return;
	if (attach_apply(&d->at, &d->dp, cfg, &err))
		log_error("%s", err.text);
	else
		log_notice("attached to interface '%s' again", cfg->interface);
}

static void on_next_hops(void *context, bool turned)
{
	struct daemon *d = context;
	struct err err;

	if (!d->plan || !d->plan->cfg)
		return;
	if (publish_backends(&d->kernel, d->plan, &err))
		log_error("%s; trying again at the next change", err.text);
	follow_interface(d);
	if (turned)
		checks_reconsider(d->checks);
	checks_follow_routes(d->checks);
}

static void on_netlink_timer(uv_timer_t *timer);

static void arm_netlink_timer(struct daemon *d)
{
	uv_update_time(&d->loop);
	uv_timer_start(&d->netlink_timer, on_netlink_timer,
		       nexthops_wait_ms(d->nexthops, uv_hrtime() / 1000000), 0);
}

static void on_netlink_timer(uv_timer_t *timer)
{
	struct daemon *d = timer->data;

	nexthops_tick(d->nexthops, uv_hrtime() / 1000000);
	arm_netlink_timer(d);
}

static void on_netlink(uv_poll_t *poll, int status, int events)
{
	struct daemon *d = poll->data;

	(void)status;
	(void)events;
	nexthops_events(d->nexthops);
	arm_netlink_timer(d);
}

static void on_signal(uv_signal_t *signal, int number)
{
	struct daemon *d = signal->data;

	if (number == SIGHUP) {
		daemon_reload(d);
		return;
	}
	log_notice("stopping; the data plane goes on without fairleadd");
	sd_notify(0, "STOPPING=1");
	uv_stop(&d->loop);
}

static void watch_signal(struct daemon *d, uv_signal_t *handle, int number)
{
	uv_signal_init(&d->loop, handle);
	handle->data = d;
	uv_signal_start(handle, on_signal, number);
}

static void start_loop(struct daemon *d)
{
	uv_poll_init(&d->loop, &d->netlink, nexthops_fd(d->nexthops));
	d->netlink.data = d;
	uv_poll_start(&d->netlink, UV_READABLE, on_netlink);
	uv_timer_init(&d->loop, &d->netlink_timer);
	d->netlink_timer.data = d;
	arm_netlink_timer(d);
	sweep_start(d);
	watch_signal(d, &d->sighup, SIGHUP);
	watch_signal(d, &d->sigterm, SIGTERM);
	watch_signal(d, &d->sigint, SIGINT);
	signal(SIGPIPE, SIG_IGN);
}

static int make_first(void *context, const struct cfg *running, struct cfg **next,
		      struct err *err)
{
	struct cfg **cfg = context;

	(void)running;
	(void)err;
	*next = TAKE_PTR(*cfg);
	return 0;
}

static int start_data_plane(struct daemon *d, struct cfg **cfg, struct err *err)
{
	int rc = dataplane_open(&d->dp, d->options.instance, *cfg, err);

	if (!rc)
		rc = nexthops_open(&d->nexthops, on_next_hops, d, err);
	if (!rc)
		rc = open_kernel(d, err);
	if (!rc)
		rc = checks_open(d, &d->checks, err);
	if (!rc)
		rc = checks_begin(d->checks, *cfg, err);
	if (!rc)
		rc = txn_run(d, make_first, cfg, err);
	if (!rc)
		rc = dataplane_settle(&d->dp, err);
	/* A first start that failed leaves nothing behind. */
	if (rc && d->dp.skel && !d->dp.adopted)
		bpffs_remove_dir(d->dp.pin_dir, NULL);
	return rc;
}

int daemon_start(struct daemon *d, struct err *err)
{
	_cleanup_cfg_ struct cfg *cfg = NULL;
	int rc;

	uv_loop_init(&d->loop);
	txn_queue_init(&d->txns, &d->loop);
	events_init(&d->events);
	rc = daemon_load_config(d, &cfg, err);
	if (rc)
		return rc;

	raise_file_limit();
	daemon_log_warnings(cfg);
	/* Ask first who serves the socket: nothing may be touched then. */
	rc = ctl_open(d, &d->ctl, err);
	if (!rc)
		rc = start_data_plane(d, &cfg, err);
	if (rc)
		return rc;

	daemon_log_dataplane_warnings(d);
	start_loop(d);
	daemon_keep_running_config(d);
	d->started_ms = uv_now(&d->loop);
	dataplane_log_memory(&d->dp);
	log_notice("%s %zu VIP%s on interface '%s' (%s)",
		   d->dp.adopted ? "adopted the data plane; balancing" : "balancing",
		   d->plan->n_vips, plural(d->plan->n_vips), d->at.interface, attach_kind_name(d->at.kind));
	return 0;
}

void daemon_run(struct daemon *d)
{
	sd_notify(0, "READY=1");
	uv_run(&d->loop, UV_RUN_DEFAULT);
}

static void close_handle(uv_handle_t *handle, void *unused)
{
	(void)unused;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

void daemon_stop(struct daemon *d)
{
	ctl_close(d->ctl);
	checks_close(d->checks);
	uv_walk(&d->loop, close_handle, NULL);
	uv_run(&d->loop, UV_RUN_DEFAULT);
	uv_loop_close(&d->loop);
	events_free(&d->events);
	nexthops_close(d->nexthops);
	kernel_release(&d->kernel);
	plan_free(&d->plan);
	dataplane_close(&d->dp);
}
