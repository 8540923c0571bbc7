// SPDX-License-Identifier: GPL-2.0-only
/* What the daemon tells: vip show, backend show, show status, show counters. */
#include "answer.h"
#include "call.h"
#include "json_text.h"
#include "show_people.h"
#include "verbs.h"

#define N(array) (sizeof(array) / sizeof(*(array)))

#define STRING(name)  .key = name, .kind = FIELD_STRING
#define INTEGER(name) .key = name, .kind = FIELD_INTEGER
#define BOOLEAN(name) .key = name, .kind = FIELD_BOOLEAN
#define REAL(name)    .key = name, .kind = FIELD_REAL
#define LIST(name)    .key = name, .kind = FIELD_LIST
#define MAY_MISS      .may_miss = true

static const struct field vip_fields[] = {
	{STRING("address")},	{STRING("pool")},	 {STRING("encap")},
	{STRING("algorithm")},	{INTEGER("table_size")}, {STRING("digest")},
	{INTEGER("backends")},
	{INTEGER("packets")},	 {INTEGER("bytes")}, {INTEGER("new_flows")},
	{INTEGER("drops")},	 {STRING("hash")},   {INTEGER("unremembered")},
	{INTEGER("quic_unknown")},
	{INTEGER("backends_up"), MAY_MISS},
	{BOOLEAN("panic"), MAY_MISS},
	{BOOLEAN("quorum_lost"), MAY_MISS},
};

/*
 * Those that hold blanks come last: what stands before them stays fixed. Of one
 * that no pool lists any more the daemon knows no health.
 */
static const struct field backend_fields[] = {
	{STRING("pool")},
	{STRING("name")},
	{STRING("address")},
	{INTEGER("weight")},
	{STRING("encap")},
	{STRING("state"), .tone = TONE_WARN, .tone_word = "draining"},
	{INTEGER("slots")},
	{INTEGER("packets")},
	{INTEGER("bytes")},
	{INTEGER("new_flows")},
	{STRING("effective"), MAY_MISS, .tone = TONE_BAD, .tone_word = "down"},
	{INTEGER("share"), MAY_MISS},
	{STRING("health"), MAY_MISS, .tone = TONE_BAD, .tone_word = "down"},
	{INTEGER("health_s"), MAY_MISS},
	{REAL("penalty"), MAY_MISS},
	{STRING("via"), MAY_MISS},
	{STRING("vip"), MAY_MISS},
	{STRING("next_hop")},
	{STRING("problem"), .tone = TONE_BAD},
	{STRING("why"), MAY_MISS},
	{STRING("health_reason"), MAY_MISS},
	{STRING("check_problem"), MAY_MISS, .tone = TONE_BAD},
	{LIST("vips"), MAY_MISS},
};

static const struct field status_fields[] = {
	{STRING("version")},
	{STRING("instance")},
	{INTEGER("pid")},
	{INTEGER("uptime_s")},
	{STRING("config_file")},
	{BOOLEAN("unsaved_changes")},
	{STRING("interface")},
	{STRING("attach"), .tone = TONE_WARN, .tone_word = "generic"},
	{STRING("conntrack")},
	{INTEGER("flows_per_cpu")},
	{INTEGER("cpus")},
	{REAL("flow_memory_mib")},
	{INTEGER("vips")},
	{INTEGER("pools")},
	{INTEGER("tables")},
	{INTEGER("backends")},
	{INTEGER("backends_draining")},
	{INTEGER("backends_unresolved")},
	{INTEGER("checked_backends")},
	{INTEGER("checks")},
	{INTEGER("checker_pid")},
	{INTEGER("checker_restarts")},
	{INTEGER("check_results")},
	{INTEGER("state_changes")},
	{INTEGER("changes_applied")},
	{INTEGER("changes_failed")},
	{INTEGER("map_writes")},
	{REAL("last_plan_ms")},
	{REAL("last_build_ms")},
	{REAL("last_commit_ms")},
	{STRING("last_error"), .tone = TONE_BAD},
};

static const struct field totals_fields[] = {
	{INTEGER("passed")},
	{INTEGER("sent_tx")},
	{INTEGER("sent_redirect")},
};

static const struct field drop_fields[] = {
	{STRING("reason")},
	{INTEGER("packets")},
	{INTEGER("bytes")},
};

