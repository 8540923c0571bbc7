// SPDX-License-Identifier: GPL-2.0-only
/* What fairlead-check tells while fairleadd does not read: the newest of each probe. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check/checker.h"
/* A checker of which there is only the channel. */
#include "check/channel.c"

#define PROBES 30000

struct fixture {
	struct checker checker;
	int fd; /* fairleadd's end */
	struct channel_slot slots[PROBES];
	/* Of what has been read, by probe: the newest run, and how many. */
	unsigned int newest[PROBES], results[PROBES];
	unsigned int pong;
	char in[65536];
	size_t n_in;
};

void checker_end(struct checker *checker, int status)
{
	checker->status = status;
}

int checker_take(struct checker *checker, struct check_message *message, struct err *err)
{
	(void)checker;
	(void)message;
	(void)err;
	return 0;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	int fds[2];

	f->checker.status = -1;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	f->fd = fds[0];
	uv_loop_init(&f->checker.loop);
	assert_int_equal(channel_open(&f->checker.channel, &f->checker, fds[1], NULL), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < PROBES; i++)
		channel_forget(&f->checker.channel, &f->slots[i]);
	channel_forget(&f->checker.channel, &f->checker.pong);
	channel_close(&f->checker.channel);
	uv_run(&f->checker.loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&f->checker.loop), 0);
	assert_int_equal(f->checker.status, -1);
	close(f->fd);
	free(f);
	return 0;
}

static void turn(struct fixture *f)
{
	uv_run(&f->checker.loop, UV_RUN_NOWAIT);
}

/* As long as a result with a reason is. */
static void tell(struct fixture *f, size_t probe, unsigned int run)
{
	char *line;

	assert_true(asprintf(&line, "%zu %u %080d", probe, run, 0) > 0);
	channel_tell(&f->checker.channel, &f->slots[probe], line);
	turn(f);
}

static void tell_all(struct fixture *f, unsigned int run)
{
	for (size_t i = 0; i < PROBES; i++)
		tell(f, i, run);
}

static void pong(struct fixture *f, unsigned int seq)
{
	char *line;

	assert_true(asprintf(&line, "pong %u", seq) > 0);
	channel_tell(&f->checker.channel, &f->checker.pong, line);
}

/* Each probe's runs come in their order. */
static void take(struct fixture *f, const char *line)
{
	unsigned int run;
	size_t probe;

	if (sscanf(line, "pong %u", &f->pong) == 1)
		return;
	assert_int_equal(sscanf(line, "%zu %u", &probe, &run), 2);
	assert_true(probe < PROBES);
	assert_true(run > f->newest[probe]);
	f->newest[probe] = run;
	f->results[probe]++;
}

/* False: there is nothing left to read. */
static bool read_some(struct fixture *f)
{
	ssize_t n = recv(f->fd, f->in + f->n_in, sizeof(f->in) - f->n_in, MSG_DONTWAIT);
	char *at = f->in, *end;

	if (n <= 0)
		return false;
	f->n_in += (size_t)n;
	while ((end = memchr(at, '\n', f->in + f->n_in - at))) {
		*end = '\0';
		take(f, at);
		at = end + 1;
	}
	f->n_in -= (size_t)(at - f->in);
	memmove(f->in, at, f->n_in);
	return true;
}

static void read_all(struct fixture *f)
{
	do
		turn(f);
	while (read_some(f));
	assert_int_equal(f->n_in, 0);
}

static void all_is_told_to_who_reads(void **state)
{
	struct fixture *f = *state;

	for (unsigned int run = 1; run <= 3; run++) {
		for (size_t i = 0; i < PROBES; i++) {
			tell(f, i, run);
			read_some(f);
		}
		read_all(f);
	}
	for (size_t i = 0; i < PROBES; i++)
		assert_int_equal(f->results[i], 3);
}

/* Five times what there is room for: each check has been heard of, and its last run. */
static void of_each_probe_the_newest_is_told_to_who_reads_late(void **state)
{
	struct fixture *f = *state;

	for (unsigned int run = 1; run <= 3; run++)
		tell_all(f, run);
	tell(f, 3, 4);
	tell(f, PROBES - 1, 4);
	read_all(f);
	for (size_t i = 0; i < PROBES; i++)
		assert_int_equal(f->newest[i], i == 3 || i == PROBES - 1 ? 4 : 3);
	/* And what was written before does not go. */
	assert_int_equal(f->results[0], 2);

	tell_all(f, 5);
	read_all(f);
	for (size_t i = 0; i < PROBES; i++)
		assert_int_equal(f->newest[i], 5);
}

/* A little is read each time, so that room comes and goes. */
static void of_each_probe_the_newest_is_told_to_who_reads_slowly(void **state)
{
	struct fixture *f = *state;

	for (unsigned int run = 1; run <= 4; run++)
		for (size_t i = 0; i < PROBES; i++) {
			tell(f, i, run);
			if (i % 2000 == 0)
				read_some(f);
		}
	read_all(f);
	for (size_t i = 0; i < PROBES; i++)
		assert_int_equal(f->newest[i], 4);
}

static void what_is_not_told_of_a_probe_that_goes_is_forgotten(void **state)
{
	struct fixture *f = *state;

	tell_all(f, 1);
	tell_all(f, 2);
	for (size_t i = PROBES / 2; i < PROBES; i++)
		channel_forget(&f->checker.channel, &f->slots[i]);
	read_all(f);
	for (size_t i = 0; i < PROBES; i++)
		assert_true(f->newest[i] == 2 || i >= PROBES / 2);
	assert_int_equal(f->results[PROBES - 1], 0);
}

static void the_newest_pong_is_told_too(void **state)
{
	struct fixture *f = *state;

	tell_all(f, 1);
	for (unsigned int seq = 1; seq <= 5; seq++)
		pong(f, seq);
	read_all(f);
	assert_int_equal(f->pong, 5);
}

#define TOLD(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TOLD(all_is_told_to_who_reads),
		TOLD(of_each_probe_the_newest_is_told_to_who_reads_late),
		TOLD(of_each_probe_the_newest_is_told_to_who_reads_slowly),
		TOLD(what_is_not_told_of_a_probe_that_goes_is_forgotten),
		TOLD(the_newest_pong_is_told_too),
	};

	return cmocka_run_group_tests_name("channel of fairlead-check", tests, NULL, NULL);
}
