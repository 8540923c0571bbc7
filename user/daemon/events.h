/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_EVENTS_H
#define FAIRLEAD_EVENTS_H

/*
 * What happens to the health of things: each change once to the log, into a counter,
 * and to everybody who watches (`fairlead watch`). The last EVENTS_KEPT are kept for
 * those who come later.
 */

#include <jansson.h>
#include <stdint.h>
#include <sys/queue.h>

enum event_kind {
	EVENT_BACKEND_UP,      /* effective state: serves new flows */
	EVENT_BACKEND_DRAIN,
	EVENT_BACKEND_DOWN,
	EVENT_BACKEND_DAMPED,  /* changes too often: stays out */
	EVENT_BACKEND_CALM,    /* no longer */
	EVENT_BACKEND_SHARE,   /* how much of its slots it serves: slow start, agent */
	EVENT_CHECK_FAILED,    /* of one that is out for another reason; and it stays out */
	EVENT_CHECK_PASSED,
	EVENT_POOL_PANIC,      /* so few are up that all serve */
	EVENT_POOL_CALM,
	EVENT_QUORUM_LOST,
	EVENT_QUORUM_REGAINED,
	EVENT_CHECKER_DIED,
	EVENT_CHECKER_STARTED,
	EVENT__MAX,
};

#define EVENTS_KEPT 1024

/* Strings may be NULL, and are copied. */
struct event {
	enum event_kind kind;
	const char *pool, *backend, *address;
	const char *vip; /* that it is of, where not of all VIPs of the pool */
	const char *why;
	int share; /* percent; -1: not said */
};

/* Somebody who is told. `tell` may take the watcher off the list. */
struct watcher {
	LIST_ENTRY(watcher) entry;
	/* `event` stays the events' own: {"seq", "time", "event", ...} */
	void (*tell)(struct watcher *watcher, json_t *event);
};

struct events {
	LIST_HEAD(, watcher) watchers;
	json_t *kept[EVENTS_KEPT]; /* by seq, around */
	uint64_t next;             /* seq of the next one; the first is 1 */
	uint64_t counts[EVENT__MAX];
};

void events_init(struct events *events);
void events_free(struct events *events);

void events_emit(struct events *events, const struct event *event);

/* From now on, and before that what is kept from `since` on; 0: nothing. */
void events_watch(struct events *events, struct watcher *watcher, uint64_t since);
void events_unwatch(struct watcher *watcher);

/* "backend_up": the value of "event". */
const char *event_name(enum event_kind kind);

#endif
