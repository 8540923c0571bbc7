// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traffic to a VIP, and when the last of it was sent to a backend that has died.
 *
 *   death send ADDRESS PORT
 *
 * sends two datagrams a millisecond until it is killed: one of a flow that is new, and
 * one of FLOWS that go on.
 *
 *   death last INTERFACE BACKEND PORT
 *
 * prints "listening", and when it gets SIGTERM the time at which the last datagram to
 * that port came in by the interface, inside of IPIP to that backend: nanoseconds of
 * CLOCK_REALTIME, 0 when there was none. IPv4 only.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/tool.h"

#define FLOWS 256

static void die(const char *what)
{
	fprintf(stderr, "death: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int udp_socket(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		die("socket");
	return fd;
}

static int send_for_ever(const char *address, const char *port)
{
	const struct timespec pause = { 0, 1000 * 1000 };
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(atoi(port)) };
	int known[FLOWS], i, fresh;

	if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
		return 64;
	for (i = 0; i < FLOWS; i++)
		known[i] = udp_socket();
	for (i = 0;; i = (i + 1) % FLOWS) {
		fresh = udp_socket();
		/* What is lost for want of room is only another one. */
		(void)!sendto(fresh, "fresh", 5, 0, (void *)&to, sizeof(to));
		(void)!sendto(known[i], "known", 5, 0, (void *)&to, sizeof(to));
		close(fresh);
		nanosleep(&pause, NULL);
	}
}

static int listen_on(const char *interface)
{
	struct sockaddr_ll from = {
		.sll_family = AF_PACKET,
		/* Before a bridge takes it away. */
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = if_nametoindex(interface),
	};
	int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0), yes = 1;

	if (fd < 0 || !from.sll_ifindex || bind(fd, (void *)&from, sizeof(from)) ||
	    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof(yes)))
		die(interface);
	return fd;
}

/* The inner headers have no options: they are those that send_for_ever() sends. */
static int is_wanted(const uint8_t *packet, size_t size, in_addr_t backend, uint16_t port)
{
	const struct iphdr *outer = (const void *)packet, *inner = outer + 1;
	const struct udphdr *udp = (const void *)(inner + 1);

	return size >= 2 * sizeof(*outer) + sizeof(*udp) && outer->ihl == 5 &&
	       outer->protocol == IPPROTO_IPIP && outer->daddr == backend &&
	       inner->protocol == IPPROTO_UDP && udp->dest == htons(port);
}

/* When it came in, by the kernel's clock: this process may be late. */
static uint64_t stamp_of(struct msghdr *message)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(message);
	struct timespec at = { 0 };

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS)
		memcpy(&at, CMSG_DATA(c), sizeof(at));
	return at.tv_sec * 1000000000ULL + at.tv_nsec;
}

static int listen_for_last(const char *interface, const char *backend, const char *port)
{
	uint8_t packet[128] __attribute__((aligned(8)));
	char control[64] __attribute__((aligned(8)));
	struct iovec data = { packet, sizeof(packet) };
	int fd = listen_on(interface);
	uint64_t last = 0;
	ssize_t size;

	printf("listening\n");
	fflush(stdout);
	while (!tool_stopping) {
		struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1,
					  .msg_control = control,
					  .msg_controllen = sizeof(control) };

		size = recvmsg(fd, &message, 0);
		if (size > 0 && is_wanted(packet, size, inet_addr(backend), atoi(port)))
			last = stamp_of(&message);
	}
	printf("%llu\n", (unsigned long long)last);
	return 0;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = tool_on_signal };

	if (argc == 4 && !strcmp(argv[1], "send"))
		return send_for_ever(argv[2], argv[3]);
	/* Without SA_RESTART: the signal ends recvmsg(). */
	sigaction(SIGTERM, &action, NULL);
	if (argc == 5 && !strcmp(argv[1], "last"))
		return listen_for_last(argv[2], argv[3], argv[4]);
	fprintf(stderr, "usage: death send ADDRESS PORT\n"
			"       death last INTERFACE BACKEND PORT\n");
	return 64;
}
