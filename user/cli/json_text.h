/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_JSON_TEXT_H
#define FAIRLEAD_JSON_TEXT_H

/*
 * Text that came from the command line or a file name need not be UTF-8, and a
 * JSON string must be: what is not becomes '?', so that an answer or an error
 * never gets lost for it.
 */

#include <jansson.h>

/* A new reference, or NULL without memory. */
json_t *json_text(const char *text);

#endif
