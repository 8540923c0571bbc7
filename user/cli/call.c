// SPDX-License-Identifier: GPL-2.0-only
#include "call.h"

#include <errno.h>
#include <string.h>

#define SOCKET_FORMAT		"/run/fairlead/%s/fairlead.sock"
#define SOCKET_READ_ONLY_FORMAT "/run/fairlead/%s/fairlead-ro.sock"

static int refused(struct cli *cli, const char *code, const struct err *err)
{
	int status = strcmp(code, "denied") == 0 ? EXIT_NOPERM : EXIT_REFUSED;

	return cli_fail(cli, status, code, "%s", err->text);
}

int call_report(struct cli *cli, const char *code, const struct err *err)
{
	switch (err->code) {
	case -EREMOTEIO:
		return refused(cli, code, err);
	case -ENOTCONN:
		return cli_fail(cli, EXIT_UNAVAILABLE, "unavailable", "%s",
				err->text);
	case -EPROTO:
		return cli_fail(cli, EXIT_PROTOCOL, "protocol", "%s", err->text);
	case -EINTR:
		return EXIT_INTERRUPTED;
	}
	return cli_fail_err(cli, err);
}

void call_address_of(const struct cli *cli, enum call_kind kind,
		     struct call_address *out)
{
	const struct cli_options *o = &cli->options;

	snprintf(out->path, sizeof(out->path), SOCKET_FORMAT, o->instance);
	snprintf(out->read_only_path, sizeof(out->read_only_path),
		 SOCKET_READ_ONLY_FORMAT, o->instance);
	out->client = (struct client_address){
		.path = o->socket ? o->socket : out->path,
		.read_only_path = kind == CALL_READ && !o->socket
					  ? out->read_only_path
					  : NULL,
		.instance = o->instance,
		.connect_timeout_ms = cli->connect_timeout_ms,
		.reply_timeout_ms = cli->reply_timeout_ms,
		.stop = &cli->stop,
	};
}

int cli_call(struct cli *cli, enum call_kind kind, const char *verb,
	     json_t *args, json_t **result)
{
	json_auto_t *owned_args = args;
	_cleanup_client_ struct client *client = NULL;
	char code[CLIENT_CODE_MAX] = "";
	struct call_address address = {};
	struct err err = {};
	int r;

	if (!args)
		return cli_fail(cli, EXIT_REFUSED, "failed", "out of memory");

	call_address_of(cli, kind, &address);
	r = client_open(&address.client, &client, &err);
	if (!r)
		r = client_call(client, verb, TAKE_PTR(owned_args), result,
				code, &err);
	return r < 0 ? call_report(cli, code, &err) : EXIT_OK;
}

int cli_fail_answer(struct cli *cli, const char *verb, const struct err *err)
{
	return cli_fail(cli, EXIT_PROTOCOL, "protocol",
			"the answer of fairleadd (instance '%s') to '%s' is "
			"not understood: %s",
			cli->options.instance, verb, err->text);
}
