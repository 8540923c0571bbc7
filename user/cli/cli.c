// SPDX-License-Identifier: GPL-2.0-only
#include "cli.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "help.h"
#include "options.h"
#include "verbs.h"
#include "words.h"

#define CONNECT_TIMEOUT_MS 10000
#define REPLY_TIMEOUT_MS   120000
#define LINE_WIDTH_MAX	   100
#define OPTIONS_SHOWN_MAX  16

static bool wants_colour(FILE *file)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	int fd = fileno(file);

	if (no_color && *no_color)
		return false;

	if (!term || strcmp(term, "dumb") == 0)
		return false;

	return fd >= 0 && isatty(fd);
}

/* As wide as the terminal, but no wider than a person likes to read. */
static size_t line_width(FILE *file)
{
	struct winsize size;
	int fd = fileno(file);

	if (fd < 0 || ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return LINE_WIDTH_MAX;

	return size.ws_col < LINE_WIDTH_MAX ? size.ws_col : LINE_WIDTH_MAX;
}

static int needs_command(struct cli *cli, const char *object)
{
	const char *names[VERBS_MAX];
	char list[CLI_WORD_MAX];

	return cli_fail_usage(cli, "'%s' needs a command: %s", object,
			      word_list(names, verbs_names(object, names), list,
					sizeof(list)));
}

/* The option of the command that "--weight" would be without the dashes. */
static const struct verb_option *dashed_option(const struct verb *verb,
					       const char *word)
{
	if (!verb || strncmp(word, "--", 2) != 0)
		return NULL;

	for (const struct verb_option *o = verb->options; o && o->key; o++) {
		if (strcmp(o->key, word + 2) == 0)
			return o;
	}
	return NULL;
}

int cli_fail_option(struct cli *cli, const char *word)
{
	const struct verb_option *option = dashed_option(cli->verb, word);
	char dashed[OPTIONS_SHOWN_MAX][16], name[VERB_NAME_MAX], list[256];
	const char *names[OPTIONS_SHOWN_MAX];
	size_t n = 0;

	if (option)
		return cli_fail_usage(cli, "'%s' has no dashes in '%s': %s %s",
				      word, verb_name(cli->verb, name),
				      option->key, option->value);

	for (; n < OPTIONS_SHOWN_MAX && option_entries[n].name; n++) {
		snprintf(dashed[n], sizeof(dashed[n]), "--%s",
			 option_entries[n].name);
		names[n] = dashed[n];
	}
	return cli_fail_usage(cli, "unknown option '%s': expected %s", word,
			      word_list(names, n, list, sizeof(list)));
}

/* Which command the words name, and how many of them name it. */
static int find_verb(struct cli *cli, const struct words *words, int *used)
{
	const char *object;
	struct err err = {};

	if (verbs_find_object(words->word[0], &object, &err) < 0)
		return cli_fail_usage(cli, "%s", err.text);

	*used = 1;
	cli->verb = verbs_alone(object);
	if (cli->verb)
		return EXIT_OK;

	*used = 2;
	if (words->n < 2)
		return needs_command(cli, object);

	if (options_at(words, 1))
		return cli_fail_option(cli, words->word[1]);

	if (verbs_find(object, words->word[1], &cli->verb, &err) < 0)
		return cli_fail_usage(cli, "%s", err.text);

	return EXIT_OK;
}

/* Options that this command does not know. */
static int check_options(struct cli *cli, const struct words *words, int used)
{
	const struct verb *verb = cli->verb;
	bool own = verb->flags & VERB_OWN_OPTIONS;
	char name[VERB_NAME_MAX];

	for (int i = used; i < words->n && !own; i++) {
		if (options_at(words, i))
			return cli_fail_option(cli, words->word[i]);
	}

	if (cli->options.all && !(verb->flags & VERB_ALL))
		return cli_fail_usage(cli, "'%s' has no option --all",
				      verb_name(verb, name));
	if (cli->options.dry_run && !(verb->flags & VERB_DRY_RUN))
		return cli_fail_usage(cli, "'%s' has no option --dry-run",
				      verb_name(verb, name));

	return EXIT_OK;
}

static int run_verb(struct cli *cli, const struct words *words)
{
	struct err err = {};
	int used, status = find_verb(cli, words, &used);
	int argc;
	char **argv;

	if (!status)
		status = check_options(cli, words, used);
	if (status)
		return status;

	argc = words->n - used;
	argv = words->word + used;
	if (!(cli->verb->flags & VERB_OWN_OPTIONS) &&
	    verb_parse_args(cli->verb, argc, argv, &cli->args, &err) < 0)
		return cli_fail_usage(cli, "%s", err.text);

	return cli->verb->run(cli, argc, argv);
}

static int run(struct cli *cli, struct words *words)
{
	if (cli->options.version)
		return cmd_version(cli, 0, NULL);

	if (words->n == 0 && cli->options.help)
		return help_print(cli, 0, NULL);

	/* An unknown option in the place of the command is no command. */
	if (options_at(words, 0))
		return cli_fail_option(cli, words->word[0]);

	if (cli->options.help)
		return help_print(cli, words->n, words->word);

	if (words->n > 0)
		return run_verb(cli, words);

	help_print_all(cli->stderr_file);
	return EXIT_USAGE;
}

int cli_writer_new(const struct cli *cli, struct writer **out)
{
	struct writer_settings settings = {
		.form = cli->options.form,
		.all = cli->options.all,
		.colour = wants_colour(cli->stdout_file),
		.width = line_width(cli->stdout_file),
	};

	return writer_new(&settings, cli->stdout_file, out);
}

/* A reader that has gone away has read enough: EPIPE is no failure. */
static int finish(struct cli *cli)
{
	struct err err = {};
	int r;

	if (!cli->no_document)
		r = writer_finish(cli->out, &err);
	else if (fflush(cli->stdout_file) != 0)
		r = err_set(&err, -errno, "cannot write the help: %s",
			    strerror(errno));
	else
		r = 0;

	if (r == -EPIPE || r == 0)
		return EXIT_OK;

	return cli_fail_err(cli, &err);
}

int cli_main(int argc, char **argv, FILE *stdout_file, FILE *stderr_file)
{
	_cleanup_writer_ struct writer *out = NULL;
	struct cli cli = {
		.stdout_file = stdout_file,
		.stderr_file = stderr_file,
		.connect_timeout_ms = CONNECT_TIMEOUT_MS,
		.reply_timeout_ms = REPLY_TIMEOUT_MS,
		.stop = CLIENT_STOP_NONE,
	};
	struct words words;
	struct err err = {};
	int status;

	if (options_parse(argc - 1, argv + 1, &cli.options, &words, &err) < 0)
		return cli_fail_usage(&cli, "%s", err.text);

	if (cli_writer_new(&cli, &out) < 0)
		return cli_fail(&cli, EXIT_REFUSED, "failed", "out of memory");

	cli.out = out;
	status = run(&cli, &words);
	cli_end_progress(&cli);
	if (status)
		return status;

	return finish(&cli);
}
