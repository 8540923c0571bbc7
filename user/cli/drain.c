// SPDX-License-Identifier: GPL-2.0-only
/*
 * backend up, drain, down; and how one waits until no flow is left:
 *
 *   backend.set state=drain --> backend.show, vip.show: its address, the VIPs
 *   of its pool --> show.flows, every second, until these have none to it
 *
 * Other pools may have the same address and go on sending to it: only flows of
 * VIPs with this pool count. A reload of the configuration, or somebody else,
 * may take the drain back, so whether it still drains is asked now and then,
 * and once more before it is said to be done.
 */
#include "drain.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "answer.h"
#include "call.h"
#include "core/addr.h"
#include "core/num.h"
#include "json_text.h"
#include "stop.h"
#include "verbs.h"

#define N(array)	 (sizeof(array) / sizeof(*(array)))
#define DRAIN_WAIT_MAX_S 604800 /* a week */
#define DRAIN_LOOK_EVERY 10	/* counts, between two looks at the state */

/* Tests are less patient. */
static int drain_ask_ms = 1000;

const struct verb_option drain_options[] = {
	{"--wait", NULL, "return when no flow is left on it"},
	{"--timeout", "SECONDS", "give up after so long, 1 to 604800; it drains on"},
	{NULL, NULL, NULL},
};

static const struct field drain_backend_fields[] = {
	{.key = "pool", .kind = FIELD_STRING},
	{.key = "name", .kind = FIELD_STRING},
	{.key = "address", .kind = FIELD_STRING},
	{.key = "state", .kind = FIELD_STRING},
};

static const struct field drain_vip_fields[] = {
	{.key = "address", .kind = FIELD_STRING},
	{.key = "pool", .kind = FIELD_STRING},
};

static const struct field drain_flows_fields[] = {
	{.key = "address", .kind = FIELD_STRING},
	{.key = "flows", .kind = FIELD_INTEGER},
	{.key = "closed", .kind = FIELD_INTEGER},
};

struct drain {
	struct cli *cli;
	struct stop stop;
	const char *target, *which; /* as they were typed */
	bool wait;
	uint32_t timeout_s; /* 0: none */
	/* What the daemon says. */
	char address[ADDR_TEXT_MAX];
	json_t *vips;  /* those of the pool, as keys */
	int64_t flows; /* -1: not counted yet */
};

static void drain_end(struct drain *d)
{
	d->cli->stop = CLIENT_STOP_NONE;
	stop_end(&d->stop);
	json_decref(d->vips);
}

static int set_state(struct cli *cli, const char *target, const char *which,
		     const char *state)
{
	json_auto_t *result = NULL;
	json_t *args = json_pack("{s:o, s:o, s:{s:s}}", "target",
				 json_text(target), "address", json_text(which),
				 "options", "state", state);

	return cli_call(cli, CALL_CHANGE, "backend.set", args, &result);
}

int cmd_backend_state(struct cli *cli, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return set_state(cli, cli->args.positional[0], cli->args.positional[1],
			 cli->verb->name);
}

