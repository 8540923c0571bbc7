/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_ACL_BPF_H
#define FAIRLEAD_ACL_BPF_H

/* Which sources a VIP takes packets from. */

#include "maps.bpf.h"
#include "packet.bpf.h"

/* 0, or minus a drop reason. Only for VIPs with VIP_ACL. */
static __noinline int acl_check(const struct pkt *pkt, bool v6)
{
	(void)pkt;
	(void)v6;
	return 0;
}

#endif
