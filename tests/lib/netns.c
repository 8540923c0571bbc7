// SPDX-License-Identifier: GPL-2.0-only
#include "netns.h"

#include <errno.h>
#include <sched.h>

#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>

int netns_enter_new(void)
{
	return unshare(CLONE_NEWNET) ? -errno : 0;
}

int cpu_pin(void)
{
	cpu_set_t allowed, one;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return -errno;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		return sched_setaffinity(0, sizeof(one), &one) ? -errno : cpu;
	}
	return -ENODEV;
}

static void put_veth(struct nlmsghdr *nlh, const char *name, const char *peer)
{
	struct nlattr *info, *data, *end;

	mnl_attr_put_strz(nlh, IFLA_IFNAME, name);
	info = mnl_attr_nest_start(nlh, IFLA_LINKINFO);
	mnl_attr_put_strz(nlh, IFLA_INFO_KIND, "veth");
	data = mnl_attr_nest_start(nlh, IFLA_INFO_DATA);
	end = mnl_attr_nest_start(nlh, VETH_INFO_PEER);
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct ifinfomsg));
	mnl_attr_put_strz(nlh, IFLA_IFNAME, peer);
	mnl_attr_nest_end(nlh, end);
	mnl_attr_nest_end(nlh, data);
	mnl_attr_nest_end(nlh, info);
}

static int wait_ack(struct mnl_socket *socket, unsigned int seq)
{
	char buffer[4096];
	ssize_t n = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));

	if (n < 0)
		return -errno;
	n = mnl_cb_run(buffer, n, seq, mnl_socket_get_portid(socket), NULL, NULL);
	return n < 0 ? -errno : 0;
}

int netns_add_veth(const char *name, const char *peer)
{
	char buffer[1024] = { 0 };
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
	struct mnl_socket *socket;
	int err;

	nlh->nlmsg_type = RTM_NEWLINK;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK;
	nlh->nlmsg_seq = 1;
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct ifinfomsg));
	put_veth(nlh, name, peer);

	socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	if (!socket)
		return -errno;
	err = mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) ? -errno : 0;
	if (!err && mnl_socket_sendto(socket, nlh, nlh->nlmsg_len) < 0)
		err = -errno;
	if (!err)
		err = wait_ack(socket, 1);
	mnl_socket_close(socket);
	return err;
}
