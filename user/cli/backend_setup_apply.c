// SPDX-License-Identifier: GPL-2.0-only
/*
 * Look first, then change: whatever can be seen to be wrong is refused before
 * anything was touched. A change that fails all the same takes back the ones
 * before it by the journal of this run.
 *
 * Order: the host must be quiet about a VIP before it has one, and has the VIP
 * before packets for it are unwrapped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend_setup.h"
#include "backend_setup_decap.h"
#include "sys/nl_addr.h"

enum change_kind { CHANGE_SYSCTL, CHANGE_ADDRESS, CHANGE_DECAP, CHANGE_DECAP_VIP };

struct change {
	enum change_kind kind;
	char path[SYSCTL_PATH_MAX];
	int before;
	struct addr addr;
};

struct journal {
	struct change *change;
	size_t n;
};

struct run {
	struct setup *setup;
	struct journal journal;
	unsigned int lo;
	bool *on_lo; /* of each VIP: the host has it already */
};

/* Where the next change will be noted; taken before it is made. */
static struct change *journal_next(struct journal *journal, struct err *err)
{
	struct change *grown = reallocarray(journal->change, journal->n + 1,
					    sizeof(*grown));

	if (!grown) {
		err_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	journal->change = grown;
	memset(&grown[journal->n], 0, sizeof(*grown));
	return &grown[journal->n];
}

/* What cannot be taken back is only said: the first failure is the answer. */
static void take_back(struct run *run, const struct change *change)
{
	const char *instance = run->setup->instance;
	struct err err = { 0 };
	int failed = 0;

	switch (change->kind) {
	case CHANGE_SYSCTL:
		failed = sysctl_write(change->path, change->before, &err);
		break;
	case CHANGE_ADDRESS:
		failed = nl_addr_del_vip(run->lo, &change->addr, &err);
		break;
	case CHANGE_DECAP:
		failed = decap_detach(instance, &err);
		break;
	case CHANGE_DECAP_VIP:
		failed = decap_vip_del(instance, &change->addr, &err);
		break;
	}
	if (failed)
		cli_warn(run->setup->cli, "while undoing: %s", err.text);
}

static void roll_back(struct run *run, const struct setup_state *before)
{
	struct setup *setup = run->setup;
	struct err err = { 0 };
	int failed;

	while (run->journal.n)
		take_back(run, &run->journal.change[--run->journal.n]);

	if (before->interface[0])
		failed = setup_state_save(setup->instance, before, &err);
	else
		failed = setup_state_remove(setup->instance, &err);
	if (failed)
		cli_warn(setup->cli, "while undoing: %s", err.text);
}

static int save(struct setup *setup, struct err *err)
{
	return setup_state_save(setup->instance, &setup->state, err);
}

static int set_sysctl(struct run *run, const char *path, int before, int after,
		      struct err *err)
{
	struct change *change = journal_next(&run->journal, err);
	struct setup *setup = run->setup;
	int failed;

	if (!change)
		return -ENOMEM;
	/* A value that an earlier run recorded is the one from before us. */
	if (!setup_state_find_sysctl(&setup->state, path))
		setup_state_add_sysctl(&setup->state, path, before, after);
	failed = save(setup, err);
	if (!failed)
		failed = sysctl_write(path, after, err);
	if (failed)
		return failed;

