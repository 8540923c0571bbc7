// SPDX-License-Identifier: GPL-2.0-only
#include "stop.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* A handler gets no context, so there is one for the process. */
static volatile sig_atomic_t stop_fd = -1;

static void on_stop_signal(int signal)
{
	uint64_t one = 1;
	int errno_before = errno;
	ssize_t n = write((int)stop_fd, &one, sizeof(one));

	(void)n; /* an eventfd takes it, or has been told already */
	(void)signal;
	errno = errno_before;
}

/* Who started us with a signal ignored, as shells do with &, keeps it so. */
static void catch(int signal, struct sigaction *before)
{
	/* No SA_RESTART: a write to a reader that does not read ends, too. */
	struct sigaction action = {.sa_handler = on_stop_signal,
				   .sa_flags = SA_RESETHAND};

	sigaction(signal, NULL, before);
	if (before->sa_handler != SIG_IGN)
		sigaction(signal, &action, NULL);
}

int stop_begin(struct stop *stop, int reader_fd, struct err *err)
{
	stop->ends.reader_fd = reader_fd;
	stop->ends.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (stop->ends.fd < 0)
		return err_set(err, -errno, "cannot wait for signals: %s",
			       strerror(errno));

	stop_fd = stop->ends.fd;
	catch(SIGINT, &stop->int_before);
	catch(SIGTERM, &stop->term_before);
	return 0;
}

void stop_end(struct stop *stop)
{
	if (stop->ends.fd < 0)
		return;

	sigaction(SIGINT, &stop->int_before, NULL);
	sigaction(SIGTERM, &stop->term_before, NULL);
	stop_fd = -1;
	cleanup_close(&stop->ends.fd);
}

static int64_t stop_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int stop_wait(const struct stop *stop, int timeout_ms)
{
	int64_t deadline_ms = stop_now_ms() + timeout_ms;

	for (;;) {
		struct pollfd pfds[] = {
			{.fd = stop->ends.fd, .events = POLLIN},
			{.fd = stop->ends.reader_fd},
		};
		int64_t left = deadline_ms - stop_now_ms();
		int r = poll(pfds, 2, left > 0 ? (int)left : 0);

		if (r < 0 && errno != EINTR)
			return -errno;
		if (r > 0 && pfds[0].revents)
			return -EINTR;
		if (r > 0)
			return -EPIPE;
		if (r == 0)
			return 0;
	}
}
