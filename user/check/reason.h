/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_REASON_H
#define FAIRLEAD_REASON_H

/* Why a check failed, in a few words that begin with a small letter. */

/* Static text, or until the next call. */
const char *reason_of_errno(int code);

#endif
