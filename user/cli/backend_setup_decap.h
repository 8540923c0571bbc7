/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_BACKEND_SETUP_DECAP_H
#define FAIRLEAD_BACKEND_SETUP_DECAP_H

/*
 * The decap program on an interface, held there by pins that outlive the
 * command, in /sys/fs/bpf/fairlead-backend/INSTANCE/:
 *
 *   link       keeps the program attached
 *   vips       the inner destinations that it strips for
 *   counters   what it did
 *
 * `link` is pinned last and unpinned first: while it is there, so are the maps.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi.h"
#include "core/addr.h"
#include "core/err.h"

struct decap_info {
	uint32_t program; /* id */
	unsigned int ifindex; /* 0: the interface is gone */
	bool generic;
};

/* 1: attached, *out filled; 0: not attached; or negative errno. */
int decap_query(const char *instance, struct decap_info *out, struct err *err);

/* Is the interface free for us? The sentence names who is on it. */
int decap_interface_free(unsigned int ifindex, const char *interface,
			 struct err *err);

/*
 * Load and attach, natively or, where the driver cannot, in the kernel's
 * generic path (out->generic; why_generic is then the errno). -EBUSY: another
 * XDP program is on the interface.
 */
int decap_attach(const char *instance, unsigned int ifindex,
		 const char *interface, uint16_t gue_port,
		 struct decap_info *out, int *why_generic, struct err *err);
/* Leaves nothing of it; 0 also when there was nothing. */
int decap_detach(const char *instance, struct err *err);

/* 1: added, 0: was there. */
int decap_vip_add(const char *instance, const struct addr *addr,
		  struct err *err);
int decap_vip_del(const char *instance, const struct addr *addr,
		  struct err *err);

/* Summed over the CPUs. */
int decap_counters_read(const char *instance, struct decap_counters *out,
			struct err *err);

#endif
