// SPDX-License-Identifier: GPL-2.0-only
/* What becomes of results of checks: policy of a pool. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cfg_fields.h"
#include "cfg_fields_health.h"
#include "duration.h"
#include "health.h"
#include "num.h"
#include "quote.h"

/* The first is the default, and false. */
static const char *const initial_names[] = { "down", "up" };

static const struct duration_range initial_range = { 100, 24 * DURATION_HOUR, true, false };
static const struct duration_range slow_start_range = { DURATION_SECOND, DURATION_HOUR, true,
							 false };
static const struct duration_range half_life_range = { DURATION_SECOND, DURATION_HOUR, false,
							false };
/* Kept in seconds. */
static const struct duration_range drain_range = { DURATION_SECOND, 24 * DURATION_HOUR, true,
						    true };

static json_t *duration_json(uint32_t ms)
{
	char text[DURATION_TEXT_MAX];

	return json_string(duration_format(ms, text));
}

int cfg_pool_set_initial(void *object, const char *text, struct err *err)
{
	struct cfg_pool *pool = object;
	int up = cfg_parse_word(text, "initial", initial_names, 2, err);

	if (up < 0)
		return up;
	pool->initial_up = up;
	return 0;
}

json_t *cfg_pool_get_initial(const void *object)
{
	const struct cfg_pool *pool = object;

	return pool->initial_up ? json_string(initial_names[1]) : json_null();
}

int cfg_pool_set_initial_timeout(void *object, const char *text, struct err *err)
{
	struct cfg_pool *pool = object;

	return duration_parse(text, "initial_timeout", &initial_range,
			      &pool->initial_timeout, err);
}

json_t *cfg_pool_get_initial_timeout(const void *object)
{
	const struct cfg_pool *pool = object;

	if (pool->initial_timeout == CFG_INITIAL_TIMEOUT_DEFAULT)
		return json_null();
	return duration_json(pool->initial_timeout);
}

int cfg_pool_set_slow_start(void *object, const char *text, struct err *err)
{
	struct cfg_pool *pool = object;

	return duration_parse(text, "slow_start", &slow_start_range, &pool->slow_start, err);
}

json_t *cfg_pool_get_slow_start(const void *object)
{
	const struct cfg_pool *pool = object;

	return pool->slow_start ? duration_json(pool->slow_start) : json_null();
}

/* Damping. */

static int set_suppress(void *object, const char *text, struct err *err)
{
	struct cfg_pool *pool = object;

	return parse_u32(text, "suppress", 1, HEALTH_PENALTY_MAX, &pool->damping_suppress,
			 err);
}

static int set_reuse(void *object, const char *text, struct err *err)
{
	struct cfg_pool *pool = object;

	return parse_u32(text, "reuse", 1, HEALTH_PENALTY_MAX, &pool->damping_reuse, err);
}

static int set_half_life(void *object, const char *text, struct err *err)
{
	struct cfg_pool *pool = object;

	return duration_parse(text, "half_life", &half_life_range,
			      &pool->damping_half_life, err);
}

/* What is written is the whole, cfg_pool_get_damping. */
const struct cfg_field cfg_pool_damping_fields[] = {
	{ .key = "suppress", .set = set_suppress },
	{ .key = "reuse", .set = set_reuse },
	{ .key = "half_life", .set = set_half_life },
	{ .key = NULL },
};

static int set_damping_parts(struct cfg_pool *pool, char *text, const char *whole,
			     struct err *err)
{
	const struct cfg_field *field = cfg_pool_damping_fields;
	char *part;
	int rc = 0;

	while (!rc && field->key && (part = strsep(&text, ":")))
		rc = (field++)->set(pool, part, err);
	if (!rc && (field->key || text))
		rc = err_set(err, -EINVAL,
			     "damping is %s; allowed: SUPPRESS:REUSE:HALF_LIFE, or none",
			     QUOTE(whole));
	return rc;
}

/* As a command has it: "SUPPRESS:REUSE:HALF_LIFE", or "none". */
int cfg_pool_set_damping(void *object, const char *text, struct err *err)
{
	struct cfg_pool *pool = object, next = *pool;
	char copy[64]; /* longer than any that is right */
	int rc;

	next.damping_suppress = next.damping_reuse = next.damping_half_life = 0;
	if (strcmp(text, "none")) {
		snprintf(copy, sizeof(copy), "%s", text);
		rc = set_damping_parts(&next, copy, text, err);
		if (rc < 0)
			return rc;
	}
	*pool = next;
	return 0;
}

json_t *cfg_pool_get_damping(const void *object)
{
	const struct cfg_pool *pool = object;

	if (!pool->damping_suppress)
		return json_null();
	return json_pack("{s:I, s:I, s:o}", "suppress", (json_int_t)pool->damping_suppress,
			 "reuse", (json_int_t)pool->damping_reuse, "half_life",
			 duration_json(pool->damping_half_life));
}

/* When few are left. */

int cfg_pool_set_panic_threshold(void *object, const char *text, struct err *err)
{
	struct cfg_pool *pool = object;
	uint16_t percent;
	int rc = parse_u16(text, "panic_threshold", 0, 100, &percent, err);

	if (rc < 0)
		return rc;
	pool->panic_threshold = percent;
	return 0;
}

json_t *cfg_pool_get_panic_threshold(const void *object)
{
	const struct cfg_pool *pool = object;

	return pool->panic_threshold ? json_integer(pool->panic_threshold) : json_null();
}

int cfg_pool_set_quorum(void *object, const char *text, struct err *err)
{
	struct cfg_pool *pool = object;

	return parse_u32(text, "quorum", 0, CFG_QUORUM_MAX, &pool->quorum, err);
}

json_t *cfg_pool_get_quorum(const void *object)
{
	const struct cfg_pool *pool = object;

	return pool->quorum ? json_integer(pool->quorum) : json_null();
}

int cfg_pool_set_quorum_hysteresis(void *object, const char *text, struct err *err)
{
	struct cfg_pool *pool = object;

	return parse_u32(text, "quorum_hysteresis", 0, CFG_QUORUM_MAX,
			 &pool->quorum_hysteresis, err);
}

json_t *cfg_pool_get_quorum_hysteresis(const void *object)
{
	const struct cfg_pool *pool = object;

	return pool->quorum_hysteresis ? json_integer(pool->quorum_hysteresis) : json_null();
}

int cfg_pool_set_drain_timeout(void *object, const char *text, struct err *err)
{
	struct cfg_pool *pool = object;
	uint32_t ms;
	int rc = duration_parse(text, "drain_timeout", &drain_range, &ms, err);

	if (rc < 0)
		return rc;
	pool->drain_timeout = ms / DURATION_SECOND;
	return 0;
}

json_t *cfg_pool_get_drain_timeout(const void *object)
{
	const struct cfg_pool *pool = object;

	if (!pool->drain_timeout)
		return json_null();
	return duration_json(pool->drain_timeout * DURATION_SECOND);
}
