/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_BPFFS_H
#define FAIRLEAD_BPFFS_H

/* The BPF file system, where maps and links outlive the process. */

#include "core/err.h"

/* Mount it on FAIRLEAD_BPFFS when it is not there; needs CAP_SYS_ADMIN then. */
int bpffs_ensure(struct err *err);

/* Make the directory and the ones above it. */
int bpffs_mkdir(const char *path, struct err *err);

/* Unlink every pin in the directory and the directory. None there: 0. */
int bpffs_remove_dir(const char *path, struct err *err);

/* Instance names become file names: letters, digits, '-' and '_', at most 32. */
int instance_check(const char *name, struct err *err);

#endif
