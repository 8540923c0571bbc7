// SPDX-License-Identifier: GPL-2.0-only
/* Half of nexthop: the route to an address and the interface behind it. */
#include <arpa/inet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdlib.h>
#include <string.h>

#include "nexthop_private.h"
#include "sys/log.h"

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
	const struct addr *forced = hop->addr.family == AF_INET ? &nh->source4 : &nh->source6;
	const struct link *link;
	const char *problem;
	struct addr via;
	struct route route;
	unsigned int mtu;

	if (ask_route(nh, &hop->addr, &route)) {
		hop_set_problem(nh, hop, "no route to the address");
		return;
	}
	if (forced->family)
		route.source = *forced;
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
	memcpy(hop->hop.mac_src, link->mac, sizeof(hop->hop.mac_src));
}
