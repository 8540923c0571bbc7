// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: marked MARK tcp|udp ADDRESS PORT
 *
 * What a probe does: a socket with that SO_MARK sends what is on stdin, and what comes
 * back is on stdout. TCP ends when the other side does, UDP with one datagram. Fails
 * when it is not done in three seconds (SLOWER times as many).
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dp/probe.h"

#define SECONDS 3

static int die(const char *what)
{
	fprintf(stderr, "marked: %s: %s\n", what, strerror(errno));
	return 1;
}

static int open_socket(char **argv, bool udp)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST,
				  .ai_socktype = udp ? SOCK_DGRAM : SOCK_STREAM }, *to;
	uint32_t mark = strtoul(argv[1], NULL, 0);
	int mss = PROBE_TCP_MSS, fd;

	if (getaddrinfo(argv[3], argv[4], &hints, &to))
		return -1;
	fd = socket(to->ai_family, to->ai_socktype | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark)) ||
	    (!udp && setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &mss, sizeof(mss))) ||
	    connect(fd, to->ai_addr, to->ai_addrlen))
		return -1;
	return fd;
}

/* Until the end of `from`, or after one piece. */
static int copy(int from, int to, bool one)
{
	char buffer[65536];
	ssize_t n, done, part;

	do {
		n = read(from, buffer, sizeof(buffer));
		if (n < 0)
			return -1;
		for (done = 0; done < n; done += part) {
			part = write(to, buffer + done, n - done);
			if (part < 0)
				return -1;
		}
	} while (n && !one);
	return 0;
}

int main(int argc, char **argv)
{
	const char *slower = getenv("SLOWER");
	bool udp;
	int fd;

	if (argc != 5) {
		fputs("usage: marked MARK tcp|udp ADDRESS PORT\n", stderr);
		return 64;
	}
	alarm(SECONDS * (slower ? atoi(slower) : 1));
	udp = !strcmp(argv[2], "udp");
	fd = open_socket(argv, udp);
	if (fd < 0)
		return die("connect");
	if (copy(STDIN_FILENO, fd, udp) || (!udp && shutdown(fd, SHUT_WR)))
		return die("send");
	return copy(fd, STDOUT_FILENO, udp) ? die("receive") : 0;
}
