/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CLI_FLOWS_H
#define FAIRLEAD_CLI_FLOWS_H

#include "cli.h"

extern const struct verb_option flow_show_options[];
extern const struct verb_option flow_flush_options[];

int cmd_show_flows(struct cli *cli, int argc, char **argv);
int cmd_flow_flush(struct cli *cli, int argc, char **argv);

#endif
