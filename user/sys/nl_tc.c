// SPDX-License-Identifier: GPL-2.0-only
#include "nl_tc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/pkt_cls.h>

#define TRIES 8

struct list {
	struct nl_tc_filter *filters;
	size_t n;
};

static void read_bpf(const struct nlattr *options, struct nl_tc_filter *filter)
{
	const struct nlattr *option;

	mnl_attr_for_each_nested(option, options) {
		if (mnl_attr_get_type(option) == TCA_BPF_ID)
			filter->program = mnl_attr_get_u32(option);
		if (mnl_attr_get_type(option) == TCA_BPF_NAME &&
		    !mnl_attr_validate(option, MNL_TYPE_NUL_STRING))
			snprintf(filter->name, sizeof(filter->name), "%s",
				 mnl_attr_get_str(option));
	}
}

static int on_filter(const struct nlmsghdr *message, void *context)
{
	const struct tcmsg *header = mnl_nlmsg_get_payload(message);
	const struct nlattr *attribute, *options = NULL;
	struct list *list = context;
	struct nl_tc_filter *filters, filter = {
		.handle = header->tcm_handle,
		.priority = TC_H_MAJ(header->tcm_info) >> 16,
	};

	mnl_attr_for_each(attribute, message, sizeof(*header)) {
		if (mnl_attr_get_type(attribute) == TCA_KIND &&
		    !mnl_attr_validate(attribute, MNL_TYPE_NUL_STRING))
			filter.bpf = !strcmp(mnl_attr_get_str(attribute), "bpf");
		if (mnl_attr_get_type(attribute) == TCA_OPTIONS)
			options = attribute;
	}
	if (filter.bpf && options)
		read_bpf(options, &filter);

	filters = reallocarray(list->filters, list->n + 1, sizeof(*filters));
	if (!filters)
		return MNL_CB_ERROR;
	list->filters = filters;
	filters[list->n++] = filter;
	return MNL_CB_OK;
}

int nl_tc_filters(struct nl *nl, unsigned int ifindex, uint32_t parent,
		  struct nl_tc_filter **out, size_t *n, struct err *err)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct list list = { 0 };
	struct nlmsghdr *message;
	struct tcmsg *header;
	int tries, rc = -EINTR;

	for (tries = 0; rc == -EINTR && tries < TRIES; tries++) {
		list.n = 0;
		message = nl_message(buf, RTM_GETTFILTER, NLM_F_DUMP);
		header = mnl_nlmsg_put_extra_header(message, sizeof(*header));
		header->tcm_family = AF_UNSPEC;
		header->tcm_ifindex = (int)ifindex;
		header->tcm_parent = parent;
		rc = nl_request(nl, message, on_filter, &list, err);
	}
	if (rc) {
		free(list.filters);
		return rc;
	}
	*out = list.filters;
	*n = list.n;
	return 0;
}

static int on_qdisc(const struct nlmsghdr *message, void *context)
{
	const struct nlattr *attribute;
	bool *clsact = context;

	mnl_attr_for_each(attribute, message, sizeof(struct tcmsg))
		if (mnl_attr_get_type(attribute) == TCA_KIND &&
		    !mnl_attr_validate(attribute, MNL_TYPE_NUL_STRING))
			*clsact = !strcmp(mnl_attr_get_str(attribute), "clsact");
	return MNL_CB_OK;
}

bool nl_tc_is_clsact(struct nl *nl, unsigned int ifindex)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	/* Without it the answer goes to those only who listen to changes. */
	struct nlmsghdr *message = nl_message(buf, RTM_GETQDISC, NLM_F_ECHO);
	struct tcmsg *header = mnl_nlmsg_put_extra_header(message, sizeof(*header));
	bool clsact = false;

	header->tcm_ifindex = (int)ifindex;
	header->tcm_parent = TC_H_CLSACT;
	return !nl_request(nl, message, on_qdisc, &clsact, NULL) && clsact;
}
