// SPDX-License-Identifier: GPL-2.0-only
#include "dataplane.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "core/cleanup.h"
#include "core/plural.h"
#include "dp/flow_maps.h"
#include "dp/program.h"
#include "dp/selftest.h"
#include "flow_pins.h"
#include "flow_hash.h" /* for the skeleton */
#include "fairlead.skel.h"
#include "sys/bpffs.h"
#include "sys/kmap.h"
#include "sys/log.h"
#include "sys/memory.h"

/*
 * Of a start: all maps but those of flows, those of the self-test, and the process. It
 * was 81 MiB at most, and is of one size for all but the VIPs.
 */
#define OTHER_MEMORY (96ULL << 20)

void dataplane_pin_dir(const char *instance, char *path, size_t size)
{
	snprintf(path, size, "%s/%s", FAIRLEAD_PIN_ROOT, instance);
}

static void pin_path(const struct dataplane *dp, const char *name, char *path,
		     size_t size)
{
	snprintf(path, size, "%s/%s", dp->pin_dir, name);
}

/* Read the pinned config map, whatever its size. False: there is none. */
static bool read_pinned_config(const struct dataplane *dp, struct config *out)
{
	struct bpf_map_info info = { 0 };
	_cleanup_free_ void *value = NULL;
	__u32 size = sizeof(info), zero = 0;
	_cleanup_close_ int fd = -1;
	char path[192];

	pin_path(dp, "config", path, sizeof(path));
	fd = bpf_obj_get(path);
	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size))
		return false;

	value = calloc(1, info.value_size > sizeof(*out) ? info.value_size :
							   sizeof(*out));
	if (!value || bpf_map_lookup_elem(fd, &zero, value))
		return false;
	memcpy(out, value, sizeof(*out));
	return out->abi != 0;
}

/* Decides whether to adopt what is pinned; clears what was left half made. */
static int find_pinned(struct dataplane *dp, struct err *err)
{
	dp->adopted = read_pinned_config(dp, &dp->config);
	if (!dp->adopted) {
		dp->config = (struct config){ 0 };
		return bpffs_remove_dir(dp->pin_dir, err);
	}
	if (dp->config.abi == FAIRLEAD_ABI)
		return 0;
	return err_set(err, -EPROTO,
		       "pinned maps in '%s' have ABI version %u and this fairleadd speaks %d: run the fairleadd that made them, or remove them (and stop balancing) with 'fairleadd --teardown'",
		       dp->pin_dir, dp->config.abi, FAIRLEAD_ABI);
}

static void choose_hash_key(struct dataplane *dp, const struct cfg *cfg)
{
	__u64 words[2];
	uint8_t random[16] = { 0 };

	if (!cfg->has_hash_key) {
		if (dp->adopted)
			return; /* goes on with the key it has */
		if (getrandom(random, sizeof(random), 0) != sizeof(random))
			log_warn("no random numbers for the hash key: using a fixed one");
		program_key_words(random, dp->config.hash_key);
		return;
	}

	program_key_words(cfg->hash_key, words);
	if (dp->adopted && memcmp(words, dp->config.hash_key, sizeof(words)))
		log_warn("hash_key differs from the one in use: flows that are not tracked move to other backends");
	memcpy(dp->config.hash_key, words, sizeof(words));
}

static struct memory memory_now(void)
{
	struct memory memory;

	memory_read("/proc", "/sys/fs/cgroup", &memory);
	return memory;
}

static __u32 flows_per_cpu(const struct dataplane *dp, const struct cfg *cfg)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	return flow_maps_per_cpu(cfg, memory_now().total, online > 0 ? online : 1,
				 dp->cpus);
}

/*
 * Before the kernel runs out: what that does to others is not ours to try, and by the
 * limit of a control group it would kill this process without a word.
 */
static int check_memory(const struct dataplane *dp, struct err *err)
{
	__u64 needed = (__u64)flow_maps_bytes(&dp->config) * dp->cpus;
	__u64 available = memory_now().available;

	if (needed + flow_maps_load_bytes(&dp->config) + OTHER_MEMORY < available)
		return 0;
	return err_set(err, -ENOMEM,
		       "flows: maps of %u flows for each CPU of %u take %llu MiB and all else that is loaded up to %llu MiB, and %llu MiB of memory are available; fewer 'flows' take less",
		       dp->config.flows_per_cpu, dp->cpus,
		       (unsigned long long)needed >> 20,
		       (unsigned long long)(flow_maps_load_bytes(&dp->config) +
					    OTHER_MEMORY) >> 20,
		       (unsigned long long)available >> 20);
}

