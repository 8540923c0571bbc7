// SPDX-License-Identifier: GPL-2.0-only
#include "attach.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>

#include "core/cleanup.h"
#include "flow_hash.h" /* for the skeleton */
#include "fairlead.skel.h"
#include "sys/log.h"

static const char *const kind_names[] = {
	[ATTACHED_NOT] = "none",
	[ATTACHED_NATIVE] = "native",
	[ATTACHED_GENERIC] = "generic",
	[ATTACHED_DISPATCHER] = "dispatcher",
};

const char *attach_kind_name(enum attach_kind kind)
{
	return kind_names[kind];
}

static void link_path(const char *pin_dir, const char *name, char *path, size_t size)
{
	snprintf(path, size, "%s/%s", pin_dir, name);
}

static int list_interfaces(char *text, size_t size)
{
	struct if_nameindex *list = if_nameindex(), *i;
	size_t used = 0;

	text[0] = '\0';
	if (!list)
		return -errno;
	for (i = list; i->if_name && used < size; i++)
		used += snprintf(text + used, size - used, "%s%s", used ? ", " : "",
				 i->if_name);
	if_freenameindex(list);
	return 0;
}

static int find_interface(const struct cfg *cfg, unsigned int *ifindex, struct err *err)
{
	char known[256];

	*ifindex = if_nametoindex(cfg->interface);
	if (*ifindex)
		return 0;
	list_interfaces(known, sizeof(known));
	err_set(err, -ENODEV, "interface '%s' does not exist; there are: %s",
		cfg->interface, known);
	cfg_err_place(cfg, cfg->interface_pos, err);
	return -ENODEV;
}

static __u32 attached_program(unsigned int ifindex, enum attach_kind *kind)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, query);

	*kind = ATTACHED_NOT;
	if (bpf_xdp_query(ifindex, 0, &query))
		return 0;
	if (query.attach_mode == XDP_ATTACHED_DRV)
		*kind = ATTACHED_NATIVE;
	else if (query.attach_mode == XDP_ATTACHED_SKB)
		*kind = ATTACHED_GENERIC;
	return query.prog_id;
}

static int link_create(int prog_fd, unsigned int ifindex, __u32 flags)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = flags);
	int fd = bpf_link_create(prog_fd, ifindex, BPF_XDP, &opts);

	return fd < 0 ? -errno : fd;
}

static int link_create_failed(int rc, const char *interface, unsigned int ifindex,
			      const char *mode, struct err *err)
{
	enum attach_kind kind;
	__u32 id = attached_program(ifindex, &kind);

	if (rc == -EBUSY || rc == -EEXIST)
		return err_set(err, rc,
			       "interface '%s' already has an XDP program (id %u); detach it, or share the interface with 'dispatcher: true'",
			       interface, id);
	if (rc == -EPERM)
		return err_set(err, rc,
			       "no permission to attach to interface '%s': fairleadd needs root, or CAP_BPF and CAP_NET_ADMIN",
			       interface);
	return err_set(err, rc, "cannot attach to interface '%s' in %s mode: %s",
		       interface, mode, strerror(-rc));
}

/* Native first; a driver without XDP leaves generic, which is slower. */
static int link_create_in_mode(int prog_fd, unsigned int ifindex, const struct cfg *cfg,
			       enum attach_kind *kind, struct err *err)
{
	int fd, native = -EOPNOTSUPP;

	if (cfg->attach != ATTACH_GENERIC) {
		fd = native = link_create(prog_fd, ifindex, XDP_FLAGS_DRV_MODE);
		*kind = ATTACHED_NATIVE;
		if (fd >= 0)
			return fd;
		if (cfg->attach == ATTACH_NATIVE || fd == -EBUSY || fd == -EEXIST ||
		    fd == -EPERM)
			return link_create_failed(fd, cfg->interface, ifindex, "native", err);
	}

	fd = link_create(prog_fd, ifindex, XDP_FLAGS_SKB_MODE);
	*kind = ATTACHED_GENERIC;
	if (fd < 0)
		return link_create_failed(fd, cfg->interface, ifindex, "generic", err);
	if (cfg->attach == ATTACH_AUTO)
		log_warn("interface '%s': no native XDP (%s), attached in the slower generic mode",
			 cfg->interface, strerror(-native));
	return fd;
}

