// SPDX-License-Identifier: GPL-2.0-only
/* What goes to stderr: failures and warnings, as text or as JSON. */
#include <errno.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"
#include "json_text.h"

#define SENTENCE_MAX	1024
#define COLUMNS_DEFAULT 80

static bool wants_json(const struct cli *cli)
{
	return cli->options.form == WRITER_JSON ||
	       cli->options.form == WRITER_JSON_PRETTY;
}

void cli_end_progress(struct cli *cli)
{
	if (cli->line_is_open)
		fputc('\n', cli->stderr_file);
	cli->line_is_open = false;
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

/*
 * A control character in a quoted word must not reach the terminal. Not more
 * than so many columns; returns how many were taken.
 */
static size_t print_plain(FILE *file, const char *text, size_t columns)
{
	size_t used = 0;

	for (const char *c = text; *c; c++) {
		bool control = (unsigned char)*c < 0x20 || *c == 0x7f;
		bool inside = ((unsigned char)*c & 0xc0) == 0x80;
		size_t width = control ? 4 : inside ? 0 : 1;

		if (used + width > columns)
			break;
		if (control)
			fprintf(file, "\\x%02x", (unsigned char)*c);
		else
			fputc(*c, file);
		used += width;
	}
	return used;
}

static void print_text(struct cli *cli, const char *prefix, const char *sentence)
{
	cli_end_progress(cli);
	fprintf(cli->stderr_file, "fairlead: %s", prefix);
	print_plain(cli->stderr_file, sentence, SIZE_MAX);
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

static void print_json_progress(struct cli *cli, const char *key, int64_t value)
{
	json_auto_t *object =
		json_pack("{s:{s:I}}", "progress", key, (json_int_t)value);

	json_dumpf(object, cli->stderr_file, JSON_COMPACT);
	fputc('\n', cli->stderr_file);
}

/* Columns of the terminal that stderr is; 0: it is none. */
static size_t terminal_columns(const struct cli *cli)
{
	struct winsize size;
	int fd = fileno(cli->stderr_file);

	if (fd < 0 || !isatty(fd))
		return 0;

	return ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col == 0
		       ? COLUMNS_DEFAULT
		       : size.ws_col;
}

/* Over the line before, and blanks over what that was longer. */
static void print_over(struct cli *cli, const char *sentence, size_t columns)
{
	static const char prefix[] = "fairlead: ";
	size_t room = columns > sizeof(prefix) ? columns - sizeof(prefix) : 0;
	size_t used;

	fprintf(cli->stderr_file, "\r%s", prefix);
	used = print_plain(cli->stderr_file, sentence, room);
	fprintf(cli->stderr_file, "%*s", (int)(room - used), "");
	fflush(cli->stderr_file);
	cli->line_is_open = true;
}

void cli_progress(struct cli *cli, const char *key, int64_t value,
		  const char *format, ...)
{
	char sentence[SENTENCE_MAX];
	size_t columns = terminal_columns(cli);
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);

	if (wants_json(cli))
		print_json_progress(cli, key, value);
	else if (columns)
		print_over(cli, sentence, columns);
	else
		print_text(cli, "", sentence);
}
