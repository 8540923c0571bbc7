// SPDX-License-Identifier: GPL-2.0-only
#include "nl_route.h"

#include <string.h>

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

static void read_attribute(const struct nlattr *attribute, struct nl_route *route);

static void route_hops(const struct nlattr *attribute, struct nl_route *route)
{
	const struct rtnexthop *hop = mnl_attr_get_payload(attribute);
	int left = mnl_attr_get_payload_len(attribute);
	const struct nlattr *attr; /* which mnl_attr_for_each_payload wants */

	for (; RTNH_OK(hop, left); left -= RTNH_ALIGN(hop->rtnh_len), hop = RTNH_NEXT(hop)) {
		if (route->ifindex) {
			route->many |= route->ifindex != (unsigned int)hop->rtnh_ifindex;
			continue;
		}
		route->ifindex = hop->rtnh_ifindex;
		mnl_attr_for_each_payload((const void *)RTNH_DATA(hop),
					  hop->rtnh_len - sizeof(*hop))
			read_attribute(attr, route);
	}
}

static void read_attribute(const struct nlattr *attribute, struct nl_route *route)
{
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
	case RTA_MULTIPATH:
		route_hops(attribute, route);
		break;
	}
}

static int on_route(const struct nlmsghdr *message, void *context)
{
	const struct rtmsg *header = mnl_nlmsg_get_payload(message);
	struct nl_route *route = context;
	const struct nlattr *attribute;

	route->type = header->rtm_type;
	mnl_attr_for_each(attribute, message, sizeof(*header))
		read_attribute(attribute, route);
	return MNL_CB_OK;
}

int nl_route_get(struct nl *nl, const struct addr *addr, unsigned int flags,
		 struct nl_route *out, struct err *err)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *message = nl_message(buf, RTM_GETROUTE, 0);
	struct rtmsg *header = mnl_nlmsg_put_extra_header(message, sizeof(*header));

	header->rtm_family = addr->family;
	header->rtm_dst_len = addr->family == AF_INET ? 32 : 128;
	header->rtm_flags = flags;
	nl_put_addr(message, RTA_DST, addr);
	*out = (struct nl_route){ 0 };
	return nl_request(nl, message, on_route, out, err);
}
