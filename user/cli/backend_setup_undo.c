// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes back what the state says was changed, last first. A change that the
 * state names and that is not there (the run was killed, or someone was faster)
 * is nothing to take back, and a value that is no longer ours is not ours to
 * change.
 */
#include <errno.h>

#include "backend_setup.h"
#include "backend_setup_decap.h"
#include "sys/nl_addr.h"

/* Keeps the first failure for the answer. */
static void note(int failed, const struct err *why, int *first, struct err *err)
{
	if (!failed || *first)
		return;
	*first = failed;
	err_set(err, failed, "%s", why->text);
}

static int undo_decap(struct setup *setup, struct err *err)
{
	struct decap_info info = { 0 };
	int attached = decap_query(setup->instance, &info, err);
	char what[64], name[IF_NAMESIZE];
	int failed;

	if (attached < 0)
		return attached;
	failed = decap_detach(setup->instance, err);
	if (failed || !attached || !info.ifindex)
		return failed;

	snprintf(what, sizeof(what), "XDP program on %s",
		 if_indextoname(info.ifindex, name) ? name : "?");
	setup_report(setup, what,
		     info.generic ? "decap, generic" : "decap, native", "none");
	return 0;
}

static int undo_vip(struct setup *setup, const struct setup_vip *vip,
		    struct err *err)
{
	char text[ADDR_TEXT_MAX], what[ADDR_TEXT_MAX + 8];
	int failed;

	if (!vip->added)
		return 0;
	failed = nl_addr_del_vip(if_nametoindex("lo"), &vip->addr, err);
	if (failed == -EADDRNOTAVAIL)
		return 0;
	if (failed)
		return failed;

	snprintf(what, sizeof(what), "%s on lo", addr_format(&vip->addr, text));
	setup_report(setup, what, "present", "absent");
	return 0;
}

static int undo_sysctl(struct setup *setup, const struct setup_sysctl *s,
		       struct err *err)
{
	char name[SYSCTL_PATH_MAX];
	int now, failed = sysctl_read(s->path, &now, err);

	/* Its interface is gone. */
	if (failed == -ENOENT)
		return 0;
	if (failed || now == s->before)
		return failed;
	if (now != s->after) {
		cli_warn(setup->cli,
			 "%s is %d, and not the %d that was set here: leaving it",
			 sysctl_name(s->path, name), now, s->after);
		return 0;
	}

	failed = sysctl_write(s->path, s->before, err);
	if (!failed)
		setup_report_sysctl(setup, s->path, now, s->before);
	return failed;
}

static int undo_all(struct setup *setup, struct err *err)
{
	struct setup_state *state = &setup->state;
	struct err why = { 0 };
	int first = 0;

	note(undo_decap(setup, &why), &why, &first, err);
	for (size_t i = state->n_vip; i-- > 0;)
		note(undo_vip(setup, &state->vip[i], &why), &why, &first, err);
	for (size_t i = state->n_sysctl; i-- > 0;)
		note(undo_sysctl(setup, &state->sysctl[i], &why), &why, &first, err);
	return first;
}

int setup_undo(struct setup *setup, struct err *err)
{
	struct decap_info info;
	int failed, attached = decap_query(setup->instance, &info, err);

	/* Pins without a state: someone removed the file. They are ours still. */
	if (attached < 0)
		return attached;
	if (!attached && !setup->state.interface[0])
		return err_set(err, -ENOENT,
			       "nothing to undo: instance '%s' has changed nothing on this host",
			       setup->instance);

	writer_list(setup->cli->out, "changes");
	failed = undo_all(setup, err);
	writer_close(setup->cli->out);
	if (failed)
		return failed;
	return setup_state_remove(setup->instance, err);
}
