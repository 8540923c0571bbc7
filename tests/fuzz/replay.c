// SPDX-License-Identifier: GPL-2.0-only
/*
 * A fuzzer without libFuzzer: the files of its corpus, each as it is and changed
 * by a generator that always gives the same, and some bytes that no file has. It
 * finds little, but says at once when the fuzzer does not build or run any more.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/cleanup.h"

#define INPUT_MAX 4096 /* as the fuzzers are told with -max_len */
#define MUTANTS 256
#define STRINGS 256

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t next_random(void)
{
	static uint32_t state = 1;

	state = state * 1664525 + 1013904223;
	return state >> 8;
}

/* In memory of its own, so that a sanitizer sees what is read beyond it. */
static void run_input(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	assert_non_null(copy);
	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static void run_mutant(const uint8_t *data, size_t size)
{
	uint8_t mutant[INPUT_MAX];
	size_t from = next_random() % (size + 1), changes = next_random() % 4;

	memcpy(mutant, data, size);
	switch (next_random() % 3) {
	case 0:
		size = from; /* cut */
		break;
	case 1:
		memmove(mutant + from / 2, mutant + from, size - from); /* without a part */
		size -= from - from / 2;
		break;
	}
	while (size && changes--)
		mutant[next_random() % size] = next_random();
	run_input(mutant, size);
}

static void run_file(const char *path)
{
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	uint8_t data[INPUT_MAX];
	size_t size;
	int i;

	assert_non_null(file);
	size = fread(data, 1, sizeof(data), file);
	run_input(data, size);
	for (i = 0; i < MUTANTS; i++)
		run_mutant(data, size);
}

static void every_file_of_the_corpus_and_its_mutants_pass(void **state)
{
	struct dirent *entry;
	char path[512];
	int files = 0;
	DIR *dir;

	(void)state;
	dir = opendir(FUZZ_CORPUS);
	if (!dir)
		fail_msg("there is no corpus " FUZZ_CORPUS);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", FUZZ_CORPUS, entry->d_name);
		run_file(path);
		files++;
	}
	closedir(dir);
	assert_int_not_equal(files, 0);
}

static void random_bytes_pass(void **state)
{
	uint8_t data[256];
	size_t i, j;

	(void)state;
	for (i = 0; i < STRINGS; i++) {
		for (j = 0; j < sizeof(data); j++)
			data[j] = next_random();
		run_input(data, next_random() % (sizeof(data) + 1));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_file_of_the_corpus_and_its_mutants_pass),
		cmocka_unit_test(random_bytes_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
