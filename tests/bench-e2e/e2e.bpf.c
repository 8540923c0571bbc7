// SPDX-License-Identifier: GPL-2.0-only
/*
 * Both ends of the end-to-end bench, and what the balancer is compared to:
 *
 *   make --- veth --- bare, or the balancer --- veth --- arrive
 *
 * `make` runs by BPF_PROG_RUN on frames that are really sent, and comes back to
 * the same frames when they have been dropped at the far end.
 */
#include <stdbool.h>

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/udp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "../tests/bench-e2e/settings.h"

#define VIP 0xcb00710a	/* 203.0.113.10 */
#define VIP_PORT 7777
#define CLIENTS 0x0a000000 /* 10.0.0.0 and on */

struct e2e_packets packets;

/* By interface of the far end. One CPU runs everything. */
struct e2e_arrived arrived[E2E_INTERFACES];

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} egress SEC(".maps");

/* Marsaglia, "Xorshift RNGs", 2003 */
static __always_inline __u32 next_random(void)
{
	__u32 x = packets.random;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	packets.random = x;
	return x;
}

static __always_inline void write_headers(void *data, __u32 flow)
{
	struct ethhdr *eth = data;
	struct iphdr *ip = (void *)(eth + 1);
	struct udphdr *udp = (void *)(ip + 1);

	*eth = (struct ethhdr){ .h_dest = { 2, 0, 0, 0, 0, 2 },
				.h_source = { 2, 0, 0, 0, 0, 1 },
				.h_proto = bpf_htons(ETH_P_IP) };
	*ip = (struct iphdr){ .version = 4, .ihl = 5, .ttl = 64,
			      .tot_len = bpf_htons(E2E_FRAME - sizeof(*eth)),
			      .protocol = IPPROTO_UDP,
			      .saddr = bpf_htonl(CLIENTS + flow),
			      .daddr = bpf_htonl(VIP) };
	*udp = (struct udphdr){ .source = bpf_htons(1024 + (flow & 0x7fff)),
				.dest = bpf_htons(VIP_PORT),
				.len = bpf_htons(E2E_FRAME - sizeof(*eth) - sizeof(*ip)) };
}

SEC("xdp")
int make(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;

	if (data + E2E_FRAME > (void *)(long)ctx->data_end)
		return XDP_ABORTED;
	write_headers(data, (__u64)next_random() * packets.flows >> 32);
	packets.task = bpf_get_current_task();
	return bpf_redirect(packets.ifindex, 0);
}

SEC("xdp")
int bare(struct xdp_md *ctx __attribute__((unused)))
{
	return bpf_redirect_map(&egress, 0, 0);
}

SEC("xdp")
int arrive(struct xdp_md *ctx)
{
	struct ethhdr *eth = (void *)(long)ctx->data;
	struct iphdr *ip = (void *)(eth + 1);
	__u32 ifindex = ctx->ingress_ifindex;

	if ((void *)(ip + 1) > (void *)(long)ctx->data_end || ifindex >= E2E_INTERFACES ||
	    eth->h_proto != bpf_htons(ETH_P_IP))
		return XDP_PASS;
	if (ip->protocol == IPPROTO_IPIP)
		arrived[ifindex].tunnelled++;
	else
		arrived[ifindex].plain++;
	if (bpf_get_current_task() != packets.task)
		arrived[ifindex].elsewhere++;
	return XDP_DROP;
}

char _license[] SEC("license") = "GPL";
