// SPDX-License-Identifier: GPL-2.0-only
/*
 * Health over a restart: health.json in the run directory. It is believed when it was
 * written since this boot and not long ago; a backend that it calls down has still to
 * prove that it is up, and one that it calls up has to fail.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "checks_private.h"
#include "core/cleanup.h"
#include "core/plural.h"
#include "sys/log.h"
#include "verbs.h"

#define VERSION 1
/* Beside three intervals of the check, in which it would have been asked anew. */
#define BELIEVED_MS 60000

static void file_path(const struct checks *checks, const char *suffix, char *path,
		      size_t size)
{
	snprintf(path, size, "%s/health.json%s", checks->daemon->run_dir, suffix);
}

static void read_boot_id(char *out, int size)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!file || !fgets(out, size, file))
		out[0] = '\0';
	out[strcspn(out, "\n")] = '\0';
}

static json_t *subject_json(const struct subject *s)
{
	const struct health *h = &s->health;
	char address[ADDR_TEXT_MAX], vip[VIP_SPEC_TEXT_MAX];

	return json_pack("{s:o, s:s*, s:o, s:s, s:I, s:I, s:o, s:f, s:I, s:b, s:I, s:I, s:I, s:f, s:I, s:b}",
			 "pool", text_json(s->way->pool), "vip", way_name(s->way, vip), "backend", text_json(s->name),
			 "address", addr_format(&s->addr, address), "state", (json_int_t)h->state, "since",
			 (json_int_t)h->since, "reason", text_json(h->reason), "penalty",
			 h->penalty, "penalised", (json_int_t)h->penalised, "damped",
			 h->damped, "climbs", (json_int_t)h->climbs, "climb",
			 (json_int_t)h->climb, "agent", (json_int_t)h->agent,
			 "agent_weight", h->agent_weight, "agent_share",
			 (json_int_t)h->agent_share, "agent_unclear", h->agent_unclear);
}

static json_t *checks_json(const struct checks *checks)
{
	json_t *list = json_array();
	char boot_id[64];
	size_t i;

	for (i = 0; i < checks->n_subjects; i++) {
		const struct subject *s = &checks->subjects[i];

		if (s->checked && s->health.state != HEALTH_UNKNOWN)
			json_array_append_new(list, subject_json(s));
	}
	read_boot_id(boot_id, sizeof(boot_id));
	return json_pack("{s:i, s:s, s:I, s:o, s:o}", "version", VERSION, "boot_id", boot_id,
			 "saved", (json_int_t)checks_now(), "backends", list, "drains",
			 drains_json(checks));
}

/* Through a buffer: jansson by itself makes a system call of each comma. */
static int write_file(const char *path, const json_t *json)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	int rc;

	if (!file) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	rc = json_dumpf(json, file, JSON_COMPACT);
	return fclose(file) || rc ? -1 : 0;
}

void checks_save(struct checks *checks)
{
	json_t *json = checks_json(checks);
	char fresh[96], path[96];

	file_path(checks, ".new", fresh, sizeof(fresh));
	file_path(checks, "", path, sizeof(path));
	if (!json || write_file(fresh, json) || rename(fresh, path))
		log_warn("health would not outlive a restart: cannot write '%s': %m", path);
	else
		checks->saved_drains = checks->n_drains;
	json_decref(json);
}

static bool in_range(json_int_t value, json_int_t least, json_int_t most)
{
	return value >= least && value <= most;
}

/* False: not of a form that we write. */
static bool parse_health(json_t *object, struct health *h)
{
	json_int_t state, since, penalised, climbs, climb, agent, share;
	const char *reason;
	int damped, unclear = 0;

	*h = (struct health){ 0 };
	if (json_unpack(object, "{s:I, s:I, s:s, s:F, s:I, s:b, s:I, s:I, s:I, s:F, s:I, s?b}",
			"state", &state, "since", &since, "reason", &reason, "penalty",
			&h->penalty, "penalised", &penalised, "damped", &damped, "climbs",
			&climbs, "climb", &climb, "agent", &agent, "agent_weight",
			&h->agent_weight, "agent_share", &share, "agent_unclear",
			&unclear) ||
	    !in_range(state, HEALTH_UNKNOWN + 1, HEALTH__MAX - 1) ||
	    !in_range(agent, 0, AGENT__MAX - 1) || !in_range(climb, 1, HEALTH_SHARE_FULL) ||
	    !in_range(share, 0, HEALTH_SHARE_FULL) ||
	    !(h->penalty >= 0 && h->penalty <= HEALTH_PENALTY_MAX) ||
	    !(h->agent_weight >= 0 && h->agent_weight <= HEALTH_SHARE_FULL))
		return false;
	h->state = state;
	h->since = since;
	h->checked = checks_now(); /* a result has come, or it were unknown */
	h->penalised = penalised;
	h->damped = damped;
	h->climbs = climbs;
	h->climb = climb;
	h->agent = agent;
	h->agent_share = share;
	h->agent_unclear = unclear;
	snprintf(h->reason, sizeof(h->reason), "%s", reason);
	return true;
}

