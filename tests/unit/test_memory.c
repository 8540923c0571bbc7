// SPDX-License-Identifier: GPL-2.0-only
/* How much memory there is, by the machine and by the control groups around. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "user/sys/memory.h"

#define MIB (1ULL << 20)
#define GIB (1ULL << 30)

static char root[] = "/tmp/fairlead-memory-XXXXXX";

static int make_root(void **state)
{
	(void)state;
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

/* With the directories on the way to it. */
static void file_is(const char *test, const char *path, const char *text)
{
	char whole[256], *slash;
	FILE *file;

	snprintf(whole, sizeof(whole), "%s/%s/%s", root, test, path);
	for (slash = strchr(whole + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(whole, 0755);
		*slash = '/';
	}
	file = fopen(whole, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static struct memory memory_of(const char *test)
{
	char proc[128], cgroups[128];
	struct memory memory;

	snprintf(proc, sizeof(proc), "%s/%s/proc", root, test);
	snprintf(cgroups, sizeof(cgroups), "%s/%s/cgroup", root, test);
	memory_read(proc, cgroups, &memory);
	return memory;
}

static const char meminfo[] = "MemTotal:        8388608 kB\n"
			      "MemFree:           10000 kB\n"
			      "MemAvailable:    4194304 kB\n";

static void assert_memory(const char *test, uint64_t total, uint64_t available)
{
	struct memory memory = memory_of(test);

	assert_int_equal(memory.total, total);
	assert_int_equal(memory.available, available);
}

static void the_machine_says(void **state)
{
	(void)state;
	file_is("machine", "proc/meminfo", meminfo);
	assert_memory("machine", 8 * GIB, 4 * GIB);
}

static void nothing_says(void **state)
{
	(void)state;
	assert_memory("nothing", UINT64_MAX, UINT64_MAX);
}

static void the_lowest_limit_of_the_groups_around_counts(void **state)
{
	(void)state;
	file_is("two", "proc/meminfo", meminfo);
	file_is("two", "proc/self/cgroup", "0::/system.slice/fairleadd.service\n");
	file_is("two", "cgroup/system.slice/memory.max", "1073741824\n");
	file_is("two", "cgroup/system.slice/memory.current", "973078528\n");
	file_is("two", "cgroup/system.slice/memory.stat", "file 1\nactive_file 7\n");
	file_is("two", "cgroup/system.slice/fairleadd.service/memory.max", "max\n");
	file_is("two", "cgroup/system.slice/fairleadd.service/memory.current", "9999\n");
	assert_memory("two", GIB, 96 * MIB);
}

/* Above `high` the kernel slows a process down to nothing. */
static void what_is_throttled_is_not_available(void **state)
{
	(void)state;
	file_is("high", "proc/meminfo", meminfo);
	file_is("high", "proc/self/cgroup", "0::/a\n");
	file_is("high", "cgroup/a/memory.max", "1073741824\n");
	file_is("high", "cgroup/a/memory.high", "536870912\n");
	file_is("high", "cgroup/a/memory.current", "268435456\n");
	assert_memory("high", 512 * MIB, 256 * MIB);
}

static void what_the_kernel_takes_back_is_available(void **state)
{
	(void)state;
	file_is("cache", "proc/meminfo", meminfo);
	file_is("cache", "proc/self/cgroup", "0::/a\n");
	file_is("cache", "cgroup/a/memory.max", "1073741824\n");
	file_is("cache", "cgroup/a/memory.current", "1073741824\n");
	file_is("cache", "cgroup/a/memory.stat", "anon 5\ninactive_file 536870912\n");
	assert_memory("cache", GIB, 512 * MIB);
}

static void a_group_beyond_its_limit_has_none(void **state)
{
	(void)state;
	file_is("beyond", "proc/meminfo", meminfo);
	file_is("beyond", "proc/self/cgroup", "0::/a\n");
	file_is("beyond", "cgroup/a/memory.max", "1048576\n");
	file_is("beyond", "cgroup/a/memory.current", "2097152\n");
	assert_memory("beyond", MIB, 0);
}

static void version_1_has_a_tree_of_its_own(void **state)
{
	(void)state;
	file_is("one", "proc/meminfo", meminfo);
	file_is("one", "proc/self/cgroup",
		"5:cpu,cpuacct:/x\n4:memory:/a:b/c\n1:name=systemd:/memory\n0::/\n");
	file_is("one", "cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	file_is("one", "cgroup/memory/memory.usage_in_bytes", "1\n");
	file_is("one", "cgroup/memory/a:b/memory.limit_in_bytes", "2147483648\n");
	file_is("one", "cgroup/memory/a:b/memory.usage_in_bytes", "1073741824\n");
	file_is("one", "cgroup/memory/a:b/c/memory.limit_in_bytes", "2147483648\n");
	file_is("one", "cgroup/memory/a:b/c/memory.usage_in_bytes", "1610612736\n");
	file_is("one", "cgroup/memory/a:b/c/memory.stat",
		"inactive_file 1\ntotal_inactive_file 268435456\n");
	file_is("one", "cgroup/memory/x/memory.limit_in_bytes", "4096\n");
	assert_memory("one", 2 * GIB, 768 * MIB);
}

/* A limit above what the machine has says nothing. */
static void the_machine_has_what_it_has(void **state)
{
	(void)state;
	file_is("large", "proc/meminfo", meminfo);
	file_is("large", "proc/self/cgroup", "0::/a\n");
	file_is("large", "cgroup/a/memory.max", "1099511627776\n");
	file_is("large", "cgroup/a/memory.current", "1\n");
	assert_memory("large", 8 * GIB, 4 * GIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_machine_says),
		cmocka_unit_test(nothing_says),
		cmocka_unit_test(the_lowest_limit_of_the_groups_around_counts),
		cmocka_unit_test(what_is_throttled_is_not_available),
		cmocka_unit_test(what_the_kernel_takes_back_is_available),
		cmocka_unit_test(a_group_beyond_its_limit_has_none),
		cmocka_unit_test(version_1_has_a_tree_of_its_own),
		cmocka_unit_test(the_machine_has_what_it_has),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
