/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_WORDS_H
#define FAIRLEAD_WORDS_H

/*
 * Words of the command line may be shortened as long as one candidate is
 * meant: a whole word always means itself, a beginning means the only
 * candidate that begins so, and anything else is refused with the words that
 * would have been right.
 */

#include <stddef.h>

#include "core/err.h"

/*
 * Index of the candidate that `word` means; `what` names it in the sentence.
 * -ENOENT: none; -ENOTUNIQ: more than one.
 */
int word_match(const char *word, const char *what,
	       const char *const *candidates, size_t n, struct err *err);

/* "a, b or c" into text, cut where it does not fit. Returns text. */
const char *word_list(const char *const *words, size_t n, char *text,
		      size_t size);

#endif