static const struct field event_count_fields[] = {
	{STRING("event")},
	{INTEGER("count")},
};

static const struct field probe_fields[] = {
	{STRING("probes")},
	{INTEGER("packets")},
};

static const struct field vip_counter_fields[] = {
	{STRING("address")},	{INTEGER("packets")}, {INTEGER("bytes")},
	{INTEGER("new_flows")}, {INTEGER("drops")},   {INTEGER("unremembered")},
	{INTEGER("quic_unknown")},
};

static const struct field backend_counter_fields[] = {
	{STRING("pool")},     {STRING("name")},	  {STRING("address")},
	{INTEGER("packets")}, {INTEGER("bytes")}, {INTEGER("new_flows")},
};

static json_t *one_arg(const char *key, const char *value)
{
	json_auto_t *args = json_object();

	if (value && json_object_set_new(args, key, json_text(value)) < 0)
		return NULL;

	return json_incref(args);
}

/* What is asked for, and how its answer is told. */
struct listing {
	const char *verb, *arg, *key;
	const struct field *fields;
	size_t n;
	void (*row)(struct writer *w, const json_t *item); /* in tables */
};

static const struct listing vip_listing = {
	"vip.show", "vip", "vips", vip_fields, N(vip_fields), people_vip,
};

static const struct listing backend_listing = {
	"backend.show", "target",	   "backends",
	backend_fields, N(backend_fields), people_backend,
};

static int show_list(struct cli *cli, const struct listing *l)
{
	bool table = cli->options.form == WRITER_TEXT && !cli->options.all;
	json_auto_t *result = NULL;
	struct err err = {};
	int r, status = cli_call(cli, CALL_READ, l->verb,
				 one_arg(l->arg, cli->args.positional[0]), &result);

	if (status)
		return status;

	if (table)
		r = answer_rows(cli->out, result, l->key, l->fields, l->n,
				l->row, &err);
	else
		r = answer_list(cli->out, result, l->key, l->fields, l->n, NULL,
				&err);
	return r < 0 ? cli_fail_answer(cli, l->verb, &err) : EXIT_OK;
}

int cmd_vip_show(struct cli *cli, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return show_list(cli, &vip_listing);
}

int cmd_backend_show(struct cli *cli, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return show_list(cli, &backend_listing);
}

int cmd_show_status(struct cli *cli, int argc, char **argv)
{
	json_auto_t *result = NULL;
	struct err err = {};
	int status;

	(void)argc;
	(void)argv;
	status = cli_call(cli, CALL_READ, "show.status", json_object(), &result);
	if (status)
		return status;

	if (answer_fields(cli->out, result, status_fields, N(status_fields),
			  &err) < 0)
		return cli_fail_answer(cli, "show.status", &err);

	return EXIT_OK;
}

static bool is_zero(const json_t *item, const char *key)
{
	const json_t *number = json_object_get(item, key);

	return json_is_integer(number) && json_integer_value(number) == 0;
}

static bool no_packets(const json_t *item)
{
	return is_zero(item, "packets");
}

static bool no_count(const json_t *item)
{
	return is_zero(item, "count");
}

static int write_counters(struct writer *w, const json_t *result, struct err *err)
{
	int r = answer_fields(w, result, totals_fields, N(totals_fields), err);

	if (!r)
		r = answer_list(w, result, "drops", drop_fields, N(drop_fields),
				no_packets, err);
	if (!r)
		r = answer_list(w, result, "events", event_count_fields, N(event_count_fields),
				no_count, err);
	if (!r)
		r = answer_list(w, result, "probes", probe_fields, N(probe_fields),
				no_packets, err);
	if (!r)
		r = answer_list(w, result, "vips", vip_counter_fields,
				N(vip_counter_fields), NULL, err);
	if (!r)
		r = answer_list(w, result, "backends", backend_counter_fields,
				N(backend_counter_fields), NULL, err);
	return r;
}

int cmd_show_counters(struct cli *cli, int argc, char **argv)
{
	json_auto_t *result = NULL;
	struct err err = {};
	int status;

	(void)argc;
	(void)argv;
	status = cli_call(cli, CALL_READ, "show.counters", json_object(),
			  &result);
	if (status)
		return status;

	if (write_counters(cli->out, result, &err) < 0)
		return cli_fail_answer(cli, "show.counters", &err);

	return EXIT_OK;
}
