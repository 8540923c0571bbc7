// SPDX-License-Identifier: GPL-2.0-only
/* Help for people, from the table; and the table itself, for completion. */
#include <string.h>

#include "client.h"
#include "help.h"
#include "options.h"
#include "verbs.h"

#define COLUMN 26

static void print_entry(FILE *file, const char *name, const char *help)
{
	fprintf(file, "  %-*s %s\n", COLUMN - 3, name, help);
}

static void print_options(FILE *file)
{
	for (const struct option_entry *e = option_entries; e->name; e++) {
		char letter[] = "-x, ", name[CLI_WORD_MAX];

		letter[1] = e->letter;
		snprintf(name, sizeof(name), "%s--%s%s%s",
			 e->letter ? letter : "    ", e->name,
			 e->value ? " " : "", e->value ? e->value : "");
		print_entry(file, name, e->help);
	}
}

static void print_verbs(FILE *file, const char *object)
{
	for (const struct verb *v = verbs; v->object; v++) {
		char name[VERB_NAME_MAX];

		if (object && strcmp(object, v->object) != 0)
			continue;
		print_entry(file, verb_name(v, name), v->help);
	}
}

void help_print_all(FILE *file)
{
	fputs("Usage: fairlead [OPTIONS] COMMAND [ARGUMENTS]\n"
	      "\n"
	      "Commands:\n",
	      file);
	print_verbs(file, NULL);
	fputs("\nOptions:\n", file);
	print_options(file);
	fputs("\n"
	      "A VIP is ADDRESS:PORT/PROTOCOL, such as 203.0.113.10:443/tcp,\n"
	      "[2001:db8::10]:443/udp or 203.0.113.10:any/tcp. A TARGET is a\n"
	      "VIP or the name of a pool. Words may be shortened as long as\n"
	      "they stay unambiguous. More: fairlead COMMAND --help, "
	      "fairlead(8)\n",
	      file);
}

static void print_object(FILE *file, const char *object)
{
	fprintf(file,
		"Usage: fairlead [OPTIONS] %s COMMAND [ARGUMENTS]\n"
		"\n"
		"Commands:\n",
		object);
	print_verbs(file, object);
}

static void print_verb(FILE *file, const struct verb *verb)
{
	fputs("Usage: fairlead [OPTIONS] ", file);
	verb_print_usage(verb, file);
	fprintf(file, "\n\n  %s\n", verb->help);
	if (!verb->options)
		return;

	fputs("\nArguments:\n", file);
	for (const struct verb_option *o = verb->options; o->key; o++) {
		char name[CLI_WORD_MAX];

		snprintf(name, sizeof(name), "%s %s", o->key,
			 o->value ? o->value : "");
		print_entry(file, name, o->help);
	}
}

int help_print(struct cli *cli, int argc, char **argv)
{
	const struct verb *verb = NULL;
	const char *object;
	struct err err = {};

	cli->no_document = true;
	if (argc == 0) {
		help_print_all(cli->stdout_file);
		return EXIT_OK;
	}

	if (verbs_find_object(argv[0], &object, &err) < 0)
		return cli_fail_usage(cli, "%s", err.text);

	verb = verbs_alone(object);
	if (!verb && argc > 1 && verbs_find(object, argv[1], &verb, &err) < 0)
		return cli_fail_usage(cli, "%s", err.text);

	if (verb)
		print_verb(cli->stdout_file, verb);
	else
		print_object(cli->stdout_file, object);
	return EXIT_OK;
}

/*
 * For completion, a line each: command, TAB, its arguments, TAB, its options
 * as key=value or key alone. Options of the command line come first, as commands that begin
 * with dashes.
 */
static void print_listing(FILE *file)
{
	for (const struct option_entry *e = option_entries; e->name; e++)
		fprintf(file, "--%s\t%s\t\n", e->name, e->value ? e->value : "");

	for (const struct verb *v = verbs; v->object; v++) {
		char name[VERB_NAME_MAX];

		fprintf(file, "%s\t%s\t", verb_name(v, name), v->args);
		for (const struct verb_option *o = v->options; o && o->key; o++)
			fprintf(file, "%s%s%s%s", o == v->options ? "" : " ",
				o->key, o->value ? "=" : "",
				o->value ? o->value : "");
		fputc('\n', file);
	}
}

int cmd_help(struct cli *cli, int argc, char **argv)
{
	if (argc == 1 && strcmp(argv[0], "--verbs") == 0) {
		cli->no_document = true;
		print_listing(cli->stdout_file);
		return EXIT_OK;
	}

	if (argc > 0 && argv[0][0] == '-')
		return cli_fail_option(cli, argv[0]);

	return help_print(cli, argc, argv);
}

int cmd_version(struct cli *cli, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	writer_str(cli->out, "program", "fairlead");
	writer_str(cli->out, "version", FAIRLEAD_VERSION);
	writer_int(cli->out, "protocol", CLIENT_PROTOCOL);
	return EXIT_OK;
}
