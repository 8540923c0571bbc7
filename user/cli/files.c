// SPDX-License-Identifier: GPL-2.0-only
/* The commands that read or write a configuration file. */
#include <errno.h>
#include <string.h>

#include "answer.h"
#include "call.h"
#include "config.h"
#include "file.h"
#include "json_text.h"
#include "sys/user.h"
#include "verbs.h"

/* The request for apply; NULL when the text cannot be JSON. */
static json_t *apply_args(const char *path, const char *text, size_t length, bool dry_run)
{
	json_auto_t *args = json_object();

	if (json_object_set_new(args, "file", json_text(config_file_name(path))) < 0 ||
	    json_object_set_new(args, "yaml", json_stringn(text, length)) < 0 ||
	    (dry_run && json_object_set_new(args, "dry_run", json_true()) < 0))
		return NULL;

	return json_incref(args);
}

static const struct field preview_fields[] = {
	{ .key = "address", .kind = FIELD_STRING },
	{ .key = "change", .kind = FIELD_STRING },
	{ .key = "slots", .kind = FIELD_INTEGER },
	{ .key = "moved", .kind = FIELD_INTEGER },
	{ .key = "moved_percent", .kind = FIELD_REAL },
	{ .key = "flows", .kind = FIELD_INTEGER },
	{ .key = "flows_on_moved", .kind = FIELD_INTEGER },
};

/* For people, only what would change. */
static bool is_unchanged(const json_t *vip)
{
	const char *change = json_string_value(json_object_get(vip, "change"));

	return change && !strcmp(change, "unchanged");
}

static int write_preview(struct writer *w, const json_t *result, struct err *err)
{
	return answer_list(w, result, "vips", preview_fields,
			   sizeof(preview_fields) / sizeof(*preview_fields),
			   is_unchanged, err);
}

int cmd_apply(struct cli *cli, int argc, char **argv)
{
	const char *path = cli->args.positional[0];
	_cleanup_free_ char *text = NULL;
	json_auto_t *result = NULL;
	json_t *args;
	struct err err = {};
	size_t length;
	int status;

	(void)argc;
	(void)argv;
	if (file_read(path, &text, &length, &err) < 0)
		return cli_fail_err(cli, &err);

	args = apply_args(path, text, length, cli->options.dry_run);
	if (!args)
		return cli_fail(cli, EXIT_REFUSED, "invalid",
				"'%s' is not UTF-8 text", config_file_name(path));

	status = cli_call(cli, CALL_CHANGE, "apply", args, &result);
	if (status)
		return status;

	if (answer_record(cli->out, result, "changes", &err) < 0 ||
	    (cli->options.dry_run && write_preview(cli->out, result, &err) < 0))
		return cli_fail_answer(cli, "apply", &err);

	return EXIT_OK;
}

static void write_warning(void *context, const char *text)
{
	writer_str_tone(context, NULL, text, TONE_WARN);
}

static size_t count_backends(const struct cfg *cfg)
{
	size_t n = 0;

	for (size_t i = 0; i < cfg->n_pools; i++)
		n += cfg->pools[i].n_backends;
	return n;
}

/* Whom checks run as may be a user of the host that the file is for, and not of this one. */
static void warn_user(struct writer *w, const struct cfg *cfg)
{
	struct err err;

	if (cfg_has_checks(cfg) && user_check(cfg->check_user, &err))
		write_warning(w, err.text);
}

int cmd_check(struct cli *cli, int argc, char **argv)
{
	const char *path = cli->args.positional[0];
	_cleanup_cfg_ struct cfg *cfg = NULL;
	struct writer *w = cli->out;
	struct err err = {};
	int r = config_load(path, &cfg, &err);

	(void)argc;
	(void)argv;
	if (r == -EACCES)
		return cli_fail_err(cli, &err);
	if (r < 0)
		return cli_fail(cli, EXIT_REFUSED, "invalid", "%s", err.text);

	writer_str(w, "file", config_file_name(path));
	writer_str(w, "interface", cfg->interface);
	writer_int(w, "vips", (int64_t)cfg->n_vips);
	writer_int(w, "pools", (int64_t)cfg->n_pools);
	writer_int(w, "backends", (int64_t)count_backends(cfg));
	writer_list(w, "warnings");
	cfg_warnings(cfg, write_warning, w);
	warn_user(w, cfg);
	writer_close(w);
	return EXIT_OK;
}

/* Relative to what? The daemon's working directory is not ours. */
static int choose_file(struct cli *cli, const char *daemon_file, const char **out)
{
	*out = cli->args.positional[0] ? cli->args.positional[0] : daemon_file;
	if (cli->args.positional[0] || daemon_file[0] == '/')
		return EXIT_OK;

	return cli_fail(cli, EXIT_REFUSED, "failed",
			"fairleadd (instance '%s') does not know the whole "
			"path of its configuration file ('%s'): give one, "
			"fairlead save FILE",
			cli->options.instance, daemon_file);
}

/* What can be read back with `fairlead apply -`, or JSON where asked for. */
static int print_yaml(struct cli *cli, const char *yaml)
{
	if (cli->options.form == WRITER_JSON ||
	    cli->options.form == WRITER_JSON_PRETTY) {
		writer_str(cli->out, "yaml", yaml);
		return EXIT_OK;
	}

	cli->no_document = true;
	fputs(yaml, cli->stdout_file);
	return EXIT_OK;
}

int cmd_save(struct cli *cli, int argc, char **argv)
{
	json_auto_t *result = NULL;
	const char *yaml = NULL, *daemon_file = NULL, *file = NULL;
	struct err err = {};
	int status = cli_call(cli, CALL_CHANGE, "save", json_object(), &result);

	(void)argc;
	(void)argv;
	if (status)
		return status;

	if (answer_string(result, "yaml", &yaml, &err) < 0 ||
	    answer_string(result, "file", &daemon_file, &err) < 0)
		return cli_fail_answer(cli, "save", &err);

	status = choose_file(cli, daemon_file, &file);
	if (status)
		return status;

	if (strcmp(file, "-") == 0)
		return print_yaml(cli, yaml);

	if (file_replace(file, yaml, &err) < 0)
		return cli_fail_err(cli, &err);

	writer_str(cli->out, "file", file);
	return EXIT_OK;
}
