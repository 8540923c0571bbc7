// SPDX-License-Identifier: GPL-2.0-only
/*
 * icmp: an echo request, and the reply to that very one. All runs share one raw socket
 * a family, because each raw socket gets every reply. A reply is taken when it comes
 * from the target and has our identifier, the run's sequence number and its random
 * payload; an error when it quotes our identifier and the run's sequence number.
 */
#include <errno.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* After <netinet/in.h>, whose types they would define themselves. */
#include <linux/filter.h>
#include <linux/icmp.h>

#include "checker.h"
#include "reason.h"
#include "sock.h"
#include "task.h"

#define PING_NOISE 24
#define PINGS_IN_FLIGHT 65536 /* as there are sequence numbers */
#define PINGS_AT_A_TIME 64    /* before others have a turn */
#define RECEIVE_BUFFER (8 * 1024 * 1024) /* replies that come while others have it */

/* The same for ICMP and ICMPv6. */
struct echo {
	uint8_t type, code;
	uint16_t checksum, id_be, seq_be;
	uint8_t noise[PING_NOISE];
};
_Static_assert(sizeof(struct echo) == 8 + PING_NOISE, "echo has holes");

struct ping_socket {
	struct watch watch;
	struct pings *pings;
	uint8_t family;
	bool watched;
};

struct pings {
	struct ping_socket v4, v6;
	uint16_t id_be, last_seq;
	struct task *by_seq[PINGS_IN_FLIGHT];
};

struct ping_run {
	uint16_t seq;
	struct echo echo; /* as sent */
};

