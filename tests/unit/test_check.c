// SPDX-License-Identifier: GPL-2.0-only
/* Checks as values: their defaults, copies and order. */
#include "core/check.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check_testing.h"

static void defaults_are_as_documented(void **state)
{
	struct check check;

	(void)state;
	for (int kind = CHECK_NONE; kind < CHECK__MAX; kind++) {
		bool http = kind == CHECK_HTTP || kind == CHECK_HTTPS;

		assert_int_equal(check_init(&check, kind), 0);
		assert_int_equal(check.kind, kind);
		assert_int_equal(check.via, CHECK_VIA_AUTO);
		assert_int_equal(check.interval, 5000);
		assert_int_equal(check.fast_interval, 1000);
		assert_int_equal(check.timeout, 2000);
		assert_int_equal(check.jitter, 10);
		assert_int_equal(check.rise, 2);
		assert_int_equal(check.fall, 3);
		assert_int_equal(check.status_min, http ? 200 : 0);
		assert_int_equal(check.status_max, http ? 299 : 0);
		assert_int_equal(check.tls_verify, kind == CHECK_HTTPS);
		assert_string_equal(check.path ? check.path : "", http ? "/" : "");
		check_clear(&check);
	}
}

static void kinds_and_ways_have_names(void **state)
{
	(void)state;
	assert_string_equal(check_kind_name(CHECK_HTTPS), "https");
	assert_string_equal(check_kind_name(CHECK_EXEC), "exec");
	assert_string_equal(check_via_name(CHECK_VIA_DIRECT), "direct");
	assert_string_equal(check_kind_name(CHECK__MAX), "?");
	assert_string_equal(check_via_name(CHECK_VIA__MAX), "?");
}

static void a_copy_is_equal_and_its_own(void **state)
{
	struct check check, copy;

	(void)state;
	full_check(&check);
	assert_int_equal(check_copy(&check, &copy), 0);
	assert_int_equal(check_compare(&check, &copy), 0);
	assert_int_equal(copy.rise, check.rise);
	assert_int_equal(copy.fall, check.fall);
	assert_ptr_not_equal(copy.path, check.path);
	check_clear(&check);
	assert_string_equal(copy.path, "/health");
	assert_string_equal(copy.args[1], "-x");
	check_clear(&copy);
}

static void a_cleared_check_is_zero(void **state)
{
	static const struct check zero;
	struct check check;

	(void)state;
	full_check(&check);
	for (int times = 0; times < 2; times++) {
		check_clear(&check);
		assert_memory_equal(&check, &zero, sizeof(zero));
	}
}

/* b has one member other than a. */
static void differ(const struct check *a, const struct check *b)
{
	int ab = check_compare(a, b), ba = check_compare(b, a);

	assert_true((ab < 0 && ba > 0) || (ab > 0 && ba < 0));
}

#define DIFFER_NUMBER(member)        \
	do {                         \
		copy.member ^= 1;    \
		differ(&check, &copy); \
		copy.member ^= 1;    \
	} while (0)

#define DIFFER_TEXT(member)              \
	do {                             \
		char *was = copy.member; \
		copy.member = "other";   \
		differ(&check, &copy);   \
		copy.member = "";        \
		differ(&check, &copy);   \
		copy.member = NULL;      \
		differ(&check, &copy);   \
		copy.member = was;       \
	} while (0)

static void each_thing_that_is_asked_makes_a_difference(void **state)
{
	struct check check, copy;

	(void)state;
	full_check(&check);
	assert_int_equal(check_copy(&check, &copy), 0);
	DIFFER_NUMBER(kind);
	DIFFER_NUMBER(via);
	DIFFER_NUMBER(interval);
	DIFFER_NUMBER(fast_interval);
	DIFFER_NUMBER(timeout);
	DIFFER_NUMBER(jitter);
	DIFFER_NUMBER(port);
	DIFFER_NUMBER(status_min);
	DIFFER_NUMBER(status_max);
	DIFFER_NUMBER(tls_verify);
	DIFFER_TEXT(path);
	DIFFER_TEXT(host);
	DIFFER_TEXT(method);
	DIFFER_TEXT(body);
	DIFFER_TEXT(sni);
	DIFFER_TEXT(ca_file);
	DIFFER_TEXT(cert_file);
	DIFFER_TEXT(key_file);
	DIFFER_TEXT(weight_header);
	DIFFER_TEXT(weight_json);
	DIFFER_TEXT(send);
	DIFFER_TEXT(receive);
	assert_int_equal(check_compare(&check, &copy), 0);
	check_clear(&check);
	check_clear(&copy);
}

static void each_argument_makes_a_difference(void **state)
{
	struct check check, copy;
	char *was;

	(void)state;
	full_check(&check);
	assert_int_equal(check_copy(&check, &copy), 0);
	copy.n_args--;
	differ(&check, &copy);
	copy.n_args++;
	was = copy.args[1];
	copy.args[1] = "-y";
	differ(&check, &copy);
	copy.args[1] = was;
	copy.args[copy.n_args++] = strdup("-x");
	differ(&check, &copy);
	check_clear(&check);
	check_clear(&copy);
}

static void policy_makes_no_difference(void **state)
{
	struct check check, copy;

	(void)state;
	full_check(&check);
	assert_int_equal(check_copy(&check, &copy), 0);
	copy.rise++;
	copy.fall++;
	assert_int_equal(check_compare(&check, &copy), 0);
	check_clear(&check);
	check_clear(&copy);
}

static void texts_do_not_run_into_each_other(void **state)
{
	struct check a = { .kind = CHECK_TCP, .send = "ab", .receive = "c" };
	struct check b = { .kind = CHECK_TCP, .send = "a", .receive = "bc" };
	struct check c = { .kind = CHECK_TCP, .receive = "abc" };

	(void)state;
	differ(&a, &b);
	differ(&a, &c);
	differ(&b, &c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_as_documented),
		cmocka_unit_test(kinds_and_ways_have_names),
		cmocka_unit_test(a_copy_is_equal_and_its_own),
		cmocka_unit_test(a_cleared_check_is_zero),
		cmocka_unit_test(each_thing_that_is_asked_makes_a_difference),
		cmocka_unit_test(each_argument_makes_a_difference),
		cmocka_unit_test(policy_makes_no_difference),
		cmocka_unit_test(texts_do_not_run_into_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