/* False: not of a form that we write, or of another backend of that name. */
static bool load_health(json_t *object, struct subject *s)
{
	const char *address;
	struct health health;
	struct addr addr;

	if (json_unpack(object, "{s:s}", "address", &address) ||
	    addr_parse(address, "address", &addr, NULL) || addr_compare(&addr, &s->addr) ||
	    !parse_health(object, &health))
		return false;
	s->health = health;
	return true;
}

/* Of one state in the file: what it is about. */
struct entry {
	json_t *object;
	const char *pool, *backend;
	const char *vip; /* NULL: the pool had one way, for all of its VIPs */
};

/*
 * Whether it speaks of the way. Where a pool has fewer ways now than when the file was
 * written, the VIP that stands for one speaks for it.
 */
static bool is_about(const struct checks *checks, const struct entry *e,
		     const struct watched_way *way)
{
	struct vip_spec vip;

	if (!e->vip)
		return true;
	return !vip_spec_parse(e->vip, &vip, NULL) && way_of_vip(checks, &vip) == way &&
	       (way->addr.family || !vip_spec_compare(&vip, &way->vip));
}

struct loaded {
	uint64_t age;
	size_t taken, stale;
};

static void load_entry(struct checks *checks, const struct entry *e, struct loaded *l)
{
	size_t i, n, taken = 0, stale = 0;
	struct watched_way *ways = ways_of_pool(checks, e->pool, &n);

	for (i = 0; i < n; i++) {
		struct subject *s = is_about(checks, e, &ways[i]) ?
			subject_find(checks, &ways[i], e->backend) : NULL;

		if (!s || !s->checked)
			continue;
		if (l->age > BELIEVED_MS + 3ULL * s->interval)
			stale++;
		else
			taken += load_health(e->object, s);
	}
	l->taken += taken > 0;
	l->stale += stale > 0;
}

/* Said of each state, which a backend has once for each VIP that it is checked at. */
static void load_subjects(struct checks *checks, json_t *list, uint64_t age)
{
	struct loaded l = { .age = age };
	struct entry e;
	size_t i;

	json_array_foreach(list, i, e.object) {
		e.vip = NULL;
		if (!json_unpack(e.object, "{s:s, s:s, s?s}", "pool", &e.pool, "backend",
				 &e.backend, "vip", &e.vip))
			load_entry(checks, &e, &l);
	}
	if (l.taken)
		log_notice("the health of %zu backend%s is known from %" PRIu64 " s ago",
			   l.taken, plural(l.taken), age / 1000);
	if (l.stale)
		log_notice("the health of %zu backend%s is not believed, as it was known %" PRIu64 " s ago",
			   l.stale, plural(l.stale), age / 1000);
}

void checks_load(struct checks *checks)
{
	const char *boot_id;
	json_int_t version, saved;
	uint64_t now = checks_now();
	char path[96], booted[64];
	json_t *json, *list, *drains = NULL;
	bool believed;

	file_path(checks, "", path, sizeof(path));
	json = json_load_file(path, 0, NULL);
	read_boot_id(booted, sizeof(booted));
	if (json && !json_unpack(json, "{s:I, s:s, s:I, s:o, s?o}", "version", &version,
				 "boot_id", &boot_id, "saved", &saved, "backends", &list,
				 "drains", &drains) &&
	    version == VERSION) {
		believed = !strcmp(boot_id, booted) && saved >= 0 && (uint64_t)saved <= now;
		if (believed)
			load_subjects(checks, list, now - saved);
		drains_load(checks, drains, believed);
	}
	json_decref(json);
}
