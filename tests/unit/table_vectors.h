/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TEST_TABLE_VECTORS_H
#define FAIRLEAD_TEST_TABLE_VECTORS_H

/* Golden vectors, read from the JSON file that all implementations share. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <jansson.h>

/* Tests run from the root of the repository. */
#define TABLE_VECTORS "tests/unit/vectors/tables.json"

/* The caller owns the result (json_decref). */
static inline json_t *vectors_load(void)
{
	json_error_t error;
	json_t *root = json_load_file(TABLE_VECTORS, 0, &error);

	if (!root)
		fail_msg("%s:%d: %s", TABLE_VECTORS, error.line, error.text);
	return root;
}

/* Fails the test when the key is missing, so that no row is skipped. */
static inline json_t *vectors_get(json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	if (!value)
		fail_msg("%s: no key '%s'", TABLE_VECTORS, key);
	return value;
}

static inline uint64_t vectors_hex(json_t *object, const char *key)
{
	return strtoull(json_string_value(vectors_get(object, key)), NULL, 16);
}

static inline uint32_t vectors_number(json_t *object, const char *key)
{
	return (uint32_t)json_integer_value(vectors_get(object, key));
}

#endif
