// SPDX-License-Identifier: GPL-2.0-only
#include "ends.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <linux/if_link.h>

#include "tests/bench-e2e/settings.h"
#include "user/core/cleanup.h"

int ends_enter(const char *prefix, const char *host, struct err *err)
{
	_cleanup_close_ int fd = -1;
	char path[128];

	snprintf(path, sizeof(path), "/run/netns/%s-%s", prefix, host);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		return err_set(err, -errno, "cannot enter '%s': %s", path, strerror(errno));
	return 0;
}

int ends_interface(const char *name, uint32_t *ifindex, struct err *err)
{
	*ifindex = if_nametoindex(name);
	return *ifindex ? 0 :
			  err_set(err, -errno, "interface '%s': %s", name, strerror(errno));
}

int ends_attach(const struct bpf_program *prog, const char *name, uint32_t *ifindex,
		struct err *err)
{
	int code = ends_interface(name, ifindex, err);

	if (code)
		return code;
	code = bpf_xdp_attach(*ifindex, bpf_program__fd(prog), XDP_FLAGS_DRV_MODE, NULL);
	return code ? err_set(err, code, "cannot attach to '%s': %s", name,
			      strerror(-code)) :
		      0;
}

int ends_send(const struct bpf_program *make, uint32_t packets, struct err *err)
{
	uint8_t frame[E2E_FRAME] = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = E2E_FRAME,
		    .repeat = packets, .batch_size = ENDS_BATCH,
		    .flags = BPF_F_TEST_XDP_LIVE_FRAMES);
	int code = bpf_prog_test_run_opts(bpf_program__fd(make), &opts);

	return code ? err_set(err, code, "cannot send: %s", strerror(-code)) : 0;
}
