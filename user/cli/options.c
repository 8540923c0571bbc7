// SPDX-License-Identifier: GPL-2.0-only
#include "options.h"

#include <errno.h>
#include <string.h>

#include "sys/bpffs.h"

const struct option_entry option_entries[] = {
	{'j', "json", NULL, "answer as one line of JSON"},
	{'p', "pretty", NULL, "answer as JSON on several lines"},
	{'o', "oneline", NULL, "answer as one line a record, key value pairs"},
	{'a', "all", NULL, "show what text leaves out, such as zeros"},
	{'n', "dry-run", NULL, "apply: only say what would change"},
	{0, "instance", "NAME", "talk to this instance (default: main)"},
	{0, "socket", "PATH", "talk to the daemon at this socket"},
	{'h', "help", NULL, "explain the command"},
	{'V', "version", NULL, "print the version"},
	{0, NULL, NULL, NULL},
};

struct parser {
	struct cli_options *out;
	char **argv;
	int argc, at;
	bool json, pretty, oneline;
	struct err *err;
	int failed; /* the first failure; the rest is still read */
};

static void set_flag(struct parser *p, char letter)
{
	switch (letter) {
	case 'j':
		p->json = true;
		break;
	case 'p':
		p->pretty = true;
		break;
	case 'o':
		p->oneline = true;
		break;
	case 'a':
		p->out->all = true;
		break;
	case 'n':
		p->out->dry_run = true;
		break;
	case 'h':
		p->out->help = true;
		break;
	case 'V':
		p->out->version = true;
		break;
	}
}

static void set_instance(struct parser *p, const char *name)
{
	struct err *err = p->failed ? NULL : p->err;
	int rc = instance_check(name, err);

	if (!rc)
		p->out->instance = name;
	else if (!p->failed)
		p->failed = rc;
}

static void set_value(struct parser *p, const struct option_entry *entry,
		      const char *value)
{
	if (strcmp(entry->name, "instance") == 0)
		set_instance(p, value);
	else
		p->out->socket = value;
}

/* "=value" of the same word, else the next word. */
static void take_value(struct parser *p, const struct option_entry *entry,
		       const char *after_name)
{
	if (*after_name == '=') {
		set_value(p, entry, after_name + 1);
		return;
	}

	if (p->at + 1 < p->argc) {
		set_value(p, entry, p->argv[++p->at]);
		return;
	}

	if (!p->failed)
		p->failed = err_set(p->err, -EINVAL,
				    "option '--%s' needs a value: --%s %s",
				    entry->name, entry->name, entry->value);
}

static bool take_long(struct parser *p, const char *name)
{
	size_t length = strcspn(name, "=");

	for (const struct option_entry *e = option_entries; e->name; e++) {
		if (strlen(e->name) != length ||
		    strncmp(e->name, name, length) != 0)
			continue;

		if (e->value) {
			take_value(p, e, name + length);
			return true;
		}

		if (name[length] == '=' && !p->failed)
			p->failed = err_set(p->err, -EINVAL,
					    "option '--%s' takes no value",
					    e->name);
		set_flag(p, e->letter);
		return true;
	}
	return false;
}

static bool is_letter(char letter)
{
	for (const struct option_entry *e = option_entries; e->name; e++) {
		if (e->letter == letter)
			return true;
	}
	return false;
}

/* "-jp" is "-j -p", unless one of the letters is not ours. */
static bool take_letters(struct parser *p, const char *letters)
{
	for (const char *l = letters; *l; l++) {
		if (!is_letter(*l))
			return false;
	}

	for (const char *l = letters; *l; l++)
		set_flag(p, *l);
	return true;
}

static bool take_option(struct parser *p, const char *word)
{
	if (word[0] != '-' || word[1] == '\0')
		return false;

	return word[1] == '-' ? take_long(p, word + 2)
			      : take_letters(p, word + 1);
}

static void choose_form(struct parser *p)
{
	if (p->pretty)
		p->out->form = WRITER_JSON_PRETTY;
	else if (p->json)
		p->out->form = WRITER_JSON;
	else if (p->oneline)
		p->out->form = WRITER_ONELINE;

	if (p->oneline && (p->json || p->pretty) && !p->failed)
		p->failed = err_set(p->err, -EINVAL,
				    "--oneline is a form of text: it does not "
				    "go together with --json and --pretty");
}

int options_parse(int argc, char **argv, struct cli_options *out,
		  struct words *words, struct err *err)
{
	struct parser p = {.out = out, .argv = argv, .argc = argc, .err = err};

	*out = (struct cli_options){.form = WRITER_TEXT, .instance = "main"};
	*words = (struct words){.word = argv};
	for (; p.at < argc && strcmp(argv[p.at], "--") != 0; p.at++) {
		char *word = argv[p.at];

		if (!take_option(&p, word))
			argv[words->n++] = word;
	}

	words->n_before_dashes = words->n;
	for (p.at++; p.at < argc; p.at++)
		argv[words->n++] = argv[p.at];

	choose_form(&p);
	return p.failed;
}

bool options_at(const struct words *words, int at)
{
	return at < words->n_before_dashes && words->word[at][0] == '-' &&
	       words->word[at][1] != '\0';
}
