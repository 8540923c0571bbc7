// SPDX-License-Identifier: GPL-2.0-only
/* What goes to stderr: failures and warnings, as text or as JSON. */
#include <errno.h>
#include <stdarg.h>

#include "cli.h"
#include "json_text.h"

#define SENTENCE_MAX 1024

static bool wants_json(const struct cli *cli)
{
	return cli->options.form == WRITER_JSON ||
	       cli->options.form == WRITER_JSON_PRETTY;
}

/* One line in either JSON form: stderr is read by the line. */
static void print_json(struct cli *cli, const char *kind, const char *code,
		       const char *sentence)
{
	json_auto_t *object = json_object();
	json_t *inner = json_object();

	json_object_set_new(inner, "code", json_text(code));
	json_object_set_new(inner, "message", json_text(sentence));
	json_object_set_new(object, kind, inner);
	json_dumpf(object, cli->stderr_file, JSON_COMPACT);
	fputc('\n', cli->stderr_file);
}

/* A control character in a quoted word must not reach the terminal. */
static void print_text(struct cli *cli, const char *prefix, const char *sentence)
{
	fprintf(cli->stderr_file, "fairlead: %s", prefix);
	for (const char *c = sentence; *c; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			fprintf(cli->stderr_file, "\\x%02x", (unsigned char)*c);
		else
			fputc(*c, cli->stderr_file);
	}
	fputc('\n', cli->stderr_file);
}

int cli_fail(struct cli *cli, int status, const char *code, const char *format,
	     ...)
{
	char sentence[SENTENCE_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);

	if (wants_json(cli))
		print_json(cli, "error", code, sentence);
	else
		print_text(cli, "", sentence);
	return status;
}

int cli_fail_usage(struct cli *cli, const char *format, ...)
{
	const struct verb *verb = cli->verb;
	char sentence[SENTENCE_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);

	cli_fail(cli, EXIT_USAGE, "usage", "%s", sentence);
	if (!wants_json(cli))
		fprintf(cli->stderr_file, "Try: fairlead%s%s%s%s --help\n",
			verb ? " " : "", verb ? verb->object : "",
			verb && verb->name ? " " : "",
			verb && verb->name ? verb->name : "");
	return EXIT_USAGE;
}

int cli_fail_err(struct cli *cli, const struct err *err)
{
	if (err->code == -EPERM || err->code == -EACCES)
		return cli_fail(cli, EXIT_NOPERM, "denied", "%s", err->text);

	return cli_fail(cli, EXIT_REFUSED, "failed", "%s", err->text);
}

void cli_warn(struct cli *cli, const char *format, ...)
{
	char sentence[SENTENCE_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);

	if (wants_json(cli))
		print_json(cli, "warning", "warning", sentence);
	else
		print_text(cli, "warning: ", sentence);
}