static const char *member(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* What was typed is a name or an address; the daemon has accepted it. */
static bool is_meant(const struct drain *d, const json_t *backend)
{
	struct addr typed, its;

	if (strcmp(member(backend, "name"), d->which) == 0)
		return true;

	return addr_parse(d->which, "backend", &typed, NULL) == 0 &&
	       addr_parse(member(backend, "address"), "backend", &its, NULL) == 0 &&
	       addr_compare(&typed, &its) == 0;
}

/* The list answer[key], each item with fields that are there and no null. */
static int checked_list(const json_t *answer, const char *key,
			const struct field *fields, size_t n, json_t **out,
			struct err *err)
{
	json_t *list = json_object_get(answer, key), *item;
	size_t i;

	if (!json_is_array(list))
		return err_set(err, -EPROTO, "'%s' is %s", key,
			       list ? "not a list" : "missing");

	json_array_foreach(list, i, item)
	{
		int r = answer_check(item, fields, n, err);

		for (size_t f = 0; f < n && !r; f++) {
			if (json_is_null(json_object_get(item, fields[f].key)))
				r = err_set(err, -EPROTO, "'%s' is null",
					    fields[f].key);
		}
		if (r < 0)
			return err_prefix(err, "%s[%zu]", key, i);
	}
	*out = list;
	return 0;
}

static const json_t *find_meant(const struct drain *d, const json_t *list)
{
	const json_t *backend;
	size_t i;

	json_array_foreach(list, i, backend)
	{
		if (is_meant(d, backend))
			return backend;
	}
	return NULL;
}

/* That it is there, and drains still. */
static int take_backend(struct drain *d, const json_t *backend)
{
	const char *state = backend ? member(backend, "state") : NULL;

	if (!state)
		return cli_fail(d->cli, EXIT_REFUSED, "not_found",
				"backend '%s' of '%s' is gone from the "
				"configuration; nobody waits for its flows",
				d->which, d->target);

	if (strcmp(state, "drain") != 0 && strcmp(state, "down") != 0)
		return cli_fail(d->cli, EXIT_REFUSED, "failed",
				"backend '%s' of '%s' is '%s' again: somebody "
				"or a reload took the drain back",
				d->which, d->target, state);

	snprintf(d->address, sizeof(d->address), "%s", member(backend, "address"));
	return EXIT_OK;
}

static int take_vips(struct drain *d, const json_t *list, const char *pool)
{
	const json_t *vip;
	size_t i;

	json_decref(d->vips);
	d->vips = json_object();
	json_array_foreach(list, i, vip)
	{
		if (strcmp(member(vip, "pool"), pool) == 0 &&
		    json_object_set_new(d->vips, member(vip, "address"),
					json_true()) < 0)
			return -ENOMEM;
	}
	return d->vips ? 0 : -ENOMEM;
}

static int look_at_vips(struct drain *d, const char *pool)
{
	json_auto_t *result = NULL;
	struct err err = {};
	json_t *list;
	int status = cli_call(d->cli, CALL_READ, "vip.show", json_object(), &result);

	if (status)
		return status;

	if (checked_list(result, "vips", drain_vip_fields, N(drain_vip_fields),
			 &list, &err) < 0)
		return cli_fail_answer(d->cli, "vip.show", &err);

	if (take_vips(d, list, pool) < 0)
		return cli_fail(d->cli, EXIT_REFUSED, "failed", "out of memory");

	return EXIT_OK;
}

static int look_at_state(struct drain *d)
{
	json_auto_t *result = NULL;
	const json_t *backend;
	struct err err = {};
	json_t *list;
	int status = cli_call(d->cli, CALL_READ, "backend.show",
			      json_pack("{s:o}", "target", json_text(d->target)),
			      &result);

	if (status)
		return status;

	if (checked_list(result, "backends", drain_backend_fields,
			 N(drain_backend_fields), &list, &err) < 0)
		return cli_fail_answer(d->cli, "backend.show", &err);

	backend = find_meant(d, list);
	status = take_backend(d, backend);
	return status ? status : look_at_vips(d, member(backend, "pool"));
}

/*
 * The daemon leaves out flows that have ended and are not swept yet. Those that have
 * closed are remembered for some minutes more, and nobody need wait for them.
 */
static int sum_flows(const struct drain *d, const json_t *list, int64_t *out,
		     struct err *err)
{
	const json_t *vip;
	int64_t sum = 0;
	size_t i;

	json_array_foreach(list, i, vip)
	{
		int64_t flows = json_integer_value(json_object_get(vip, "flows"));
		int64_t closed = json_integer_value(json_object_get(vip, "closed"));

		if (!json_object_get(d->vips, member(vip, "address")))
			continue;

		if (flows < 0 || closed < 0 || closed > flows ||
		    __builtin_add_overflow(sum, flows - closed, &sum))
			return err_set(err, -EPROTO,
				       "vips[%zu]: 'flows' and 'closed' are no counts of flows",
				       i);
	}
	*out = sum;
	return 0;
}

static int count_flows(struct drain *d, int64_t *out)
{
	json_auto_t *result = NULL;
	struct err err = {};
	json_t *list;
	int status = cli_call(d->cli, CALL_READ, "show.flows",
			      json_pack("{s:s, s:i}", "backend", d->address,
					"limit", 0),
			      &result);

	if (status)
		return status;

	if (checked_list(result, "vips", drain_flows_fields,
			 N(drain_flows_fields), &list, &err) < 0 ||
	    sum_flows(d, list, out, &err) < 0)
		return cli_fail_answer(d->cli, "show.flows", &err);

	return EXIT_OK;
}

static const char *flows_text(int64_t flows, char text[40])
{
	if (flows <= 0)
		return flows ? "an unknown number of flows" : "no flow";

	snprintf(text, 40, "%" PRId64 " flow%s", flows, flows == 1 ? "" : "s");
	return text;
}

/* One count, and a word about it when it is another one. */
static int ask_for_flows(struct drain *d, unsigned int nth)
{
	int64_t flows = 0;
	int status = nth % DRAIN_LOOK_EVERY == 0 ? look_at_state(d) : EXIT_OK;
	char text[40];

	if (!status)
		status = count_flows(d, &flows);
	/* None, when it may have been up again, is worth nothing. */
	if (!status && flows == 0)
		status = look_at_state(d);
	if (status)
		return status;

	if (flows != d->flows)
		cli_progress(d->cli, "flows", flows,
			     "%s left on backend '%s' of '%s'",
			     flows_text(flows, text), d->which, d->target);
	d->flows = flows;
	return EXIT_OK;
}

static int64_t drain_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int give_up(struct drain *d)
{
	char text[40];

	return cli_fail(d->cli, EXIT_TIMEOUT, "timeout",
			"%s left on backend '%s' of '%s' after %" PRIu32
			" s; it goes on draining",
			flows_text(d->flows, text), d->which, d->target,
			d->timeout_s);
}

static int stopped(struct drain *d)
{
	char text[40];

	return cli_fail(d->cli, EXIT_INTERRUPTED, "interrupted",
			"stopped waiting with %s left on backend '%s' of '%s'; "
			"it goes on draining until 'fairlead backend up'",
			flows_text(d->flows, text), d->which, d->target);
}

/* Asks once more at the end of the time. */
static int wait_for_flows(struct drain *d, int64_t began_ms)
{
	int64_t end_ms = d->timeout_s ? began_ms + 1000 * (int64_t)d->timeout_s
				      : INT64_MAX;

	for (unsigned int nth = 0;; nth++) {
		int64_t left_ms;
		int status = ask_for_flows(d, nth);

		if (status || d->flows == 0)
			return status;

		left_ms = end_ms - drain_now_ms();
		if (left_ms <= 0)
			return give_up(d);

		if (stop_wait(&d->stop, left_ms < drain_ask_ms ? (int)left_ms
							       : drain_ask_ms) < 0)
			return EXIT_INTERRUPTED;
	}
}

static int drain_wait(struct drain *d)
{
	int64_t began_ms = drain_now_ms();
	int status = wait_for_flows(d, began_ms);

	if (status == EXIT_INTERRUPTED)
		return stopped(d);

	if (status && status != EXIT_TIMEOUT && status != EXIT_REFUSED)
		cli_warn(d->cli,
			 "backend '%s' of '%s' was set to drain; whether it "
			 "still does is not known",
			 d->which, d->target);
	if (status)
		return status;

	writer_int(d->cli->out, "flows", d->flows);
	writer_real(d->cli->out, "waited_s",
		    (double)(drain_now_ms() - began_ms) / 1000, 3);
	return EXIT_OK;
}

static int drain_parse(struct drain *d, int argc, char **argv, struct err *err)
{
	struct cli_args *args = &d->cli->args;
	const struct cfg_option *timeout;
	int r = verb_parse_dashed(d->cli->verb, argc, argv, args, err);

	if (r < 0)
		return r;

	d->target = args->positional[0];
	d->which = args->positional[1];
	d->wait = cli_args_option(args, "--wait");
	timeout = cli_args_option(args, "--timeout");
	if (timeout && !d->wait)
		return err_set(err, -EINVAL,
			       "option '--timeout' is of --wait: use both");

	return timeout ? parse_u32(timeout->value, "--timeout", 1,
				   DRAIN_WAIT_MAX_S, &d->timeout_s, err)
		       : 0;
}

int cmd_backend_drain(struct cli *cli, int argc, char **argv)
{
	_cleanup_(drain_end) struct drain d = {
		.cli = cli, .stop = STOP_NONE, .flows = -1};
	struct err err = {};
	int status;

	if (drain_parse(&d, argc, argv, &err) < 0)
		return cli_fail_usage(cli, "%s", err.text);

	status = set_state(cli, d.target, d.which, "drain");
	if (status || !d.wait)
		return status;

	/* Only now: before, a signal leaves nothing behind to speak of. */
	if (stop_begin(&d.stop, -1, &err) < 0)
		return cli_fail_err(cli, &err);

	cli->stop = d.stop.ends;
	return drain_wait(&d);
}
