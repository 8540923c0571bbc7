// SPDX-License-Identifier: GPL-2.0-only
/*
 * Health over a restart: health.json in the run directory. It is believed when it was
 * written since this boot and not long ago; a backend that it calls down has still to
 * prove that it is up, and one that it calls up has to fail.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "checks_private.h"
#include "core/cleanup.h"
#include "sys/log.h"
#include "verbs.h"

#define VERSION 1
/* Beside three intervals of the check, in which it would have been asked anew. */
#define BELIEVED_MS 60000
#define FILE_MAX (256 * 1024 * 1024)

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
	char address[ADDR_TEXT_MAX];

	return json_pack("{s:o, s:o, s:s, s:I, s:I, s:I, s:o, s:f, s:I, s:b, s:I, s:I, s:f}",
			 "pool", text_json(s->pool), "backend", text_json(s->name),
			 "address", addr_format(&s->addr, address), "check",
			 (json_int_t)s->digest, "state", (json_int_t)h->state, "since",
			 (json_int_t)h->since, "reason", text_json(h->reason), "penalty",
			 h->penalty, "penalised", (json_int_t)h->penalised, "damped",
			 h->damped, "climbs", (json_int_t)h->climbs, "agent",
			 (json_int_t)h->agent, "agent_weight", h->agent_weight);
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
	return json_pack("{s:i, s:s, s:I, s:o}", "version", VERSION, "boot_id", boot_id,
			 "saved", (json_int_t)checks_now(), "backends", list);
}

void checks_save(struct checks *checks)
{
	json_t *json = checks_json(checks);
	char fresh[96], path[96];
	int fd;

	file_path(checks, ".new", fresh, sizeof(fresh));
	file_path(checks, "", path, sizeof(path));
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (!json || fd < 0 || json_dumpfd(json, fd, JSON_COMPACT) || rename(fresh, path))
		log_warn("health would not outlive a restart: cannot write '%s': %m", path);
	if (fd >= 0)
		close(fd);
	json_decref(json);
}

/* False: not of a form that we write, or of nobody. */
static bool load_health(json_t *object, struct subject *s)
{
	json_int_t digest, state, since, penalised, climbs, agent;
	double penalty, agent_weight;
	const char *address, *reason;
	struct addr addr;
	int damped;

	if (json_unpack(object, "{s:s, s:I, s:I, s:I, s:s, s:F, s:I, s:b, s:I, s:I, s:F}",
			"address", &address, "check", &digest, "state", &state, "since",
			&since, "reason", &reason, "penalty", &penalty, "penalised",
			&penalised, "damped", &damped, "climbs", &climbs, "agent", &agent,
			"agent_weight", &agent_weight) ||
	    state <= HEALTH_UNKNOWN || state >= HEALTH__MAX || agent < 0 ||
	    agent >= AGENT__MAX || addr_parse(address, "address", &addr, NULL) ||
	    addr_compare(&addr, &s->addr))
		return false;
	s->health = (struct health){
		.state = state,
		.since = since,
		.penalty = penalty,
		.penalised = penalised,
		.damped = damped,
		.climbs = climbs,
		.agent = agent,
		.agent_weight = agent_weight,
	};
	snprintf(s->health.reason, sizeof(s->health.reason), "%s", reason);
	return true;
}

static void load_subjects(struct checks *checks, json_t *list, uint64_t age)
{
	size_t i, taken = 0, stale = 0;
	const char *pool, *name;
	struct subject *s;
	json_t *object;

	json_array_foreach(list, i, object) {
		if (json_unpack(object, "{s:s, s:s}", "pool", &pool, "backend", &name))
			continue;
		s = subject_find(checks, pool, name);
		if (!s || !s->checked || !s->asked)
			continue;
		if (age > BELIEVED_MS + 3ULL * s->asked->probe.check.interval)
			stale++;
		else
			taken += load_health(object, s);
	}
	if (taken || stale)
		log_notice("the health of %zu backends is known from before, of %zu for too long (%" PRIu64 " s)",
			   taken, stale, age / 1000);
}

void checks_load(struct checks *checks)
{
	const char *boot_id;
	json_int_t version, saved;
	uint64_t now = checks_now();
	char path[96], booted[64];
	json_t *json, *list;

	file_path(checks, "", path, sizeof(path));
	json = json_load_file(path, 0, NULL);
	read_boot_id(booted, sizeof(booted));
	if (json && !json_unpack(json, "{s:I, s:s, s:I, s:o}", "version", &version, "boot_id",
				 &boot_id, "saved", &saved, "backends", &list) &&
	    version == VERSION && !strcmp(boot_id, booted) && saved >= 0 &&
	    (uint64_t)saved <= now)
		load_subjects(checks, list, now - saved);
	json_decref(json);
}
