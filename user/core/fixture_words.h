/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_FIXTURE_WORDS_H
#define FAIRLEAD_FIXTURE_WORDS_H

/* The words of a file of cases, one by one. Private to fixture*.c. */

#include "fixture.h"

/* Setters of cfg_field lists: of a step, a step, a case. */
int fixture_set_verdict(void *step, const char *text, struct err *err);
int fixture_set_reason(void *step, const char *text, struct err *err);
int fixture_set_name(void *fixture_case, const char *text, struct err *err);

/* What c->text says, into the other members. -EINVAL: nothing. */
int fixture_parse_counter(struct fixture_counter *c);

#endif
