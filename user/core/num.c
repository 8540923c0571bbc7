// SPDX-License-Identifier: GPL-2.0-only
#include "num.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "quote.h"

struct range {
	uint32_t min, max;
	bool suffixes;
};

static int refuse(const char *text, const char *what, const struct range *range,
		  int code, struct err *err)
{
	return err_set(err, code, "%s %s is %s; allowed: %u to %u%s", what,
		       QUOTE(text),
		       code == -ERANGE ? "out of range" : "not a number",
		       range->min, range->max,
		       range->suffixes ? ", K or M may follow" : "");
}

/* Stops at the first other character. Saturates: no text is long enough to wrap. */
static const char *read_digits(const char *text, uint64_t *value)
{
	*value = 0;
	for (; *text >= '0' && *text <= '9'; text++) {
		if (*value <= UINT32_MAX)
			*value = *value * 10 + (*text - '0');
	}
	return text;
}

static int parse_number(const char *text, const char *what,
			const struct range *range, uint32_t *out, struct err *err)
{
	uint64_t value;
	const char *end = read_digits(text, &value);

	if (end == text)
		return refuse(text, what, range, -EINVAL, err);
	/* Other programs would read it as octal. */
	if (text[0] == '0' && end > text + 1)
		return err_set(err, -EINVAL,
			       "%s %s starts with 0; allowed: %u to %u", what,
			       QUOTE(text), range->min, range->max);

	if (range->suffixes && (*end == 'K' || *end == 'M'))
		value *= *end++ == 'K' ? 1024 : 1024 * 1024;
	if (*end)
		return refuse(text, what, range, -EINVAL, err);
	if (value < range->min || value > range->max)
		return refuse(text, what, range, -ERANGE, err);

	*out = value;
	return 0;
}

int parse_u16(const char *text, const char *what, uint16_t min, uint16_t max,
	      uint16_t *out, struct err *err)
{
	struct range range = { min, max, false };
	uint32_t value;
	int rc = parse_number(text, what, &range, &value, err);

	if (rc < 0)
		return rc;

	*out = value;
	return 0;
}

int parse_u32(const char *text, const char *what, uint32_t min, uint32_t max,
	      uint32_t *out, struct err *err)
{
	struct range range = { min, max, false };

	return parse_number(text, what, &range, out, err);
}

int parse_size(const char *text, const char *what, uint32_t min, uint32_t max,
	       uint32_t *out, struct err *err)
{
	struct range range = { min, max, true };

	return parse_number(text, what, &range, out, err);
}
