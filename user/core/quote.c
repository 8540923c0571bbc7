// SPDX-License-Identifier: GPL-2.0-only
#include "quote.h"

#include <stdbool.h>
#include <stdio.h>

/* The longest escape, "...", the closing quote and the NUL. */
#define QUOTE_RESERVE (4 + 3 + 1 + 1)

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '\'' && c != '\\';
}

const char *quote_text(const char *text, char out[QUOTE_MAX])
{
	size_t n = 0;

	out[n++] = '\'';
	for (; *text; text++) {
		unsigned char c = *text;

		if (n > QUOTE_MAX - QUOTE_RESERVE)
			break;
		if (is_plain(c))
			out[n++] = c;
		else
			n += snprintf(out + n, QUOTE_MAX - n, "\\x%02x", c);
	}
	snprintf(out + n, QUOTE_MAX - n, "%s'", *text ? "..." : "");
	return out;
}
