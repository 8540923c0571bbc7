/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CLI_WATCH_H
#define FAIRLEAD_CLI_WATCH_H

#include "cli.h"

extern const struct verb_option watch_options[];

int cmd_watch(struct cli *cli, int argc, char **argv);

#endif
