// SPDX-License-Identifier: GPL-2.0-only
/*
 * For LD_PRELOAD: while the file $NO_WATCHES exists, the kernel watches no socket more
 * (epoll_ctl(2), max_user_watches).
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

int epoll_ctl(int epoll_fd, int what, int fd, struct epoll_event *event)
{
	int (*real)(int epoll_fd, int what, int fd, struct epoll_event *event) =
		dlsym(RTLD_NEXT, "epoll_ctl");
	const char *file = getenv("NO_WATCHES");

	if (what != EPOLL_CTL_ADD || !file || access(file, F_OK))
		return real(epoll_fd, what, fd, event);
	errno = ENOSPC;
	return -1;
}
