// SPDX-License-Identifier: GPL-2.0-only
#include "words.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LIST_TEXT_MAX  384
#define CANDIDATES_MAX 64

const char *word_list(const char *const *words, size_t n, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < n && used < size; i++) {
		const char *joint = i == 0 ? "" : i == n - 1 ? " or " : ", ";
		int length = snprintf(text + used, size - used, "%s%s", joint,
				      words[i]);

		if (length > 0)
			used += (size_t)length;
	}
	return text;
}

static int no_match(const char *word, const char *what,
		    const char *const *candidates, size_t n, struct err *err)
{
	char list[LIST_TEXT_MAX];

	return err_set(err, -ENOENT, "unknown %s '%s': expected %s", what, word,
		       word_list(candidates, n, list, sizeof(list)));
}

static int many_matches(const char *word, const char *what,
			const char *const *matches, size_t n, struct err *err)
{
	char list[LIST_TEXT_MAX];

	return err_set(err, -ENOTUNIQ, "ambiguous %s '%s': it may mean %s",
		       what, word, word_list(matches, n, list, sizeof(list)));
}

int word_match(const char *word, const char *what,
	       const char *const *candidates, size_t n, struct err *err)
{
	const char *matches[CANDIDATES_MAX];
	size_t length = strlen(word), n_matches = 0;
	int found = -1;

	for (size_t i = 0; i < n; i++) {
		if (strcmp(candidates[i], word) == 0)
			return (int)i;

		if (length == 0 || strncmp(candidates[i], word, length) != 0)
			continue;

		found = (int)i;
		if (n_matches < CANDIDATES_MAX)
			matches[n_matches++] = candidates[i];
	}

	if (n_matches > 1)
		return many_matches(word, what, matches, n_matches, err);

	return n_matches ? found : no_match(word, what, candidates, n, err);
}