/* The pinned link when it is still on an interface; else -1 and *ifindex 0. */
static int link_open_pinned(const char *pin_dir, unsigned int *ifindex)
{
	struct bpf_link_info info = { 0 };
	_cleanup_close_ int fd = -1;
	__u32 size = sizeof(info);
	char path[192];

	*ifindex = 0;
	link_path(pin_dir, "link", path, sizeof(path));
	fd = bpf_obj_get(path);
	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) || !info.xdp.ifindex)
		return -1;
	*ifindex = info.xdp.ifindex;
	return TAKE_FD(fd);
}

static bool mode_satisfies(enum attach_mode mode, enum attach_kind kind)
{
	return mode == ATTACH_AUTO ||
	       (mode == ATTACH_NATIVE && kind == ATTACHED_NATIVE) ||
	       (mode == ATTACH_GENERIC && kind == ATTACHED_GENERIC);
}

/*
 * The new link takes the old one's place in one rename; the old then falls. No
 * dots: bpffs reserves names with one.
 */
static int link_pin(int fd, const char *pin_dir, struct err *err)
{
	char fresh[192], path[192];
	int rc;

	link_path(pin_dir, "link_new", fresh, sizeof(fresh));
	link_path(pin_dir, "link", path, sizeof(path));
	unlink(fresh);
	if (bpf_obj_pin(fd, fresh) == 0 && rename(fresh, path) == 0)
		return 0;
	rc = -errno;
	unlink(fresh);
	return err_set(err, rc, "cannot pin the link as '%s': %s", path, strerror(-rc));
}

/*
 * Take the program off by name and not by dropping the last reference, which the
 * kernel may act on only later.
 */
static int link_detach(int fd)
{
	/* Of an interface that is gone there is nothing to detach from. */
	if (bpf_link_detach(fd) && errno != EINVAL && errno != ENOLINK)
		return -errno;
	return 0;
}

/*
 * What a daemon began that was killed between the two steps of link_pin(): its link
 * is on the interface and would keep any other off.
 */
static void link_finish_pin(const char *pin_dir)
{
	struct bpf_link_info info = { 0 };
	_cleanup_close_ int fd = -1, old = -1;
	__u32 size = sizeof(info);
	char fresh[192], path[192];

	link_path(pin_dir, "link_new", fresh, sizeof(fresh));
	link_path(pin_dir, "link", path, sizeof(path));
	fd = bpf_obj_get(fresh);
	if (fd < 0)
		return;
	old = bpf_obj_get(path);
	if (bpf_obj_get_info_by_fd(fd, &info, &size) || !info.xdp.ifindex)
		unlink(fresh);
	else if (rename(fresh, path) == 0 && old >= 0)
		link_detach(old);
}

/* One mode at a time: the kernel wants the old off before the other goes on. */
static void link_release(int *fd, const char *pin_dir)
{
	char path[192];

	link_detach(*fd);
	link_path(pin_dir, "link", path, sizeof(path));
	unlink(path);
	cleanup_close(fd);
}

/* The other did not come: as it was. */
static void link_restore(const struct dataplane *dp, const char *interface,
			 unsigned int ifindex, enum attach_kind kind)
{
	__u32 flags = kind == ATTACHED_NATIVE ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE;
	_cleanup_close_ int fd = link_create(bpf_program__fd(dp->skel->progs.fairlead),
					     ifindex, flags);
	struct err err = { 0 };

	if (fd < 0)
		log_error("interface '%s' is without its program: cannot attach it again: %s",
			  interface, strerror(-fd));
	else if (link_pin(fd, dp->pin_dir, &err))
		log_error("interface '%s' is without its program: %s", interface, err.text);
}

