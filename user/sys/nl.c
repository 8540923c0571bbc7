// SPDX-License-Identifier: GPL-2.0-only
#include "nl.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

/* The kernel answers at once; this bounds what a bug could cost the loop. */
#define NL_ANSWER_SECONDS 5
#define NL_EVENT_BUFFER (4 * 1024 * 1024)
#define NL_DUMP_TRIES 8

static void nl_set_option(struct nl *nl, int option)
{
	int on = 1;

	/* Older kernels do not know all of them; nothing depends on it. */
	mnl_socket_setsockopt(nl->socket, option, &on, sizeof(on));
}

static void nl_tune(struct nl *nl, bool events)
{
	int fd = mnl_socket_get_fd(nl->socket), size = NL_EVENT_BUFFER;
	struct timeval wait = { .tv_sec = NL_ANSWER_SECONDS };

	nl_set_option(nl, NETLINK_EXT_ACK);
	nl_set_option(nl, NETLINK_CAP_ACK);
	if (!events) {
		nl_set_option(nl, NETLINK_GET_STRICT_CHK);
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
		return;
	}
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

int nl_open(struct nl *nl, uint32_t groups, struct err *err)
{
	struct mnl_socket *socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	int rc;

	if (!socket) {
		rc = -errno;
		return err_set(err, rc, "cannot open a netlink socket: %s", strerror(-rc));
	}
	if (mnl_socket_bind(socket, groups, MNL_SOCKET_AUTOPID) < 0) {
		rc = -errno;
		mnl_socket_close(socket);
		return err_set(err, rc, "cannot bind a netlink socket: %s", strerror(-rc));
	}

	nl->socket = socket;
	nl->sequence = (uint32_t)time(NULL);
	nl_tune(nl, groups != 0);
	return 0;
}

void nl_close(struct nl *nl)
{
	if (nl->socket)
		mnl_socket_close(nl->socket);
	nl->socket = NULL;
}

struct nlmsghdr *nl_message(char *buf, uint16_t type, uint16_t flags)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(buf);

	message->nlmsg_type = type;
	message->nlmsg_flags = NLM_F_REQUEST | flags;
	return message;
}

void nl_put_addr(struct nlmsghdr *message, uint16_t attribute, const struct addr *addr)
{
	if (addr->family == AF_INET)
		mnl_attr_put(message, attribute, sizeof(addr->v4), &addr->v4);
	else
		mnl_attr_put(message, attribute, sizeof(addr->v6), &addr->v6);
}

bool nl_get_addr(const struct nlattr *attribute, struct addr *addr)
{
	uint16_t size = mnl_attr_get_payload_len(attribute);
	const void *payload = mnl_attr_get_payload(attribute);

	*addr = (struct addr){ 0 };
	if (size == sizeof(addr->v4)) {
		addr->family = AF_INET;
		memcpy(&addr->v4, payload, size);
		return true;
	}
	if (size == sizeof(addr->v6)) {
		addr->family = AF_INET6;
		memcpy(&addr->v6, payload, size);
		return true;
	}
	return false;
}

int nl_send(struct nl *nl, struct nlmsghdr *message)
{
	message->nlmsg_seq = ++nl->sequence;
	if (mnl_socket_sendto(nl->socket, message, message->nlmsg_len) < 0)
		return -errno;
	return 0;
}

/* The extended ACK's sentence; it follows the header when the ACK is capped. */
static const char *nl_kernel_words(const struct nlmsghdr *message)
{
	size_t offset = sizeof(struct nlmsgerr);
	const struct nlmsgerr *error = mnl_nlmsg_get_payload(message);
	const struct nlattr *attribute;

	if (!(message->nlmsg_flags & NLM_F_ACK_TLVS))
		return NULL;
	if (!(message->nlmsg_flags & NLM_F_CAPPED))
		offset += error->msg.nlmsg_len - sizeof(struct nlmsghdr);

	mnl_attr_for_each(attribute, message, offset)
		if (mnl_attr_get_type(attribute) == NLMSGERR_ATTR_MSG &&
		    mnl_attr_validate(attribute, MNL_TYPE_NUL_STRING) == 0)
			return mnl_attr_get_str(attribute);
	return NULL;
}

/* The errno in the first message of an answer, and the kernel's words for it. */
static int nl_answer_error(const char *buf, ssize_t size, struct err *err)
{
	const struct nlmsghdr *message = (const void *)buf;
	const struct nlmsgerr *error;
	const char *words;

	if (!mnl_nlmsg_ok(message, size) || message->nlmsg_type != NLMSG_ERROR)
		return 0;
	error = mnl_nlmsg_get_payload(message);
	if (!error->error)
		return 0;

	words = nl_kernel_words(message);
	return err_set(err, error->error, "%s", words ? words : strerror(-error->error));
}

int nl_request(struct nl *nl, struct nlmsghdr *message, mnl_cb_t visit,
	       void *context, struct err *err)
{
	bool dump = (message->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
	unsigned int port = mnl_socket_get_portid(nl->socket);
	char buf[32 * 1024];
	ssize_t size;
	int rc;

	if (!dump)
		message->nlmsg_flags |= NLM_F_ACK;
	rc = nl_send(nl, message);
	if (rc)
		return err_set(err, rc, "cannot ask the kernel: %s", strerror(-rc));

	do {
		size = mnl_socket_recvfrom(nl->socket, buf, sizeof(buf));
		if (size < 0) {
			rc = -errno;
			return err_set(err, rc, "no answer from the kernel: %s",
				       strerror(-rc));
		}
		rc = nl_answer_error(buf, size, err);
		if (rc)
			return rc;
		rc = mnl_cb_run(buf, size, nl->sequence, port, visit, context);
	} while (rc > MNL_CB_STOP);

	if (rc < 0)
		return err_set(err, -errno, "bad answer from the kernel: %s",
			       strerror(errno));
	return 0;
}

int nl_dump(struct nl *nl, uint16_t type, mnl_cb_t visit, void *context,
	    struct err *err)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *message;
	int tries, rc = -EINTR;

	for (tries = 0; rc == -EINTR && tries < NL_DUMP_TRIES; tries++) {
		message = nl_message(buf, type, NLM_F_DUMP);
		/* Strict checking wants the header of the type, all zero. */
		mnl_nlmsg_put_extra_header(message, type == RTM_GETLINK ?
					   sizeof(struct ifinfomsg) : sizeof(struct ndmsg));
		rc = nl_request(nl, message, visit, context, err);
	}
	return rc;
}

int nl_events(struct nl *nl, mnl_cb_t visit, void *context)
{
	char buf[32 * 1024];
	ssize_t size;

	for (;;) {
		size = mnl_socket_recvfrom(nl->socket, buf, sizeof(buf));
		if (size < 0)
			return -errno;
		mnl_cb_run(buf, size, 0, 0, visit, context);
	}
}
