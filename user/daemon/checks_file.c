// SPDX-License-Identifier: GPL-2.0-only
/*
 * Health over a restart: health.json in the run directory. It is believed when it was
 * written since this boot and not long ago; a backend that it calls down has still to
 * prove that it is up, and one that it calls up has to fail.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "checks_private.h"
#include "core/cleanup.h"
#include "core/plural.h"
#include "core/text.h"
#include "sys/log.h"
#include "sys/own_file.h"
#include "verbs.h"

#define VERSION 1
/* Beside three intervals of the check, in which it would have been asked anew. */
#define BELIEVED_MS 60000
/* Bytes of a backend's state, of a drain, and of all that is no longer configured. */
#define ENTRY_MAX 2048
#define DRAIN_MAX 256
#define LEFT_MAX (4 * 1024 * 1024)

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

	return json_pack("{s:o, s:s*, s:o, s:s, s:I, s:I, s:o, s:o, s:f, s:I, s:b, s:I, s:I, s:I, s:f, s:I, s:b}",
			 "pool", text_json(s->way->pool), "vip", way_name(s->way, vip), "backend", text_json(s->name),
			 "address", addr_format(&s->addr, address), "state", (json_int_t)h->state, "since",
			 (json_int_t)h->since, "reason", text_json(h->reason), "cause",
			 text_json(h->cause), "penalty", h->penalty, "penalised",
			 (json_int_t)h->penalised, "damped",
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
	int fd = own_file_create(path), rc;
	FILE *file;

	if (fd < 0)
		return fd;
	file = fdopen(fd, "w");
	if (!file) {
		close(fd);
		return -ENOMEM;
	}
	errno = 0;
	rc = json_dumpf(json, file, JSON_COMPACT);
	if (fclose(file) || rc)
		return errno ? -errno : -EIO;
	return 0;
}

/* Under another name first: whoever reads it finds all of it, or that of before. */
static int write_state(const char *fresh, const char *path, const json_t *json)
{
	int rc = json ? write_file(fresh, json) : -ENOMEM;

	if (!rc && rename(fresh, path))
		rc = -errno;
	if (rc)
		unlink(fresh);
	return rc;
}

/* It is tried again and again: once is said that it fails, and once that it does not. */
static void tell_saved(struct checks *checks, const char *path, int rc)
{
	if (rc && !checks->save_failed)
		log_warn("health would not outlive a restart: cannot write '%s': %s; trying again",
			 path, strerror(-rc));
	else if (!rc && checks->save_failed)
		log_notice("health outlives a restart again: '%s' is written", path);
	checks->save_failed = rc != 0;
}

