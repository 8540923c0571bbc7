// SPDX-License-Identifier: GPL-2.0-only
/*
 * For LD_PRELOAD: while the file $NO_MARKS exists, the kernel has no memory for another
 * mark of a check through the tunnel.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

static bool is_of_marks(int fd)
{
	struct bpf_map_info info = { 0 };
	__u32 size = sizeof(info);

	return !bpf_obj_get_info_by_fd(fd, &info, &size) && !strcmp(info.name, "probe_marks");
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	int (*real)(int fd, const void *key, const void *value, __u64 flags) =
		dlsym(RTLD_NEXT, "bpf_map_update_elem");
	const char *file = getenv("NO_MARKS");

	if (real && (!file || access(file, F_OK) || !is_of_marks(fd)))
		return real(fd, key, value, flags);
	errno = ENOMEM;
	return -ENOMEM;
}
