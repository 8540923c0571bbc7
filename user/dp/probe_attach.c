// SPDX-License-Identifier: GPL-2.0-only
/* Part of probe.h: the program as a filter of tc on what leaves by interfaces. */
#include "probe_private.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/pkt_sched.h>

#include "core/cleanup.h"
#include "core/fnv.h"
#include "probe.skel.h"
#include "sys/nl_tc.h"

/*
 * Early, since a filter that lets a packet go ends the matter, and the packet would leave
 * in the clear; and a number that hands seldom type, since all filters of a priority have
 * to be of one kind.
 */
#define PRIORITY 5
#define PROGRAM_NAME "fairlead_probe"

static const uint32_t egress = TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS);
static const uint32_t ingress = TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS);

/* Taking the program off needs no more than this, and no program. */
struct filters {
	struct nl *nl;
	uint32_t handle;
	int qdiscs; /* map; -1: nobody wrote down which are ours */
};

struct on_interface {
	uint32_t program;  /* id of our filter's; 0: we have none */
	uint32_t stranger; /* handle of what is in the way; 0: nothing */
	bool instance;     /* the stranger is of another instance */
	bool others;       /* somebody else has filters */
};

uint32_t probe_filter_handle(const char *pin_dir)
{
	uint32_t handle = (uint32_t)mix64(fnv64_text(FNV64_OFFSET, pin_dir));

	return handle ? handle : 1;
}

static const char *name_of(unsigned int ifindex, char name[IF_NAMESIZE])
{
	if (!if_indextoname(ifindex, name))
		snprintf(name, IF_NAMESIZE, "%u", ifindex);
	return name;
}

static void judge(const struct filters *f, const struct nl_tc_filter *filter,
		  struct on_interface *out)
{
	bool probes = filter->bpf && filter->priority == PRIORITY &&
		      !strncmp(filter->name, PROGRAM_NAME, strlen(PROGRAM_NAME));

	if (!filter->handle) /* of a priority, whose filters follow */
		return;
	if (probes && filter->handle == f->handle) {
		out->program = filter->program;
		return;
	}
	out->others = true;
	if (probes || (filter->priority == PRIORITY && filter->handle == f->handle)) {
		out->stranger = filter->handle;
		out->instance = probes;
	}
}

static int look(const struct filters *f, unsigned int ifindex, struct on_interface *out,
		struct err *err)
{
	_cleanup_free_ struct nl_tc_filter *list = NULL;
	char name[IF_NAMESIZE];
	size_t n = 0, i;
	int rc = nl_tc_filters(f->nl, ifindex, egress, &list, &n, err);

	if (rc) {
		err_prefix(err, "cannot list the filters of interface '%s'",
			   name_of(ifindex, name));
		return rc;
	}
	*out = (struct on_interface){ 0 };
	for (i = 0; i < n; i++)
		judge(f, &list[i], out);
	return 0;
}

static bool has_ingress(const struct filters *f, unsigned int ifindex)
{
	_cleanup_free_ struct nl_tc_filter *list = NULL;
	size_t n = 0;

	/* One that cannot be asked is left alone. */
	return nl_tc_filters(f->nl, ifindex, ingress, &list, &n, NULL) || n;
}

/*
 * Who puts a filter there between the question and the answer loses it, as with any user
 * of tc that tidies up.
 */
static void release_qdisc(const struct filters *f, unsigned int ifindex)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)ifindex,
		    .attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS);
	struct on_interface now;
	__u32 key = ifindex;
	__u8 value;

	if (f->qdiscs < 0 || bpf_map_lookup_elem(f->qdiscs, &key, &value))
		return;
	bpf_map_delete_elem(f->qdiscs, &key);
	if (!look(f, ifindex, &now, NULL) && !now.others && !now.program &&
	    !has_ingress(f, ifindex))
		bpf_tc_hook_destroy(&hook);
}

/* With the kernel's errno; whether the qdisc is ours is written down. */
static int make_qdisc(const struct filters *f, unsigned int ifindex)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)ifindex,
		    .attach_point = BPF_TC_EGRESS);
	int rc = bpf_tc_hook_create(&hook);
	__u32 key = ifindex;
	__u8 value = 1;

	if (!rc)
		bpf_map_update_elem(f->qdiscs, &key, &value, BPF_ANY);
	else
		bpf_map_delete_elem(f->qdiscs, &key);
	if (rc == -EEXIST)
		return nl_tc_is_clsact(f->nl, ifindex) ? 0 : rc;
	return rc;
}

