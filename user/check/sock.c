// SPDX-License-Identifier: GPL-2.0-only
#include "sock.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

socklen_t sock_address(const struct probe *probe, struct sockaddr_storage *out)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(probe->port),
				  .sin_addr = probe->addr.v4 };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(probe->port),
				   .sin6_addr = probe->addr.v6 };

	memset(out, 0, sizeof(*out));
	if (probe->addr.family == AF_INET) {
		memcpy(out, &v4, sizeof(v4));
		return sizeof(v4);
	}
	memcpy(out, &v6, sizeof(v6));
	return sizeof(v6);
}

static int set_options(int fd, const struct probe *probe, int type, const char **what)
{
	static const struct linger reset = { .l_onoff = 1, .l_linger = 0 };

	*what = "cannot mark packets";
	if (probe->mark &&
	    setsockopt(fd, SOL_SOCKET, SO_MARK, &probe->mark, sizeof(probe->mark)))
		return -errno;
	*what = "cannot set up a socket";
	if (type == SOCK_STREAM &&
	    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)))
		return -errno;
	return 0;
}

int sock_open(const struct probe *probe, int type, int protocol, const char **what)
{
	int fd = socket(probe->addr.family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
	int rc;

	*what = "cannot open a socket";
	if (fd < 0)
		return -errno;
	rc = set_options(fd, probe, type, what);
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

int sock_error(int fd)
{
	socklen_t length = sizeof(int);
	int code = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &length))
		return -errno;
	return -code;
}
