// SPDX-License-Identifier: GPL-2.0-only
#include "memory.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cleanup.h"

/* Where a version of control groups has what; limits: all of them bind. */
struct version {
	const char *controller; /* in /proc/self/cgroup */
	const char *mount;
	const char *limits[2];
	const char *usage;
	const char *inactive; /* of memory.stat: file pages, which the kernel takes back */
};

static const struct version versions[] = {
	{ "memory", "/memory", { "memory.limit_in_bytes" }, "memory.usage_in_bytes",
	  "total_inactive_file" },
	{ "", "", { "memory.max", "memory.high" }, "memory.current", "inactive_file" },
};

static FILE *open_file(const char *dir, const char *name)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return NULL;
	return fopen(path, "re");
}

/* UINT64_MAX: there is none, or it says "max". */
static uint64_t read_number(const char *dir, const char *name)
{
	_cleanup_fclose_ FILE *file = open_file(dir, name);
	unsigned long long value;

	return file && fscanf(file, "%llu", &value) == 1 ? value : UINT64_MAX;
}

/* The number behind a word, which lines begin with; `otherwise`: there is none. */
static uint64_t read_key(const char *dir, const char *name, const char *key,
			 uint64_t otherwise)
{
	_cleanup_fclose_ FILE *file = open_file(dir, name);
	unsigned long long value;
	char line[128], word[64];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%63[^: ]%*[: ]%llu", word, &value) == 2 &&
		    !strcmp(word, key))
			return value;
	return otherwise;
}

static void lower(uint64_t *value, uint64_t other)
{
	if (other < *value)
		*value = other;
}

static void read_group(const struct version *v, const char *dir, struct memory *out)
{
	uint64_t limit = UINT64_MAX, usage = read_number(dir, v->usage), inactive;
	size_t i;

	for (i = 0; i < 2; i++)
		if (v->limits[i])
			lower(&limit, read_number(dir, v->limits[i]));
	lower(&out->total, limit);
	if (limit == UINT64_MAX || usage == UINT64_MAX)
		return;
	inactive = read_key(dir, "memory.stat", v->inactive, 0);
	usage -= inactive < usage ? inactive : usage;
	lower(&out->available, usage < limit ? limit - usage : 0);
}

/* The group and those around it, each of which has its own limit. */
static void read_groups(const struct version *v, const char *cgroups, char *group,
			struct memory *out)
{
	char dir[PATH_MAX], *slash;

	for (;;) {
		if (snprintf(dir, sizeof(dir), "%s%s%s", cgroups, v->mount, group) <
		    (int)sizeof(dir))
			read_group(v, dir, out);
		slash = strrchr(group, '/');
		if (!slash)
			return;
		*slash = '\0';
	}
}

static bool has_controller(const char *list, const char *controller)
{
	size_t length = strlen(controller), n;

	for (;; list += n + 1) {
		n = strcspn(list, ",");
		if (n == length && !strncmp(list, controller, n))
			return true;
		if (!list[n])
			return false;
	}
}

void memory_read(const char *proc, const char *cgroups, struct memory *out)
{
	_cleanup_fclose_ FILE *file = open_file(proc, "self/cgroup");
	_cleanup_free_ char *line = NULL;
	uint64_t kib;
	size_t size = 0, i;

	kib = read_key(proc, "meminfo", "MemTotal", UINT64_MAX);
	out->total = kib == UINT64_MAX ? kib : kib * 1024;
	kib = read_key(proc, "meminfo", "MemAvailable", UINT64_MAX);
	out->available = kib == UINT64_MAX ? kib : kib * 1024;

	/* "4:memory:/group"; of version 2 "0::/group" */
	while (file && getline(&line, &size, file) > 0) {
		char *rest = line, *list;

		line[strcspn(line, "\n")] = '\0';
		strsep(&rest, ":");
		list = strsep(&rest, ":");
		for (i = 0; rest && i < sizeof(versions) / sizeof(*versions); i++)
			if (has_controller(list, versions[i].controller))
				read_groups(&versions[i], cgroups, rest, out);
	}
}
