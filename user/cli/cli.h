/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CLI_H
#define FAIRLEAD_CLI_H

/*
 * The `fairlead` command: what every command of it sees.
 *
 *   argv --> options.c (struct cli_options, words) --> verbs.c (one table entry
 *   a command, words matched, arguments checked) --> its handler --> writer
 *
 * A handler returns the exit status. It gives its answer only through
 * cli->out, which the caller finishes when the handler returns EXIT_OK, and its
 * failure only through cli_fail or cli_fail_err, once.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sysexits.h>

#include "client.h"
#include "core/cfg.h"
#include "core/err.h"
#include "writer.h"

#define CLI_POSITIONAL_MAX 4
#define CLI_OPTION_MAX	   32
#define CLI_WORD_MAX	   64 /* of the grammar */

/* Exit statuses; those of <sysexits.h> where one says it. */
enum cli_exit {
	EXIT_OK = 0,
	EXIT_REFUSED = 1,      /* invalid, exists, not found, failed */
	EXIT_USAGE = EX_USAGE, /* 64: the command line is wrong */
	EXIT_UNAVAILABLE = EX_UNAVAILABLE, /* 69: no daemon answers */
	EXIT_TIMEOUT = EX_TEMPFAIL,	   /* 75: flows were left */
	EXIT_PROTOCOL = EX_PROTOCOL,	   /* 76: the daemon speaks otherwise */
	EXIT_NOPERM = EX_NOPERM,	   /* 77 */
	EXIT_CONFIG = EX_CONFIG,	   /* 78: a file for `test` is wrong */
	EXIT_INTERRUPTED = 130, /* as shells say it of SIGINT */
};

struct cli;

/* argv holds the words after the command's own, without the global options. */
typedef int verb_run(struct cli *cli, int argc, char **argv);

struct verb_option {
	const char *key; /* as in the configuration file */
	/* "NAME" is a placeholder, "a|b" are the words; NULL: has no value */
	const char *value;
	const char *help;
};

enum verb_flag {
	VERB_ALL = 1 << 0,	   /* takes -a, --all */
	VERB_OWN_OPTIONS = 1 << 1, /* parses its words and options itself */
	VERB_SOME_OPTION = 1 << 2, /* at least one `key value` */
	VERB_HIDDEN = 1 << 3,
	VERB_DRY_RUN = 1 << 4, /* takes -n, --dry-run */
};

struct verb {
	const char *object;
	const char *name; /* NULL: the object is the whole command */
	const char *args; /* "TARGET ADDRESS", "[FILE]", or "" */
	const struct verb_option *options; /* ends in a NULL key; or NULL */
	verb_run *run;
	const char *help; /* one line */
	unsigned int flags;
};

/*
 * What the words after the command meant. The strings belong to argv, to the
 * table or to the struct itself, so it must not be copied.
 */
struct cli_args {
	const char *positional[CLI_POSITIONAL_MAX]; /* NULL: not given */
	size_t n_positional;
	struct cfg_option options[CLI_OPTION_MAX];
	size_t n_options;
	/* Values that were shortened, whole; options[] may point here. */
	char chosen[CLI_OPTION_MAX][CLI_WORD_MAX];
};

struct cli_options {
	enum writer_form form;
	const char *instance; /* checked: letters, digits, '-', '_' */
	const char *socket;   /* NULL: the one of the instance */
	bool all, dry_run, help, version;
};

struct cli {
	struct cli_options options;
	const struct verb *verb;
	struct cli_args args; /* empty for VERB_OWN_OPTIONS */
	struct writer *out;
	bool no_document; /* plain text was printed instead */
	FILE *stdout_file, *stderr_file;
	int connect_timeout_ms, reply_timeout_ms;
	struct client_stop stop; /* what ends a call */
	bool line_is_open; /* the last progress may still be overwritten */
};

/*
 * Say why the command failed, on stderr, as a line of text or (-j, -p) as
 * {"error": {"code", "message"}}. `code` is one of the control protocol's or
 * "unavailable" or "protocol". Both return the exit status, so that a handler
 * can return in one line.
 */
int cli_fail(struct cli *cli, int status, const char *code, const char *format,
	     ...) __attribute__((format(printf, 4, 5)));
/* Usage: the sentence and where help is; returns EXIT_USAGE. */
int cli_fail_usage(struct cli *cli, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Usage: `word` is an option that the command does not have. */
int cli_fail_option(struct cli *cli, const char *word);
/* -EPERM and -EACCES are EXIT_NOPERM "denied", all others EXIT_REFUSED. */
int cli_fail_err(struct cli *cli, const struct err *err);

/* A condition worth a word that stops nothing, on stderr. */
void cli_warn(struct cli *cli, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* For a command that gives one document after the other. -ENOMEM or 0. */
int cli_writer_new(const struct cli *cli, struct writer **out);

/*
 * How far it is, on stderr: one line that is written again and again on a
 * terminal, a line each elsewhere, and {"progress": {key: value}} for -j, -p.
 */
void cli_progress(struct cli *cli, const char *key, int64_t value,
		  const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Something else is to be said, or nothing more: the last one keeps its line. */
void cli_end_progress(struct cli *cli);

/* The whole command. Writes to the two files, keeps neither. */
int cli_main(int argc, char **argv, FILE *stdout_file, FILE *stderr_file);

/* backend_setup.c */
int cmd_backend_setup(struct cli *cli, int argc, char **argv);
/* test.c */
int cmd_test(struct cli *cli, int argc, char **argv);

#endif
