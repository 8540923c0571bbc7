/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CHECK_FIELDS_H
#define FAIRLEAD_CHECK_FIELDS_H

/*
 * Every member of struct check that has a plain value, in one list: copies, the order,
 * the digest and the lines all go by it. Private to check*.c. The kind, the way (via)
 * and the command are not in it.
 */

#include "check.h"

enum check_type { CHECK_U8, CHECK_U16, CHECK_U32, CHECK_BOOL, CHECK_STRING };

/* What a string may have in it. */
enum check_charset {
	CHECK_ANY,     /* all but NUL */
	CHECK_VISIBLE, /* printable ASCII but the space: it goes into a request line */
	CHECK_HOST,    /* letters, digits, ". - _ : [ ]" */
	CHECK_TOKEN,   /* of a header's name, RFC 9110 */
};

struct check_field {
	const char *key; /* in lines */
	enum check_type type;
	size_t offset;
	uint32_t min, max;   /* of numbers that are not zero */
	enum check_charset charset;
	bool policy; /* what is made of results; no part of what is asked */
};

/* Ends with an entry without key. */
extern const struct check_field check_fields[];

uint32_t check_number(const struct check *check, const struct check_field *field);
/* Within min and max, or zero. */
void check_set_number(struct check *check, const struct check_field *field,
		      uint32_t value);
char **check_string(struct check *check, const struct check_field *field);
const char *check_string_const(const struct check *check,
			       const struct check_field *field);

/* What is wrong between members, and with those that a kind cannot do without. */
int check_judge(const struct check *check, struct err *err);

#endif
