/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CLI_CONFIG_H
#define FAIRLEAD_CLI_CONFIG_H

/* A configuration from wherever the command line says that it is. */

#include "cli.h"

/* What messages call the file: "-" is standard input. */
const char *config_file_name(const char *path);
/* From a file or standard input. Errors of cfg_load_file(). */
int config_load(const char *path, struct cfg **out, struct err *err);

/*
 * For commands that look at tables: a file, or with NULL or "-" what the daemon
 * runs. Failures are reported here; what comes back is the exit status.
 */
int config_of_tables(struct cli *cli, const char *path, struct cfg **out);

#endif
