/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CTL_H
#define FAIRLEAD_CTL_H

/*
 * The control sockets: newline-delimited JSON as docs/architecture.md says. One
 * for the owner, one that anybody may read from. A client has one request in
 * hand at a time; one that does not read its replies is not read from either.
 */

#include "core/err.h"

struct ctl;
struct daemon;

/* -EADDRINUSE: a live daemon answers there; its pid is in the sentence. */
int ctl_open(struct daemon *d, struct ctl **out, struct err *err);
/* Closes the sockets and every client, and unlinks the sockets. */
void ctl_close(struct ctl *ctl);

#endif
