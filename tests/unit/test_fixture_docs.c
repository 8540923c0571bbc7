// SPDX-License-Identifier: GPL-2.0-only
/* The manual page of the cases against the lists in the code, and its examples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/cleanup.h"
#include "core/fixture.h"
#include "core/packet_spec_keys.h"

#define PAGE "docs/fairlead.test.5"

/* Tests run in the top directory of the sources. */
static char *page(void)
{
	FILE *file = fopen(PAGE, "re");
	char *text = calloc(1, 65536);

	assert_non_null(file);
	assert_in_range(fread(text, 1, 65535, file), 1000, 65534);
	fclose(file);
	return text;
}

/* Is the key in an ".It Cm" line between the two headings? */
static bool has_entry(const char *text, const char *heading, const char *key)
{
	const char *at = strstr(text, heading), *end = at ? strstr(at + 4, "\n.Ss ") : NULL;
	char line[256], word[64];

	assert_non_null(end);
	snprintf(word, sizeof(word), " %s ", key);
	while ((at = strstr(at, "\n.It Cm ")) && at < end) {
		at++;
		snprintf(line, sizeof(line), " %.*s ", (int)strcspn(at, "\n"), at);
		if (strstr(line, word))
			return true;
	}
	return false;
}

static void every_key_of_a_packet_has_its_entry(void **state)
{
	_cleanup_free_ char *text = page();

	(void)state;
	for (const struct spec_key *k = spec_keys; k->key; k++)
		if (!has_entry(text, "\n.Ss A packet as text\n", k->key))
			fail_msg("no entry for key '%s' in " PAGE, k->key);
}

static void every_field_has_its_entry(void **state)
{
	_cleanup_free_ char *text = page();

	(void)state;
	for (const char *const *f = packet_fields; *f; f++)
		if (!has_entry(text, "\n.Ss Fields for outer\n", *f))
			fail_msg("no entry for field '%s' in " PAGE, *f);
}

static void examples_are_right(void **state)
{
	static const char begin[] = "\n.Bd -literal -offset indent\n";
	_cleanup_free_ char *text = page();
	char *at = text, *end;
	int n = 0;

	(void)state;
	while ((at = strstr(at, begin))) {
		_cleanup_fixture_ struct fixture *f = NULL;
		struct err err = { 0 };

		at += strlen(begin);
		end = strstr(at, ".Ed\n");
		assert_non_null(end);
		if (fixture_parse(at, end - at, "example", &f, &err))
			fail_msg("%s", err.text);
		n++;
	}
	assert_int_equal(n, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_of_a_packet_has_its_entry),
		cmocka_unit_test(every_field_has_its_entry),
		cmocka_unit_test(examples_are_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
