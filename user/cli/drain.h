/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CLI_DRAIN_H
#define FAIRLEAD_CLI_DRAIN_H

#include "cli.h"

extern const struct verb_option drain_options[];

/* Named as the state that they set. */
int cmd_backend_state(struct cli *cli, int argc, char **argv);
int cmd_backend_drain(struct cli *cli, int argc, char **argv);

#endif
