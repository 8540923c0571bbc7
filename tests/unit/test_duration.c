// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include "core/duration.h"

static const struct duration_range range = { 100, 2 * DURATION_HOUR, false, false };
static const struct duration_range or_zero = { DURATION_SECOND, DURATION_HOUR, true, true };

static void times_are_read_in_their_unit(void **state)
{
	static const struct {
		const char *text;
		uint32_t ms;
	} rows[] = {
		{ "100ms", 100 },   { "1500ms", 1500 },	  { "5s", 5000 }, { "5", 5000 },
		{ "90s", 90000 },   { "2m", 120000 },	  { "1h", 3600000 },
		{ "2h", 7200000 },  { "7200s", 7200000 }, { "7200000ms", 7200000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t ms = 0;

		assert_int_equal(duration_parse(rows[i].text, "t", &range, &ms, NULL), 0);
		assert_int_equal(ms, rows[i].ms);
	}
}

static void zero_is_a_time_only_where_it_means_something(void **state)
{
	uint32_t ms = 7;

	(void)state;
	assert_int_equal(duration_parse("0", "t", &or_zero, &ms, NULL), 0);
	assert_int_equal(ms, 0);
	assert_int_equal(duration_parse("0h", "t", &or_zero, &ms, NULL), 0);
	assert_int_equal(duration_parse("0", "t", &range, &ms, NULL), -ERANGE);
}

static void what_is_no_time_is_refused_with_what_is_allowed(void **state)
{
	static const struct {
		const struct duration_range *range;
		const char *text, *sentence;
		int code;
	} rows[] = {
		{ &range, "", "t '' is no time; allowed: 100ms to 2h, as 500ms, 5s, 2m or 1h",
		  -EINVAL },
		{ &range, "soon",
		  "t 'soon' is no time; allowed: 100ms to 2h, as 500ms, 5s, 2m or 1h", -EINVAL },
		{ &range, "-5s",
		  "t '-5s' is no time; allowed: 100ms to 2h, as 500ms, 5s, 2m or 1h", -EINVAL },
		{ &range, "5 s",
		  "t '5 s' is no time; allowed: 100ms to 2h, as 500ms, 5s, 2m or 1h", -EINVAL },
		{ &range, "1.5s",
		  "t '1.5s' is no time; allowed: 100ms to 2h, as 500ms, 5s, 2m or 1h", -EINVAL },
		{ &range, "1m30s",
		  "t '1m30s' is no time; allowed: 100ms to 2h, as 500ms, 5s, 2m or 1h",
		  -EINVAL },
		{ &range, "05s",
		  "t '05s' is no time; allowed: 100ms to 2h, as 500ms, 5s, 2m or 1h", -EINVAL },
		{ &range, "5S",
		  "t '5S' is no time; allowed: 100ms to 2h, as 500ms, 5s, 2m or 1h", -EINVAL },
		{ &range, "99ms", "t '99ms' is out of range; allowed: 100ms to 2h", -ERANGE },
		{ &range, "7201", "t '7201' is out of range; allowed: 100ms to 2h", -ERANGE },
		{ &range, "99999999999999999999999h",
		  "t '99999999999999999999999h' is out of range; allowed: 100ms to 2h",
		  -ERANGE },
		/* 2^32 and 2^64 ms, and a little */
		{ &range, "4294967396ms",
		  "t '4294967396ms' is out of range; allowed: 100ms to 2h", -ERANGE },
		{ &range, "18446744073709551716ms",
		  "t '18446744073709551716ms' is out of range; allowed: 100ms to 2h",
		  -ERANGE },
		{ &or_zero, "999ms", "t '999ms' is out of range; allowed: 0, or 1s to 1h",
		  -ERANGE },
		{ &or_zero, "1500ms",
		  "t '1500ms' is no whole number of seconds; allowed: 0, or 1s to 1h",
		  -ERANGE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err err = { 0 };
		uint32_t ms = 7;

		assert_int_equal(duration_parse(rows[i].text, "t", rows[i].range, &ms, &err),
				 rows[i].code);
		assert_string_equal(err.text, rows[i].sentence);
		assert_int_equal(ms, 7);
	}
}

static void times_are_written_in_the_largest_unit_that_fits(void **state)
{
	static const struct {
		uint32_t ms;
		const char *text;
	} rows[] = {
		{ 0, "0s" },	   { 1, "1ms" },     { 1500, "1500ms" },  { 5000, "5s" },
		{ 90000, "90s" },  { 120000, "2m" }, { 3600000, "1h" },	  { 86400000, "24h" },
		{ UINT32_MAX, "4294967295ms" },
	};
	char text[DURATION_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(duration_format(rows[i].ms, text), rows[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_read_in_their_unit),
		cmocka_unit_test(zero_is_a_time_only_where_it_means_something),
		cmocka_unit_test(what_is_no_time_is_refused_with_what_is_allowed),
		cmocka_unit_test(times_are_written_in_the_largest_unit_that_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
