// SPDX-License-Identifier: GPL-2.0-only
#include "nexthop.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/neighbour.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/cleanup.h"
#include "sys/log.h"
#include "sys/nl.h"

#define SETTLE_MS 50      /* events come in bursts; read routes after one */
#define CONFIRM_MS 10000  /* below the kernel's 30 s base reachable time */
#define NUD_VALID_STATES \
	(NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_PROBE | NUD_STALE | NUD_DELAY)

struct hop {
	struct addr addr;
	/* Neighbour: the gateway, or the address itself. Unset: it is a seed. */
	struct addr via;
	struct next_hop hop;
	bool routed;
	bool fixed;  /* a static neighbour */
	bool failed; /* did not answer; once more and it is unresolved */
	bool dead;   /* see nexthops_failed() */
	const char *problem; /* static text; NULL: none */
};

struct link {
	unsigned int ifindex, flags, mtu;
	unsigned short type;
	uint8_t mac[6];
};

struct nexthops {
	struct nl request, hint, event;
	nexthops_changed *changed;
	void *context;
	struct tunnel_source source4, source6;
	struct hop *hops; /* sorted by addr */
	size_t n_hops;
	struct link *links;
	size_t n_links;
	bool dirty;         /* routes, links or addresses changed */
	uint64_t dirty_at, confirmed_at;
	unsigned int settle_ms; /* grows with what a refresh costs */
	bool touched;       /* something in hops changed since last told */
	bool turned;        /* an address failed or came back since last told */
	bool table_full;    /* the kernel's, at the last confirmation */
};

static uint64_t clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static const struct link *find_link(const struct nexthops *nh, unsigned int ifindex)
{
	size_t i;

	for (i = 0; i < nh->n_links; i++)
		if (nh->links[i].ifindex == ifindex)
			return &nh->links[i];
	return NULL;
}

static int on_link(const struct nlmsghdr *message, void *context)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(message);
	struct nexthops *nh = context;
	const struct nlattr *attribute;
	struct link link = { .ifindex = info->ifi_index, .flags = info->ifi_flags,
			     .type = info->ifi_type };
	struct link *list;

	mnl_attr_for_each(attribute, message, sizeof(*info)) {
		if (mnl_attr_get_type(attribute) == IFLA_MTU)
			link.mtu = mnl_attr_get_u32(attribute);
		if (mnl_attr_get_type(attribute) == IFLA_ADDRESS &&
		    mnl_attr_get_payload_len(attribute) == sizeof(link.mac))
			memcpy(link.mac, mnl_attr_get_payload(attribute), sizeof(link.mac));
	}

	list = realloc(nh->links, (nh->n_links + 1) * sizeof(*list));
	if (!list)
		return MNL_CB_ERROR;
	nh->links = list;
	list[nh->n_links++] = link;
	return MNL_CB_OK;
}

static int read_links(struct nexthops *nh)
{
	struct err err;
	int rc;

	nh->n_links = 0;
	rc = nl_dump(&nh->request, RTM_GETLINK, on_link, nh, &err);
	if (rc)
		log_warn("cannot list interfaces: %s; next hops may be stale", err.text);
	return rc;
}

struct route {
	unsigned char type;
	unsigned int ifindex, mtu;
	struct addr via, source;
};

static void route_via(const struct nlattr *attribute, struct addr *via)
{
	const struct rtvia *payload = mnl_attr_get_payload(attribute);
	uint16_t size = mnl_attr_get_payload_len(attribute);

	*via = (struct addr){ 0 };
	if (size == sizeof(*payload) + sizeof(via->v4) && payload->rtvia_family == AF_INET) {
		via->family = AF_INET;
		memcpy(&via->v4, payload->rtvia_addr, sizeof(via->v4));
	}
	if (size == sizeof(*payload) + sizeof(via->v6) && payload->rtvia_family == AF_INET6) {
		via->family = AF_INET6;
		memcpy(&via->v6, payload->rtvia_addr, sizeof(via->v6));
	}
}

static unsigned int route_mtu(const struct nlattr *metrics)
{
	const struct nlattr *metric;

	mnl_attr_for_each_nested(metric, metrics)
		if (mnl_attr_get_type(metric) == RTAX_MTU)
			return mnl_attr_get_u32(metric);
	return 0;
}

static int on_route(const struct nlmsghdr *message, void *context)
{
	const struct rtmsg *header = mnl_nlmsg_get_payload(message);
	struct route *route = context;
	const struct nlattr *attribute;

	route->type = header->rtm_type;
	mnl_attr_for_each(attribute, message, sizeof(*header)) {
		switch (mnl_attr_get_type(attribute)) {
		case RTA_OIF:
			route->ifindex = mnl_attr_get_u32(attribute);
			break;
		case RTA_GATEWAY:
			nl_get_addr(attribute, &route->via);
			break;
		case RTA_VIA:
			route_via(attribute, &route->via);
			break;
		case RTA_PREFSRC:
			nl_get_addr(attribute, &route->source);
			break;
		case RTA_METRICS:
			route->mtu = route_mtu(attribute);
			break;
		}
	}
	return MNL_CB_OK;
}

