// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch: what happens to the health of things, as it happens.
 *
 *   daemon  {"event": {"seq", "time", "event", ...}} a line each --> stdout
 *
 * Each event is a document of its own, and is out before the next one is read.
 * Another daemon counts its events from 1 again: where to go on after it went
 * away is told by number and time together.
 */
#include "watch.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "answer.h"
#include "call.h"
#include "core/num.h"
#include "stop.h"
#include "verbs.h"

#define N(array) (sizeof(array) / sizeof(*(array)))

/* Tests are less patient. */
static int watch_retry_ms = 1000;

const struct verb_option watch_options[] = {
	{"--since", "SEQ", "first those that are kept, from this number on"},
	{"--reconnect", NULL, "wait for the daemon when it is away"},
	{NULL, NULL, NULL},
};

static const struct field event_fields[] = {
	{.key = "seq", .kind = FIELD_INTEGER},
	{.key = "time", .kind = FIELD_STRING},
	{.key = "event", .kind = FIELD_STRING},
	{.key = "pool", .kind = FIELD_STRING, .may_miss = true},
	{.key = "backend", .kind = FIELD_STRING, .may_miss = true},
	{.key = "address", .kind = FIELD_STRING, .may_miss = true},
	{.key = "vip", .kind = FIELD_STRING, .may_miss = true},
	{.key = "share", .kind = FIELD_INTEGER, .may_miss = true},
	{.key = "reason", .kind = FIELD_STRING, .may_miss = true},
};

/* As the daemon writes it: such texts compare as the times do. */
#define TIME_TEXT_MAX 32
#define EVENT_WIDTH   15 /* quorum_regained */

struct watch {
	struct cli *cli;
	struct stop stop;
	json_int_t since; /* 0: only what is new */
	bool reconnect;
	bool away;    /* has been said to be */
	bool connected;
	bool resumes; /* the daemon was away: go on after seq and time */
	/* Of the last event that was printed; seq 0: none, time is the start. */
	json_int_t seq;
	char time[TIME_TEXT_MAX];
};

static void watch_end(struct watch *w)
{
	w->cli->stop = CLIENT_STOP_NONE;
	stop_end(&w->stop);
}

static const struct {
	const char *event;
	enum tone tone;
} event_tones[] = {
	{"backend_up", TONE_GOOD},	{"backend_drain", TONE_WARN},
	{"backend_down", TONE_BAD},	{"backend_damped", TONE_WARN},
	{"check_failed", TONE_WARN},	{"check_passed", TONE_GOOD},
	{"pool_panic", TONE_BAD},	{"quorum_lost", TONE_BAD},
	{"quorum_regained", TONE_GOOD}, {"checker_died", TONE_WARN},
};

static enum tone event_tone(const char *event)
{
	for (size_t i = 0; i < N(event_tones); i++) {
		if (strcmp(event_tones[i].event, event) == 0)
			return event_tones[i].tone;
	}
	return TONE_PLAIN;
}

static const char *event_text(const json_t *event, const char *key)
{
	return json_string_value(json_object_get(event, key));
}

/* None and all go without saying, when they are not what has changed. */
static bool tells_share(const json_t *event)
{
	const json_t *share = json_object_get(event, "share");
	json_int_t percent = json_integer_value(share);

	return json_is_integer(share) &&
	       ((percent > 0 && percent < 100) ||
		strcmp(event_text(event, "event"), "backend_share") == 0);
}

/* "time  event  web-1 (10.1.0.11) of web for 203.0.113.10:80/tcp, 40 %: reason" */
static char *event_line(const json_t *event)
{
	const char *pool = event_text(event, "pool");
	const char *backend = event_text(event, "backend");
	const char *address = event_text(event, "address");
	const char *vip = event_text(event, "vip");
	const char *reason = event_text(event, "reason");
	const json_t *share = json_object_get(event, "share");
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;

	fprintf(file, "%s  %-*s", event_text(event, "time"),
		backend || pool || reason ? EVENT_WIDTH : 0,
		event_text(event, "event"));
	if (backend)
		fprintf(file, "  %s", backend);
	if (backend && address && strcmp(backend, address) != 0)
		fprintf(file, " (%s)", address);
	if (pool)
		fprintf(file, "%s%s", backend ? " of " : "  ", pool);
	if (vip)
		fprintf(file, " for %s", vip);
	if (tells_share(event))
		fprintf(file, ", %" JSON_INTEGER_FORMAT " %%",
			json_integer_value(share));
	if (reason)
		fprintf(file, "%s%s", backend || pool ? ": " : "  ", reason);
	fclose(file);
	return text;
}

static int write_line(struct writer *w, const json_t *event)
{
	_cleanup_free_ char *line = event_line(event);

	if (!line)
		return -ENOMEM;

	writer_list(w, "events");
	writer_str_tone(w, NULL, line, event_tone(event_text(event, "event")));
	writer_close(w);
	return 0;
}

static int check_event(const json_t *event, struct err *err)
{
	json_int_t seq = json_integer_value(json_object_get(event, "seq"));
	int r = answer_check(event, event_fields, N(event_fields), err);

	if (r < 0)
		return r;

	if (seq < 1 || seq == INT64_MAX)
		return err_set(err, -EPROTO, "'seq' is not a number from 1 on");

	if (!event_text(event, "time") || !event_text(event, "event"))
		return err_set(err, -EPROTO, "'time' or 'event' is null");

	return 0;
}