void checks_save(struct checks *checks)
{
	json_t *json = checks_json(checks);
	char fresh[96], path[96];
	int rc;

	file_path(checks, ".new", fresh, sizeof(fresh));
	file_path(checks, "", path, sizeof(path));
	rc = write_state(fresh, path, json);
	if (!rc)
		checks->saved_drains = checks->n_drains;
	tell_saved(checks, path, rc);
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
	const char *reason, *cause = NULL;
	int damped, unclear = 0;

	*h = (struct health){ 0 };
	if (json_unpack(object, "{s:I, s:I, s:s, s?s, s:F, s:I, s:b, s:I, s:I, s:I, s:F, s:I, s?b}",
			"state", &state, "since", &since, "reason", &reason, "cause", &cause,
			"penalty", &h->penalty, "penalised", &penalised, "damped",
			&damped, "climbs",
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
	text_clean(h->reason);
	snprintf(h->cause, sizeof(h->cause), "%s", cause ? cause : reason);
	text_clean(h->cause);
	return true;
}

/* -EINVAL: not of a form that we write. -ENOENT: of another backend of that name. */
static int load_health(json_t *object, struct subject *s)
{
	const char *address;
	struct health health;
	struct addr addr;

	if (json_unpack(object, "{s:s}", "address", &address) ||
	    addr_parse(address, "address", &addr, NULL) || !parse_health(object, &health))
		return -EINVAL;
	if (addr_compare(&addr, &s->addr))
		return -ENOENT;
	s->health = health;
	return 0;
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
	size_t taken, stale, unclear;
};

static void load_entry(struct checks *checks, const struct entry *e, struct loaded *l)
{
	size_t i, n, taken = 0, stale = 0, unclear = 0;
	struct watched_way *ways = ways_of_pool(checks, e->pool, &n);

	for (i = 0; i < n; i++) {
		struct subject *s = is_about(checks, e, &ways[i]) ?
			subject_find(checks, &ways[i], e->backend) : NULL;
		int rc;

		if (!s || !s->checked)
			continue;
		if (l->age > BELIEVED_MS + 3ULL * s->interval) {
			stale++;
			continue;
		}
		rc = load_health(e->object, s);
		taken += !rc;
		unclear += rc == -EINVAL;
	}
	l->taken += taken > 0;
	l->stale += stale > 0;
	l->unclear += unclear > 0;
}

static void tell_loaded(const struct loaded *loaded)
{
	if (loaded->taken)
		log_notice("the health of %zu backend%s is known from %" PRIu64 " s ago",
			   loaded->taken, plural(loaded->taken), loaded->age / 1000);
	if (loaded->stale)
		log_notice("the health of %zu backend%s is not believed, as it was known %" PRIu64 " s ago",
			   loaded->stale, plural(loaded->stale), loaded->age / 1000);
	if (loaded->unclear)
		log_notice("the health of %zu backend%s is not believed, as it is not of a form that is written",
			   loaded->unclear, plural(loaded->unclear));
}

/* Said of each state, which a backend has once for each VIP that it is checked at. */
static void load_subjects(struct checks *checks, json_t *list, uint64_t age)
{
	struct loaded loaded = { .age = age };
	struct entry e;
	size_t i;

	json_array_foreach(list, i, e.object) {
		e.vip = NULL;
		if (!json_unpack(e.object, "{s:s, s:s, s?s}", "pool", &e.pool, "backend",
				 &e.backend, "vip", &e.vip))
			load_entry(checks, &e, &loaded);
		else
			loaded.unclear++;
	}
	tell_loaded(&loaded);
}

/* What the file is made of; borrowed from its JSON. */
struct state {
	json_t *list, *drains;
	const char *boot_id;
	json_int_t saved;
};

static int read_form(json_t *json, struct state *out, struct err *err)
{
	json_int_t version = 0;

	if (json_unpack(json, "{s:I}", "version", &version))
		return err_set(err, -EINVAL, "has no version");
	if (version != VERSION)
		return err_set(err, -EINVAL, "has version %" JSON_INTEGER_FORMAT ", not %d",
			       version, VERSION);
	*out = (struct state){ 0 };
	if (json_unpack(json, "{s:s, s:I, s:o, s?o}", "boot_id", &out->boot_id, "saved",
			&out->saved, "backends", &out->list, "drains", &out->drains) ||
	    !json_is_array(out->list))
		return err_set(err, -EINVAL, "has not what a state of health is made of");
	return 0;
}

/* *out: the caller's; NULL: there is no file. */
static int read_json(const struct checks *checks, const char *path, json_t **out,
		     struct err *err)
{
	_cleanup_free_ char *text = NULL;
	json_error_t error;
	size_t length = 0;
	const struct plan *plan = checks->daemon->plan;
	size_t drains = plan->n_backends + plan->n_verdicts;
	int rc = own_file_read(path, LEFT_MAX + checks->n_subjects * ENTRY_MAX +
					     drains * DRAIN_MAX,
			       &text, &length, err);

	*out = NULL;
	if (rc)
		return rc == -ENOENT ? 0 : rc;
	*out = json_loadb(text, length, 0, &error);
	if (*out)
		return 0;
	text_clean(error.text);
	return err_set(err, -EINVAL, "is not JSON: line %d, column %d: %s", error.line,
		       error.column, error.text);
}

/* Are its times those of our clock? */
static int judge_times(const struct state *state, uint64_t now, struct err *err)
{
	char booted[64];

	read_boot_id(booted, sizeof(booted));
	if (strcmp(state->boot_id, booted))
		return err_set(err, -ESTALE, "was written before this host was booted");
	if (state->saved < 0 || (uint64_t)state->saved > now)
		return err_set(err, -ESTALE, "says that it was written at a time to come");
	return 0;
}

static int load_state(struct checks *checks, json_t *json, struct err *err)
{
	uint64_t now = checks_now();
	struct state state;
	int rc = read_form(json, &state, err);

	if (rc)
		return rc;
	rc = judge_times(&state, now, err);
	if (!rc)
		load_subjects(checks, state.list, now - state.saved);
	drains_load(checks, state.drains, !rc);
	return rc;
}

void checks_load(struct checks *checks)
{
	char path[96];
	struct err err;
	json_t *json;
	int rc;

	file_path(checks, "", path, sizeof(path));
	rc = read_json(checks, path, &json, &err);
	if (!rc && json)
		rc = load_state(checks, json, &err);
	if (rc)
		log_notice("what was known of health is not believed: '%s' %s", path, err.text);
	json_decref(json);
}
