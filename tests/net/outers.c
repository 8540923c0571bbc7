// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tells the outer IP header of each packet that leaves by some interfaces, such
 * as the ports of a switch towards backends.
 *
 *   outers INTERFACE...
 *
 * prints "listening", then lines of "INTERFACE PROTOCOL SOURCE DESTINATION", and
 * of TCP " FLAGS", two hexadecimal digits, until it is killed.
 */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define HEADERS_MAX 80 /* of IPv4 with options and TCP, the longest */
#define ROOM (64 * 1024 * 1024) /* for packets not read yet, and the kernel's part */
#define TCP_FLAGS   13 /* where they are in its header */

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* The socket takes off the Ethernet header. */
static int listen_to_all(void)
{
	struct sockaddr_ll all = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
	};
	int fd = socket(AF_PACKET, SOCK_DGRAM, 0);
	int room = ROOM;

	/* Before the first packet: on a busy machine we come late to read them. */
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) ||
	    bind(fd, (struct sockaddr *)&all, sizeof(all)))
		die("outers: packet socket");
	return fd;
}

static void print_header(const char *interface, const uint8_t *ip, size_t size)
{
	char source[INET6_ADDRSTRLEN], destination[INET6_ADDRSTRLEN];
	char flags[8] = "";
	size_t l4;
	int protocol;

	if (size >= 20 && ip[0] >> 4 == 4) {
		inet_ntop(AF_INET, ip + 12, source, sizeof(source));
		inet_ntop(AF_INET, ip + 16, destination, sizeof(destination));
		protocol = ip[9];
		l4 = (ip[0] & 15) * 4;
	} else if (size >= 40 && ip[0] >> 4 == 6) {
		inet_ntop(AF_INET6, ip + 8, source, sizeof(source));
		inet_ntop(AF_INET6, ip + 24, destination, sizeof(destination));
		protocol = ip[6];
		l4 = 40;
	} else {
		return;
	}
	if (protocol == IPPROTO_TCP && size > l4 + TCP_FLAGS)
		snprintf(flags, sizeof(flags), " %02x", ip[l4 + TCP_FLAGS]);
	printf("%s %d %s %s%s\n", interface, protocol, source, destination, flags);
}

static void take_packet(int fd, char **interfaces)
{
	struct sockaddr_ll from = { 0 };
	socklen_t from_size = sizeof(from);
	uint8_t ip[HEADERS_MAX];
	ssize_t size = recvfrom(fd, ip, sizeof(ip), 0, (struct sockaddr *)&from,
				&from_size);
	char name[IF_NAMESIZE];

	if (size < 0)
		die("outers: recvfrom");
	if (from.sll_pkttype != PACKET_OUTGOING || !if_indextoname(from.sll_ifindex, name))
		return;
	for (; *interfaces; interfaces++)
		if (!strcmp(*interfaces, name))
			print_header(name, ip, size);
}

int main(int argc, char **argv)
{
	int fd = listen_to_all();

	if (argc < 2) {
		fprintf(stderr, "usage: outers INTERFACE...\n");
		return 64;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("listening\n");
	for (;;)
		take_packet(fd, argv + 1);
}
