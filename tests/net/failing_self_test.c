// SPDX-License-Identifier: GPL-2.0-only
/*
 * For LD_PRELOAD: trial runs of BPF programs end as those of a program would that is
 * not fit to be attached. UNFIT says how: it `aborts`, or `passes` everything on.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <linux/bpf.h>

int bpf_prog_test_run_opts(int prog_fd, struct bpf_test_run_opts *opts)
{
	int (*real)(int fd, struct bpf_test_run_opts *opts) =
		dlsym(RTLD_NEXT, "bpf_prog_test_run_opts");
	int rc = real ? real(prog_fd, opts) : -1;
	const char *unfit = getenv("UNFIT");

	if (rc || !opts->data_out || !unfit)
		return rc;
	opts->retval = XDP_ABORTED;
	if (strcmp(unfit, "passes"))
		return rc;
	memcpy(opts->data_out, opts->data_in, opts->data_size_in);
	opts->data_size_out = opts->data_size_in;
	opts->retval = XDP_PASS;
	return rc;
}
