// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starts a program as fairleadd starts fairlead-check, with a socket as its file
 * descriptor 3, and stands in for fairleadd: lines of stdin go to it, its lines go to
 * stdout.
 *
 *   checks RESULTS SECONDS PROGRAM [ARGUMENT...]
 *
 * ends when that many results have come, or when the program ends, and exits with the
 * program's status; 0 RESULTS: never by itself. 124 when the time was over before.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/tool.h"

#define WIRE_FD 3
#define LINE_MAX_BYTES 65536
#define EXIT_TIME_OVER 124

static void start(char **argv, int fd)
{
	/* One more, which the program has to close. */
	if (dup2(fd, WIRE_FD) < 0 || dup2(STDIN_FILENO, WIRE_FD + 2) < 0)
		exit(EXIT_FAILURE);
	execv(argv[0], argv);
	perror(argv[0]);
	exit(EXIT_FAILURE);
}

/* False at the end. */
static bool copy_stdin(int fd)
{
	char buffer[65536];
	ssize_t n = read(STDIN_FILENO, buffer, sizeof(buffer));

	for (ssize_t at = 0; at < n;) {
		ssize_t sent = send(fd, buffer + at, n - at, MSG_NOSIGNAL);

		if (sent < 0)
			return false;
		at += sent;
	}
	return n > 0;
}

/* Lines to stdout, up to so many results; how many there were, or -1 at the end. */
static long copy_lines(int fd, long most)
{
	static char buffer[2 * LINE_MAX_BYTES];
	static size_t length;
	char *line = buffer, *end;
	ssize_t n = read(fd, buffer + length, sizeof(buffer) - length);
	long results = 0;

	if (n <= 0)
		return -1;
	length += n;
	while (results < most && (end = memchr(line, '\n', buffer + length - line))) {
		*end = '\0';
		puts(line);
		results += strstr(line, "\"op\":\"result\"") != NULL;
		line = end + 1;
	}
	fflush(stdout);
	length -= line - buffer;
	memmove(buffer, line, length);
	return results;
}

/* True: enough has come. */
static bool run(int fd, long wanted, int64_t deadline)
{
	struct pollfd fds[] = { { fd, POLLIN, 0 }, { STDIN_FILENO, POLLIN, 0 } };
	long got = 0, n;

	while (!wanted || got < wanted) {
		int64_t left = deadline - tool_now_ms();

		if (left <= 0)
			return false;
		if (poll(fds, 2, left) < 0 && errno != EINTR)
			return false;
		if (fds[1].revents && !copy_stdin(fd))
			fds[1].fd = -1;
		if (!fds[0].revents)
			continue;
		n = copy_lines(fd, wanted ? wanted - got : LONG_MAX);
		if (n < 0)
			return true;
		got += n;
	}
	return true;
}

int main(int argc, char **argv)
{
	int fds[2], status;
	bool enough;
	pid_t pid;

	if (argc < 4 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return EXIT_FAILURE;
	pid = fork();
	if (pid == 0)
		start(argv + 3, fds[1]);
	close(fds[1]);
	enough = run(fds[0], atol(argv[1]), tool_now_ms() + 1000 * atol(argv[2]));
	shutdown(fds[0], SHUT_RDWR);
	if (waitpid(pid, &status, 0) < 0)
		return EXIT_FAILURE;
	if (!enough)
		return EXIT_TIME_OVER;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
