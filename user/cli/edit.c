// SPDX-License-Identifier: GPL-2.0-only
/* vip and backend, add, set and del: what was typed, put into a request. */
#include <string.h>

#include "call.h"
#include "json_text.h"
#include "verbs.h"

static const char *const vip_places[] = {"vip"};
static const char *const backend_places[] = {"target", "address"};

static int add_text(json_t *object, const char *key, const char *text)
{
	return json_object_set_new(object, key, json_text(text));
}

static json_t *options_object(const struct cli_args *args)
{
	json_auto_t *options = json_object();

	for (size_t i = 0; i < args->n_options; i++) {
		if (add_text(options, args->options[i].key,
			     args->options[i].value) < 0)
			return NULL;
	}
	return json_incref(options);
}

static json_t *request_args(const struct verb *verb, const struct cli_args *args)
{
	json_auto_t *request = json_object();
	const char *const *places =
		strcmp(verb->object, "vip") == 0 ? vip_places : backend_places;

	for (size_t i = 0; i < args->n_positional; i++) {
		if (add_text(request, places[i], args->positional[i]) < 0)
			return NULL;
	}

	if (verb->options &&
	    json_object_set_new(request, "options", options_object(args)) < 0)
		return NULL;

	return json_incref(request);
}

int cmd_edit(struct cli *cli, int argc, char **argv)
{
	json_auto_t *result = NULL;
	char name[2 * VERB_NAME_MAX];

	(void)argc;
	(void)argv;
	snprintf(name, sizeof(name), "%s.%s", cli->verb->object, cli->verb->name);
	return cli_call(cli, CALL_CHANGE, name,
			request_args(cli->verb, &cli->args), &result);
}
