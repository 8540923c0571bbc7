// SPDX-License-Identifier: GPL-2.0-only
/* The bench runs to its end and writes what it says; no figure is judged. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <cmocka.h>
#include <jansson.h>
#include <linux/magic.h>

#include "abi.h"

#define SKIP 77
#define ARGS_MAX 8

/* What a run of the bench left behind. */
struct result {
	int status;
	char text[8192]; /* stdout and stderr */
	json_t *json;	 /* NULL: no file */
};

/* The bench lies beside the directory of this test. */
static void bench_path(char path[PATH_MAX])
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	assert_true(n > 0);
	self[n] = '\0';
	n = snprintf(path, PATH_MAX, "%s/../bench/bench", dirname(self));
	assert_in_range(n, 1, PATH_MAX - 1);
}

static void exec_bench(const char *const *args, const char *json, int out)
{
	char path[PATH_MAX];
	const char *argv[ARGS_MAX + 5] = { path, "--quick", "--json", json };

	bench_path(path);
	for (int i = 0; args[i]; i++)
		argv[4 + i] = args[i];
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	execv(path, (char **)argv);
	_exit(127);
}

static void read_all(int fd, char *text, size_t size)
{
	size_t length = 0;
	ssize_t n;

	while ((n = read(fd, text + length, size - 1 - length)) > 0)
		length += n;
	text[length] = '\0';
}

static void run_bench(const char *const *args, struct result *result)
{
	char json[] = "/tmp/fairlead-bench-XXXXXX";
	int pipe_fds[2], fd = mkstemp(json);
	pid_t pid;

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		exec_bench(args, json, pipe_fds[1]);
	close(pipe_fds[1]);
	read_all(pipe_fds[0], result->text, sizeof(result->text));
	close(pipe_fds[0]);
	assert_int_equal(waitpid(pid, &result->status, 0), pid);
	result->json = json_load_file(json, 0, NULL);
	unlink(json);
}

static void expect_success(const struct result *result)
{
	if (result->status != 0)
		fail_msg("bench failed: %s", result->text);
	assert_non_null(result->json);
}

/* The case's row for that many flows, which must have all that is promised. */
static void expect_case(const struct result *result, const char *name, int flows)
{
	json_t *row;
	size_t i;

	json_array_foreach(result->json, i, row)
	{
		int row_flows, min_ns, median_ns;
		const char *row_name;

		assert_int_equal(json_unpack(row, "{s:s, s:i, s:i, s:i !}", "case",
					     &row_name, "flows", &row_flows,
					     "min_ns", &min_ns, "median_ns",
					     &median_ns),
				 0);
		if (strcmp(row_name, name) != 0 || row_flows != flows)
			continue;
		assert_in_range(median_ns, min_ns, INT_MAX);
		return;
	}
	fail_msg("no row of case '%s' with %d flows", name, flows);
}

static void quick_bench_measures_every_case(void **state)
{
	static const char *const known[] = { "ipv4-ipip", "ipv4-gue", "ipv6-ipip",
					     "ipv6-gue" };
	static const char *const no_args[] = { NULL };
	struct result result;

	(void)state;
	run_bench(no_args, &result);
	expect_success(&result);
	expect_case(&result, "pass", 1);
	expect_case(&result, "tx", 1);
	expect_case(&result, "floor", 1);
	for (int i = 0; i < 4; i++) {
		expect_case(&result, known[i], 1);
		expect_case(&result, known[i], 4096);
	}
	expect_case(&result, "ipv4-ipip-new", 1 << 24);
	expect_case(&result, "ipv4-not-vip", 1);
	expect_case(&result, "ipv6-not-vip", 1);
	json_decref(result.json);
}

/* A program of one statement, pinned under a name of this process. */
static void pin_program(enum bpf_prog_type type, uint32_t flags, char *path)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0,
		  .imm = XDP_TX },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .prog_flags = flags);
	int fd = bpf_prog_load(type, "other", "GPL", insns, 2, &options);

	assert_true(fd >= 0);
	snprintf(path, 64, FAIRLEAD_BPFFS "/fairlead_bench_test_%d", getpid());
	unlink(path);
	assert_int_equal(bpf_obj_pin(fd, path), 0);
	close(fd);
}

static void need_bpffs(void)
{
	struct statfs fs;

	if (statfs(FAIRLEAD_BPFFS, &fs) || (uint32_t)fs.f_type != BPF_FS_MAGIC) {
		print_message("skipped: no bpffs at " FAIRLEAD_BPFFS "\n");
		skip();
	}
}

static void expect_other_measured(uint32_t flags)
{
	char path[64];
	const char *args[] = { "--only", "other", "--other", path, NULL };
	struct result result;

	pin_program(BPF_PROG_TYPE_XDP, flags, path);
	run_bench(args, &result);
	unlink(path);
	expect_success(&result);
	expect_case(&result, "other-ipv4", 1);
	expect_case(&result, "other-ipv6", 4096);
	expect_case(&result, "other-ipv4-new", 1 << 24);
	expect_case(&result, "other-not-vip", 1);
	json_decref(result.json);
}

static void other_program_without_frags_is_measured(void **state)
{
	(void)state;
	need_bpffs();
	expect_other_measured(0);
}

static void other_program_with_frags_is_measured(void **state)
{
	(void)state;
	need_bpffs();
	expect_other_measured(BPF_F_XDP_HAS_FRAGS);
}

static void expect_refused(const char *path, const char *sentence)
{
	const char *args[] = { "--only", "other", "--other", path, NULL };
	struct result result;

	run_bench(args, &result);
	json_decref(result.json);
	assert_int_not_equal(result.status, 0);
	if (!strstr(result.text, sentence) || !strstr(result.text, path))
		fail_msg("expected '%s' about '%s', got: %s", sentence, path,
			 result.text);
	/* Before anything is measured: a whole run takes minutes. */
	assert_null(strstr(result.text, "median ns"));
}

static void other_that_is_not_there_is_named(void **state)
{
	(void)state;
	expect_refused("/nowhere/program", "No such file or directory");
}

static void other_that_is_no_xdp_program_is_named(void **state)
{
	char path[64];

	(void)state;
	need_bpffs();
	pin_program(BPF_PROG_TYPE_SOCKET_FILTER, 0, path);
	expect_refused(path, "socket_filter, not xdp");
	unlink(path);
}

static void other_that_is_a_map_is_named(void **state)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "other", 4, 4, 1, NULL);
	char path[64];

	(void)state;
	need_bpffs();
	assert_true(fd >= 0);
	snprintf(path, sizeof(path), FAIRLEAD_BPFFS "/fairlead_bench_test_%d",
		 getpid());
	assert_int_equal(bpf_obj_pin(fd, path), 0);
	close(fd);
	expect_refused(path, "not a program or a link");
	unlink(path);
}

int main(void)
{
	static const struct CMUnitTest bench[] = {
		cmocka_unit_test(quick_bench_measures_every_case),
		cmocka_unit_test(other_program_without_frags_is_measured),
		cmocka_unit_test(other_program_with_frags_is_measured),
		cmocka_unit_test(other_that_is_not_there_is_named),
		cmocka_unit_test(other_that_is_no_xdp_program_is_named),
		cmocka_unit_test(other_that_is_a_map_is_named),
	};

	if (geteuid() != 0) {
		fprintf(stderr, "skipped: BPF_PROG_RUN needs root\n");
		return SKIP;
	}
	return cmocka_run_group_tests(bench, NULL, NULL);
}
