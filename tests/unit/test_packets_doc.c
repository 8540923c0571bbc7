// SPDX-License-Identifier: GPL-2.0-only
/*
 * docs/packets.md says of each kind of packet which test proves what happens to
 * it: every row names one, and every test that is named is there.
 */
#include <ctype.h>
#include <fnmatch.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/cleanup.h"

#define PAGE "docs/packets.md"
#define ROWS_MIN 60

/* Names of tests, which are C functions and the first words of rows. */
static const char *const sources[] = {
	"tests/bpf/scenarios_*.c", "tests/bpf/test_*.c", "tests/decap/*.c",
	"tests/unit/test_publish_services.c",
};

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text;
	long size;

	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	size = ftell(file);
	rewind(file);
	text = calloc(1, size + 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, size, file), size);
	fclose(file);
	return text;
}

/* Cuts the next word of such letters out of the text. NULL: there is none. */
static char *next_word(char **text, const char *more_letters)
{
	char *word = *text, *end;

	while (*word && !isalnum((unsigned char)*word) && !strchr(more_letters, *word))
		word++;
	for (end = word; isalnum((unsigned char)*end) || (*end && strchr(more_letters, *end));)
		end++;
	if (end == word)
		return NULL;
	*text = *end ? end + 1 : end;
	*end = '\0';
	return word;
}

static bool file_has(const char *path, const char *pattern)
{
	_cleanup_free_ char *text = read_file(path);
	char *at = text, *word;

	while ((word = next_word(&at, "_")))
		if (!fnmatch(pattern, word, 0))
			return true;
	return false;
}

static bool is_test(const char *pattern)
{
	bool found = false;

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]) && !found; i++) {
		glob_t files;

		assert_int_equal(glob(sources[i], 0, NULL, &files), 0);
		for (size_t f = 0; f < files.gl_pathc && !found; f++)
			found = file_has(files.gl_pathv[f], pattern);
		globfree(&files);
	}
	return found;
}

static bool is_file(const char *name)
{
	char pattern[256];
	glob_t files;
	int rc;

	/* "tests/net/85" is the test of that number. */
	snprintf(pattern, sizeof(pattern), "%s*", name);
	rc = glob(pattern, 0, NULL, &files);
	globfree(&files);
	return !rc;
}

/* Returns how many tests and files of tests the cell names. */
static int check_cell(char *cell)
{
	char *word;
	int n = 0;

	while ((word = next_word(&cell, "_*/.-"))) {
		if (!strncmp(word, "tests/", 6) ? !is_file(word) :
		    strchr(word, '_')           ? !is_test(word) : false)
			fail_msg(PAGE " names '%s', which is no test", word);
		n += strchr(word, '_') || strchr(word, '/') || !strcmp(word, "same");
	}
	return n;
}

static void every_row_names_tests_that_are_there(void **state)
{
	_cleanup_free_ char *text = read_file(PAGE);
	char *rest = text, *line, *cell;
	int rows = 0;

	(void)state;
	while ((line = strsep(&rest, "\n"))) {
		if (line[0] != '|' || line[1] == '-' || !strncmp(line, "| packet |", 10))
			continue;
		line[strlen(line) - 1] = '\0'; /* the last '|' */
		cell = strrchr(line, '|');
		assert_non_null(cell);
		if (!check_cell(cell + 1))
			fail_msg(PAGE " names no test for '%s'", line);
		rows++;
	}
	assert_in_range(rows, ROWS_MIN, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_names_tests_that_are_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
