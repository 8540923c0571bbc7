// SPDX-License-Identifier: GPL-2.0-only
#include "backend_setup_decap.h"

#include <errno.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "core/cleanup.h"
#include "decap.skel.h"
#include "sys/bpffs.h"

#define PIN_ROOT FAIRLEAD_BPFFS "/fairlead-backend"
#define PIN_MAX 128

#define _cleanup_skel_ _cleanup_(skel_free)

static void skel_free(struct decap_bpf **skel)
{
	decap_bpf__destroy(*skel);
	*skel = NULL;
}

static const char *pin_path(const char *instance, const char *name,
			    char path[PIN_MAX])
{
	snprintf(path, PIN_MAX, "%s/%s%s%s", PIN_ROOT, instance, name ? "/" : "",
		 name ? name : "");
	return path;
}

/* An fd, or -ENOENT, or another negative errno with its sentence. */
static int pin_open(const char *instance, const char *name, struct err *err)
{
	char path[PIN_MAX];
	int fd = bpf_obj_get(pin_path(instance, name, path));

	if (fd < 0)
		return err_set(err, -errno, "cannot open '%s': %s", path,
			       strerror(errno));
	return fd;
}

int decap_query(const char *instance, struct decap_info *out, struct err *err)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, xdp);
	struct bpf_link_info info = { 0 };
	__u32 size = sizeof(info);
	_cleanup_close_ int fd = pin_open(instance, "link", err);

	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return fd;
	if (bpf_obj_get_info_by_fd(fd, &info, &size) || info.type != BPF_LINK_TYPE_XDP)
		return err_set(err, -EPROTO,
			       "'%s/%s/link' is not a link of an XDP program",
			       PIN_ROOT, instance);

	*out = (struct decap_info){
		.program = info.prog_id,
		.ifindex = info.xdp.ifindex,
	};
	/* The interface went away: the link stays and holds nothing. */
	if (out->ifindex && !bpf_xdp_query(out->ifindex, 0, &xdp))
		out->generic = xdp.attach_mode == XDP_ATTACHED_SKB;
	return 1;
}

int decap_interface_free(unsigned int ifindex, const char *interface,
			 struct err *err)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, xdp);
	__u32 other;

	if (bpf_xdp_query(ifindex, 0, &xdp))
		return err_set(err, -errno, "cannot ask for XDP programs on '%s': %s",
			       interface, strerror(errno));
	other = xdp.prog_id ? xdp.prog_id : xdp.drv_prog_id ? xdp.drv_prog_id :
							      xdp.skb_prog_id;
	if (other)
		return err_set(err, -EBUSY,
			       "interface '%s' has an XDP program (id %u) already; take it off, or use --no-decap with the kernel's tunnels",
			       interface, other);
	return 0;
}

static int load(uint16_t gue_port, struct decap_bpf **out, struct err *err)
{
	_cleanup_skel_ struct decap_bpf *skel = decap_bpf__open();
	int failed;

	if (!skel)
		return err_set(err, -errno, "cannot open the decap program: %s",
			       strerror(errno));

	skel->rodata->gue_port = gue_port;
	failed = decap_bpf__load(skel);
	if (failed)
		return err_set(err, failed,
			       "the kernel refuses the decap program: %s%s",
			       strerror(-failed),
			       failed == -EPERM ? " (needs root, or CAP_BPF and CAP_NET_ADMIN)" : "");
	*out = TAKE_PTR(skel);
	return 0;
}

/* Native first. Returns the link's fd or negative errno. */
static int create_link(int program, unsigned int ifindex, int *why_generic)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = XDP_FLAGS_DRV_MODE);
	int link = bpf_link_create(program, ifindex, BPF_XDP, &opts);

	*why_generic = 0;
	if (link >= 0)
		return link;
	/* Somebody is there or we may not: generic would not change that. */
	if (errno == EBUSY || errno == EEXIST || errno == EPERM)
		return -errno;

	*why_generic = errno;
	opts.flags = XDP_FLAGS_SKB_MODE;
	link = bpf_link_create(program, ifindex, BPF_XDP, &opts);
	return link < 0 ? -errno : link;
}

static int pin(int fd, const char *instance, const char *name, struct err *err)
{
	char path[PIN_MAX];

	if (bpf_obj_pin(fd, pin_path(instance, name, path)))
		return err_set(err, -errno, "cannot pin '%s': %s", path,
			       strerror(errno));
	return 0;
}

static int pin_maps(const struct decap_bpf *skel, const char *instance,
		    struct err *err)
{
	char path[PIN_MAX];
	int failed = bpffs_ensure(err);

	/* Left by a run that was killed before it had a link. */
	if (!failed)
		failed = bpffs_remove_dir(pin_path(instance, NULL, path), err);
	if (!failed)
		failed = bpffs_mkdir(path, err);
	if (!failed)
		failed = pin(bpf_map__fd(skel->maps.decap_vips), instance, "vips", err);
	if (!failed)
		failed = pin(bpf_map__fd(skel->maps.decap_counters), instance,
			     "counters", err);
	return failed;
}

