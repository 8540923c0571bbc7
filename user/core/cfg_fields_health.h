/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CFG_FIELDS_HEALTH_H
#define FAIRLEAD_CFG_FIELDS_HEALTH_H

/* What a pool says of the health of its backends. Private to cfg*.c. */

#include <stdbool.h>
#include <stddef.h>

struct cfg_field;
struct err;
struct json_t;
struct reader;

/* In the order in which a saved file has them, behind the check. */
#define CFG_HEALTH_OPTIONS(X)                                                    \
	X(initial) X(initial_timeout) X(slow_start)
/* Mappings: by key in a file, or all in one text. */
#define CFG_HEALTH_MAPPINGS(X) X(damping)
#define CFG_HEALTH_LIMITS(X)                                                     \
	X(panic_threshold) X(quorum) X(quorum_hysteresis) X(drain_timeout)

#define CFG_DECLARE(name)                                                        \
	int cfg_pool_set_##name(void *object, const char *text, struct err *err); \
	struct json_t *cfg_pool_get_##name(const void *object);
CFG_DECLARE(check)
CFG_HEALTH_OPTIONS(CFG_DECLARE)
CFG_HEALTH_MAPPINGS(CFG_DECLARE)
CFG_HEALTH_LIMITS(CFG_DECLARE)
#undef CFG_DECLARE

extern const struct cfg_field cfg_pool_damping_fields[]; /* struct cfg_pool */
extern const struct cfg_field cfg_check_fields[];        /* struct check */

/* A mapping, or the type alone as cfg_pool_set_check() takes it. */
int cfg_pool_read_check(struct reader *r, void *pool);

/* Is the key of cfg_check_fields one for checks of this enum check_kind? */
bool cfg_check_uses(size_t key, unsigned int kind);

/* Entries of a list of fields. */
#define CFG_POOL_FIELD(name) \
	{ .key = #name, .set = cfg_pool_set_##name, .get = cfg_pool_get_##name },
#define CFG_POOL_MAPPING_FIELD(name)                                            \
	{ .key = #name, .set = cfg_pool_set_##name, .get = cfg_pool_get_##name, \
	  .fields = cfg_pool_##name##_fields },
#define CFG_HEALTH_FIELDS                                                       \
	{ .key = "check", .set = cfg_pool_set_check, .get = cfg_pool_get_check, \
	  .read = cfg_pool_read_check },                                        \
	CFG_HEALTH_OPTIONS(CFG_POOL_FIELD)                                      \
	CFG_HEALTH_MAPPINGS(CFG_POOL_MAPPING_FIELD)                             \
	CFG_HEALTH_LIMITS(CFG_POOL_FIELD)

#endif