void dataplane_warnings(const struct dataplane *dp, const struct cfg *cfg,
			void (*warn)(void *context, const char *text), void *context)
{
	char text[160];

	if (dp->config.flows_per_cpu != flows_per_cpu(dp, cfg) ||
	    dp->config.flow_form != cfg->conntrack) {
		snprintf(text, sizeof(text),
			 "flows: the flow maps hold %u a CPU, conntrack %s, and stay so until fairleadd is restarted",
			 dp->config.flows_per_cpu, flow_form_name(dp->config.flow_form));
		warn(context, text);
	}
	if (dp->icmp_rate != cfg->icmp_rate) {
		snprintf(text, sizeof(text),
			 "icmp_rate: it stays %u until fairleadd is restarted",
			 dp->icmp_rate);
		warn(context, text);
	}
}

/* Flows that are remembered move to maps of the new shape, if there is memory. */
static void choose_migration(struct dataplane *dp, const struct cfg *cfg)
{
	struct config old = dp->config;
	bool has_to = dp->migrates;
	struct err err;

	if (!has_to && old.flows_per_cpu == flows_per_cpu(dp, cfg) &&
	    old.flow_form == cfg->conntrack)
		return;
	dp->config.flows_per_cpu = flows_per_cpu(dp, cfg);
	dp->config.flow_form = cfg->conntrack;
	dp->config.flow_set_bits = flow_maps_set_bits(dp->config.flows_per_cpu);
	dp->migrates = true;
	if (!check_memory(dp, &err))
		return;
	log_warn("%s; the flow maps stay as they are", err.text);
	dp->config = old;
	dp->migrates = has_to;
}

static int choose_flows(struct dataplane *dp, const struct cfg *cfg, struct err *err)
{
	if (dp->adopted) {
		choose_migration(dp, cfg);
		return 0;
	}
	dp->config.flows_per_cpu = flows_per_cpu(dp, cfg);
	dp->config.flow_form = cfg->conntrack;
	dp->config.flow_set_bits = flow_maps_set_bits(dp->config.flows_per_cpu);
	return check_memory(dp, err);
}

/* Of this host alone: nobody outside may know which flows share a set. */
static void choose_mix_key(struct dataplane *dp)
{
	if (dp->adopted)
		return;
	if (getrandom(&dp->config.mix_key, sizeof(dp->config.mix_key), 0) !=
	    sizeof(dp->config.mix_key))
		log_warn("no random numbers for the key of the flow sets: using a fixed one");
	dp->config.mix_key |= 1;
}

void dataplane_log_memory(const struct dataplane *dp)
{
	size_t bytes = flow_maps_bytes(&dp->config);

	log_notice("flow maps: conntrack %s, %u flows a CPU and family, %.1f MiB a CPU, %.1f MiB for %u CPU%s",
		   flow_form_name(dp->config.flow_form), dp->config.flows_per_cpu,
		   bytes / 0x1p20, bytes * dp->cpus / 0x1p20, dp->cpus, plural(dp->cpus));
}

static int adopt_map(struct bpf_map *map, const char *path, struct err *err)
{
	struct bpf_map_info info = { 0 };
	__u32 size = sizeof(info);
	_cleanup_close_ int fd = bpf_obj_get(path);
	int rc;

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size)) {
		rc = -errno;
		return err_set(err, rc, "cannot adopt the pinned map '%s': %s", path,
			       strerror(-rc));
	}
	if (!kmap_same_shape(map, &info))
		return err_set(err, -EPROTO,
			       "pinned map '%s' has another type or size (key %u, value %u, entries %u) than ABI version %d says; 'fairleadd --teardown' removes the maps (and stops balancing)",
			       path, info.key_size, info.value_size, info.max_entries,
			       FAIRLEAD_ABI);
	rc = bpf_map__reuse_fd(map, fd);
	return rc ? err_set(err, rc, "cannot adopt the pinned map '%s': %s", path,
			    strerror(-rc)) : 0;
}

/*
 * A map that the daemon which pinned the others did not know, and that says as much when
 * it is empty: it is made and pinned beside them. If that daemon comes back, it pays the
 * map no heed, nor does this one then believe what no flag of a backend speaks of.
 */
static bool map_is_new(const struct dataplane *dp, const struct bpf_map *map,
		       const char *path)
{
	return map == dp->skel->maps.verdicts && access(path, F_OK) && errno == ENOENT;
}

/* Which of the flow maps it is; FLOW_MAP__MAX: none. */
static int flow_map_of(const struct dataplane *dp, const struct bpf_map *map)
{
	int i;

	for (i = 0; i < FLOW_MAP__MAX && flow_map_outer(dp->skel, i) != map; i++)
		;
	return i;
}

/* Adopt each map, or have libbpf pin it when it makes it. */
static int prepare_maps(struct dataplane *dp, struct err *err)
{
	struct bpf_map *map;
	char path[192];
	int rc;

	bpf_object__for_each_map(map, dp->skel->obj) {
		if (bpf_map__is_internal(map) ||
		    (dp->migrates && flow_map_of(dp, map) < FLOW_MAP__MAX))
			continue;
		pin_path(dp, bpf_map__name(map), path, sizeof(path));
		if (dp->adopted && !map_is_new(dp, map, path))
			rc = adopt_map(map, path, err);
		else if (bpf_map__set_pin_path(map, path))
			rc = err_set(err, -ENOMEM, "out of memory");
		else
			rc = 0;
		if (rc)
			return rc;
	}
	return 0;
}

