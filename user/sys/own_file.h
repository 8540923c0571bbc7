/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_OWN_FILE_H
#define FAIRLEAD_OWN_FILE_H

/* Files that are ours alone, in a directory where others may have left what is not. */

#include <stddef.h>

#include "core/err.h"

/*
 * To be read: an open file, the caller's, which is a regular one; never waits. Negative
 * errno; -ENOENT: there is none. The sentence goes on after the file's name.
 */
int own_file_open(const char *path, struct err *err);
/* All of it: text[length] is NUL, and text the caller's. -EFBIG: more than limit bytes. */
int own_file_read(const char *path, size_t limit, char **text, size_t *length,
		      struct err *err);
/*
 * To be written, mode 0600: a new file in the place of whatever has the name. An open
 * file, or negative errno.
 */
int own_file_create(const char *path);

#endif
