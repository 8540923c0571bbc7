/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_SELFTEST_H
#define FAIRLEAD_SELFTEST_H

/*
 * Does the program forward on this kernel? A second copy of it is loaded on maps of
 * its own, with a VIP for each encapsulation in them, and is given packets by
 * BPF_PROG_RUN: see trial.h. Maps and counters of the one that balances are not touched.
 */

#include "abi.h"
#include "core/err.h"

struct selftest;

/*
 * Begins on a thread of its own, which keeps to one CPU, while the caller goes on
 * loading: to verify the copy takes as long as the program itself. Every *out is to
 * be finished.
 */
int selftest_start(enum flow_form form, struct selftest **out, struct err *err);

/*
 * Waits. 0: as the program remembers flows in this form, those that open and those
 * that are known leave for the backend, byte for byte as they have to, and what is for
 * no VIP passes unchanged. -EPROTO with a sentence that says which packet came out as
 * what; another negative errno: it could not be tried. Frees *selftest.
 */
int selftest_finish(struct selftest **selftest, struct err *err);

#endif