static int load_failed(int rc, const struct dataplane *dp, struct err *err)
{
	if (rc == -EPERM || rc == -EACCES)
		return err_set(err, rc,
			       "no permission to load BPF programs: fairleadd needs root, or CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON and CAP_SYS_ADMIN");
	if (rc == -ENOMEM)
		return err_set(err, rc,
			       "the kernel has no memory for the maps; fewer 'flows' need less");
	if (dp->adopted)
		return err_set(err, rc,
			       "cannot load the program on the maps pinned in '%s': %s; 'fairleadd --teardown' removes them (and stops balancing)",
			       dp->pin_dir, strerror(-rc));
	return err_set(err, rc, "cannot load the BPF program: %s", strerror(-rc));
}

static int finish_new_maps(struct dataplane *dp, struct err *err)
{
	if (dp->adopted && !dp->migrates)
		return 0;
	return flow_maps_make_all(dp->skel, &dp->config, dp->cpus, err);
}

static int write_config(struct dataplane *dp, struct err *err)
{
	__u32 zero = 0;
	int rc;

	dp->config.abi = FAIRLEAD_ABI;
	if (bpf_map_update_elem(bpf_map__fd(dp->skel->maps.config), &zero,
				&dp->config, BPF_ANY) == 0)
		return 0;
	rc = -errno;
	return err_set(err, rc, "cannot write the config map: %s", strerror(-rc));
}

static int load(struct dataplane *dp, struct err *err)
{
	int rc = program_open(&dp->config, dp->cpus, &dp->skel, err);

	if (rc)
		return rc;
	dp->skel->rodata->icmp_answers_max = dp->icmp_rate;
	rc = prepare_maps(dp, err);
	if (rc)
		return rc;
	rc = program_load(dp->skel, &dp->config);
	if (rc)
		return load_failed(rc, dp, err);
	/* Those of other maps say nothing: flows_migrate() chooses. */
	if (!dp->migrates)
		flow_pins_start_levels(dp, dp->skel);
	return 0;
}

/* The copy that is tested is verified meanwhile: that is most of a start. */
static int load_tested(struct dataplane *dp, struct err *err)
{
	struct selftest *selftest;
	int rc = selftest_start(dp->config.flow_form, &selftest, err), unfit;

	if (rc)
		return rc;
	rc = load(dp, err);
	if (!rc)
		rc = finish_new_maps(dp, err);
	unfit = selftest_finish(&selftest, rc ? NULL : err);
	return rc ? rc : unfit;
}

int dataplane_open(struct dataplane *dp, const char *instance,
		   const struct cfg *cfg, struct err *err)
{
	int rc, cpus = libbpf_num_possible_cpus();

	if (cpus < 0)
		return err_set(err, cpus, "cannot count the CPUs: %s", strerror(-cpus));

	*dp = (struct dataplane){ .cpus = cpus, .icmp_rate = cfg->icmp_rate,
				  .old_flows = { -1, -1, -1, -1 } };
	dataplane_pin_dir(instance, dp->pin_dir, sizeof(dp->pin_dir));
	rc = bpffs_ensure(err);
	if (!rc)
		rc = find_pinned(dp, err);
	if (!rc)
		rc = bpffs_mkdir(dp->pin_dir, err);
	if (rc)
		return rc;

	if (dp->adopted)
		flow_pins_open(dp);
	choose_hash_key(dp, cfg);
	choose_mix_key(dp);
	rc = choose_flows(dp, cfg, err);
	if (!rc)
		rc = load_tested(dp, err);
	if (!rc && !dp->adopted)
		rc = write_config(dp, err);
	if (rc && !dp->adopted)
		bpffs_remove_dir(dp->pin_dir, NULL);
	if (rc)
		dataplane_close(dp);
	return rc;
}

int dataplane_settle(struct dataplane *dp, struct err *err)
{
	int rc;

	if (!dp->adopted)
		return 0;
	rc = flow_pins_settle(dp, err);
	flow_pins_close(dp);
	dp->migrates = false;
	return rc ? rc : write_config(dp, err);
}

void dataplane_close(struct dataplane *dp)
{
	flow_pins_close(dp);
	fairlead_bpf__destroy(dp->skel);
	dp->skel = NULL;
}

bool dataplane_needs_restart(const struct dataplane *dp, const struct cfg *cfg)
{
	__u64 words[2];

	if (!cfg->has_hash_key)
		return false;
	program_key_words(cfg->hash_key, words);
	return memcmp(words, dp->config.hash_key, sizeof(words)) != 0;
}
