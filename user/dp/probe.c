// SPDX-License-Identifier: GPL-2.0-only
#include "probe_private.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "abi.h"
#include "core/cleanup.h"
#include "probe.skel.h"
#include "sys/kmap.h"

static void close_probes(struct probes **probes)
{
	struct probes *p = *probes;

	if (!p)
		return;
	nl_close(&p->nl);
	probe_bpf__destroy(p->skel);
	free(p);
	*probes = NULL;
}

void probes_close(struct probes **probes)
{
	close_probes(probes);
}

/* The pinned map; one of another version has nothing that is worth an error. */
static int share_pin(struct bpf_map *map, const char *pin_dir, const char *name)
{
	struct bpf_map_info info = { 0 };
	_cleanup_close_ int fd = -1;
	__u32 size = sizeof(info);
	char path[192];

	snprintf(path, sizeof(path), "%s/%s", pin_dir, name);
	fd = bpf_obj_get(path);
	if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size) &&
	    kmap_same_shape(map, &info))
		return bpf_map__reuse_fd(map, fd);
	unlink(path);
	return bpf_map__set_pin_path(map, path);
}

static int load(struct probes *p, const char *pin_dir, int backends_fd)
{
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(info);
	int rc = bpf_map__reuse_fd(p->skel->maps.backends, backends_fd);

	if (!rc && pin_dir)
		rc = share_pin(p->skel->maps.probe_counters, pin_dir, PROBE_PIN_COUNTERS);
	if (!rc && pin_dir)
		rc = share_pin(p->skel->maps.probe_qdiscs, pin_dir, PROBE_PIN_QDISCS);
	if (!rc)
		rc = probe_bpf__load(p->skel);
	if (rc)
		return rc;
	if (bpf_obj_get_info_by_fd(probes_program_fd(p), &info, &size))
		return -errno;
	p->program = info.id;
	p->qdiscs = bpf_map__fd(p->skel->maps.probe_qdiscs);
	return 0;
}

int probes_open(const char *pin_dir, int backends_fd, struct probes **out,
		struct err *err)
{
	_cleanup_(close_probes) struct probes *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return err_set(err, -ENOMEM, "out of memory");
	p->pinned = pin_dir != NULL;
	p->filter = probe_filter_handle(pin_dir ? pin_dir : "");
	rc = nl_open(&p->nl, 0, err);
	if (rc)
		return rc;
	p->skel = probe_bpf__open();
	if (!p->skel)
		return err_set(err, -errno, "cannot open the program of the probes: %s",
			       strerror(errno));
	rc = load(p, pin_dir, backends_fd);
	if (rc)
		return err_set(err, rc, "cannot load the program of the probes: %s",
			       strerror(-rc));
	*out = TAKE_PTR(p);
	return 0;
}

int probes_program_fd(const struct probes *probes)
{
	return bpf_program__fd(probes->skel->progs.fairlead_probe);
}

struct probe_target probe_target(const struct addr *vip, uint16_t port, uint8_t protocol,
				 uint16_t backend)
{
	struct probe_target target = {
		.port = htons(port),
		.backend = backend,
		.protocol = protocol,
		.v6 = vip->family == AF_INET6,
	};

	if (target.v6)
		memcpy(target.addr, &vip->v6, sizeof(vip->v6));
	else
		memcpy(target.addr, &vip->v4, sizeof(vip->v4));
	return target;
}

static bool is_used(const struct probes *p, uint32_t number)
{
	return p->used[number / 8] >> number % 8 & 1;
}

static void set_used(struct probes *p, uint32_t number, bool used)
{
	if (used)
		p->used[number / 8] |= 1U << number % 8;
	else
		p->used[number / 8] &= ~(1U << number % 8);
}

static int write_target(struct probes *p, uint32_t mark, const struct probe_target *target,
			struct err *err)
{
	int rc;

	if (!bpf_map_update_elem(bpf_map__fd(p->skel->maps.probe_marks), &mark, target,
				 BPF_ANY))
		return 0;
	rc = -errno;
	return err_set(err, rc, "cannot write the target of probe mark 0x%x: %s", mark,
		       strerror(-rc));
}

int probes_add(struct probes *p, const struct probe_target *target, uint32_t *mark,
	       struct err *err)
{
	uint32_t number = p->next, tries;
	int rc;

	for (tries = 0; tries < PROBES_MAX && is_used(p, number); tries++)
		number = (number + 1) % PROBES_MAX;
	if (tries == PROBES_MAX)
		return err_set(err, -ENOSPC,
			       "no mark is left for another probe: there are %u at most",
			       PROBES_MAX);
	rc = write_target(p, PROBE_MARK(number), target, err);
	if (rc)
		return rc;
	set_used(p, number, true);
	p->next = (number + 1) % PROBES_MAX;
	*mark = PROBE_MARK(number);
	return 0;
}

int probes_set(struct probes *p, uint32_t mark, const struct probe_target *target,
	       struct err *err)
{
	if (!PROBE_MARK_IS_OURS(mark) || !is_used(p, PROBE_NUMBER(mark)))
		return err_set(err, -ENOENT, "mark 0x%x is no probe's", mark);
	return write_target(p, mark, target, err);
}

void probes_del(struct probes *p, uint32_t mark)
{
	if (!PROBE_MARK_IS_OURS(mark))
		return;
	bpf_map_delete_elem(bpf_map__fd(p->skel->maps.probe_marks), &mark);
	set_used(p, PROBE_NUMBER(mark), false);
}

int probes_read(const struct probes *p, uint64_t packets[PROBE_FATE__MAX],
		struct err *err)
{
	int fd = bpf_map__fd(p->skel->maps.probe_counters), cpus = libbpf_num_possible_cpus();
	_cleanup_free_ uint64_t *each = calloc(cpus > 0 ? cpus : 1, sizeof(*each));
	uint64_t sums[PROBE_FATE__MAX] = { 0 };
	__u32 fate;
	int cpu;

	if (!each)
		return err_set(err, -ENOMEM, "out of memory");
	for (fate = 0; fate < PROBE_FATE__MAX; fate++) {
		if (bpf_map_lookup_elem(fd, &fate, each))
			return err_set(err, -errno, "cannot read the probes' counters: %s",
				       strerror(errno));
		for (cpu = 0; cpu < cpus; cpu++)
			sums[fate] += each[cpu];
	}
	memcpy(packets, sums, sizeof(sums));
	return 0;
}

const char *probe_fate_name(enum probe_fate fate)
{
	static const char *const names[] = {
#define X(name, label, help) [PROBE_FATE_##name] = label,
		PROBE_FATES(X)
#undef X
	};

	return names[fate];
}
