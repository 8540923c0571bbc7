// SPDX-License-Identifier: GPL-2.0-only
#include "show_people.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELL_MAX 48

static const char *people_string(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static int64_t people_number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static void people_copy_string(struct writer *w, const json_t *object,
			       const char *key)
{
	writer_str(w, key, people_string(object, key));
}

static void people_copy_number(struct writer *w, const json_t *object,
			       const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (json_is_integer(value))
		writer_int(w, key, json_integer_value(value));
	else
		writer_null(w, key);
}

static bool people_says(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

/* Panic is seen to first: all serve, whatever else is said. */
static void people_vip_state(struct writer *w, const json_t *vip)
{
	bool panic = people_says(vip, "panic");
	bool lost = people_says(vip, "quorum_lost");
	bool none = people_number(vip, "backends_up") == 0;
	char text[CELL_MAX];

	if (!json_is_integer(json_object_get(vip, "backends_up"))) {
		writer_null(w, "state");
		return;
	}

	snprintf(text, sizeof(text), "%s%s%s%s%s", panic ? "panic" : "",
		 panic && lost ? ", " : "", lost ? "no quorum" : "",
		 none && (panic || lost) ? ", " : "", none ? "none up" : "");
	writer_str_tone(w, "state", *text ? text : "ok",
			*text ? TONE_BAD : TONE_PLAIN);
}

void people_vip(struct writer *w, const json_t *vip)
{
	people_copy_string(w, vip, "address");
	people_copy_string(w, vip, "pool");
	people_copy_number(w, vip, "backends");
	people_copy_number(w, vip, "backends_up");
	people_vip_state(w, vip);
	people_copy_number(w, vip, "packets");
	people_copy_number(w, vip, "bytes");
	people_copy_number(w, vip, "new_flows");
	people_copy_number(w, vip, "drops");
}

/* "up", "up 40 %", "drain", "down"; of one that left a pool, "draining". */
static void people_state(struct writer *w, const json_t *backend)
{
	const char *state = people_string(backend, "effective");
	const json_t *share = json_object_get(backend, "share");
	bool up = state && strcmp(state, "up") == 0;
	bool part = up && json_is_integer(share) && json_integer_value(share) != 100;
	char text[CELL_MAX];

	if (!state)
		state = people_string(backend, "state");
	if (part)
		snprintf(text, sizeof(text), "up %" JSON_INTEGER_FORMAT " %%",
			 json_integer_value(share));
	writer_str_tone(w, "state", part ? text : state,
			!state || strcmp(state, "up") == 0   ? TONE_PLAIN
			: strcmp(state, "down") == 0 ? TONE_BAD
						     : TONE_WARN);
}

/* The two largest units: what is long ago is not of interest by the second. */
static const char *people_since(int64_t s, char text[CELL_MAX])
{
	static const struct {
		int64_t seconds;
		char name;
	} units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
	size_t i = 0;

	while (i < 3 && s < units[i].seconds)
		i++;
	if (i == 3)
		snprintf(text, CELL_MAX, "%" PRId64 "s", s);
	else
		snprintf(text, CELL_MAX, "%" PRId64 "%c%02" PRId64 "%c",
			 s / units[i].seconds, units[i].name,
			 s % units[i].seconds / units[i + 1].seconds,
			 units[i + 1].name);
	return text;
}

/* What the check says, and for how long: "down 2m05s". */
static void people_health(struct writer *w, const json_t *backend)
{
	const char *health = people_string(backend, "health");
	const json_t *since = json_object_get(backend, "health_s");
	char text[2 * CELL_MAX], ago[CELL_MAX];

	if (!health) {
		writer_null(w, "health");
		return;
	}

	if (!json_is_integer(since)) {
		writer_str(w, "health", health);
		return;
	}

	snprintf(text, sizeof(text), "%.*s %s", CELL_MAX - 1, health,
		 people_since(json_integer_value(since), ago));
	writer_str(w, "health", text);
}

/* That its check is passed, or that it has none, is no news. */
static bool people_expect(const json_t *backend, const char *why)
{
	const char *state = people_string(backend, "effective");

	return state && strcmp(state, "up") == 0 &&
	       (strcmp(why, "check") == 0 || strcmp(why, "no check") == 0);
}

/*
 * Why it is as it is. What the check found and what is wrong with the next hop
 * say more than that it was the one or the other.
 */
static const char *people_why(const json_t *backend)
{
	const char *why = people_string(backend, "why");
	const char *found = people_string(backend, "health_reason");
	const char *problem = people_string(backend, "problem");

	if (!why || !*why || people_expect(backend, why))
		return NULL;

	if (strcmp(why, "check") == 0 && found)
		return found;

	return strcmp(why, "next hop") == 0 && problem ? NULL : why;
}

static void people_add(FILE *text, bool first, const char *what, const char *part)
{
	if (part)
		fprintf(text, "%s%s%s", first ? "" : "; ", what, part);
}

/* The row is for one VIP of several, and what is said may not be true of the others. */
static const char *people_vip_of(const json_t *backend)
{
	const char *why = people_string(backend, "why");

	if (why && (strcmp(why, "admin") == 0 || strcmp(why, "weight") == 0 ||
		    strcmp(why, "next hop") == 0))
		return NULL;
	return people_string(backend, "vip");
}

static void people_reason(struct writer *w, const json_t *backend)
{
	const char *why = people_why(backend);
	const char *vip = people_vip_of(backend);
	const char *problem = people_string(backend, "problem");
	const char *check = people_string(backend, "check_problem");
	_cleanup_free_ char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);

	if (stream) {
		if (vip && (why || check))
			fprintf(stream, "on %s: ", vip);
		people_add(stream, true, "", why);
		people_add(stream, !why, "check: ", check);
		people_add(stream, !why && !check, "next hop: ", problem);
		fclose(stream);
	}
	if (length)
		writer_str_tone(w, "reason", text, problem || check ? TONE_BAD : TONE_PLAIN);
	else
		writer_null(w, "reason");
}

/* The one that holds blanks comes last. */
void people_backend(struct writer *w, const json_t *backend)
{
	people_copy_string(w, backend, "pool");
	people_copy_string(w, backend, "name");
	people_copy_string(w, backend, "address");
	people_copy_number(w, backend, "weight");
	people_state(w, backend);
	people_health(w, backend);
	people_copy_number(w, backend, "slots");
	people_copy_number(w, backend, "packets");
	people_copy_number(w, backend, "new_flows");
	people_reason(w, backend);
}
