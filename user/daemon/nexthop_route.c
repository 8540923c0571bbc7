// SPDX-License-Identifier: GPL-2.0-only
/* Half of nexthop: the route to an address and the interface behind it. */
#include <arpa/inet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdlib.h>
#include <string.h>

#include "nexthop_private.h"
#include "sys/log.h"
#include "sys/nl_route.h"

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

int nexthop_read_links(struct nexthops *nh)
{
	struct err err;
	int rc;

	nh->n_links = 0;
	rc = nl_dump(&nh->request, RTM_GETLINK, on_link, nh, &err);
	if (rc)
		log_warn("cannot list interfaces: %s; next hops may be stale", err.text);
	return rc;
}

static const char *check_route(const struct nl_route *route, const struct link *link,
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

void nexthop_set_dead(struct nexthops *nh, struct hop *hop, bool dead)
{
	nh->turned |= hop->dead != dead;
	hop->dead = dead;
}

static void hop_set_problem(struct nexthops *nh, struct hop *hop, const char *problem)
{
	nexthop_set_dead(nh, hop, true);
	hop->routed = false;
	hop->hop.resolved = false;
	hop->problem = problem;
}

void nexthop_resolve_route(struct nexthops *nh, struct hop *hop)
{
	const struct tunnel_source *forced = hop->addr.family == AF_INET ? &nh->source4 :
									    &nh->source6;
	const struct link *link;
	const char *problem;
	struct addr via;
	struct nl_route route;
	unsigned int mtu;

	if (nl_route_get(&nh->request, &hop->addr, 0, &route, NULL)) {
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
		nexthop_set_dead(nh, hop, false);
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
