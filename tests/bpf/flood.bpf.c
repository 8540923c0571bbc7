// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sends the balancer one TCP packet each run, of another flow each time, to the
 * VIPs of tests/lib/frame.h. BPF_PROG_RUN hands the frame of one run to the next as
 * it was left: what was put in front is taken off, the headers are written anew, and
 * the balancer is tail-called.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "../tests/bpf/flood.h"
#include "../tests/lib/restore.bpf.h"

#define VIP4 0xcb00710a /* 203.0.113.10 */
#define VIP_PORT 443
#define PORTS 0x4000

struct flood flood;

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} balancer SEC(".maps");

static __always_inline void write_ethernet(void *data, __u16 ethertype)
{
	__builtin_memset(data, 2, 2 * ETH_ALEN);
	*(__be16 *)(data + 12) = bpf_htons(ethertype);
}

static __always_inline void write_tcp(void *tcp, __u32 flow)
{
	*(__be16 *)tcp = bpf_htons(flood.port + 2 * (flow % PORTS));
	*(__be16 *)(tcp + 2) = bpf_htons(VIP_PORT);
	*(__be32 *)(tcp + 12) = bpf_htonl(5U << 28 | flood.tcp_flags << 16 | 0xffff);
}

SEC("xdp.frags")
int flood4(struct xdp_md *ctx)
{
	void *data = frame_restore(ctx, FLOOD_FRAME4);
	__u32 flow = flood.next++;
	void *ip = data + ETH_HLEN;

	if (!data)
		return XDP_ABORTED;
	write_ethernet(data, ETH_P_IP);
	*(__be32 *)ip = bpf_htonl(0x45U << 24 | (FLOOD_FRAME4 - ETH_HLEN));
	*(__be32 *)(ip + 4) = bpf_htonl(0x4000);
	*(__be32 *)(ip + 8) = bpf_htonl(64U << 24 | IPPROTO_TCP << 16);
	*(__be32 *)(ip + 12) = bpf_htonl(flood.source + flow);
	*(__be32 *)(ip + 16) = bpf_htonl(VIP4);
	write_tcp(ip + 20, flow);
	bpf_tail_call(ctx, &balancer, 0);
	return XDP_ABORTED;
}

/* From 2001:db8:0:0:0:0:source:flow to 2001:db8::10. */
SEC("xdp.frags")
int flood6(struct xdp_md *ctx)
{
	void *data = frame_restore(ctx, FLOOD_FRAME6);
	__u32 flow = flood.next++;
	void *ip = data + ETH_HLEN;

	if (!data)
		return XDP_ABORTED;
	write_ethernet(data, ETH_P_IPV6);
	__builtin_memset(ip, 0, 40);
	*(__be32 *)ip = bpf_htonl(6U << 28);
	*(__be32 *)(ip + 4) = bpf_htonl((FLOOD_FRAME6 - ETH_HLEN - 40) << 16 |
					IPPROTO_TCP << 8 | 64);
	*(__be32 *)(ip + 8) = *(__be32 *)(ip + 24) = bpf_htonl(0x20010db8);
	*(__be32 *)(ip + 16) = bpf_htonl(flood.source);
	*(__be32 *)(ip + 20) = bpf_htonl(flow);
	*(__be32 *)(ip + 36) = bpf_htonl(0x10);
	write_tcp(ip + 40, flow);
	bpf_tail_call(ctx, &balancer, 0);
	return XDP_ABORTED;
}

char _license[] SEC("license") = "GPL";
