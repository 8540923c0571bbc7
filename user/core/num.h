/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_NUM_H
#define FAIRLEAD_NUM_H

/*
 * Numbers from text. Digits only: no sign, no blank, no trailing junk, no
 * octal. Errors are -EINVAL (not a number) and -ERANGE (outside min..max); the
 * sentence quotes the text and says what is allowed, `what` names the thing.
 */

#include <stdint.h>

#include "err.h"

int parse_u16(const char *text, const char *what, uint16_t min, uint16_t max,
	      uint16_t *out, struct err *err);
int parse_u32(const char *text, const char *what, uint32_t min, uint32_t max,
	      uint32_t *out, struct err *err);
/* As parse_u32, and the suffixes K and M (1024 and 1024 x 1024) are known. */
int parse_size(const char *text, const char *what, uint32_t min, uint32_t max,
	       uint32_t *out, struct err *err);

#endif
