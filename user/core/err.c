// SPDX-License-Identifier: GPL-2.0-only
#include "err.h"

#include <stdarg.h>
#include <stdio.h>

int err_set(struct err *err, int code, const char *format, ...)
{
	va_list args;

	if (!err)
		return code;

	err->code = code;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	return code;
}

int err_prefix(struct err *err, const char *format, ...)
{
	char prefix[sizeof(err->text)], whole[2 * sizeof(err->text) + 2];
	va_list args;

	if (!err)
		return -1;

	va_start(args, format);
	vsnprintf(prefix, sizeof(prefix), format, args);
	va_end(args);
	snprintf(whole, sizeof(whole), "%s: %s", prefix, err->text);
	snprintf(err->text, sizeof(err->text), "%.*s",
		 (int)sizeof(err->text) - 1, whole);
	return err->code;
}
