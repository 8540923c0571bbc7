// SPDX-License-Identifier: GPL-2.0-only
#include "events.h"

#include <stdio.h>
#include <time.h>

#include "core/cleanup.h"
#include "sys/log.h"
#include "verbs.h"

struct event_words {
	const char *name;
	enum log_level level;
	const char *said; /* of the object that it names */
};

static const struct event_words words[] = {
	[EVENT_BACKEND_UP] = { "backend_up", LOG_LEVEL_NOTICE, "is up" },
	[EVENT_BACKEND_DRAIN] = { "backend_drain", LOG_LEVEL_NOTICE, "drains" },
	[EVENT_BACKEND_DOWN] = { "backend_down", LOG_LEVEL_WARN, "is down" },
	[EVENT_BACKEND_DAMPED] = { "backend_damped", LOG_LEVEL_WARN,
				   "changes too often and stays out" },
	[EVENT_BACKEND_CALM] = { "backend_calm", LOG_LEVEL_NOTICE,
				 "has calmed down" },
	[EVENT_BACKEND_SHARE] = { "backend_share", LOG_LEVEL_INFO, "serves" },
	[EVENT_CHECK_FAILED] = { "check_failed", LOG_LEVEL_NOTICE,
				 "is out, and fails its check now" },
	[EVENT_CHECK_PASSED] = { "check_passed", LOG_LEVEL_NOTICE,
				 "is out, and passes its check now" },
	[EVENT_POOL_PANIC] = { "pool_panic", LOG_LEVEL_WARN,
			       "has too few backends up" },
	[EVENT_POOL_CALM] = { "pool_calm", LOG_LEVEL_NOTICE,
			      "has enough backends up again" },
	[EVENT_QUORUM_LOST] = { "quorum_lost", LOG_LEVEL_WARN, "has lost its quorum" },
	[EVENT_QUORUM_REGAINED] = { "quorum_regained", LOG_LEVEL_NOTICE,
				    "has its quorum again" },
	[EVENT_CHECKER_DIED] = { "checker_died", LOG_LEVEL_WARN,
				 "the states stay as they are" },
	[EVENT_CHECKER_STARTED] = { "checker_started", LOG_LEVEL_INFO,
				    "fairlead-check runs" },
};

const char *event_name(enum event_kind kind)
{
	return words[kind].name;
}

void events_init(struct events *events)
{
	*events = (struct events){ .next = 1 };
	LIST_INIT(&events->watchers);
}

void events_free(struct events *events)
{
	size_t i;

	for (i = 0; i < EVENTS_KEPT; i++)
		json_decref(events->kept[i]);
}

/* "2026-11-30T11:00:00.123Z" (RFC 3339) */
static json_t *time_json(void)
{
	char text[40], day[24];
	struct timespec now;
	struct tm utc;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(text, sizeof(text), "%s.%03ldZ", day, now.tv_nsec / 1000000);
	return json_string(text);
}

static json_t *event_json(uint64_t seq, const struct event *e)
{
	json_t *object = json_pack("{s:I, s:o, s:s}", "seq", (json_int_t)seq, "time",
				   time_json(), "event", event_name(e->kind));

	if (e->pool)
		json_object_set_new(object, "pool", text_json(e->pool));
	if (e->backend)
		json_object_set_new(object, "backend", text_json(e->backend));
	if (e->address)
		json_object_set_new(object, "address", text_json(e->address));
	if (e->vip)
		json_object_set_new(object, "vip", text_json(e->vip));
	if (e->share >= 0)
		json_object_set_new(object, "share", json_integer(e->share));
	if (e->why)
		json_object_set_new(object, "reason", text_json(e->why));
	return object;
}

static void event_log(const struct event *e)
{
	const struct event_words *w = &words[e->kind];
	char share[24] = "", vip[96] = "";

	if (e->vip)
		snprintf(vip, sizeof(vip), " for vip %s", e->vip);
	if (e->kind == EVENT_BACKEND_SHARE)
		snprintf(share, sizeof(share), " %d %% of its slots", e->share);
	if (e->backend)
		log_write(w->level, "backend '%s' (%s) of pool '%s' %s%s%s%s%s", e->backend,
			  e->address, e->pool, w->said, share, vip, e->why ? ": " : "",
			  e->why ? e->why : "");
	else if (e->pool)
		log_write(w->level, "pool '%s' %s%s%s%s", e->pool, w->said, vip,
			  e->why ? ": " : "", e->why ? e->why : "");
	else
		log_write(w->level, "%s%s%s", e->why ? e->why : "", e->why ? "; " : "",
			  w->said);
}

void events_emit(struct events *events, const struct event *event)
{
	struct watcher *watcher, *next;
	uint64_t seq = events->next++;
	json_t *object = event_json(seq, event);

	event_log(event);
	events->counts[event->kind]++;
	if (!object)
		return;
	json_decref(events->kept[seq % EVENTS_KEPT]);
	events->kept[seq % EVENTS_KEPT] = object;
	for (watcher = LIST_FIRST(&events->watchers); watcher; watcher = next) {
		next = LIST_NEXT(watcher, entry);
		watcher->tell(watcher, object);
	}
}

void events_watch(struct events *events, struct watcher *watcher, uint64_t since)
{
	uint64_t seq = since;

	LIST_INSERT_HEAD(&events->watchers, watcher, entry);
	if (!since)
		return;
	if (events->next > EVENTS_KEPT && seq < events->next - EVENTS_KEPT)
		seq = events->next - EVENTS_KEPT;
	for (; seq < events->next; seq++)
		if (events->kept[seq % EVENTS_KEPT])
			watcher->tell(watcher, events->kept[seq % EVENTS_KEPT]);
}

void events_unwatch(struct watcher *watcher)
{
	LIST_REMOVE(watcher, entry);
}