/* RFC 1071 over an even number of bytes. */
static uint16_t internet_checksum(const void *data, size_t length)
{
	const uint8_t *byte = data;
	uint32_t sum = 0;
	uint16_t word;

	for (size_t i = 0; i + 1 < length; i += 2) {
		memcpy(&word, byte + i, 2);
		sum += word;
	}
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static bool is_from(const struct probe *probe, const struct sockaddr_storage *from)
{
	const struct sockaddr_in *v4 = (const void *)from;
	const struct sockaddr_in6 *v6 = (const void *)from;

	if (from->ss_family != probe->addr.family)
		return false;
	if (from->ss_family == AF_INET)
		return v4->sin_addr.s_addr == probe->addr.v4.s_addr;
	return IN6_ARE_ADDR_EQUAL(&v6->sin6_addr, &probe->addr.v6);
}

/* The run that sent this, as it came back or as it is quoted. */
static struct task *find_task(struct pings *pings, const struct echo *echo, uint8_t family)
{
	struct task *task = pings->by_seq[ntohs(echo->seq_be)];

	if (!task || echo->id_be != pings->id_be || task->probe.addr.family != family)
		return NULL;
	return task;
}

static void take_reply(struct ping_socket *s, const uint8_t *data, size_t length,
		       const struct sockaddr_storage *from)
{
	const struct ping_run *run;
	struct task *task;
	struct echo echo;

	if (length != sizeof(echo))
		return;
	memcpy(&echo, data, sizeof(echo));
	task = find_task(s->pings, &echo, s->family);
	if (!task || !is_from(&task->probe, from))
		return;
	run = task->run;
	if (!memcmp(echo.noise, run->echo.noise, PING_NOISE))
		task_pass(task, "answered");
}

/* `quote` begins with the IP header of what could not be delivered. */
static void take_error(struct ping_socket *s, const uint8_t *quote, size_t length)
{
	size_t header = s->family == AF_INET6 ? 40 : 20;
	struct sockaddr_storage to = { .ss_family = s->family };
	struct task *task;
	struct echo echo;

	if (s->family == AF_INET && length >= 20)
		header = (quote[0] & 0x0f) * 4;
	if (length < header + 8)
		return;
	memcpy(&echo, quote + header, 8);
	if (echo.type != (s->family == AF_INET ? ICMP_ECHO : ICMP6_ECHO_REQUEST))
		return;
	if (s->family == AF_INET)
		memcpy(&((struct sockaddr_in *)&to)->sin_addr, quote + 16, 4);
	else
		memcpy(&((struct sockaddr_in6 *)&to)->sin6_addr, quote + 24, 16);
	task = find_task(s->pings, &echo, s->family);
	if (task && is_from(&task->probe, &to))
		task_fail(task, "the network says that the address is unreachable");
}

/* ICMPv6 comes without its IP header, ICMP with it. */
static void take_packet(struct ping_socket *s, const uint8_t *data, size_t length,
			const struct sockaddr_storage *from)
{
	size_t header = 0;

	if (s->family == AF_INET && length > 0)
		header = (data[0] & 0x0f) * 4;
	if (length < header + 8)
		return;
	data += header;
	length -= header;
	if (data[0] == (s->family == AF_INET ? ICMP_ECHOREPLY : ICMP6_ECHO_REPLY))
		take_reply(s, data, length, from);
	else
		take_error(s, data + 8, length - 8);
}

static void on_ready(struct watch *watch, uint32_t events)
{
	struct ping_socket *s = (struct ping_socket *)watch;

	(void)events;
	for (int i = 0; i < PINGS_AT_A_TIME; i++) {
		struct sockaddr_storage from = { 0 };
		socklen_t from_length = sizeof(from);
		uint8_t data[512];
		ssize_t n = recvfrom(watch->fd, data, sizeof(data), 0,
				     (struct sockaddr *)&from, &from_length);

		if (n < 0)
			return;
		take_packet(s, data, n, &from);
	}
}

/* Others' replies are left out by the kernel: there may be many. */
static int set_filter4(int fd, uint16_t id_be)
{
	struct icmp_filter types = { ~(1U << ICMP_ECHOREPLY | 1U << ICMP_DEST_UNREACH) };
	struct sock_filter code[] = {
		BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
		BPF_STMT(BPF_LD | BPF_B | BPF_IND, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ICMP_ECHOREPLY, 0, 2),
		BPF_STMT(BPF_LD | BPF_H | BPF_IND, 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ntohs(id_be), 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	if (setsockopt(fd, SOL_RAW, ICMP_FILTER, &types, sizeof(types)) ||
	    setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)))
		return -errno;
	return 0;
}

static int set_filter6(int fd, uint16_t id_be)
{
	struct icmp6_filter types;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ICMP6_ECHO_REPLY, 0, 2),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ntohs(id_be), 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	ICMP6_FILTER_SETBLOCKALL(&types);
	ICMP6_FILTER_SETPASS(ICMP6_ECHO_REPLY, &types);
	ICMP6_FILTER_SETPASS(ICMP6_DST_UNREACH, &types);
	if (setsockopt(fd, IPPROTO_ICMPV6, ICMP6_FILTER, &types, sizeof(types)) ||
	    setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)))
		return -errno;
	return 0;
}

