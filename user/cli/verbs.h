/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_VERBS_H
#define FAIRLEAD_VERBS_H

/*
 * The table of commands: one entry each, and everything that is known about a
 * command stands in its entry. Parsing, help, completion and the synopsis in
 * the manual page all come from it or are checked against it.
 */

#include <stdbool.h>
#include <stdio.h>

#include "cli.h"

#define OBJECTS_MAX   32
#define VERBS_MAX     16 /* of one object */
#define VERB_NAME_MAX 32 /* "backend add" */

/* Ends in a NULL object; the entries of an object stand together. */
extern const struct verb verbs[];

/* The objects, each once, in the order of the table. Returns how many. */
size_t verbs_objects(const char *objects[OBJECTS_MAX]);

/* The names of the verbs of an object, likewise. */
size_t verbs_names(const char *object, const char *names[VERBS_MAX]);

/* Both may be shortened. -ENOENT or -ENOTUNIQ. */
int verbs_find_object(const char *word, const char **object, struct err *err);
int verbs_find(const char *object, const char *word, const struct verb **verb,
	       struct err *err);

/* The command that an object is by itself ("apply"), or NULL. */
const struct verb *verbs_alone(const char *object);

/* "vip add". Returns text. */
const char *verb_name(const struct verb *verb, char text[VERB_NAME_MAX]);
/* "vip add VIP [pool NAME] [encap ipip|gue|gue1|gre|l2]" */
void verb_print_usage(const struct verb *verb, FILE *file);

/*
 * Check the words after a command against its grammar. Option keys, and values
 * that are one of a list of words, may be shortened; *out has them whole.
 */
int verb_parse_args(const struct verb *verb, int argc, char **argv,
		    struct cli_args *out, struct err *err);

/*
 * The same for a VERB_OWN_OPTIONS command whose options have dashes and may
 * stand anywhere: "--key VALUE", "--key=VALUE", or "--key" alone, whose value
 * is NULL in *out. Keys are whole there, with their dashes.
 */
int verb_parse_dashed(const struct verb *verb, int argc, char **argv,
		      struct cli_args *out, struct err *err);
/* The option that was given, or NULL. */
const struct cfg_option *cli_args_option(const struct cli_args *args,
					 const char *key);

/* Handlers */
verb_run cmd_edit;			 /* edit.c */
verb_run cmd_vip_show, cmd_backend_show; /* show.c */
verb_run cmd_show_status, cmd_show_counters;
verb_run cmd_apply, cmd_check, cmd_save; /* files.c */
verb_run cmd_table_show;			 /* table_show.c */
verb_run cmd_table_compare;		 /* table_diff.c */
verb_run cmd_table_plan;		 /* table_plan.c */
verb_run cmd_help, cmd_version;		 /* help.c */

#endif