	change->kind = CHANGE_SYSCTL;
	snprintf(change->path, sizeof(change->path), "%s", path);
	change->before = before;
	run->journal.n++;
	setup_report_sysctl(setup, path, before, after);
	return 0;
}

/*
 * arp_ignore: by default Linux answers ARP for an address of any interface on
 * all of them, so the host would answer for a VIP on lo and take the VIP's
 * traffic away from the balancer. 1: answer only for addresses of the interface
 * that was asked on. 2 and 8 are narrower, and 3 leaves out addresses of scope
 * host, which our VIPs have. 4 to 7 are unassigned and act as 0.
 *
 * The kernel takes the larger of conf.all and conf.INTERFACE, so `all` is
 * enough, and holds for interfaces that appear later. IPv6 needs nothing: a
 * neighbour solicitation is answered only for addresses of its interface.
 */
static int ensure_arp_ignore(struct run *run, struct err *err)
{
	static const char path[] = "net/ipv4/conf/all/arp_ignore";
	int value, failed = sysctl_read(path, &value, err);

	if (failed)
		return failed;
	if ((value >= 1 && value <= 3) || value == 8)
		return 0;
	return set_sysctl(run, path, value, 1, err);
}

/*
 * arp_announce: by default an ARP request says "VIP is at my MAC" when it is
 * caused by a packet that the host sends from the VIP, which is every answer to
 * a client. The router believes it. 2: always use an address of the interface
 * itself. It is the strictest value; what is above acts as 0.
 */
static int ensure_arp_announce(struct run *run, struct err *err)
{
	static const char path[] = "net/ipv4/conf/all/arp_announce";
	int value, failed = sysctl_read(path, &value, err);

	if (failed)
		return failed;
	return value == 2 ? 0 : set_sysctl(run, path, value, 2, err);
}

/*
 * rp_filter: strict (1) drops a packet when the route back to its source does
 * not leave by the interface it came in on, and a balancer's packets come in on
 * the interface towards the balancer with any client as their source. Loose (2)
 * wants only that there is a route. Off (0) is the operator's choice and does
 * no harm. The larger of conf.all and conf.INTERFACE counts, so raising the
 * interface's is enough and leaves all others as they are.
 */
static int ensure_rp_filter(struct run *run, struct err *err)
{
	char path[SYSCTL_PATH_MAX];
	int value, all, failed;

	snprintf(path, sizeof(path), "net/ipv4/conf/%s/rp_filter",
		 run->setup->interface);
	failed = sysctl_read(path, &value, err);
	if (!failed)
		failed = sysctl_read("net/ipv4/conf/all/rp_filter", &all, err);
	if (failed)
		return failed;
	if ((value > all ? value : all) != 1)
		return 0;
	return set_sysctl(run, path, value, 2, err);
}

static int add_address(struct run *run, size_t i, struct err *err)
{
	struct change *change = journal_next(&run->journal, err);
	const struct addr *addr = &run->setup->vip[i];
	char text[ADDR_TEXT_MAX], what[ADDR_TEXT_MAX + 8];
	struct setup *setup = run->setup;
	struct setup_vip *known = setup_state_find_vip(&setup->state, addr);
	int failed = 0;

	if (!change)
		return -ENOMEM;
	if (!known)
		failed = setup_state_add_vip(&setup->state, addr, !run->on_lo[i], err);
	else if (!run->on_lo[i])
		known->added = true;
	if (!failed)
		failed = save(setup, err);
	if (failed || run->on_lo[i])
		return failed;

	failed = nl_addr_add_vip(run->lo, addr, err);
	if (failed)
		return failed;
	change->kind = CHANGE_ADDRESS;
	change->addr = *addr;
	run->journal.n++;
	snprintf(what, sizeof(what), "%s on lo", addr_format(addr, text));
	setup_report(setup, what, "absent", "present");
	return 0;
}

static int attach(struct run *run, struct err *err)
{
	struct change *change = journal_next(&run->journal, err);
	struct setup *setup = run->setup;
	struct decap_info info = { 0 };
	int failed, why_generic;
	char what[64];

	if (!change)
		return -ENOMEM;
	setup->state.decap = true;
	setup->state.gue_port = setup->gue_port ? setup->gue_port : GUE_PORT_DEFAULT;
	failed = save(setup, err);
	if (failed)
		return failed;

	/* Also when it fails half way there are pins to take back. */
	change->kind = CHANGE_DECAP;
	run->journal.n++;
	failed = decap_attach(setup->instance, setup->ifindex, setup->interface,
			      setup->state.gue_port, &info, &why_generic, err);
	if (failed)
		return failed;

	if (why_generic)
		cli_warn(setup->cli,
			 "the driver of '%s' refuses native XDP (%s): using the slower generic mode",
			 setup->interface, strerror(why_generic));
	snprintf(what, sizeof(what), "XDP program on %s", setup->interface);
	setup_report(setup, what, "none",
		     info.generic ? "decap, generic" : "decap, native");
	return 0;
}

static int add_decap_vip(struct run *run, const struct addr *addr,
			 struct err *err)
{
	struct change *change = journal_next(&run->journal, err);
	char text[ADDR_TEXT_MAX], what[ADDR_TEXT_MAX + 16];
	struct setup *setup = run->setup;
	int added;

	if (!change)
		return -ENOMEM;
	added = decap_vip_add(setup->instance, addr, err);
	if (added <= 0)
		return added;

	change->kind = CHANGE_DECAP_VIP;
	change->addr = *addr;
	run->journal.n++;
	snprintf(what, sizeof(what), "%s in decap", addr_format(addr, text));
	setup_report(setup, what, "absent", "present");
	return 0;
}

/* The program and, one by one, all VIPs: what is there already is no change. */
static int ensure_decap(struct run *run, struct err *err)
{
	struct setup *setup = run->setup;
	struct decap_info info = { 0 };
	int failed, attached = decap_query(setup->instance, &info, err);

	if (attached < 0)
		return attached;
	if (!attached || !info.ifindex) {
		failed = attach(run, err);
		if (failed)
			return failed;
	}

	for (size_t i = 0; i < setup->n_vip; i++) {
		failed = add_decap_vip(run, &setup->vip[i], err);
		if (failed)
			return failed;
	}
	return 0;
}

static int change_all(struct run *run, struct err *err)
{
	int failed = ensure_arp_ignore(run, err);

	if (!failed)
		failed = ensure_arp_announce(run, err);
	if (!failed)
		failed = ensure_rp_filter(run, err);
	for (size_t i = 0; !failed && i < run->setup->n_vip; i++)
		failed = add_address(run, i, err);
	if (!failed && !run->setup->no_decap)
		failed = ensure_decap(run, err);
	return failed;
}

static int default_interface(struct setup *setup, char name[IF_NAMESIZE],
			     struct err *err)
{
	int failed = nl_default_interface(&setup->ifindex, err);

