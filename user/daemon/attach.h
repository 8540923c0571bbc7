/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_ATTACH_H
#define FAIRLEAD_ATTACH_H

/*
 * The program on the interface. Alone, it is a pinned bpf_link, which outlives
 * the daemon and whose program is replaced atomically. With `dispatcher: true`
 * it is one of several programs behind libxdp's dispatcher, which pins itself.
 */

#include <net/if.h>

#include "core/cfg.h"
#include "core/err.h"
#include "dataplane.h"

enum attach_kind { ATTACHED_NOT, ATTACHED_NATIVE, ATTACHED_GENERIC, ATTACHED_DISPATCHER };

struct attachment {
	enum attach_kind kind;
	enum attach_mode mode; /* that was asked for */
	unsigned int ifindex;
	char interface[IF_NAMESIZE];
};

/*
 * Bring the program that dp has loaded onto the interface of cfg, in the mode
 * of cfg: by updating the pinned link, or by a new one which then takes the
 * place of the old. On failure what was attached before stays attached.
 */
int attach_apply(struct attachment *at, const struct dataplane *dp,
		 const struct cfg *cfg, struct err *err);

/* True when attach_apply would only find what is there already. */
bool attach_is_current(const struct attachment *at, const struct cfg *cfg);

/* Take the program of an instance off its interface and remove the pin. */
int attach_remove(const char *pin_dir, struct err *err);

const char *attach_kind_name(enum attach_kind kind);

/* attach_dispatcher.c: behind libxdp's dispatcher, beside others. */
int dispatcher_attach(const struct dataplane *dp, unsigned int ifindex,
		      const char *interface, enum attach_mode mode, struct err *err);
/*
 * Detach our programs other than `keep_id` (0: all) from the interface. 1: there
 * was one and it is off; 0: there was none.
 */
int dispatcher_detach(unsigned int ifindex, const char *pin_dir, __u32 keep_id,
		      struct err *err);

#endif
