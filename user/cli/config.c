// SPDX-License-Identifier: GPL-2.0-only
#include "config.h"

#include <errno.h>
#include <string.h>

#include "answer.h"
#include "call.h"
#include "file.h"

const char *config_file_name(const char *path)
{
	return strcmp(path, "-") == 0 ? "standard input" : path;
}

int config_load(const char *path, struct cfg **out, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	size_t length;
	int r;

	if (strcmp(path, "-") != 0)
		return cfg_load_file(path, out, err);

	r = file_read(path, &text, &length, err);
	if (r < 0)
		return r;

	return cfg_parse_yaml(text, length, config_file_name(path), out, err);
}

static int running_config(struct cli *cli, struct cfg **out)
{
	json_auto_t *result = NULL;
	const char *yaml = NULL;
	struct err err = {};
	int status = cli_call(cli, CALL_CHANGE, "save", json_object(), &result);

	if (status)
		return status;

	if (answer_string(result, "yaml", &yaml, &err) < 0 ||
	    cfg_parse_yaml(yaml, strlen(yaml), "the running configuration", out,
			   &err) < 0)
		return cli_fail_answer(cli, "save", &err);

	return EXIT_OK;
}

int config_of_tables(struct cli *cli, const char *path, struct cfg **out)
{
	struct err err = {};
	int r;

	if (!path || strcmp(path, "-") == 0)
		return running_config(cli, out);

	r = config_load(path, out, &err);
	if (r == -EACCES)
		return cli_fail_err(cli, &err);
	if (r < 0)
		return cli_fail(cli, EXIT_REFUSED, "invalid", "%s", err.text);

	return EXIT_OK;
}
