// SPDX-License-Identifier: GPL-2.0-only
#include "nexthop_private.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/neighbour.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/cleanup.h"
#include "sys/log.h"

#define SETTLE_MS 50      /* events come in bursts; read routes after one */
#define CONFIRM_MS 10000  /* below the kernel's 30 s base reachable time */
#define HINT_MS 200       /* a neighbour is not asked for more often */
#define NUD_VALID_STATES \
	(NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_PROBE | NUD_STALE | NUD_DELAY)

static uint64_t clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct neighbour {
	unsigned int ifindex;
	struct addr addr;
	bool valid, failed, gone, fixed;
	uint8_t mac[6];
};

static bool parse_neighbour(const struct nlmsghdr *message, struct neighbour *out)
{
	const struct ndmsg *header = mnl_nlmsg_get_payload(message);
	const struct nlattr *attribute;
	bool mac = false;

	*out = (struct neighbour){ .ifindex = header->ndm_ifindex };
	if (header->ndm_family != AF_INET && header->ndm_family != AF_INET6)
		return false;
	mnl_attr_for_each(attribute, message, sizeof(*header)) {
		if (mnl_attr_get_type(attribute) == NDA_DST)
			nl_get_addr(attribute, &out->addr);
		if (mnl_attr_get_type(attribute) == NDA_LLADDR &&
		    mnl_attr_get_payload_len(attribute) == sizeof(out->mac)) {
			memcpy(out->mac, mnl_attr_get_payload(attribute), sizeof(out->mac));
			mac = true;
		}
	}
	out->valid = mac && message->nlmsg_type == RTM_NEWNEIGH &&
		     header->ndm_state & NUD_VALID_STATES;
	out->failed = message->nlmsg_type == RTM_NEWNEIGH && header->ndm_state & NUD_FAILED;
	out->gone = message->nlmsg_type == RTM_DELNEIGH;
	out->fixed = out->valid && header->ndm_state & (NUD_PERMANENT | NUD_NOARP);
	return out->addr.family != 0;
}

static void owe_hint(struct nexthops *nh, uint64_t due)
{
	if (!nh->hints_owed || due < nh->hints_due)
		nh->hints_due = due;
	nh->hints_owed = true;
}

/* Ask the kernel to resolve or confirm a neighbour, as if a packet were sent. */
static void hint_neighbour(struct nexthops *nh, struct hop *hop)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *message =
		nl_message(buf, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE);
	struct ndmsg *header = mnl_nlmsg_put_extra_header(message, sizeof(*header));

	uint64_t now = clock_ms();

	/* A full neighbour table evicts another for each: that must not race. */
	if (hop->fixed)
		return;
	hop->hint_owed = hop->hinted_at && now < hop->hinted_at + HINT_MS;
	if (hop->hint_owed) {
		owe_hint(nh, hop->hinted_at + HINT_MS);
		return;
	}
	hop->hinted_at = now;
	header->ndm_family = hop->via.family;
	header->ndm_ifindex = hop->hop.ifindex;
	header->ndm_state = NUD_NONE;
	header->ndm_flags = NTF_USE;
	nl_put_addr(message, NDA_DST, &hop->via);
	nl_send(&nh->hint, message);
}

/*
 * A failure counts when the next attempt, by broadcast, fails too: the MAC may
 * have changed, and the kernel also says "failed" of an entry just before it is
 * deleted by hand (6.18).
 */
static void hop_learn(struct nexthops *nh, struct hop *hop, const struct neighbour *n)
{
	hop->fixed = n->fixed;
	if (n->valid) {
		nh->touched |= !hop->hop.resolved ||
			       memcmp(hop->hop.mac_dst, n->mac, sizeof(n->mac));
		memcpy(hop->hop.mac_dst, n->mac, sizeof(n->mac));
		hop->hop.resolved = true;
		hop->failed = false;
		hop->problem = NULL;
		nexthop_set_dead(nh, hop, false);
	} else if (n->failed && (hop->failed || !hop->hop.resolved)) {
		nh->touched |= hop->hop.resolved;
		hop->hop.resolved = false;
		hop->problem = "the next hop does not answer";
		nexthop_set_dead(nh, hop, true);
	} else {
		hop->failed = n->failed || (hop->failed && !n->gone);
		hint_neighbour(nh, hop);
	}
}

static struct hop *find_hop(const struct nexthops *nh, const struct addr *addr)
{
	size_t low = 0, high = nh->n_hops, middle;
	int order;

