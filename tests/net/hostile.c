// SPDX-License-Identifier: GPL-2.0-only
/*
 * A server that does what servers should not, or says just what it is told to.
 *
 *   hostile MODE PORT [ARGUMENT]
 *
 * on TCP:
 *   reply TEXT      answers a request with the text and closes
 *   file FILE       the same with what is in a file
 *   banner TEXT     says the text at once, and reads until the other side ends
 *   closes          closes each connection at once
 *   resets          resets it
 *   silent          takes what comes and says nothing
 *   body, headers, header, continues    an answer without end: its body, more and more
 *                   headers, one header, one interim answer after the other
 *   drip            an answer that comes a byte each 20 ms
 * on UDP:
 *   udp TEXT        answers each datagram
 *   udp-other TEXT  answers from a port that was not asked
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const char *argument = "";

static void say(int fd, const char *data, size_t length)
{
	while (length) {
		ssize_t n = send(fd, data, length, MSG_NOSIGNAL);

		if (n <= 0)
			exit(EXIT_SUCCESS); /* the other side has had enough */
		data += n;
		length -= n;
	}
}

static void say_text(int fd, const char *text)
{
	say(fd, text, strlen(text));
}

/* Until its end. */
static void hear(int fd)
{
	char buffer[4096];

	while (recv(fd, buffer, sizeof(buffer), 0) > 0)
		;
}

static void hear_request(int fd)
{
	char buffer[8192] = "";
	size_t n = 0;

	while (n < sizeof(buffer) - 1 && !strstr(buffer, "\r\n\r\n")) {
		ssize_t got = recv(fd, buffer + n, sizeof(buffer) - 1 - n, 0);

		if (got <= 0)
			exit(EXIT_SUCCESS);
		n += got;
	}
}

static void say_for_ever(int fd, const char *head, const char *text)
{
	hear_request(fd);
	say_text(fd, head);
	for (;;)
		say_text(fd, text);
}

static void reply(int fd)
{
	hear_request(fd);
	say_text(fd, argument);
}

static void reply_file(int fd)
{
	int file = open(argument, O_RDONLY);
	char buffer[65536];
	ssize_t n;

	hear_request(fd);
	while ((n = read(file, buffer, sizeof(buffer))) > 0)
		say(fd, buffer, n);
}

static void banner(int fd)
{
	say_text(fd, argument);
	hear(fd);
}

static void closes(int fd)
{
	shutdown(fd, SHUT_RDWR);
}

static void resets(int fd)
{
	struct linger reset = { 1, 0 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
}

static void body(int fd)
{
	static char filler[65536];

	memset(filler, 'x', sizeof(filler) - 1);
	say_for_ever(fd, "HTTP/1.1 200 OK\r\n\r\n", filler);
}

static void headers(int fd)
{
	say_for_ever(fd, "HTTP/1.1 200 OK\r\n", "X-More: and more of them\r\n");
}

static void header(int fd)
{
	say_for_ever(fd, "HTTP/1.1 200 OK\r\nX-Long: ", "and longer, ");
}

static void continues(int fd)
{
	say_for_ever(fd, "", "HTTP/1.1 100 Continue\r\n\r\n");
}

static void drip(int fd)
{
	const struct timespec pause = { 0, 20 * 1000 * 1000 };

	hear_request(fd);
	say_text(fd, "HTTP/1.1 200 OK\r\nX-Slow: ");
	for (;;) {
		say_text(fd, "x");
		nanosleep(&pause, NULL);
	}
}

static const struct {
	const char *name;
	void (*serve)(int fd);
} modes[] = {
	{ "reply", reply },	  { "file", reply_file }, { "banner", banner },
	{ "closes", closes },	  { "resets", resets },	  { "silent", hear },
	{ "body", body },	  { "headers", headers }, { "header", header },
	{ "continues", continues }, { "drip", drip },
};

static void die(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static int bound(int type, unsigned int port)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	int fd = socket(AF_INET6, type, 0), on = 1, off = 0;

	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&any, sizeof(any)))
		die("bind");
	return fd;
}

static void serve_udp(unsigned int port, int other)
{
	int fd = bound(SOCK_DGRAM, port), from = other ? bound(SOCK_DGRAM, 0) : fd;
	struct sockaddr_in6 peer;
	char buffer[2048];

	for (;;) {
		socklen_t length = sizeof(peer);

		if (recvfrom(fd, buffer, sizeof(buffer), 0, (struct sockaddr *)&peer,
			     &length) >= 0)
			sendto(from, argument, strlen(argument), 0,
			       (struct sockaddr *)&peer, length);
	}
}

static void serve_tcp(unsigned int port, void (*serve)(int fd))
{
	int listener = bound(SOCK_STREAM, port);

	if (listen(listener, 1024))
		die("listen");
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int fd = accept(listener, NULL, NULL);

		if (fd >= 0 && fork() == 0) {
			close(listener);
			serve(fd);
			exit(EXIT_SUCCESS);
		}
		if (fd >= 0)
			close(fd);
	}
}

int main(int argc, char **argv)
{
	unsigned int port = argc > 2 ? atoi(argv[2]) : 0;

	if (argc > 3)
		argument = argv[3];
	if (port && !strncmp(argv[1], "udp", 3))
		serve_udp(port, !strcmp(argv[1], "udp-other"));
	for (size_t i = 0; port && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(modes[i].name, argv[1]))
			serve_tcp(port, modes[i].serve);
	fprintf(stderr, "usage: hostile MODE PORT [ARGUMENT]\n");
	return 64;
}
