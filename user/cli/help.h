/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_HELP_H
#define FAIRLEAD_HELP_H

/* Help is text for people in every form of output. */

#include "cli.h"

/* Of the command that the words name. Returns the exit status. */
int help_print(struct cli *cli, int argc, char **argv);
void help_print_all(FILE *file);

#endif