	while (low < high) {
		middle = low + (high - low) / 2;
		order = addr_compare(addr, &nh->hops[middle].addr);
		if (!order)
			return &nh->hops[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

static bool hop_is_via(const struct hop *hop, const struct neighbour *n)
{
	return hop->routed && hop->hop.ifindex == n->ifindex &&
	       !addr_compare(&hop->via, &n->addr);
}

/* A neighbour is one backend, found by its address, or a gateway of many. */
static void apply_neighbour(struct nexthops *nh, const struct neighbour *n)
{
	struct hop *direct = find_hop(nh, &n->addr), *hop;

	if (direct && hop_is_via(direct, n))
		hop_learn(nh, direct, n);
	for (hop = nh->hops; nh->gateways && hop < nh->hops + nh->n_hops; hop++)
		if (hop != direct && hop_is_via(hop, n))
			hop_learn(nh, hop, n);
}

static int on_neighbour(const struct nlmsghdr *message, void *context)
{
	struct neighbour neighbour;

	if (parse_neighbour(message, &neighbour))
		apply_neighbour(context, &neighbour);
	return MNL_CB_OK;
}

static void hint_unresolved(struct nexthops *nh)
{
	size_t i;

	for (i = 0; i < nh->n_hops; i++)
		if (nh->hops[i].routed && !nh->hops[i].hop.resolved)
			hint_neighbour(nh, &nh->hops[i]);
}

/* Hints are answered only when they fail, and at once. */
static void drain_hints(struct nexthops *nh)
{
	const struct nlmsghdr *message;
	const struct nlmsgerr *error;
	char buf[8192];
	bool full = false;
	int size;

	while ((size = recv(mnl_socket_get_fd(nh->hint.socket), buf, sizeof(buf),
			    MSG_DONTWAIT)) > 0) {
		message = (const struct nlmsghdr *)buf;
		for (; mnl_nlmsg_ok(message, size); message = mnl_nlmsg_next(message, &size)) {
			error = mnl_nlmsg_get_payload(message);
			full |= message->nlmsg_type == NLMSG_ERROR && error->error == -ENOBUFS;
		}
	}
	if (full && !nh->table_full)
		log_warn("the kernel's neighbour table is full: backends stay unresolved; raise net.ipv4.neigh.default.gc_thresh3 (or ipv6)");
	nh->table_full |= full;
}

/* Routes, links and neighbours as they are now. */
static void refresh(struct nexthops *nh)
{
	uint64_t start = clock_ms();
	struct err err;
	size_t i;

	nh->dirty = false;
	nh->touched = true;
	nh->gateways = false;
	if (nexthop_read_links(nh) == 0) {
		for (i = 0; i < nh->n_hops; i++) {
			nexthop_resolve_route(nh, &nh->hops[i]);
			nh->gateways |= addr_compare(&nh->hops[i].addr, &nh->hops[i].via) != 0;
		}
		if (nl_dump(&nh->request, RTM_GETNEIGH, on_neighbour, nh, &err))
			log_warn("cannot list neighbours: %s; next hops may be stale", err.text);
	}
	hint_unresolved(nh);
	drain_hints(nh);
	/* A refresh may take a tenth of the time at most. */
	nh->settle_ms = SETTLE_MS + 9 * (clock_ms() - start);
}

static int on_event(const struct nlmsghdr *message, void *context)
{
	struct nexthops *nh = context;

	if (message->nlmsg_type == RTM_NEWNEIGH || message->nlmsg_type == RTM_DELNEIGH)
		return on_neighbour(message, nh);
	if (!nh->dirty)
		nh->dirty_at = clock_ms();
	nh->dirty = true;
	return MNL_CB_OK;
}

static void tell(struct nexthops *nh)
{
	bool turned = nh->turned;

	if (!nh->touched && !turned)
		return;
	nh->touched = nh->turned = false;
	nh->changed(nh->context, turned);
}

void nexthops_events(struct nexthops *nh)
{
	int rc = nl_events(&nh->event, on_event, nh);

	drain_hints(nh);
	if (rc == -ENOBUFS) {
		log_info("netlink events were lost: reading everything again");
		refresh(nh);
	}
	tell(nh);
}

unsigned int nexthops_wait_ms(const struct nexthops *nh, uint64_t now_ms)
{
	uint64_t due = nh->confirmed_at + CONFIRM_MS;

	if (nh->dirty && nh->dirty_at + nh->settle_ms < due)
		due = nh->dirty_at + nh->settle_ms;
	if (nh->hints_owed && nh->hints_due < due)
		due = nh->hints_due;
	if (nh->touched || nh->turned)
		return 0;
	return due > now_ms ? due - now_ms : 0;
}

/* Hints that came too soon after another; what is due by now is asked for. */
static void pay_hints(struct nexthops *nh)
{
	size_t i;

	nh->hints_owed = false;
	for (i = 0; i < nh->n_hops; i++)
		if (nh->hops[i].hint_owed && nh->hops[i].routed)
			hint_neighbour(nh, &nh->hops[i]);
	drain_hints(nh);
}

void nexthops_tick(struct nexthops *nh, uint64_t now_ms)
{
	size_t i;

	if (nh->hints_owed && now_ms >= nh->hints_due)
		pay_hints(nh);
	if (nh->dirty && now_ms >= nh->dirty_at + nh->settle_ms)
		refresh(nh);
	if (now_ms >= nh->confirmed_at + CONFIRM_MS) {
		nh->confirmed_at = now_ms;
		nh->table_full = false;
		for (i = 0; i < nh->n_hops; i++)
			if (nh->hops[i].routed)
				hint_neighbour(nh, &nh->hops[i]);
		drain_hints(nh);
	}
	tell(nh);
}

int nexthops_track(struct nexthops *nh, const struct addr *addrs, size_t n,
		   struct err *err)
{
	struct hop *hops = calloc(n + 1, sizeof(*hops));
	const struct hop *known;
	bool fresh = false, news = nh->touched || nh->dirty;
	size_t i;

	if (!hops)
		return err_set(err, -ENOMEM, "out of memory");

	for (i = 0; i < n; i++) {
		known = find_hop(nh, &addrs[i]);
		fresh |= !known || !known->via.family;
		hops[i] = known ? *known : (struct hop){ .addr = addrs[i] };
	}
	free(nh->hops);
	nh->hops = hops;
	nh->n_hops = n;
	if (fresh)
		refresh(nh);
	/*
	 * The caller is about to read them all, for a plan that it may yet drop: what
	 * netlink had to say before, and who has failed or come back, is told all the same.
	 */
	nh->touched = news && !nh->dirty;
	return 0;
}

int nexthops_seed(struct nexthops *nh, const struct nexthop_seed *seeds, size_t n,
		  struct err *err)
{
	size_t i;

	nh->hops = calloc(n + 1, sizeof(*nh->hops));
	if (!nh->hops)
		return err_set(err, -ENOMEM, "out of memory");
	for (i = 0; i < n; i++)
		nh->hops[i] = (struct hop){ .addr = seeds[i].addr, .hop = seeds[i].hop,
					    .routed = true };
	nh->n_hops = n;
	nh->confirmed_at = 0; /* ask the kernel soon */
	return 0;
}

void nexthops_set_source(struct nexthops *nh, const struct tunnel_source *source4,
			 const struct tunnel_source *source6)
{
	if (tunnel_source_equal(&nh->source4, source4) &&
	    tunnel_source_equal(&nh->source6, source6))
		return;
	nh->source4 = *source4;
	nh->source6 = *source6;
	refresh(nh);
}

const struct next_hop *nexthops_get(const struct nexthops *nh, const struct addr *addr)
{
	const struct hop *hop = find_hop(nh, addr);

	return hop ? &hop->hop : NULL;
}

bool nexthops_failed(const struct nexthops *nh, const struct addr *addr)
{
	const struct hop *hop = find_hop(nh, addr);

	return hop && hop->dead;
}

void nexthops_describe(const struct nexthops *nh, const struct addr *addr, char *text,
		       size_t size, const char **problem)
{
	const struct hop *hop = find_hop(nh, addr);
	char via[ADDR_TEXT_MAX], name[IF_NAMESIZE] = "?";
	const uint8_t *mac;

	text[0] = '\0';
	*problem = hop ? hop->problem : "not tracked";
	if (hop && hop->routed && !hop->hop.resolved && nh->table_full)
		*problem = "the kernel's neighbour table is full";
	if (!hop || !hop->hop.resolved)
		return;
	mac = hop->hop.mac_dst;
	if_indextoname(hop->hop.ifindex, name);
	snprintf(text, size, "%s dev %s lladdr %02x:%02x:%02x:%02x:%02x:%02x",
		 addr_format(&hop->via, via), name, mac[0], mac[1], mac[2], mac[3],
		 mac[4], mac[5]);
}

int nexthops_fd(const struct nexthops *nh)
{
	return mnl_socket_get_fd(nh->event.socket);
}

int nexthops_open(struct nexthops **out, nexthops_changed *changed, void *context,
		  struct err *err)
{
	const uint32_t groups = RTMGRP_LINK | RTMGRP_NEIGH | RTMGRP_IPV4_ROUTE |
				RTMGRP_IPV6_ROUTE | RTMGRP_IPV4_IFADDR |
				RTMGRP_IPV6_IFADDR;
	struct nexthops *nh = calloc(1, sizeof(*nh));
	int rc;

	if (!nh)
		return err_set(err, -ENOMEM, "out of memory");

	nh->changed = changed;
	nh->context = context;
	nh->settle_ms = SETTLE_MS;
	nh->confirmed_at = clock_ms();
	/* Events first, so that nothing is missed between reading and listening. */
	rc = nl_open(&nh->event, groups, err);
	if (!rc)
		rc = nl_open(&nh->request, 0, err);
	if (!rc)
		rc = nl_open(&nh->hint, 0, err);
	if (rc) {
		nexthops_close(nh);
		return rc;
	}
	*out = nh;
	return 0;
}

void nexthops_close(struct nexthops *nh)
{
	if (!nh)
		return;
	nl_close(&nh->event);
	nl_close(&nh->request);
	nl_close(&nh->hint);
	free(nh->hops);
	free(nh->links);
	free(nh);
}
