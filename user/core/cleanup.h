/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CLEANUP_H
#define FAIRLEAD_CLEANUP_H

/*
 * Ownership of locals: a variable marked _cleanup_x_ is released when its scope
 * ends, unless TAKE_PTR or TAKE_FD hands it on. Destructors take the address of
 * the variable, accept NULL (or -1) and leave it so.
 */

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(fn) __attribute__((cleanup(fn)))
#define _cleanup_free_ _cleanup_(cleanup_free)
#define _cleanup_close_ _cleanup_(cleanup_close)
#define _cleanup_fclose_ _cleanup_(cleanup_fclose)

#define TAKE_PTR(p)                   \
	({                            \
		__typeof__(p) _p = (p); \
		(p) = NULL;           \
		_p;                   \
	})

#define TAKE_FD(fd)          \
	({                   \
		int _f = (fd); \
		(fd) = -1;   \
		_f;          \
	})

static inline void cleanup_free(void *pp)
{
	void **p = pp;

	free(*p);
	*p = NULL;
}

static inline void cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static inline void cleanup_fclose(FILE **f)
{
	if (*f)
		fclose(*f);
	*f = NULL;
}

#endif
