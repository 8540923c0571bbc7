/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TEST_CLI_ALL_H
#define FAIRLEAD_TEST_CLI_ALL_H

/*
 * The whole command but its main() and backend-setup, so that its tests can
 * run it in their own process and reach its statics.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "user/cli/answer.c"
#include "user/cli/args.c"
#include "user/cli/call.c"
#include "user/cli/cli.c"
#include "user/cli/client.c"
#include "user/cli/config.c"
#include "user/cli/drain.c"
#include "user/cli/edit.c"
#include "user/cli/file.c"
#include "user/cli/files.c"
#include "user/cli/flows.c"
#include "user/cli/help.c"
#include "user/cli/json_text.c"
#include "user/cli/options.c"
#include "user/cli/report.c"
#include "user/cli/show.c"
#include "user/cli/show_people.c"
#include "user/cli/stop.c"
#include "user/cli/table_diff.c"
#include "user/cli/table_plan.c"
#include "user/cli/table_show.c"
#include "user/cli/verbs.c"
#include "user/cli/watch.c"
#include "user/cli/words.c"
#include "user/cli/writer.c"
#include "user/cli/writer_bar.c"
#include "user/cli/writer_json.c"
#include "user/cli/writer_text.c"

/* What the stub was called with. */
static int setup_argc;
static const char *setup_word;

int cmd_backend_setup(struct cli *cli, int argc, char **argv)
{
	(void)cli;
	setup_argc = argc;
	setup_word = argc > 0 ? argv[0] : NULL;
	return EXIT_OK;
}

int cmd_test(struct cli *cli, int argc, char **argv)
{
	(void)cli;
	(void)argc;
	(void)argv;
	return EXIT_OK;
}

struct outcome {
	int status;
	char *out, *err; /* what was printed */
};

static inline void outcome_free(struct outcome *o)
{
	free(o->out);
	free(o->err);
	*o = (struct outcome){};
}
#define _cleanup_outcome_ _cleanup_(outcome_free)

#define ARGV_MAX 32

/* Run `fairlead` with the words of the line, which blanks part. */
static inline struct outcome fairlead(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

static inline struct outcome fairlead(const char *format, ...)
{
	_cleanup_free_ char *line = NULL;
	char *argv[ARGV_MAX] = { (char *)"fairlead" }, *rest, *word;
	struct outcome o = {};
	size_t out_size, err_size;
	FILE *out = open_memstream(&o.out, &out_size);
	FILE *err = open_memstream(&o.err, &err_size);
	int argc = 1;
	va_list args;

	va_start(args, format);
	assert_true(vasprintf(&line, format, args) >= 0);
	va_end(args);
	assert_non_null(out);
	assert_non_null(err);

	for (rest = line; (word = strsep(&rest, " "));) {
		assert_true(argc < ARGV_MAX - 1);
		if (*word)
			argv[argc++] = word;
	}
	o.status = cli_main(argc, argv, out, err);
	fclose(out);
	fclose(err);
	return o;
}

#define assert_contains(text, part)                                      \
	do {                                                             \
		if (!strstr((text), (part)))                             \
			fail_msg("'%s' is not in '%s'", (part), (text)); \
	} while (0)

/* A line that is refused before any daemon is asked, and what it says. */
struct misuse {
	const char *line, *err;
};

static inline void expect_misuses(const struct misuse *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		_cleanup_outcome_ struct outcome o =
			fairlead("--socket /nonexistent/s %s", rows[i].line);

		assert_int_equal(o.status, EXIT_USAGE);
		assert_contains(o.err, rows[i].err);
		assert_string_equal(o.out, "");
	}
}

#endif
