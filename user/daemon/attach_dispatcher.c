// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sharing an interface through libxdp's dispatcher. Each program is loaded as
 * an extension of the dispatcher (freplace); a kernel that refuses that makes
 * libxdp attach the program alone without a word, which is not what was asked
 * for, so it is looked for and undone. Which program is ours is known by a pin
 * of it in the instance's directory.
 */
#include "attach.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <xdp/libxdp.h>

#include "core/cleanup.h"
#include "dp/program.h"
#include "flow_pins.h"
#include "flow_hash.h" /* for the skeleton */
#include "fairlead.skel.h"

static void skel_destroy_p(struct fairlead_bpf **skel)
{
	fairlead_bpf__destroy(*skel);
}

static void program_close_p(struct xdp_program **program)
{
	xdp_program__close(*program);
}

static void multiprog_close_p(struct xdp_multiprog **mp)
{
	if (!libxdp_get_error(*mp))
		xdp_multiprog__close(*mp);
}

static enum xdp_attach_mode xdp_mode(enum attach_mode mode)
{
	switch (mode) {
	case ATTACH_NATIVE:
		return XDP_MODE_NATIVE;
	case ATTACH_GENERIC:
		return XDP_MODE_SKB;
	default:
		return XDP_MODE_UNSPEC;
	}
}

/*
 * A second copy of the program on the same maps: libxdp loads it its own way. What
 * the first has in .rodata, .data and .bss are maps, too, and the daemon writes to
 * them without a name: a copy with its own would not hear of it.
 */
static int open_copy(const struct dataplane *dp, struct fairlead_bpf **out)
{
	_cleanup_(skel_destroy_p) struct fairlead_bpf *skel = NULL;
	int rc = program_open(&dp->config, dp->cpus, &skel, NULL);
	struct bpf_map *map, *loaded;

	if (rc)
		return rc;
	bpf_object__for_each_map(map, skel->obj) {
		loaded = bpf_object__find_map_by_name(dp->skel->obj, bpf_map__name(map));
		rc = bpf_map__reuse_fd(map, bpf_map__fd(loaded));
		if (rc)
			return rc;
	}
	*out = TAKE_PTR(skel);
	return 0;
}

static bool is_dispatched(unsigned int ifindex, __u32 id)
{
	_cleanup_(multiprog_close_p) struct xdp_multiprog *mp =
		xdp_multiprog__get_from_ifindex(ifindex);
	struct xdp_program *program = NULL;

	if (libxdp_get_error(mp) || xdp_multiprog__is_legacy(mp))
		return false;
	while ((program = xdp_multiprog__next_prog(program, mp)))
		if (xdp_program__id(program) == id)
			return true;
	return false;
}

static int pin_dispatched(const struct dataplane *dp, int fd, struct err *err)
{
	char fresh[192], path[192];
	int rc;

	snprintf(fresh, sizeof(fresh), "%s/dispatched_new", dp->pin_dir);
	snprintf(path, sizeof(path), "%s/dispatched", dp->pin_dir);
	unlink(fresh);
	if (bpf_obj_pin(fd, fresh) == 0 && rename(fresh, path) == 0)
		return 0;
	rc = -errno;
	unlink(fresh);
	return err_set(err, rc, "cannot pin the program as '%s': %s", path, strerror(-rc));
}

static int attach_failed(int rc, const char *interface, struct err *err)
{
	/*
	 * Since 6.13, and stable 6.12, an extension may change packets only where
	 * the function that it replaces does; libxdp 1.3's dispatcher does not.
	 */
	const char *hint = rc == -EINVAL ?
		"; this kernel may want a newer libxdp for programs that change packets" : "";

	return err_set(err, rc,
		       "cannot attach to interface '%s' through the libxdp dispatcher: %s%s; set 'dispatcher: false' to attach alone",
		       interface, strerror(-rc), hint);
}

int dispatcher_attach(const struct dataplane *dp, unsigned int ifindex,
		      const char *interface, enum attach_mode mode, struct err *err)
{
	_cleanup_(program_close_p) struct xdp_program *program = NULL;
	_cleanup_(skel_destroy_p) struct fairlead_bpf *skel = NULL;
	DECLARE_LIBXDP_OPTS(xdp_program_opts, opts, 0);
	__u32 id;
	int rc;

	rc = open_copy(dp, &skel);
	if (rc)
		return err_set(err, rc, "cannot open the BPF program: %s", strerror(-rc));

	opts.obj = skel->obj;
	opts.prog_name = "fairlead";
	program = xdp_program__create(&opts);
	rc = libxdp_get_error(program);
	if (rc) {
		program = NULL;
		return err_set(err, rc, "libxdp does not take the BPF program: %s",
			       strerror(-rc));
	}

	/* What is not for a VIP goes on to the programs behind this one. */
	xdp_program__set_chain_call_enabled(program, XDP_PASS, true);
	rc = xdp_program__attach(program, ifindex, xdp_mode(mode), 0);
	if (rc)
		return attach_failed(rc, interface, err);

	id = xdp_program__id(program);
	if (!is_dispatched(ifindex, id)) {
		xdp_program__detach(program, ifindex, xdp_mode(mode), 0);
		return err_set(err, -EOPNOTSUPP,
			       "this kernel cannot load the libxdp dispatcher on interface '%s' (it refuses freplace); set 'dispatcher: false' to attach alone",
			       interface);
	}
	/* The program before this one goes only when this one runs. */
	rc = dispatcher_detach(ifindex, dp->pin_dir, id, err);
	return rc < 0 ? rc : pin_dispatched(dp, xdp_program__fd(program), err);
}

static __u32 pinned_program_id(const char *pin_dir)
{
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(info);
	_cleanup_close_ int fd = -1;
	char path[192];

	snprintf(path, sizeof(path), "%s/dispatched", pin_dir);
	fd = bpf_obj_get(path);
	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size))
		return 0;
	return info.id;
}

int dispatcher_detach(unsigned int ifindex, const char *pin_dir, __u32 keep_id,
		      struct err *err)
{
	__u32 ours = pinned_program_id(pin_dir);
	struct xdp_program *program = NULL;
	struct xdp_multiprog *mp;
	int rc = 0;

	if (!ours || ours == keep_id)
		return 0;
	mp = xdp_multiprog__get_from_ifindex(ifindex);
	if (libxdp_get_error(mp))
		return 0; /* nothing is attached there */

	if (!xdp_multiprog__is_legacy(mp))
		while ((program = xdp_multiprog__next_prog(program, mp)))
			if (xdp_program__id(program) == ours)
				break;
	if (program)
		rc = xdp_program__detach(program, ifindex,
					 xdp_multiprog__attach_mode(mp), 0);
	xdp_multiprog__close(mp);
	if (rc)
		return err_set(err, rc, "cannot detach the program from the dispatcher: %s",
			       strerror(-rc));
	return program ? 1 : 0;
}
