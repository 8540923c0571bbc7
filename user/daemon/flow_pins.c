// SPDX-License-Identifier: GPL-2.0-only
#include "flow_pins.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "core/cleanup.h"
#include "flow_hash.h" /* for the skeleton */
#include "fairlead.skel.h"
#include "flows.h"

static void pin_path(const struct dataplane *dp, const char *name, char *path,
		     size_t size)
{
	snprintf(path, size, "%s/%s", dp->pin_dir, name);
}

static __u32 map_id(int fd)
{
	struct bpf_map_info info = { 0 };
	__u32 size = sizeof(info);

	return fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) ? 0 : info.id;
}

/* The program of a pinned link that is still on an interface, or a pinned program. */
static int open_program(const struct dataplane *dp, const char *pin)
{
	struct bpf_link_info info = { 0 };
	_cleanup_close_ int fd = -1;
	__u32 size = sizeof(info);
	char path[192];

	pin_path(dp, pin, path, sizeof(path));
	fd = bpf_obj_get(path);
	if (fd < 0 || strncmp(pin, "link", 4))
		return TAKE_FD(fd);
	if (bpf_obj_get_info_by_fd(fd, &info, &size) || !info.xdp.ifindex)
		return -ENOENT;
	return bpf_prog_get_fd_by_id(info.prog_id);
}

/* The one that balances; attach.c tells of the pins, of which few are there. */
static int open_live_program(const struct dataplane *dp)
{
	static const char *const pins[] = { "link_new", "link", "dispatched_new",
					    "dispatched" };
	size_t i;
	int fd = -1;

	for (i = 0; i < sizeof(pins) / sizeof(*pins) && fd < 0; i++)
		fd = open_program(dp, pins[i]);
	return fd;
}

/* Keep the map if it is one of the four. */
static void take_flow_map(struct dataplane *dp, __u32 id)
{
	_cleanup_close_ int fd = bpf_map_get_fd_by_id(id);
	struct bpf_map_info info = { 0 };
	__u32 size = sizeof(info);
	int map;

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) ||
	    info.type != BPF_MAP_TYPE_ARRAY_OF_MAPS)
		return;
	for (map = 0; map < FLOW_MAP__MAX; map++)
		if (!strcmp(info.name, flow_map_name(map)) && dp->old_flows[map] < 0)
			dp->old_flows[map] = TAKE_FD(fd);
}

static void open_live_flows(struct dataplane *dp)
{
	_cleanup_close_ int program = open_live_program(dp);
	struct bpf_prog_info info = { 0 };
	_cleanup_free_ __u32 *ids = NULL;
	__u32 size = sizeof(info), n, i;

	if (program < 0 || bpf_obj_get_info_by_fd(program, &info, &size))
		return;
	n = info.nr_map_ids;
	ids = calloc(n + 1, sizeof(*ids));
	info = (struct bpf_prog_info){ .nr_map_ids = n, .map_ids = (uintptr_t)ids };
	size = sizeof(info);
	if (!ids || bpf_obj_get_info_by_fd(program, &info, &size))
		return;
	for (i = 0; i < n; i++)
		take_flow_map(dp, ids[i]);
}

void flow_pins_open(struct dataplane *dp)
{
	char path[192];
	int map;

	open_live_flows(dp);
	for (map = 0; map < FLOW_MAP__MAX; map++) {
		uint32_t entries = 0;
		_cleanup_close_ int inner = -1, pinned = -1;

		pin_path(dp, flow_map_name(map), path, sizeof(path));
		pinned = bpf_obj_get(path);
		if (dp->old_flows[map] < 0)
			dp->old_flows[map] = TAKE_FD(pinned);
		else if (map_id(pinned) != map_id(dp->old_flows[map]))
			dp->migrates = true;
		inner = flows_open_inner(dp->old_flows[map], 0, &entries);
		dp->migrates |= inner < 0 || entries != flow_map_entries(&dp->config, map);
	}
}

void flow_pins_close(struct dataplane *dp)
{
	int map;

	for (map = 0; map < FLOW_MAP__MAX; map++)
		cleanup_close(&dp->old_flows[map]);
}

/* Each takes the place of the old one in one rename. */
static int exchange_pins(struct dataplane *dp, struct err *err)
{
	char path[192], fresh[200];
	int map, rc;

	for (map = 0; map < FLOW_MAP__MAX; map++) {
		pin_path(dp, flow_map_name(map), path, sizeof(path));
		snprintf(fresh, sizeof(fresh), "%s_new", path);
		/* Also one that a killed daemon left. */
		unlink(fresh);
		if (!dp->migrates ||
		    (bpf_obj_pin(bpf_map__fd(flow_map_outer(dp->skel, map)), fresh) == 0 &&
		     rename(fresh, path) == 0))
			continue;
		rc = -errno;
		unlink(fresh);
		return err_set(err, rc, "cannot pin the flow map '%s': %s", path,
			       strerror(-rc));
	}
	return 0;
}

/* Of what the map says; at most what the sets of this program hold. */
static __u32 known_mask(const struct dataplane *dp, int v6)
{
	__u32 most = (1U << dp->config.flow_set_bits) - 1, zero = 0;
	struct flow_levels levels = { 0 };

	if (bpf_map_lookup_elem(bpf_map__fd(dp->skel->maps.flow_levels), &zero, &levels))
		return 0;
	return levels.mask[v6] < most ? levels.mask[v6] : most;
}

void flow_pins_start_levels(const struct dataplane *dp, struct fairlead_bpf *skel)
{
	__u32 mask;
	int v6;

	for (v6 = 0; v6 < 2; v6++) {
		/* The map speaks of the old maps until dataplane_settle(). */
		mask = dp->migrates ? dp->skel->data->flow_mask[v6] : known_mask(dp, v6);
		if (mask > skel->data->flow_mask[v6])
			skel->data->flow_mask[v6] = mask;
	}
}

/*
 * More sets than packets have used cost a look into one more; fewer would hide
 * flows. So what the program before this one, or this one, said meanwhile counts,
 * too. It is written only now: until the new program ran, a start that failed had
 * to leave what the old one goes by.
 */
static int settle_levels(struct dataplane *dp, struct err *err)
{
	struct flow_levels levels = { 0 };
	__u32 zero = 0, mask;
	int v6, rc;

	for (v6 = 0; v6 < 2; v6++) {
		mask = known_mask(dp, v6);
		if (mask > dp->skel->data->flow_mask[v6])
			dp->skel->data->flow_mask[v6] = mask;
		levels.mask[v6] = dp->skel->data->flow_mask[v6];
	}
	if (bpf_map_update_elem(bpf_map__fd(dp->skel->maps.flow_levels), &zero, &levels,
				BPF_ANY) == 0)
		return 0;
	rc = -errno;
	return err_set(err, rc, "cannot write the map 'flow_levels': %s", strerror(-rc));
}

int flow_pins_settle(struct dataplane *dp, struct err *err)
{
	int rc = settle_levels(dp, err);

	return rc ? rc : exchange_pins(dp, err);
}
