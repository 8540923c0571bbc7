// SPDX-License-Identifier: GPL-2.0-only
/* The words after a command, against the grammar of its table entry. */
#include <errno.h>
#include <string.h>

#include "verbs.h"
#include "words.h"

/* The next word of a grammar such as "TARGET [ADDRESS]"; "" at its end. */
static const char *next_place(const char **grammar, char *text, size_t size)
{
	const char *start = *grammar + strspn(*grammar, " ");
	size_t length = strcspn(start, " ");

	snprintf(text, size, "%.*s", (int)length, start);
	*grammar = start + length;
	return text;
}

static int take_positional(const struct verb *verb, int argc, char **argv,
			   struct cli_args *out, struct err *err)
{
	const char *grammar = verb->args;
	char place[CLI_WORD_MAX], name[VERB_NAME_MAX];

	while (*next_place(&grammar, place, sizeof(place))) {
		if ((int)out->n_positional < argc) {
			out->positional[out->n_positional] =
				argv[out->n_positional];
			out->n_positional++;
			continue;
		}

		if (place[0] != '[')
			return err_set(err, -EINVAL, "'%s': %s is missing",
				       verb_name(verb, name), place);
	}
	return 0;
}

static size_t count_options(const struct verb *verb)
{
	size_t n = 0;

	while (verb->options && verb->options[n].key)
		n++;
	return n;
}

static int find_option(const struct verb *verb, const char *word, struct err *err)
{
	const char *keys[CLI_OPTION_MAX];
	size_t n = count_options(verb);

	for (size_t i = 0; i < n; i++)
		keys[i] = verb->options[i].key;
	return word_match(word, "option", keys, n, err);
}

/* A value that must be one of "a|b": the whole word goes into `store`. */
static int choose_word(const struct verb_option *option, const char *word,
		       char store[CLI_WORD_MAX], struct err *err)
{
	const char *choices[CLI_OPTION_MAX];
	char copy[CLI_WORD_MAX], *rest = copy, *choice;
	size_t n = 0;
	int r;

	snprintf(copy, sizeof(copy), "%s", option->value);
	while (n < CLI_OPTION_MAX && (choice = strsep(&rest, "|")))
		choices[n++] = choice;

	r = word_match(word, option->key, choices, n, err);
	if (r >= 0)
		snprintf(store, CLI_WORD_MAX, "%s", choices[r]);
	return r < 0 ? r : 0;
}

static int take_pair(const struct verb *verb, const char *word,
		     const char *value, struct cli_args *out, struct err *err)
{
	int at = find_option(verb, word, err);
	const struct verb_option *option;

	if (at < 0)
		return at;

	option = &verb->options[at];
	if (!value)
		return err_set(err, -EINVAL, "option '%s' needs a value: %s %s",
			       option->key, option->key, option->value);

	for (size_t i = 0; i < out->n_options; i++) {
		if (strcmp(out->options[i].key, option->key) == 0)
			return err_set(err, -EINVAL, "option '%s' stands twice",
				       option->key);
	}

	if (strchr(option->value, '|')) {
		int r = choose_word(option, value, out->chosen[at], err);

		if (r < 0)
			return r;
		value = out->chosen[at];
	}

	out->options[out->n_options++] =
		(struct cfg_option){.key = option->key, .value = value};
	return 0;
}

static int need_option(const struct verb *verb, struct err *err)
{
	char name[VERB_NAME_MAX], list[400];
	const char *keys[CLI_OPTION_MAX];
	size_t n = count_options(verb);

	for (size_t i = 0; i < n; i++)
		keys[i] = verb->options[i].key;
	return err_set(
		err, -EINVAL, "'%s' needs something to change: %s, and a value",
		verb_name(verb, name), word_list(keys, n, list, sizeof(list)));
}

int verb_parse_args(const struct verb *verb, int argc, char **argv,
		    struct cli_args *out, struct err *err)
{
	char name[VERB_NAME_MAX];
	int r;

	*out = (struct cli_args){};
	r = take_positional(verb, argc, argv, out, err);
	if (r < 0)
		return r;

	for (int i = (int)out->n_positional; i < argc; i += 2) {
		if (!verb->options)
			return err_set(err, -EINVAL,
				       "'%s' does not take the word '%s'",
				       verb_name(verb, name), argv[i]);

		r = take_pair(verb, argv[i], i + 1 < argc ? argv[i + 1] : NULL,
			      out, err);
		if (r < 0)
			return r;
	}

	if (verb->flags & VERB_SOME_OPTION && out->n_options == 0)
		return need_option(verb, err);

	return 0;
}

const struct cfg_option *cli_args_option(const struct cli_args *args,
					 const char *key)
{
	for (size_t i = 0; i < args->n_options; i++) {
		if (strcmp(args->options[i].key, key) == 0)
			return &args->options[i];
	}
	return NULL;
}

/* The option at argv[*i], and its value, which may be the next word. */
static int take_dashed(const struct verb *verb, int argc, char **argv, int *i,
		       struct cli_args *out, struct err *err)
{
	char word[CLI_WORD_MAX];
	const char *value = strchr(argv[*i], '=');
	const struct verb_option *option;
	int at;

	snprintf(word, sizeof(word), "%.*s", (int)strcspn(argv[*i], "="),
		 argv[*i]);
	at = find_option(verb, word, err);
	if (at < 0)
		return at;

	option = &verb->options[at];
	if (cli_args_option(out, option->key))
		return err_set(err, -EINVAL, "option '%s' stands twice",
			       option->key);
	if (!option->value && value)
		return err_set(err, -EINVAL, "option '%s' takes no value",
			       option->key);

	if (value)
		value++;
	else if (option->value && *i + 1 < argc)
		value = argv[++*i];
	if (option->value && !value)
		return err_set(err, -EINVAL, "option '%s' needs a value: %s %s",
			       option->key, option->key, option->value);

	out->options[out->n_options++] =
		(struct cfg_option){.key = option->key, .value = value};
	return 0;
}

int verb_parse_dashed(const struct verb *verb, int argc, char **argv,
		      struct cli_args *out, struct err *err)
{
	char name[VERB_NAME_MAX];
	char *places[CLI_POSITIONAL_MAX];
	int n = 0, r = 0;

	*out = (struct cli_args){};
	for (int i = 0; i < argc && !r; i++) {
		if (argv[i][0] == '-' && argv[i][1])
			r = take_dashed(verb, argc, argv, &i, out, err);
		else if (n < CLI_POSITIONAL_MAX)
			places[n++] = argv[i];
	}
	if (!r)
		r = take_positional(verb, n, places, out, err);
	if (!r && n > (int)out->n_positional)
		r = err_set(err, -EINVAL, "'%s' does not take the word '%s'",
			    verb_name(verb, name), places[out->n_positional]);
	return r;
}
