// SPDX-License-Identifier: GPL-2.0-only
#include "text.h"

void text_clean(char *text)
{
	char *end = text;

	for (char *c = text; *c; c++) {
		if (*c == '\t')
			*c = ' ';
		else if (*c < ' ' || *c > '~')
			*c = '?';
		if (*c != ' ')
			end = c + 1;
	}
	*end = '\0';
}
