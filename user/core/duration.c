// SPDX-License-Identifier: GPL-2.0-only
#include "duration.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "quote.h"

static const struct {
	const char *name;
	uint32_t ms;
} units[] = {
	{ "h", DURATION_HOUR }, { "m", DURATION_MINUTE }, { "s", DURATION_SECOND },
	{ "ms", 1 },		{ "", DURATION_SECOND },
};
#define N_UNITS (sizeof(units) / sizeof(*units))

const char *duration_format(uint32_t ms, char text[DURATION_TEXT_MAX])
{
	size_t i = 0;

	while (ms % units[i].ms)
		i++;
	if (!ms)
		return strcpy(text, "0s");
	snprintf(text, DURATION_TEXT_MAX, "%u%s", ms / units[i].ms, units[i].name);
	return text;
}

static int refuse(const char *text, const char *what, const char *why,
		  const struct duration_range *range, int code, struct err *err)
{
	char min[DURATION_TEXT_MAX], max[DURATION_TEXT_MAX];

	return err_set(err, code, "%s %s %s; allowed: %s%s to %s%s", what, QUOTE(text), why,
		       range->zero ? "0, or " : "", duration_format(range->min, min),
		       duration_format(range->max, max),
		       code == -EINVAL ? ", as 500ms, 5s, 2m or 1h" : "");
}

/* Stops at the first other character. Saturates, far above what is allowed. */
static const char *read_digits(const char *text, uint64_t *value)
{
	*value = 0;
	for (; *text >= '0' && *text <= '9'; text++)
		if (*value <= UINT32_MAX)
			*value = *value * 10 + (*text - '0');
	return text;
}

int duration_parse(const char *text, const char *what,
		   const struct duration_range *range, uint32_t *ms, struct err *err)
{
	uint64_t value;
	const char *unit = read_digits(text, &value);
	size_t i = 0;

	while (i < N_UNITS && strcmp(unit, units[i].name))
		i++;
	/* Other programs would read a 0 in front as octal. */
	if (unit == text || i == N_UNITS || (text[0] == '0' && unit > text + 1))
		return refuse(text, what, "is no time", range, -EINVAL, err);

	value *= units[i].ms;
	if ((value || !range->zero) && (value < range->min || value > range->max))
		return refuse(text, what, "is out of range", range, -ERANGE, err);
	if (range->whole && value % DURATION_SECOND)
		return refuse(text, what, "is no whole number of seconds", range, -ERANGE,
			      err);
	*ms = value;
	return 0;
}