/* -EPIPE when nobody reads it; without a sentence. */
static int print_event(struct watch *w, const json_t *event, struct err *err)
{
	_cleanup_writer_ struct writer *out = NULL;
	int r = cli_writer_new(w->cli, &out);

	if (!r && w->cli->options.form == WRITER_TEXT)
		r = write_line(out, event);
	else if (!r)
		r = answer_fields(out, event, event_fields, N(event_fields), err);
	if (r < 0)
		return err_set(err, r, "cannot write the event: %s", strerror(-r));

	return writer_finish(out, err);
}

/*
 * Printed before? When all that is kept comes once more, it is by number and
 * time; a daemon that has begun anew may give out the number again, but later.
 */
static bool is_old(const struct watch *w, json_int_t seq, const char *time)
{
	return w->resumes && (w->seq == 0 || seq <= w->seq) &&
	       strcmp(time, w->time) <= 0;
}

/* Numbers that are left out are events that the daemon no longer kept. */
static void warn_of_gap(const struct watch *w, json_int_t seq)
{
	json_int_t expected = w->seq ? w->seq + 1 : w->resumes ? 0 : w->since;

	if (expected && seq == expected + 1)
		cli_warn(w->cli, "event %" JSON_INTEGER_FORMAT " is no longer kept",
			 expected);
	else if (expected && seq > expected)
		cli_warn(w->cli,
			 "events %" JSON_INTEGER_FORMAT
			 " to %" JSON_INTEGER_FORMAT " are no longer kept",
			 expected, seq - 1);
}

static int take_event(struct watch *w, const json_t *line, struct err *err)
{
	const json_t *event = json_object_get(line, "event");
	const char *time;
	json_int_t seq;
	int r;

	if (!json_is_object(event))
		return err_set(err, -EPROTO, "'event' is %s",
			       event ? "not an object" : "missing");

	r = check_event(event, err);
	if (r < 0)
		return r;

	seq = json_integer_value(json_object_get(event, "seq"));
	time = event_text(event, "time");
	if (is_old(w, seq, time))
		return 0;

	warn_of_gap(w, seq);
	r = print_event(w, event, err);
	w->seq = seq;
	snprintf(w->time, sizeof(w->time), "%s", time);
	return r;
}

static int take_events(struct watch *w, struct client *client, struct err *err)
{
	for (;;) {
		json_auto_t *line = NULL;
		int r = client_next(client, &line, err);

		if (r < 0)
			return r;

		r = take_event(w, line, err);
		if (r == -EPROTO)
			return err_prefix(err,
					  "what fairleadd (instance '%s') "
					  "tells is not understood",
					  w->cli->options.instance);
		if (r < 0)
			return r;
	}
}

/* All that is kept, when where to go on cannot be told by number alone. */
static json_t *watch_args(const struct watch *w)
{
	json_int_t since = w->resumes ? 1 : w->since;

	return since ? json_pack("{s:I}", "since", since) : json_object();
}

/* From the connection to its end. Never 0. */
static int watch_once(struct watch *w, char code[CLIENT_CODE_MAX],
		      struct err *err)
{
	_cleanup_client_ struct client *client = NULL;
	json_auto_t *result = NULL;
	struct call_address address = {};
	int r;

	call_address_of(w->cli, CALL_READ, &address);
	r = client_open(&address.client, &client, err);
	if (!r)
		r = client_call(client, "watch", watch_args(w), &result, code, err);
	if (r < 0)
		return r;

	if (w->away)
		cli_warn(w->cli, "fairleadd (instance '%s') answers again",
			 w->cli->options.instance);
	w->away = false;
	w->connected = true;
	return take_events(w, client, err);
}

static int watch_until_stopped(struct watch *w, char code[CLIENT_CODE_MAX],
			       struct err *err)
{
	for (;;) {
		int r = watch_once(w, code, err);

		if (r != -ENOTCONN || !w->reconnect)
			return r;

		if (!w->away)
			cli_warn(w->cli, "%s; waiting for it", err->text);
		w->away = true;
		w->resumes = w->connected || !w->since;
		r = stop_wait(&w->stop, watch_retry_ms);
		if (r < 0)
			return err_set(err, r, "stopped");
	}
}

static void note_start(struct watch *w)
{
	struct timespec now;
	char day[24];
	struct tm utc;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(w->time, sizeof(w->time), "%s.%03dZ", day,
		 (int)(now.tv_nsec / 1000000));
}

static int watch_parse(struct watch *w, int argc, char **argv, struct err *err)
{
	struct cli_args *args = &w->cli->args;
	const struct cfg_option *since;
	uint32_t seq = 0;
	int r = verb_parse_dashed(w->cli->verb, argc, argv, args, err);

	if (r < 0)
		return r;

	since = cli_args_option(args, "--since");
	if (since)
		r = parse_u32(since->value, "--since", 1, UINT32_MAX, &seq, err);
	w->since = seq;
	w->reconnect = cli_args_option(args, "--reconnect");
	return r;
}

int cmd_watch(struct cli *cli, int argc, char **argv)
{
	_cleanup_(watch_end) struct watch w = {.cli = cli, .stop = STOP_NONE};
	char code[CLIENT_CODE_MAX] = "";
	struct err err = {};
	int r;

	cli->no_document = true;
	if (watch_parse(&w, argc, argv, &err) < 0)
		return cli_fail_usage(cli, "%s", err.text);

	note_start(&w);
	r = stop_begin(&w.stop, fileno(cli->stdout_file), &err);
	if (r < 0)
		return cli_fail_err(cli, &err);

	cli->stop = w.stop.ends;
	r = watch_until_stopped(&w, code, &err);
	if (r == -EINTR || r == -EPIPE)
		return EXIT_OK;

	return call_report(cli, code, &err);
}
