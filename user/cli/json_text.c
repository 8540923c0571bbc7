// SPDX-License-Identifier: GPL-2.0-only
#include "json_text.h"

#include <string.h>

#include "core/cleanup.h"

json_t *json_text(const char *text)
{
	_cleanup_free_ char *ascii = NULL;
	json_t *string = json_string(text);

	if (string)
		return string;

	ascii = strdup(text);
	if (!ascii)
		return NULL;

	for (char *c = ascii; *c; c++) {
		if ((unsigned char)*c > 0x7f)
			*c = '?';
	}
	return json_string(ascii);
}
