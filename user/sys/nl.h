/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_NL_H
#define FAIRLEAD_NL_H

/*
 * Route netlink through libmnl: a socket for requests and dumps, which waits
 * for the kernel's answer, and one for events, which does not. Errors carry the
 * kernel's own words when it gave some (extended ACK).
 */

#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/addr.h"
#include "core/err.h"

struct nl {
	struct mnl_socket *socket;
	uint32_t sequence;
};

/* groups: 0, or RTMGRP_* bits for an event socket (non-blocking). */
int nl_open(struct nl *nl, uint32_t groups, struct err *err);
void nl_close(struct nl *nl);

/* Start a message in buf (MNL_SOCKET_BUFFER_SIZE bytes). */
struct nlmsghdr *nl_message(char *buf, uint16_t type, uint16_t flags);
void nl_put_addr(struct nlmsghdr *message, uint16_t attribute, const struct addr *addr);
/* False when the attribute is no address of a family that we know. */
bool nl_get_addr(const struct nlattr *attribute, struct addr *addr);

/* Send and forget: for hints to the kernel whose failure shows elsewhere. */
int nl_send(struct nl *nl, struct nlmsghdr *message);

/*
 * Send and hand each answer to visit (may be NULL). NLM_F_ACK is added to
 * what is not a dump. -EINTR: the dump changed under way, ask again.
 */
int nl_request(struct nl *nl, struct nlmsghdr *message, mnl_cb_t visit,
	       void *context, struct err *err);

/* A dump of the given type, repeated until it is consistent. */
int nl_dump(struct nl *nl, uint16_t type, mnl_cb_t visit, void *context,
	    struct err *err);

/*
 * Hand what has arrived on an event socket to visit. -EAGAIN: nothing more;
 * -ENOBUFS: events were lost, the caller must dump again.
 */
int nl_events(struct nl *nl, mnl_cb_t visit, void *context);

#endif
