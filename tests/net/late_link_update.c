// SPDX-License-Identifier: GPL-2.0-only
/*
 * For LD_PRELOAD: the new program takes the place of the old one only when it is let.
 * LATE names a file: it is made when all is ready for that, and awaited to be gone.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

int bpf_link_update(int link_fd, int new_prog_fd, const struct bpf_link_update_opts *opts)
{
	int (*real)(int link, int prog, const struct bpf_link_update_opts *o) =
		dlsym(RTLD_NEXT, "bpf_link_update");
	const struct timespec pause = { 0, 10 * 1000 * 1000 };
	const char *late = getenv("LATE");
	int fd = late ? open(late, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;

	if (fd >= 0)
		close(fd);
	while (late && access(late, F_OK) == 0)
		nanosleep(&pause, NULL);
	return real ? real(link_fd, new_prog_fd, opts) : -1;
}
