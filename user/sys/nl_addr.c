// SPDX-License-Identifier: GPL-2.0-only
#include "nl_addr.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <stdlib.h>

#include "core/cleanup.h"
#include "nl.h"

#define DUMP_TRIES 8

#define _cleanup_nl_ _cleanup_(nl_close)

/*
 * A dump whose request has a header of `size` bytes, for one address family or
 * for all (0). -EINTR: it kept changing under way.
 */
static int dump(uint16_t type, size_t size, uint8_t family, mnl_cb_t visit,
		void *context, struct err *err)
{
	_cleanup_nl_ struct nl nl = { 0 };
	char buffer[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *message = nl_message(buffer, type, NLM_F_DUMP);
	/* All the headers start with the family. */
	uint8_t *header = mnl_nlmsg_put_extra_header(message, size);
	int failed = nl_open(&nl, 0, err);

	if (failed)
		return failed;
	header[0] = family;
	return nl_request(&nl, message, visit, context, err);
}

struct addr_list {
	struct nl_addr *item;
	size_t n;
};

static int take_addr(const struct nlmsghdr *nlh, void *context)
{
	const struct ifaddrmsg *ifa = mnl_nlmsg_get_payload(nlh);
	struct addr_list *list = context;
	const struct nlattr *attr;
	struct nl_addr *grown, *item;

	grown = reallocarray(list->item, list->n + 1, sizeof(*grown));
	if (!grown)
		return MNL_CB_ERROR;
	list->item = grown;
	item = &list->item[list->n];
	*item = (struct nl_addr){ .ifindex = ifa->ifa_index };

	/* Of a point-to-point link IFA_ADDRESS is the far end. */
	mnl_attr_for_each(attr, nlh, sizeof(*ifa)) {
		int type = mnl_attr_get_type(attr);

		if (type == IFA_LOCAL || (type == IFA_ADDRESS && !item->addr.family))
			nl_get_addr(attr, &item->addr);
	}
	if (item->addr.family)
		list->n++;
	return MNL_CB_OK;
}

int nl_addr_list(struct nl_addr **out, size_t *n, struct err *err)
{
	struct addr_list list = { 0 };
	int failed = -EINTR;

	for (int tries = 0; failed == -EINTR && tries < DUMP_TRIES; tries++) {
		list.n = 0;
		failed = dump(RTM_GETADDR, sizeof(struct ifaddrmsg), AF_UNSPEC,
			      take_addr, &list, err);
	}
	if (failed) {
		free(list.item);
		err_prefix(err, "cannot list the addresses");
		return failed;
	}

	*out = list.item;
	*n = list.n;
	return 0;
}

/*
 * Scope host for IPv4 and a preferred lifetime of zero for IPv6 (RFC 6724,
 * rule 3) keep the VIP from being the source of what the host itself sends,
 * also on interfaces that have no address of their own. For the same reason an
 * ARP request never carries it.
 */
static void put_vip_attributes(struct nlmsghdr *nlh, struct ifaddrmsg *ifa)
{
	struct ifa_cacheinfo lifetime = {
		.ifa_prefered = 0,
		.ifa_valid = UINT32_MAX, /* for ever */
	};

	if (ifa->ifa_family == AF_INET) {
		ifa->ifa_scope = RT_SCOPE_HOST;
		return;
	}
	ifa->ifa_flags = IFA_F_NODAD;
	mnl_attr_put(nlh, IFA_CACHEINFO, sizeof(lifetime), &lifetime);
}

static int vip_request(uint16_t type, uint16_t flags, unsigned int ifindex,
		       const struct addr *addr, const char *verb, struct err *err)
{
	_cleanup_nl_ struct nl nl = { 0 };
	char buffer[MNL_SOCKET_BUFFER_SIZE], text[ADDR_TEXT_MAX];
	struct nlmsghdr *nlh = nl_message(buffer, type, flags);
	struct ifaddrmsg *ifa = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifa));
	int failed = nl_open(&nl, 0, err);

	if (failed)
		return failed;
	ifa->ifa_family = addr->family;
	ifa->ifa_prefixlen = addr->family == AF_INET ? 32 : 128;
	ifa->ifa_index = ifindex;
	nl_put_addr(nlh, IFA_LOCAL, addr);
	nl_put_addr(nlh, IFA_ADDRESS, addr);
	if (type == RTM_NEWADDR)
		put_vip_attributes(nlh, ifa);

	failed = nl_request(&nl, nlh, NULL, NULL, err);
	if (failed)
		err_prefix(err, "cannot %s the address %s", verb,
			   addr_format(addr, text));
	return failed;
}

int nl_addr_add_vip(unsigned int ifindex, const struct addr *addr,
		    struct err *err)
{
	return vip_request(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, ifindex, addr,
			   "add", err);
}

int nl_addr_del_vip(unsigned int ifindex, const struct addr *addr,
		    struct err *err)
{
	return vip_request(RTM_DELADDR, 0, ifindex, addr, "delete", err);
}

struct default_route {
	unsigned int ifindex; /* 0: none seen */
	bool several;
};

static void see_interface(struct default_route *route, unsigned int ifindex)
{
	if (route->ifindex && route->ifindex != ifindex)
		route->several = true;
	route->ifindex = ifindex;
}

static void see_multipath(struct default_route *route, const struct nlattr *attr)
{
	const struct rtnexthop *hop = mnl_attr_get_payload(attr);
	int left = mnl_attr_get_payload_len(attr);

	while (left >= (int)sizeof(*hop) && hop->rtnh_len >= sizeof(*hop) &&
	       hop->rtnh_len <= left) {
		see_interface(route, hop->rtnh_ifindex);
		left -= RTNH_ALIGN(hop->rtnh_len);
		hop = RTNH_NEXT(hop);
	}
}

static int take_route(const struct nlmsghdr *nlh, void *context)
{
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr;

	if (rtm->rtm_dst_len || rtm->rtm_table != RT_TABLE_MAIN ||
	    rtm->rtm_type != RTN_UNICAST)
		return MNL_CB_OK;
	mnl_attr_for_each(attr, nlh, sizeof(*rtm)) {
		if (mnl_attr_get_type(attr) == RTA_OIF)
			see_interface(context, mnl_attr_get_u32(attr));
		else if (mnl_attr_get_type(attr) == RTA_MULTIPATH)
			see_multipath(context, attr);
	}
	return MNL_CB_OK;
}

int nl_default_interface(unsigned int *ifindex, struct err *err)
{
	static const uint8_t families[] = { AF_INET, AF_INET6 };
	struct default_route route = { 0 };
	int failed;

	for (size_t i = 0; i < sizeof(families); i++) {
		failed = dump(RTM_GETROUTE, sizeof(struct rtmsg), families[i],
			      take_route, &route, err);
		/* What was seen of a dump that changed under way was true then. */
		if (failed && failed != -EINTR)
			return err_prefix(err, "cannot list the routes");
	}
	if (!route.ifindex)
		return err_set(err, -ENOENT, "there is no default route");
	if (route.several)
		return err_set(err, -ENOTUNIQ,
			       "default routes leave by more than one interface");

	*ifindex = route.ifindex;
	return 0;
}
