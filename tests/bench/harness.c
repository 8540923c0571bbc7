// SPDX-License-Identifier: GPL-2.0-only
#include "harness.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "tests/bench/draws.h"
#include "tests/bench/packets.h"

#include "tests/bench/bench.skel.h"
#include "user/core/cleanup.h"

#define CALLS 5

/* Kinds of program, likeliest first. */
static const struct kind {
	uint32_t flags;
	enum bpf_attach_type attach_type;
} kinds[] = {
	{ BPF_F_XDP_HAS_FRAGS, BPF_XDP },
	{ 0, BPF_XDP },
	{ BPF_F_XDP_HAS_FRAGS, 0 },
	{ 0, 0 },
};

/* The kernel's own figure is in whole ns, too coarse for a floor of ten of them. */
static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1e9 + now.tv_nsec;
}

/* ns: the kernel's figure. */
static int run(const struct harness *harness, bool v6, uint32_t n,
	       struct measurement *out)
{
	const struct bpf_program *driver = v6 ? harness->skel->progs.bench6 :
						harness->skel->progs.bench4;
	uint8_t frame[BENCH_FRAME6] = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame,
		    .data_size_in = v6 ? BENCH_FRAME6 : BENCH_FRAME4,
		    .repeat = n);
	int code = bpf_prog_test_run_opts(bpf_program__fd(driver), &opts);

	*out = (struct measurement){ .ns = opts.duration, .verdict = opts.retval };
	return code;
}

static int load(struct harness *harness, const struct draws *draws,
		const struct kind *kind, struct err *err)
{
	struct bpf_program *prog;
	int code;

	harness->skel = bench_bpf__open();
	if (!harness->skel)
		return err_set(err, -errno, "cannot open the bench program: %s",
			       strerror(errno));
	bpf_object__for_each_program(prog, harness->skel->obj) {
		bpf_program__set_flags(prog, kind->flags);
		bpf_program__set_expected_attach_type(prog, kind->attach_type);
	}
	code = bpf_map__reuse_fd(harness->skel->maps.draws, draws->fd);
	if (!code)
		code = bench_bpf__load(harness->skel);
	if (!code)
		return 0;
	harness_close(harness);
	return err_set(err, code, "cannot load the bench program: %s",
		       strerror(-code));
}

/* The driver alone, of which two packets are next to nothing. */
static void measure_call(struct harness *harness)
{
	struct measurement ignored;
	double begin, ns;

	for (int i = 0; i < CALLS; i++) {
		begin = cpu_ns();
		if (run(harness, false, 2, &ignored))
			return;
		ns = cpu_ns() - begin;
		if (!i || ns < harness->call_ns)
			harness->call_ns = ns;
	}
}

static int put_under_test(struct harness *harness, int prog_fd)
{
	uint32_t zero = 0;

	measure_call(harness);
	return bpf_map_update_elem(bpf_map__fd(harness->skel->maps.under_test),
				   &zero, &prog_fd, BPF_ANY);
}

int harness_open(struct harness *harness, const struct draws *draws, int prog_fd,
		 struct err *err)
{
	int code = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		code = load(harness, draws, &kinds[i], err);
		if (code)
			return code;
		code = put_under_test(harness, prog_fd);
		if (!code)
			return 0;
		harness_close(harness);
	}
	return err_set(err, code,
		       "the program cannot be tail-called, with frags or without: %s",
		       strerror(-code));
}

int harness_open_bare(struct harness *harness, const struct draws *draws,
		      enum bare bare, struct err *err)
{
	const struct bpf_program *prog;
	int code = load(harness, draws, &kinds[0], err);

	if (code)
		return code;
	prog = bare == BARE_PASS ? harness->skel->progs.bare_pass :
	       bare == BARE_TX	 ? harness->skel->progs.bare_tx :
				   harness->skel->progs.floor_ipip;
	code = put_under_test(harness, bpf_program__fd(prog));
	if (!code)
		return 0;
	harness_close(harness);
	return err_set(err, code, "cannot tail-call the bare program: %s",
		       strerror(-code));
}

void harness_close(struct harness *harness)
{
	bench_bpf__destroy(harness->skel);
	harness->skel = NULL;
}

struct bench_packets *harness_packets(const struct harness *harness)
{
	return &harness->skel->bss->packets;
}

int harness_run(const struct harness *harness, bool v6, uint32_t n,
		struct measurement *out, struct err *err)
{
	double begin = cpu_ns(), ns;
	int code = run(harness, v6, n, out);

	if (code)
		return err_set(err, code, "BPF_PROG_RUN: %s", strerror(-code));
	ns = (cpu_ns() - begin - harness->call_ns) / n;
	/* No packet takes less; a call may, when it is of few of them. */
	if (ns > 1)
		out->ns = ns;
	return 0;
}

int harness_run_endless(const struct harness *harness, bool v6)
{
	struct measurement ignored;
	int code;

	do
		code = run(harness, v6, INT_MAX, &ignored);
	while (!code);
	return code == -EINTR ? 0 : code;
}

/* What the fd stands for, as the kernel names it: "bpf-prog", "bpf_link". */
static void describe_fd(int fd, char *text, size_t size)
{
	char path[64], target[64] = "";
	const char *colon;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, target, sizeof(target) - 1);
	target[n < 0 ? 0 : n] = '\0';
	colon = strchr(target, ':');
	snprintf(text, size, "%s", colon ? colon + 1 : "unknown object");
}

static int program_of_link(int fd)
{
	struct bpf_link_info info = { 0 };
	uint32_t size = sizeof(info);
	int code = bpf_obj_get_info_by_fd(fd, &info, &size);

	return code ? code : bpf_prog_get_fd_by_id(info.prog_id);
}

int pinned_program(const char *path, struct err *err)
{
	_cleanup_close_ int fd = bpf_obj_get(path);
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);
	char what[64];
	int code;

	if (fd < 0)
		return err_set(err, fd, "cannot open '%s' as a pinned program: %s",
			       path, strerror(-fd));
	describe_fd(fd, what, sizeof(what));
	if (strstr(what, "link")) {
		code = program_of_link(fd);
		if (code < 0)
			return err_set(err, code,
				       "cannot get the program of link '%s': %s",
				       path, strerror(-code));
		cleanup_close(&fd);
		fd = code;
	} else if (!strstr(what, "prog")) {
		return err_set(err, -EINVAL,
			       "'%s' is a %s, not a program or a link", path, what);
	}

	code = bpf_obj_get_info_by_fd(fd, &info, &size);
	if (code)
		return err_set(err, code, "cannot read what '%s' is: %s", path,
			       strerror(-code));
	if (info.type != BPF_PROG_TYPE_XDP)
		return err_set(err, -EINVAL,
			       "'%s' is a program of type %s, not xdp", path,
			       libbpf_bpf_prog_type_str(info.type));
	return TAKE_FD(fd);
}