static int ask_route(struct nexthops *nh, const struct addr *addr, struct route *route)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *message = nl_message(buf, RTM_GETROUTE, 0);
	struct rtmsg *header = mnl_nlmsg_put_extra_header(message, sizeof(*header));

	header->rtm_family = addr->family;
	header->rtm_dst_len = addr->family == AF_INET ? 32 : 128;
	nl_put_addr(message, RTA_DST, addr);
	*route = (struct route){ 0 };
	return nl_request(&nh->request, message, on_route, route, NULL);
}

static const char *check_route(const struct route *route, const struct link *link,
			       const struct hop *hop, bool have_source)
{
	if (route->type == RTN_LOCAL)
		return "the address is this host's own";
	if (route->type != RTN_UNICAST || !link)
		return "no unicast route to the address";
	if (link->type != ARPHRD_ETHER)
		return "the route leaves by an interface that is not Ethernet";
	if (!(link->flags & IFF_UP))
		return "the interface of the route is down";
	if (!have_source)
		return hop->addr.family == AF_INET ?
			       "no IPv4 source address; set tunnel_source.ipv4" :
			       "no IPv6 source address; set tunnel_source.ipv6";
	return NULL;
}

static void hop_set_dead(struct nexthops *nh, struct hop *hop, bool dead)
{
	nh->turned |= hop->dead != dead;
	hop->dead = dead;
}

static void hop_set_problem(struct nexthops *nh, struct hop *hop, const char *problem)
{
	hop_set_dead(nh, hop, true);
	hop->routed = false;
	hop->hop.resolved = false;
	hop->problem = problem;
}

/* Fill everything but the neighbour's MAC, which stays while via stays. */
static void resolve_route(struct nexthops *nh, struct hop *hop)
{
	const struct tunnel_source *forced = hop->addr.family == AF_INET ? &nh->source4 :
									    &nh->source6;
	const struct link *link;
	const char *problem;
	struct addr via;
	struct route route;
	unsigned int mtu;

	if (ask_route(nh, &hop->addr, &route)) {
		hop_set_problem(nh, hop, "no route to the address");
		return;
	}
	if (forced->addr.family)
		route.source = forced->addr;
	link = find_link(nh, route.ifindex);
	problem = check_route(&route, link, hop, route.source.family == hop->addr.family);
	if (problem) {
		hop_set_problem(nh, hop, problem);
		return;
	}

	via = route.via.family ? route.via : hop->addr;
	if (!hop->routed || hop->hop.ifindex != route.ifindex ||
	    (hop->via.family && addr_compare(&via, &hop->via))) {
		hop->fixed = hop->failed = false;
		hop->hop.resolved = false;
		hop->problem = "the next hop does not answer yet";
		hop_set_dead(nh, hop, false);
	}
	mtu = route.mtu && route.mtu < link->mtu ? route.mtu : link->mtu;
	hop->routed = true;
	hop->via = via;
	hop->hop.ifindex = route.ifindex;
	hop->hop.mtu = mtu > UINT16_MAX ? UINT16_MAX : mtu;
	hop->hop.source = route.source;
	hop->hop.source_mask = tunnel_source_mask(forced);
	memcpy(hop->hop.mac_src, link->mac, sizeof(hop->hop.mac_src));
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

/* Ask the kernel to resolve or confirm a neighbour, as if a packet were sent. */
static void hint_neighbour(struct nexthops *nh, const struct hop *hop)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *message =
		nl_message(buf, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE);
	struct ndmsg *header = mnl_nlmsg_put_extra_header(message, sizeof(*header));

	if (hop->fixed)
		return;
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
		hop_set_dead(nh, hop, false);
	} else if (n->failed && (hop->failed || !hop->hop.resolved)) {
		nh->touched |= hop->hop.resolved;
		hop->hop.resolved = false;
		hop->problem = "the next hop does not answer";
		hop_set_dead(nh, hop, true);
	} else {
		hop->failed = n->failed || (hop->failed && !n->gone);
		hint_neighbour(nh, hop);
	}
}

static void apply_neighbour(struct nexthops *nh, const struct neighbour *n)
{
	struct hop *hop;

	for (hop = nh->hops; hop < nh->hops + nh->n_hops; hop++) {
		if (!hop->routed || hop->hop.ifindex != n->ifindex ||
		    addr_compare(&hop->via, &n->addr))
			continue;
		hop_learn(nh, hop, n);
	}
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
	if (read_links(nh) == 0) {
		for (i = 0; i < nh->n_hops; i++)
			resolve_route(nh, &nh->hops[i]);
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
	return due > now_ms ? due - now_ms : 0;
}

void nexthops_tick(struct nexthops *nh, uint64_t now_ms)
{
	size_t i;

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

int nexthops_track(struct nexthops *nh, const struct addr *addrs, size_t n,
		   struct err *err)
{
	struct hop *hops = calloc(n + 1, sizeof(*hops));
	const struct hop *known;
	bool fresh = false;
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
	nh->touched = nh->turned = false; /* the caller is about to read them all */
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
