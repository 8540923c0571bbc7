/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_QUOTE_H
#define FAIRLEAD_QUOTE_H

/*
 * User input inside a message: 'text', cut when long, with every byte that is
 * not printable ASCII, and the quote and backslash themselves, escaped. What
 * comes out is one line and safe for a terminal, whatever went in.
 */

#define QUOTE_MAX 80

/* Writes to `out` and returns it. */
const char *quote_text(const char *text, char out[QUOTE_MAX]);

/* For arguments of a call: the buffer lives as long as the calling block. */
#define QUOTE(text) quote_text((text), (char[QUOTE_MAX]){ 0 })

#endif
