// SPDX-License-Identifier: GPL-2.0-only
/* Part of probe.h: where packets to a VIP leave this host. */
#include "probe_private.h"

#include <errno.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>

#include "sys/nl_route.h"
#include "sys/sysctl.h"

#define STRICT 1 /* rp_filter, RFC 3704 */

struct link {
	unsigned short type; /* ARPHRD_* */
	unsigned int flags;  /* IFF_* */
};

static int on_link(const struct nlmsghdr *message, void *context)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(message);
	struct link *link = context;

	link->type = info->ifi_type;
	link->flags = info->ifi_flags;
	return MNL_CB_OK;
}

static int ask_link(struct nl *nl, unsigned int ifindex, struct link *link, struct err *err)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *message = nl_message(buf, RTM_GETLINK, 0);
	struct ifinfomsg *info = mnl_nlmsg_put_extra_header(message, sizeof(*info));

	info->ifi_index = (int)ifindex;
	return nl_request(nl, message, on_link, link, err);
}

/* The kernel takes the larger of the two settings. */
static bool drops_by_rp_filter(const char *interface)
{
	char path[SYSCTL_PATH_MAX];
	int all = 0, own = 0;

	snprintf(path, sizeof(path), "net/ipv4/conf/%s/rp_filter", interface);
	sysctl_read("net/ipv4/conf/all/rp_filter", &all, NULL);
	sysctl_read(path, &own, NULL);
	return (all > own ? all : own) == STRICT;
}

static int check_route(const struct nl_route *route, const char *vip, struct err *err)
{
	if (route->type == RTN_LOCAL)
		return err_set(err, -EADDRINUSE,
			       "VIP %s is an address of this host, so packets to it never leave; take it off every interface (a balancer needs none), or probe backends directly",
			       vip);
	if (route->type != RTN_UNICAST || !route->ifindex)
		return err_set(err, -ENETUNREACH,
			       "this host has no unicast route to VIP %s; add one, a default route will do, or probe backends directly",
			       vip);
	if (route->many)
		return err_set(err, -ENOTUNIQ,
			       "this host's route to VIP %s has next hops behind several interfaces; give the VIP a route by one of them, or probe backends directly",
			       vip);
	return 0;
}

static int check_link(const struct nl_route *route, const struct link *link,
		      const char *vip, const char *interface, struct err *err)
{
	if (link->type != ARPHRD_ETHER)
		return err_set(err, -ENOTSUP,
			       "this host's route to VIP %s leaves by interface '%s', which is not Ethernet; route it by one that is, or probe backends directly",
			       vip, interface);
	/* Without a gateway the kernel looks for the VIP itself before it sends. */
	if (!route->via.family && !(link->flags & IFF_NOARP))
		return err_set(err, -EHOSTUNREACH,
			       "VIP %s is on the link of interface '%s', where nobody answers for its address; route it by a gateway, or probe backends directly",
			       vip, interface);
	return 0;
}

static int check_answers(const struct nl_route *route, const struct addr *vip,
			 const char *text, const char *interface, unsigned int answers,
			 struct err *err)
{
	char name[IF_NAMESIZE];

	if (vip->family != AF_INET || !answers || answers == route->ifindex ||
	    !if_indextoname(answers, name) || !drops_by_rp_filter(name))
		return 0;
	return err_set(err, -EXDEV,
		       "this host routes VIP %s by interface '%s', so that its answers are dropped when they come in by '%s', where rp_filter is 1; set it to 2 or 0, route the VIP by '%s', or probe backends directly",
		       text, interface, name, name);
}

int probes_route(struct probes *p, const struct addr *vip, unsigned int answers,
		 unsigned int *ifindex, struct err *err)
{
	char text[ADDR_TEXT_MAX], interface[IF_NAMESIZE];
	struct link link = { 0 };
	struct nl_route route;
	int rc = nl_route_get(&p->nl, vip, RTM_F_FIB_MATCH, &route, NULL);

	addr_format(vip, text);
	/* What the kernel refuses by a route of that kind is no unicast route either. */
	if (rc)
		route.type = RTN_UNREACHABLE;
	rc = check_route(&route, text, err);
	if (rc)
		return rc;
	rc = ask_link(&p->nl, route.ifindex, &link, err);
	if (rc) {
		err_prefix(err, "cannot look at the interface of the route to VIP %s", text);
		return rc;
	}
	if (!if_indextoname(route.ifindex, interface))
		snprintf(interface, sizeof(interface), "%u", route.ifindex);
	rc = check_link(&route, &link, text, interface, err);
	if (!rc)
		rc = check_answers(&route, vip, text, interface, answers, err);
	if (!rc)
		*ifindex = route.ifindex;
	return rc;
}
