// SPDX-License-Identifier: GPL-2.0-only
#include "call.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "client.h"

#define SOCKET_FORMAT		"/run/fairlead/%s/fairlead.sock"
#define SOCKET_READ_ONLY_FORMAT "/run/fairlead/%s/fairlead-ro.sock"

static int refused(struct cli *cli, const char *code, const struct err *err)
{
	int status = strcmp(code, "denied") == 0 ? EXIT_NOPERM : EXIT_REFUSED;

	return cli_fail(cli, status, code, "%s", err->text);
}

static int report(struct cli *cli, const char *code, const struct err *err)
{
	switch (err->code) {
	case -EREMOTEIO:
		return refused(cli, code, err);
	case -ENOTCONN:
		return cli_fail(cli, EXIT_UNAVAILABLE, "unavailable", "%s",
				err->text);
	case -EPROTO:
		return cli_fail(cli, EXIT_PROTOCOL, "protocol", "%s", err->text);
	}
	return cli_fail_err(cli, err);
}

int cli_call(struct cli *cli, enum call_kind kind, const char *verb,
	     json_t *args, json_t **result)
{
	json_auto_t *owned_args = args;
	_cleanup_client_ struct client *client = NULL;
	const struct cli_options *o = &cli->options;
	char path[PATH_MAX], read_only_path[PATH_MAX];
	char code[CLIENT_CODE_MAX] = "";
	struct client_address address = {
		.path = o->socket ? o->socket : path,
		.read_only_path =
			kind == CALL_READ && !o->socket ? read_only_path : NULL,
		.instance = o->instance,
		.connect_timeout_ms = cli->connect_timeout_ms,
		.reply_timeout_ms = cli->reply_timeout_ms,
	};
	struct err err = {};
	int r;

	if (!args)
		return cli_fail(cli, EXIT_REFUSED, "failed", "out of memory");

	snprintf(path, sizeof(path), SOCKET_FORMAT, o->instance);
	snprintf(read_only_path, sizeof(read_only_path),
		 SOCKET_READ_ONLY_FORMAT, o->instance);
	r = client_open(&address, &client, &err);
	if (!r)
		r = client_call(client, verb, TAKE_PTR(owned_args), result,
				code, &err);
	return r < 0 ? report(cli, code, &err) : EXIT_OK;
}

int cli_fail_answer(struct cli *cli, const char *verb, const struct err *err)
{
	return cli_fail(cli, EXIT_PROTOCOL, "protocol",
			"the answer of fairleadd (instance '%s') to '%s' is "
			"not understood: %s",
			cli->options.instance, verb, err->text);
}