static int open_socket(struct ping_socket *s)
{
	bool v4 = s->family == AF_INET;
	int size = RECEIVE_BUFFER, fd, rc;

	if (s->watch.fd >= 0)
		return 0;
	fd = socket(s->family, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC,
		    v4 ? IPPROTO_ICMP : (int)IPPROTO_ICMPV6);
	if (fd < 0)
		return -errno;
	rc = v4 ? set_filter4(fd, s->pings->id_be) : set_filter6(fd, s->pings->id_be);
	if (rc) {
		close(fd);
		return rc;
	}
	/* As much as root may have, else as much as anybody may. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	s->watch.fd = fd;
	return 0;
}

static int watch_socket(struct checker *checker, struct ping_socket *s)
{
	int rc = open_socket(s);

	if (rc || s->watched)
		return rc;
	rc = watch_add(&checker->watches, &s->watch, EPOLLIN);
	s->watched = !rc;
	return rc;
}

static int make_pings(struct checker *checker)
{
	struct pings *pings;

	if (checker->pings)
		return 0;
	pings = calloc(1, sizeof(*pings));
	if (!pings)
		return -ENOMEM;
	pings->v4 = (struct ping_socket){ { -1, on_ready }, pings, AF_INET, false };
	pings->v6 = (struct ping_socket){ { -1, on_ready }, pings, AF_INET6, false };
	if (getrandom(&pings->id_be, sizeof(pings->id_be), 0) < 0) {
		free(pings);
		return -EAGAIN;
	}
	checker->pings = pings;
	return 0;
}

void pings_prepare(struct checker *checker)
{
	if (make_pings(checker))
		return;
	open_socket(&checker->pings->v4);
	open_socket(&checker->pings->v6);
}

void pings_free(struct checker *checker)
{
	struct pings *pings = checker->pings;

	if (!pings)
		return;
	watch_close(&checker->watches, &pings->v4.watch);
	watch_close(&checker->watches, &pings->v6.watch);
	free(pings);
	checker->pings = NULL;
}

/* -ENOBUFS: all numbers are in flight. */
static int take_number(struct pings *pings, struct task *task, uint16_t *seq)
{
	for (int i = 0; i < PINGS_IN_FLIGHT; i++) {
		if (pings->by_seq[++pings->last_seq])
			continue;
		pings->by_seq[pings->last_seq] = task;
		*seq = pings->last_seq;
		return 0;
	}
	return -ENOBUFS;
}

/* The socket is shared, so the mark goes with the packet. */
static ssize_t send_echo(int fd, const struct probe *probe, struct echo *echo)
{
	union {
		char bytes[CMSG_SPACE(sizeof(uint32_t))];
		struct cmsghdr align;
	} control = { 0 };
	struct sockaddr_storage to;
	struct iovec data = { echo, sizeof(*echo) };
	struct msghdr message = { .msg_name = &to, .msg_iov = &data, .msg_iovlen = 1 };
	struct cmsghdr *mark = &control.align;

	message.msg_namelen = sock_address(probe, &to);
	if (probe->mark) {
		mark->cmsg_level = SOL_SOCKET;
		mark->cmsg_type = SO_MARK;
		mark->cmsg_len = CMSG_LEN(sizeof(probe->mark));
		memcpy(CMSG_DATA(mark), &probe->mark, sizeof(probe->mark));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	return sendmsg(fd, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static void make_echo(struct ping_run *run, uint16_t id_be, bool v4)
{
	struct echo *echo = &run->echo;

	*echo = (struct echo){ .type = v4 ? ICMP_ECHO : ICMP6_ECHO_REQUEST,
			       .id_be = id_be,
			       .seq_be = htons(run->seq) };
	if (getrandom(echo->noise, sizeof(echo->noise), 0) < 0)
		memset(echo->noise, 0, sizeof(echo->noise));
	/* The kernel does that of ICMPv6, which has addresses in it. */
	if (v4)
		echo->checksum = internet_checksum(echo, sizeof(*echo));
}

static int begin(struct task *task, const char **what)
{
	bool v4 = task->probe.addr.family == AF_INET;
	struct checker *checker = task->checker;
	struct ping_socket *s;
	struct ping_run *run;
	int rc = make_pings(checker);

	*what = "cannot begin";
	if (rc)
		return rc;
	s = v4 ? &checker->pings->v4 : &checker->pings->v6;
	*what = "cannot open a raw socket, which takes CAP_NET_RAW";
	rc = watch_socket(checker, s);
	if (rc)
		return rc;
	*what = "cannot begin";
	run = calloc(1, sizeof(*run));
	if (!run)
		return -ENOMEM;
	rc = take_number(checker->pings, task, &run->seq);
	if (rc) {
		free(run);
		return rc;
	}
	task->run = run;
	make_echo(run, checker->pings->id_be, v4);
	*what = "cannot send";
	return send_echo(s->watch.fd, &task->probe, &run->echo);
}

static void icmp_start(struct task *task)
{
	const char *what;
	int rc = begin(task, &what);

	if (rc)
		task_fail_here(task, what, rc);
}

static void icmp_stop(struct task *task)
{
	struct ping_run *run = task->run;

	task->run = NULL;
	if (!run)
		return;
	task->checker->pings->by_seq[run->seq] = NULL;
	free(run);
}

static const char *icmp_missing(const struct task *task)
{
	(void)task;
	return "no answer";
}

const struct prober icmp_prober = { icmp_start, icmp_stop, icmp_missing };