static int attach_failed(int rc, unsigned int ifindex, struct err *err)
{
	char name[IF_NAMESIZE];

	if (rc == -EEXIST)
		return err_set(err, rc,
			       "interface '%s' has an ingress qdisc, in the place of the clsact qdisc that the probes' filter needs; a clsact qdisc takes the same filters",
			       name_of(ifindex, name));
	return err_set(err, rc, "cannot attach the probes' filter to interface '%s': %s%s",
		       name_of(ifindex, name), strerror(-rc),
		       rc == -EPERM ? "; it needs CAP_NET_ADMIN" : "");
}

static int refuse(const struct on_interface *now, unsigned int ifindex, struct err *err)
{
	char name[IF_NAMESIZE];

	if (now->instance)
		return err_set(err, -EBUSY,
			       "interface '%s' has the probes of another instance; only one can have in-path probes there",
			       name_of(ifindex, name));
	return err_set(err, -EBUSY,
		       "interface '%s' has a filter of somebody else with priority %d and handle 0x%x, which the probes' filter needs",
		       name_of(ifindex, name), PRIORITY, now->stranger);
}

static int attach(const struct filters *f, const struct probes *p, unsigned int ifindex,
		  struct err *err)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)ifindex,
		    .attach_point = BPF_TC_EGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = probes_program_fd(p),
		    .handle = f->handle, .priority = PRIORITY, .flags = BPF_TC_F_REPLACE);
	struct on_interface now;
	char name[IF_NAMESIZE];
	int rc;

	if (!if_indextoname(ifindex, name))
		return err_set(err, -ENODEV,
			       "cannot attach the probes' filter: there is no interface with index %u",
			       ifindex);
	rc = look(f, ifindex, &now, err);
	if (rc)
		return rc;
	if (now.stranger)
		return refuse(&now, ifindex, err);
	if (now.program == p->program)
		return 0;
	rc = now.program ? 0 : make_qdisc(f, ifindex);
	if (!rc)
		rc = bpf_tc_attach(&hook, &opts);
	if (!rc)
		return 0;
	if (!now.program)
		release_qdisc(f, ifindex);
	return attach_failed(rc, ifindex, err);
}

static int detach(const struct filters *f, unsigned int ifindex, struct err *err)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)ifindex,
		    .attach_point = BPF_TC_EGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = f->handle, .priority = PRIORITY);
	struct on_interface now;
	char name[IF_NAMESIZE];
	int rc = look(f, ifindex, &now, err);

	if (rc || !now.program)
		return rc;
	rc = bpf_tc_detach(&hook, &opts);
	if (rc && rc != -ENOENT && rc != -ENODEV)
		return err_set(err, rc,
			       "cannot take the probes' filter off interface '%s': %s",
			       name_of(ifindex, name), strerror(-rc));
	release_qdisc(f, ifindex);
	return 0;
}

static bool is_among(unsigned int ifindex, const unsigned int *ifindexes, size_t n)
{
	size_t i;

	for (i = 0; i < n && ifindexes[i] != ifindex; i++)
		;
	return i < n;
}

/* Off every interface but these. Which it is on is not written down: look at all. */
static int detach_others(const struct filters *f, const unsigned int *ifindexes, size_t n,
			 struct err *err)
{
	struct if_nameindex *list = if_nameindex(), *i;
	int rc = 0;

	if (!list)
		return err_set(err, -errno, "cannot list the interfaces: %s",
			       strerror(errno));
	for (i = list; i->if_name && !rc; i++)
		if (!is_among(i->if_index, ifindexes, n))
			rc = detach(f, i->if_index, err);
	if_freenameindex(list);
	return rc;
}

int probes_attach(struct probes *p, const unsigned int *ifindexes, size_t n,
		  struct err *err)
{
	struct filters f = { &p->nl, p->filter, p->qdiscs };
	size_t i;
	int rc = 0;

	if (!p->pinned)
		return err_set(err, -EINVAL, "probes without pins cannot be attached");
	for (i = 0; i < n && !rc; i++)
		rc = attach(&f, p, ifindexes[i], err);
	return rc ? rc : detach_others(&f, ifindexes, n, err);
}

bool probes_attached(struct probes *p, unsigned int ifindex)
{
	struct filters f = { &p->nl, p->filter, p->qdiscs };
	struct on_interface now;

	return look(&f, ifindex, &now, NULL) || now.program == p->program;
}

int probes_remove(const char *pin_dir, struct err *err)
{
	struct filters f = { .handle = probe_filter_handle(pin_dir) };
	_cleanup_close_ int qdiscs = -1;
	struct nl nl = { 0 };
	char path[192];
	int rc = nl_open(&nl, 0, err);

	if (rc)
		return rc;
	snprintf(path, sizeof(path), "%s/%s", pin_dir, PROBE_PIN_QDISCS);
	qdiscs = bpf_obj_get(path);
	f.nl = &nl;
	f.qdiscs = qdiscs;
	rc = detach_others(&f, NULL, 0, err);
	nl_close(&nl);
	return rc;
}
