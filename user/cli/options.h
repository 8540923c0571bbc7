/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_OPTIONS_H
#define FAIRLEAD_OPTIONS_H

/*
 * The options that every command has. They may stand anywhere before "--", so
 * they are picked out first and the words stay behind in their order. Options
 * that are not in the table stay among the words: which of them a command
 * knows is not known here.
 */

#include <stdbool.h>

#include "cli.h"

struct option_entry {
	char letter;	   /* 0: long form only */
	const char *name;  /* without the dashes */
	const char *value; /* placeholder; NULL: a flag */
	const char *help;
};

/* Ends in a NULL name; in the order of the manual page. */
extern const struct option_entry option_entries[];

struct words {
	char **word; /* into the argv that was parsed, which is reordered */
	int n;
	int n_before_dashes; /* words from here on are never options */
};

/*
 * Takes argv without the program's name. On failure *out and *words are
 * written, too, so that the refusal comes out in the form asked for.
 */
int options_parse(int argc, char **argv, struct cli_options *out,
		  struct words *words, struct err *err);

/* Whether the word is an option, and so one that is not in the table. */
bool options_at(const struct words *words, int at);

#endif
