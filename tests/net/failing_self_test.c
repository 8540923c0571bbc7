// SPDX-License-Identifier: GPL-2.0-only
/*
 * For LD_PRELOAD: trial runs of BPF programs end with a verdict that is not theirs, as
 * those of a program would that is not fit to be attached.
 */
#include <dlfcn.h>
#include <stddef.h>

#include <bpf/bpf.h>
#include <linux/bpf.h>

int bpf_prog_test_run_opts(int prog_fd, struct bpf_test_run_opts *opts)
{
	int (*real)(int fd, struct bpf_test_run_opts *opts) =
		dlsym(RTLD_NEXT, "bpf_prog_test_run_opts");
	int rc = real ? real(prog_fd, opts) : -1;

	opts->retval = XDP_ABORTED;
	return rc;
}
