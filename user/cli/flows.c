// SPDX-License-Identifier: GPL-2.0-only
/* show flows, flow flush: what the load balancer remembers of connections. */
#include <errno.h>
#include <string.h>

#include "answer.h"
#include "call.h"
#include "cli.h"
#include "core/num.h"
#include "flows.h"
#include "json_text.h"

#define FLOWS_LIST_DEFAULT 100
#define FLOWS_LIST_MAX 10000

#define N(array) (sizeof(array) / sizeof(*(array)))

const struct verb_option flow_show_options[] = {
	{"--vip", "VIP", "only flows of this VIP"},
	{"--backend", "ADDRESS", "only flows to this backend"},
	{"--source", "PREFIX", "only flows from these clients"},
	{"--list", NULL, "each flow as well"},
	{"--limit", "NUMBER", "list so many at most, 1 to 10000 (default: 100)"},
	{NULL, NULL, NULL},
};

const struct verb_option flow_flush_options[] = {
	{"--vip", "VIP", "the flows of this VIP"},
	{"--backend", "ADDRESS", "the flows to this backend"},
	{NULL, NULL, NULL},
};

static const struct field flows_count_fields[] = {
	{ .key = "flows", .kind = FIELD_INTEGER },
	{ .key = "confirmed", .kind = FIELD_INTEGER },
	{ .key = "list_is_cut", .kind = FIELD_BOOLEAN },
};

static const struct field flows_age_fields[] = {
	{ .key = "age", .kind = FIELD_STRING },
	{ .key = "flows", .kind = FIELD_INTEGER },
};

static const struct field flows_vip_fields[] = {
	{ .key = "address", .kind = FIELD_STRING },
	{ .key = "flows", .kind = FIELD_INTEGER },
	{ .key = "closed", .kind = FIELD_INTEGER },
};

static const struct field flows_backend_fields[] = {
	{ .key = "address", .kind = FIELD_STRING },
	{ .key = "encap", .kind = FIELD_STRING },
	{ .key = "flows", .kind = FIELD_INTEGER },
};

static const struct field flows_flow_fields[] = {
	{ .key = "protocol", .kind = FIELD_STRING },
	{ .key = "source", .kind = FIELD_STRING },
	{ .key = "destination", .kind = FIELD_STRING },
	{ .key = "backend", .kind = FIELD_STRING },
	{ .key = "state", .kind = FIELD_STRING },
	{ .key = "age_s", .kind = FIELD_INTEGER },
	{ .key = "cpu", .kind = FIELD_INTEGER },
};

static const struct field flows_flush_fields[] = {
	{ .key = "forgotten", .kind = FIELD_INTEGER },
};

static const struct verb_option *flows_find_option(const struct verb_option *options,
					     const char *word)
{
	for (; options->key; options++)
		if (!strcmp(options->key, word))
			return options;
	return NULL;
}

static int flows_add_limit(json_t *args, const char *text, struct err *err)
{
	uint32_t limit;
	int rc = parse_u32(text, "--limit", 1, FLOWS_LIST_MAX, &limit, err);

	return rc ? rc : json_object_set_new(args, "limit", json_integer(limit));
}

/* The words after the command, as the daemon takes them. */
static int flows_parse_words(const struct verb_option *options, int argc, char **argv,
		       json_t *args, struct err *err)
{
	const struct verb_option *option;
	bool list = false;
	int rc = 0, i;

	for (i = 0; i < argc && !rc; i++) {
		option = flows_find_option(options, argv[i]);
		if (!option)
			return err_set(err, -EINVAL, "unknown word '%.64s'", argv[i]);
		list |= !strcmp(argv[i], "--list") || !strcmp(argv[i], "--limit");
		if (!option->value)
			continue;
		if (++i == argc)
			return err_set(err, -EINVAL, "%s needs its %s", option->key,
				       option->value);
		rc = strcmp(option->key, "--limit") ?
			     json_object_set_new(args, option->key + 2, json_text(argv[i])) :
			     flows_add_limit(args, argv[i], err);
	}
	if (!rc && list && !json_object_get(args, "limit"))
		rc = json_object_set_new(args, "limit", json_integer(FLOWS_LIST_DEFAULT));
	return rc;
}

static int write_flows(struct writer *w, const json_t *result, struct err *err)
{
	int rc = answer_fields(w, result, flows_count_fields, N(flows_count_fields), err);

	if (!rc)
		rc = answer_list(w, result, "ages", flows_age_fields, N(flows_age_fields), NULL, err);
	if (!rc)
		rc = answer_list(w, result, "vips", flows_vip_fields, N(flows_vip_fields), NULL, err);
	if (!rc)
		rc = answer_list(w, result, "backends", flows_backend_fields,
				 N(flows_backend_fields), NULL, err);
	if (!rc)
		rc = answer_list(w, result, "list", flows_flow_fields, N(flows_flow_fields), NULL, err);
	return rc;
}

int cmd_show_flows(struct cli *cli, int argc, char **argv)
{
	json_auto_t *args = json_object(), *result = NULL;
	struct err err = {};
	int status;

	if (flows_parse_words(flow_show_options, argc, argv, args, &err))
		return cli_fail_usage(cli, "%s", err.text);
	status = cli_call(cli, CALL_READ, "show.flows", json_incref(args), &result);
	if (status)
		return status;
	if (write_flows(cli->out, result, &err) < 0)
		return cli_fail_answer(cli, "show.flows", &err);
	return EXIT_OK;
}

int cmd_flow_flush(struct cli *cli, int argc, char **argv)
{
	json_auto_t *args = json_object(), *result = NULL;
	struct err err = {};
	int status;

	if (flows_parse_words(flow_flush_options, argc, argv, args, &err))
		return cli_fail_usage(cli, "%s", err.text);
	if (!json_object_size(args))
		return cli_fail_usage(cli, "'flow flush' needs --vip VIP or --backend ADDRESS");
	status = cli_call(cli, CALL_CHANGE, "flow.flush", json_incref(args), &result);
	if (status)
		return status;
	if (answer_fields(cli->out, result, flows_flush_fields, N(flows_flush_fields), &err) < 0)
		return cli_fail_answer(cli, "flow.flush", &err);
	return EXIT_OK;
}
