/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_FILE_H
#define FAIRLEAD_FILE_H

/* Whole files in and out. "-" is standard input where one is read. */

#include <stddef.h>

#include "core/err.h"

#define FILE_SIZE_MAX (64u << 20)

/* The caller owns *text, which ends in a NUL that *length does not count. */
int file_read(const char *path, char **text, size_t *length, struct err *err);

/*
 * Put the text in the place of the file in one step: who reads sees the old
 * one or the new one, also after a crash. Mode and owner of an old file stay, a
 * symbolic link stays a link; a new file has mode 0600, since a configuration
 * holds the key of the flow hash.
 */
int file_replace(const char *path, const char *text, struct err *err);

#endif