	if (failed == -ENOENT || failed == -ENOTUNIQ) {
		err_prefix(err, "choose an interface with --interface");
		return failed;
	}
	if (failed)
		return failed;
	if (!if_indextoname(setup->ifindex, name))
		return err_set(err, -errno, "the default route's interface: %s",
			       strerror(errno));
	setup->interface = name;
	return 0;
}

/* Named, or the one of an earlier run, or the one of the default route. */
static int find_interface(struct setup *setup, char name[IF_NAMESIZE],
			  struct err *err)
{
	const char *known = setup->state.interface;

	if (known[0] && setup->interface && strcmp(known, setup->interface))
		return err_set(err, -EBUSY,
			       "instance '%s' is set up on interface '%s'; --undo it first, or choose another --instance for '%s'",
			       setup->instance, known, setup->interface);
	if (!setup->interface && known[0])
		setup->interface = strcpy(name, known);
	if (!setup->interface)
		return default_interface(setup, name, err);

	setup->ifindex = if_nametoindex(setup->interface);
	if (!setup->ifindex)
		return err_set(err, -ENODEV, "interface '%s' does not exist",
			       setup->interface);
	return 0;
}

/* Fills run->on_lo; a VIP on another interface would be answered for there. */
static int check_addresses(struct run *run, struct err *err)
{
	_cleanup_free_ struct nl_addr *have = NULL;
	char text[ADDR_TEXT_MAX], name[IF_NAMESIZE];
	struct setup *setup = run->setup;
	size_t n_have;
	int failed = nl_addr_list(&have, &n_have, err);

	if (failed)
		return failed;
	for (size_t i = 0; i < setup->n_vip; i++) {
		for (size_t j = 0; j < n_have; j++) {
			if (addr_compare(&setup->vip[i], &have[j].addr))
				continue;
			if (have[j].ifindex == run->lo)
				run->on_lo[i] = true;
			else
				return err_set(err, -EADDRINUSE,
					       "VIP %s is an address of interface '%s', where this host answers for it; take it off there first",
					       addr_format(&setup->vip[i], text),
					       if_indextoname(have[j].ifindex, name) ? name : "?");
		}
	}
	return 0;
}

static int check_decap(struct setup *setup, struct err *err)
{
	struct decap_info info = { 0 };
	int attached = decap_query(setup->instance, &info, err);

	if (attached < 0)
		return attached;
	if (!attached || !info.ifindex)
		return decap_interface_free(setup->ifindex, setup->interface, err);

	if (info.ifindex != setup->ifindex)
		return err_set(err, -EBUSY,
			       "the decap program of instance '%s' is on another interface (number %u); --undo it first",
			       setup->instance, info.ifindex);
	if (setup->gue_port && setup->state.gue_port &&
	    setup->gue_port != setup->state.gue_port)
		return err_set(err, -EBUSY,
			       "instance '%s' takes GUE on port %u, not %u; --undo it first",
			       setup->instance, setup->state.gue_port,
			       setup->gue_port);
	return 0;
}

static int check_all(struct run *run, char name[IF_NAMESIZE], struct err *err)
{
	struct setup *setup = run->setup;
	int failed = find_interface(setup, name, err);

	if (!failed)
		failed = check_addresses(run, err);
	if (!failed && !setup->no_decap)
		failed = check_decap(setup, err);
	return failed;
}

/* A copy of its own, since the run grows the state. */
static int copy_state(const struct setup_state *from, struct setup_state *to,
		      struct err *err)
{
	*to = *from;
	to->vip = calloc(from->n_vip ? from->n_vip : 1, sizeof(*to->vip));
	if (!to->vip)
		return err_set(err, -ENOMEM, "out of memory");
	if (from->n_vip)
		memcpy(to->vip, from->vip, from->n_vip * sizeof(*to->vip));
	return 0;
}

int setup_apply(struct setup *setup, struct err *err)
{
	_cleanup_setup_state_ struct setup_state before = { 0 };
	struct run run = { .setup = setup, .lo = if_nametoindex("lo") };
	_cleanup_free_ bool *on_lo = calloc(setup->n_vip, sizeof(*on_lo));
	char name[IF_NAMESIZE];
	int failed;

	if (!on_lo)
		return err_set(err, -ENOMEM, "out of memory");
	run.on_lo = on_lo;
	failed = check_all(&run, name, err);
	if (!failed)
		failed = copy_state(&setup->state, &before, err);
	if (failed)
		return failed;

	snprintf(setup->state.interface, sizeof(setup->state.interface), "%s",
		 setup->interface);
	writer_list(setup->cli->out, "changes");
	failed = change_all(&run, err);
	writer_close(setup->cli->out);
	if (failed)
		roll_back(&run, &before);
	free(run.journal.change);
	return failed;
}