static int link_apply(struct attachment *at, const struct dataplane *dp,
		      const struct cfg *cfg, unsigned int ifindex, struct err *err)
{
	int prog_fd = bpf_program__fd(dp->skel->progs.fairlead), rc, dispatched;
	_cleanup_close_ int old = -1;
	_cleanup_close_ int fd = -1;
	enum attach_kind kind, before;
	unsigned int on;

	old = link_open_pinned(dp->pin_dir, &on);
	attached_program(ifindex, &before);
	if (old >= 0 && on == ifindex && mode_satisfies(cfg->attach, before)) {
		if (bpf_link_update(old, prog_fd, NULL) == 0) {
			at->kind = before;
			return 0;
		}
		rc = -errno;
		return err_set(err, rc, "cannot replace the program on interface '%s': %s",
			       cfg->interface, strerror(-rc));
	}

	if (old >= 0 && on == ifindex)
		link_release(&old, dp->pin_dir);
	/* Behind a dispatcher, which a program alone cannot be attached beside. */
	dispatched = dispatcher_detach(ifindex, dp->pin_dir, 0, err);
	if (dispatched < 0)
		return dispatched;
	fd = link_create_in_mode(prog_fd, ifindex, cfg, &kind, err);
	rc = fd < 0 ? fd : link_pin(fd, dp->pin_dir, err);
	if (!rc) {
		if (old >= 0)
			link_detach(old);
		at->kind = kind;
		return 0;
	}
	cleanup_close(&fd);
	if (on == ifindex)
		link_restore(dp, cfg->interface, ifindex, before);
	if (dispatched)
		dispatcher_attach(dp, ifindex, cfg->interface, at->mode, NULL);
	return rc;
}

static int dispatcher_apply(struct attachment *at, const struct dataplane *dp,
			    const struct cfg *cfg, unsigned int ifindex, struct err *err)
{
	_cleanup_close_ int old = -1;
	enum attach_kind before;
	unsigned int on;
	int rc;

	old = link_open_pinned(dp->pin_dir, &on);
	attached_program(ifindex, &before);
	if (old >= 0 && on == ifindex)
		link_release(&old, dp->pin_dir);
	rc = dispatcher_attach(dp, ifindex, cfg->interface, cfg->attach, err);
	if (rc && on == ifindex)
		link_restore(dp, cfg->interface, ifindex, before);
	if (rc)
		return rc;
	if (old >= 0)
		link_release(&old, dp->pin_dir);
	at->kind = ATTACHED_DISPATCHER;
	return 0;
}

int attach_apply(struct attachment *at, const struct dataplane *dp,
		 const struct cfg *cfg, struct err *err)
{
	struct attachment before = *at;
	unsigned int ifindex;
	int rc = find_interface(cfg, &ifindex, err);

	if (rc)
		return rc;

	link_finish_pin(dp->pin_dir);
	rc = cfg->dispatcher ? dispatcher_apply(at, dp, cfg, ifindex, err) :
			       link_apply(at, dp, cfg, ifindex, err);
	if (rc)
		return rc;

	if (before.kind == ATTACHED_DISPATCHER &&
	    (!cfg->dispatcher || before.ifindex != ifindex))
		dispatcher_detach(before.ifindex, dp->pin_dir, 0, NULL);
	at->ifindex = ifindex;
	at->mode = cfg->attach;
	snprintf(at->interface, sizeof(at->interface), "%s", cfg->interface);
	return 0;
}

bool attach_is_current(const struct attachment *at, const struct cfg *cfg)
{
	return at->kind != ATTACHED_NOT && !strcmp(at->interface, cfg->interface) &&
	       at->ifindex == if_nametoindex(cfg->interface) &&
	       (at->kind == ATTACHED_DISPATCHER) == cfg->dispatcher &&
	       (cfg->dispatcher ? cfg->attach == at->mode :
				  mode_satisfies(cfg->attach, at->kind));
}

static int link_remove(const char *pin_dir, struct err *err)
{
	_cleanup_close_ int fd = -1;
	char path[192];
	int rc;

	link_finish_pin(pin_dir);
	link_path(pin_dir, "link", path, sizeof(path));
	fd = bpf_obj_get(path);
	rc = fd < 0 ? -errno : link_detach(fd);
	if (rc == -ENOENT)
		return 0;
	if (rc)
		return err_set(err, rc, "cannot detach '%s': %s", path, strerror(-rc));
	if (unlink(path) && errno != ENOENT) {
		rc = -errno;
		return err_set(err, rc, "cannot remove '%s': %s", path, strerror(-rc));
	}
	return 0;
}

int attach_remove(const char *pin_dir, struct err *err)
{
	struct if_nameindex *list = if_nameindex(), *i;
	int rc = 0;

	/* Which interface a dispatcher is on is not written down: look at all. */
	for (i = list; i && i->if_name && rc >= 0; i++)
		rc = dispatcher_detach(i->if_index, pin_dir, 0, err);
	if (list)
		if_freenameindex(list);
	return rc < 0 ? rc : link_remove(pin_dir, err);
}
