// SPDX-License-Identifier: GPL-2.0-only
/* The bench runs to its end and writes what it says; no figure is judged. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <sched.h>
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
	char text[16384]; /* stdout and stderr */
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

/* Is it the row of that case, flows and program? */
static bool is_row(json_t *row, const char *name, int flows, const char *program)
{
	const char *row_name, *row_program;
	int row_flows;

	assert_int_equal(json_unpack(row, "{s:s, s:i, s:s}", "case", &row_name, "flows",
				     &row_flows, "program", &row_program),
			 0);
	return strcmp(row_name, name) == 0 && row_flows == flows &&
	       strcmp(row_program, program) == 0;
}

/* The program's row in the case for that many flows, with all that is promised. */
static void expect_case(const struct result *result, const char *name, int flows,
			const char *program)
{
	double min_ns, median_ns, missed = 0;
	json_t *row;
	size_t i;

	json_array_foreach(result->json, i, row)
	{
		if (!is_row(row, name, flows, program))
			continue;
		if (json_unpack(row, "{s:F, s:F, s?F}", "min_ns", &min_ns, "median_ns",
				&median_ns, "missed", &missed))
			continue;
		assert_true(min_ns > 0);
		assert_true(median_ns >= min_ns);
		assert_true(missed >= 0 && missed <= 0.01);
		return;
	}
	fail_msg("no row of '%s' in case '%s' with %d flows", program, name, flows);
}

/* What the flood did to the flows that the form had. */
static void expect_loss(const struct result *result, const char *name, const char *program)
{
	int packets, lost;
	json_t *row;
	double ns;
	size_t i;

	json_array_foreach(result->json, i, row)
	{
		if (!is_row(row, name, 10000, program) || !json_object_get(row, "lost"))
			continue;
		assert_int_equal(json_unpack(row, "{s:i, s:i, s:F}", "packets", &packets,
					     "lost", &lost, "ns", &ns),
				 0);
		assert_in_range(lost, 0, 10000);
		assert_true(packets > 0 && ns > 0);
		return;
	}
	fail_msg("no row of what '%s' lost in case '%s'", program, name);
}

static void expect_forms(const struct result *result, const char *name, int flows,
			 const char *beside)
{
	expect_case(result, name, flows, "sets");
	expect_case(result, name, flows, "lru");
	expect_case(result, name, flows, beside);
}

static void expect_flood(const struct result *result, const char *name)
{
	expect_forms(result, name, 10000, "no flood");
	expect_loss(result, name, "sets");
	expect_loss(result, name, "lru");
}

static void expect_two_cpus(const struct result *result)
{
	cpu_set_t allowed;

	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	if (CPU_COUNT(&allowed) < 2) {
		assert_non_null(strstr(result->text, "may use one CPU only"));
		return;
	}
	expect_forms(result, "two-cpus", 1, "one cpu");
	expect_forms(result, "two-cpus", 4096, "one cpu");
}

static void quick_bench_measures_every_case(void **state)
{
	static const char *const no_args[] = { NULL };
	struct result result;

	(void)state;
	run_bench(no_args, &result);
	expect_success(&result);
	expect_case(&result, "bare", 1, "pass");
	expect_case(&result, "bare", 1, "tx");
	expect_case(&result, "bare", 1, "floor");
	for (int flows = 1; flows <= 4096; flows *= 4096) {
		expect_forms(&result, "ipv4-ipip", flows, "floor");
		expect_forms(&result, "ipv4-gue", flows, "ipv4-ipip");
		expect_forms(&result, "ipv6-ipip", flows, "ipv4-ipip");
		expect_forms(&result, "ipv6-gue", flows, "ipv6-ipip");
		expect_forms(&result, "ipv4-new", flows, "known");
	}
	expect_forms(&result, "ipv4-in-turn", 4096, "floor");
	expect_forms(&result, "ipv4-zipf", 4096, "floor");
	expect_forms(&result, "ipv4-not-vip", 1, "pass");
	expect_forms(&result, "ipv6-not-vip", 1, "pass");
	expect_flood(&result, "flood-syn");
	expect_flood(&result, "flood-ack");
	expect_two_cpus(&result);
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

static void expect_other_measured(uint32_t flags, const char *name, int flows)
{
	char path[64];
	const char *args[] = { "--only", name, "--other", path, NULL };
	struct result result;

	pin_program(BPF_PROG_TYPE_XDP, flags, path);
	run_bench(args, &result);
	unlink(path);
	expect_success(&result);
	expect_case(&result, name, flows, "other");
	json_decref(result.json);
}

static void other_program_without_frags_is_measured(void **state)
{
	(void)state;
	need_bpffs();
	expect_other_measured(0, "ipv4-in-turn", 4096);
}

static void other_program_with_frags_is_measured(void **state)
{
	(void)state;
	need_bpffs();
	expect_other_measured(BPF_F_XDP_HAS_FRAGS, "ipv6-not-vip", 1);
}

static void expect_refused(const char *path, const char *sentence)
{
	const char *args[] = { "--only", "bare", "--other", path, NULL };
	struct result result;

	run_bench(args, &result);
	json_decref(result.json);
	assert_int_not_equal(result.status, 0);
	if (!strstr(result.text, sentence) || !strstr(result.text, path))
		fail_msg("expected '%s' about '%s', got: %s", sentence, path,
			 result.text);
	/* Before anything is measured: a whole run takes minutes. */
	assert_null(strstr(result.text, "median"));
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
