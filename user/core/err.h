/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_ERR_H
#define FAIRLEAD_ERR_H

/*
 * A failure on its way to the person who asked: one sentence that names the
 * object, the place and what is allowed, beside the negative errno that the
 * code acts on. Whoever first knows the sentence writes it; the layer that
 * knows the request prints it once. Functions that take a struct err write it
 * only when they fail, and accept NULL.
 */

struct err {
	int code; /* negative errno; 0 when nothing failed */
	char text[512];
};

/* Both set *err and return code, so that a caller can return in one line. */
int err_set(struct err *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Put "format: " in front of the sentence that is already there. */
int err_prefix(struct err *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
