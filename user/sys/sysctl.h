/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_SYSCTL_H
#define FAIRLEAD_SYSCTL_H

/*
 * Kernel settings that are one integer. They are named by their path below
 * /proc/sys ("net/ipv4/conf/eth0.5/rp_filter"), where a dot in an interface's
 * name is not ambiguous; what is under net/ is that of the caller's network
 * namespace.
 */

#include <stddef.h>

#include "core/err.h"

#define SYSCTL_PATH_MAX 128

/* -ENOENT: no such setting. Otherwise the errno of the kernel. */
int sysctl_read(const char *path, int *out, struct err *err);
int sysctl_write(const char *path, int value, struct err *err);

/* The path as sysctl(8) spells it: dots and slashes change places. */
const char *sysctl_name(const char *path, char name[SYSCTL_PATH_MAX]);

#endif
