// SPDX-License-Identifier: GPL-2.0-only
#include "core/num.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/quote.h"

static void numbers_within_the_range_are_read(void **state)
{
	uint16_t u16;
	uint32_t u32;

	(void)state;
	assert_int_equal(parse_u16("0", "n", 0, 65535, &u16, NULL), 0);
	assert_int_equal(u16, 0);
	assert_int_equal(parse_u16("65535", "n", 0, 65535, &u16, NULL), 0);
	assert_int_equal(u16, 65535);
	assert_int_equal(parse_u32("4294967295", "n", 0, UINT32_MAX, &u32, NULL),
			 0);
	assert_int_equal(u32, UINT32_MAX);
}

static void numbers_outside_the_range_are_refused_and_leave_the_output(void **state)
{
	static const char *const texts[] = {
		"9",
		"21",
		"65536",
		"4294967296",
		"18446744073709551626",
		"99999999999999999999999999999999999999999999999999",
	};
	uint32_t out = 7;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_int_equal(parse_u32(texts[i], "n", 10, 20, &out, &err),
				 -ERANGE);
	assert_int_equal(out, 7);
	assert_int_equal(parse_u32("21", "weight", 10, 20, &out, &err), -ERANGE);
	assert_int_equal(err.code, -ERANGE);
	assert_string_equal(err.text,
			    "weight '21' is out of range; allowed: 10 to 20");
}

static void what_is_not_digits_alone_is_no_number(void **state)
{
	static const char *const texts[] = {
		"",    " ",   "+1", "-1", " 1",	      "1 ",  "1x",   "0x1",
		"1.0", "1e3", "1K", "K",  "\xd9\xa1", "\t1", "1\n1", "--1",
	};
	uint32_t out = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_int_equal(parse_u32(texts[i], "n", 0, 100, &out, NULL),
				 -EINVAL);
	assert_int_equal(out, 7);
}

static void leading_zeros_are_refused_as_they_could_mean_octal(void **state)
{
	uint32_t out;
	struct err err;

	(void)state;
	assert_int_equal(parse_u32("010", "port", 0, 100, &out, &err), -EINVAL);
	assert_string_equal(err.text,
			    "port '010' starts with 0; allowed: 0 to 100");
	assert_int_equal(parse_u32("00", "port", 0, 100, &out, &err), -EINVAL);
}

static void sizes_take_one_suffix(void **state)
{
	uint32_t out;

	(void)state;
	assert_int_equal(parse_size("3", "n", 0, UINT32_MAX, &out, NULL), 0);
	assert_int_equal(out, 3);
	assert_int_equal(parse_size("3K", "n", 0, UINT32_MAX, &out, NULL), 0);
	assert_int_equal(out, 3072);
	assert_int_equal(parse_size("4095M", "n", 0, UINT32_MAX, &out, NULL), 0);
	assert_int_equal(out, 4095U << 20);
	assert_int_equal(parse_size("4096M", "n", 0, UINT32_MAX, &out, NULL),
			 -ERANGE);
	assert_int_equal(parse_size("3KK", "n", 0, UINT32_MAX, &out, NULL),
			 -EINVAL);
	assert_int_equal(parse_size("3k", "n", 0, UINT32_MAX, &out, NULL),
			 -EINVAL);
	assert_int_equal(parse_size("M", "n", 0, UINT32_MAX, &out, NULL),
			 -EINVAL);
}

static void quoted_text_is_one_printable_line(void **state)
{
	char text[300], out[QUOTE_MAX];

	(void)state;
	assert_string_equal(QUOTE("web 1"), "'web 1'");
	assert_string_equal(QUOTE("a\n\x1b[1m'\\\xc3\xa9\x7f"),
			    "'a\\x0a\\x1b[1m\\x27\\x5c\\xc3\\xa9\\x7f'");

	for (size_t length = 0; length < sizeof(text); length++) {
		memset(text, length % 2 ? 'x' : '\n', length);
		text[length] = '\0';
		memset(out, 1, sizeof(out));
		quote_text(text, out);
		assert_in_range(strlen(out), 2, QUOTE_MAX - 1);
		assert_int_equal(out[strlen(out) - 1], '\'');
		assert_int_equal(!strstr(out, "...'"),
				 length % 2 ? length <= 71 : length <= 18);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_within_the_range_are_read),
		cmocka_unit_test(
			numbers_outside_the_range_are_refused_and_leave_the_output),
		cmocka_unit_test(what_is_not_digits_alone_is_no_number),
		cmocka_unit_test(
			leading_zeros_are_refused_as_they_could_mean_octal),
		cmocka_unit_test(sizes_take_one_suffix),
		cmocka_unit_test(quoted_text_is_one_printable_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