int decap_attach(const char *instance, unsigned int ifindex,
		 const char *interface, uint16_t gue_port,
		 struct decap_info *out, int *why_generic, struct err *err)
{
	_cleanup_skel_ struct decap_bpf *skel = NULL;
	_cleanup_close_ int link = -1;
	int failed = load(gue_port, &skel, err);

	if (!failed)
		failed = pin_maps(skel, instance, err);
	if (failed)
		return failed;

	link = create_link(bpf_program__fd(skel->progs.decap), ifindex, why_generic);
	if (link < 0)
		return err_set(err, link, "cannot attach the decap program to '%s': %s",
			       interface, strerror(-link));
	failed = pin(link, instance, "link", err);
	if (failed)
		return failed;

	failed = decap_query(instance, out, err);
	return failed < 0 ? failed : 0;
}

/*
 * Detach by name and not by dropping the last reference, which the kernel may
 * act on only later.
 */
int decap_detach(const char *instance, struct err *err)
{
	char path[PIN_MAX];
	_cleanup_close_ int link = pin_open(instance, "link", err);

	if (link < 0 && link != -ENOENT)
		return link;
	/* Of an interface that is gone there is nothing to detach from. */
	if (link >= 0 && bpf_link_detach(link) && errno != EINVAL && errno != ENOLINK)
		return err_set(err, -errno, "cannot detach '%s': %s",
			       pin_path(instance, "link", path), strerror(errno));
	unlink(pin_path(instance, "link", path));
	return bpffs_remove_dir(pin_path(instance, NULL, path), err);
}

static struct decap_key key_of(const struct addr *addr)
{
	struct decap_key key = { 0 };

	if (addr->family == AF_INET6) {
		memcpy(key.addr, &addr->v6, sizeof(addr->v6));
		return key;
	}
	key.addr[10] = 0xff;
	key.addr[11] = 0xff;
	memcpy(&key.addr[12], &addr->v4, sizeof(addr->v4));
	return key;
}

int decap_vip_add(const char *instance, const struct addr *addr,
		  struct err *err)
{
	_cleanup_close_ int fd = pin_open(instance, "vips", err);
	struct decap_key key = key_of(addr);
	char text[ADDR_TEXT_MAX];
	__u8 value = 1;

	if (fd < 0)
		return fd;
	if (!bpf_map_update_elem(fd, &key, &value, BPF_NOEXIST))
		return 1;
	if (errno == EEXIST)
		return 0;
	if (errno == E2BIG)
		return err_set(err, -E2BIG,
			       "no room for the VIP %s: the decap program takes 4096 addresses",
			       addr_format(addr, text));
	return err_set(err, -errno, "cannot give the VIP %s to the decap program: %s",
		       addr_format(addr, text), strerror(errno));
}

int decap_vip_del(const char *instance, const struct addr *addr,
		  struct err *err)
{
	_cleanup_close_ int fd = pin_open(instance, "vips", err);
	struct decap_key key = key_of(addr);
	char text[ADDR_TEXT_MAX];

	if (fd < 0)
		return fd;
	if (bpf_map_delete_elem(fd, &key) && errno != ENOENT)
		return err_set(err, -errno,
			       "cannot take the VIP %s from the decap program: %s",
			       addr_format(addr, text), strerror(errno));
	return 0;
}

/* A program of another version, left attached, has counters of another size. */
static int check_counters(int fd, const char *instance, struct err *err)
{
	struct bpf_map_info info = { 0 };
	__u32 size = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		return err_set(err, -errno, "cannot read the decap program's counters: %s",
			       strerror(errno));
	if (info.value_size != sizeof(struct decap_counters))
		return err_set(err, -EPROTO,
			       "the decap program of instance '%s' was attached by another version; --undo it, then set it up again",
			       instance);
	return 0;
}

int decap_counters_read(const char *instance, struct decap_counters *out,
			struct err *err)
{
	_cleanup_close_ int fd = pin_open(instance, "counters", err);
	int cpus = libbpf_num_possible_cpus();
	_cleanup_free_ struct decap_counters *each = NULL;
	__u32 zero = 0;
	int failed;

	if (fd < 0)
		return fd;
	failed = check_counters(fd, instance, err);
	if (failed)
		return failed;
	each = calloc(cpus > 0 ? cpus : 1, sizeof(*each));
	if (!each)
		return err_set(err, -ENOMEM, "out of memory");
	if (cpus < 0 || bpf_map_lookup_elem(fd, &zero, each))
		return err_set(err, -errno, "cannot read the decap program's counters: %s",
			       strerror(errno));

	*out = (struct decap_counters){ 0 };
	for (int i = 0; i < cpus; i++) {
		out->ipip += each[i].ipip;
		out->gue += each[i].gue;
		out->gue1 += each[i].gue1;
		out->gre += each[i].gre;
		out->not_vip += each[i].not_vip;
		out->malformed += each[i].malformed;
	}
	return 0;
}
