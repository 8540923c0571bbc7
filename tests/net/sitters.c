// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clients of a Unix socket that never read, until they are killed:
 *
 *   sitters SOCKET NUMBER [LINE [TIMES]]
 *
 * opens so many connections and writes the line on each, so many times. Says how many
 * it has ("all NUMBER sit") when all have come.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static int sit(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		die(path);
	return fd;
}

/* What does not fit need not: the other side has enough to do. */
static void ask(int fd, const char *line, int times)
{
	for (; times > 0; times--)
		if (send(fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ||
		    send(fd, "\n", 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
			return;
}

int main(int argc, char **argv)
{
	int i, number = argc > 2 ? atoi(argv[2]) : 0;

	if (number < 1) {
		fprintf(stderr, "usage: sitters SOCKET NUMBER [LINE [TIMES]]\n");
		return EXIT_FAILURE;
	}
	for (i = 0; i < number; i++) {
		int fd = sit(argv[1]);

		if (argc > 3)
			ask(fd, argv[3], argc > 4 ? atoi(argv[4]) : 1);
	}
	printf("all %d sit\n", number);
	fflush(stdout);
	pause();
	return EXIT_SUCCESS;
}
