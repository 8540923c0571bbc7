/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_FLOW_PINS_H
#define FAIRLEAD_FLOW_PINS_H

/*
 * The flow maps of the program that balances, from one daemon to the next. Pins
 * alone do not tell which they are: a daemon that was killed between the exchange
 * of the program and that of the pins leaves a program that remembers in maps with
 * no pin. So the program is asked first.
 */

#include "dataplane.h"

/*
 * Of an adopted data plane: dp->old_flows, and dp->migrates when they are not all
 * pinned, or have another size than the pinned configuration says.
 */
void flow_pins_open(struct dataplane *dp);
void flow_pins_close(struct dataplane *dp);

/* The new program runs: pin its flow maps, and write how many sets are in use. */
int flow_pins_settle(struct dataplane *dp, struct err *err);

/*
 * Of a program that is not attached yet: as many sets in use as packets have left,
 * or as flows_migrate() has chosen for dp->skel.
 */
void flow_pins_start_levels(const struct dataplane *dp, struct fairlead_bpf *skel);

#endif
