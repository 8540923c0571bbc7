// SPDX-License-Identifier: GPL-2.0-only
/*
 * Drives a program under test, one packet a run. BPF_PROG_RUN hands the frame
 * of one run to the next as it was left, so bench4 and bench6 first take off
 * what the last run put in front, write the headers anew with the next flow's
 * source address and port, and tail-call the program. All that they do is the
 * same, without a branch, whatever flows the packets are of.
 *
 * Stores are as wide as any read that a program will do of those bytes or
 * wider: a load that spans two stores still in the store buffer stalls until
 * both are in the cache.
 */
#include <stdbool.h>

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "../tests/bench/packets.h"
#include "../tests/lib/restore.bpf.h"

struct bench_packets packets;

/* One map a compatibility class: programs with frags and without do not mix. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} under_test SEC(".maps");

/* User space gives all drivers the same one, and writes it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bench_draws);
	__uint(map_flags, BPF_F_MMAPABLE);
} draws SEC(".maps");

/* What the next packet is. */
struct next {
	__u32 flow;
	__u8 tcp_flags;
};

static __always_inline bool next_packet(struct next *next)
{
	__u32 n = packets.next++, draw = n & packets.draws_mask;
	__u32 line = draw / BENCH_DRAWS_A_LINE;
	const struct bench_draws *drawn = bpf_map_lookup_elem(&draws, &line);
	const struct bench_stream *stream = &packets.stream[n & 1];

	if (!drawn)
		return false;
	next->flow = stream->base | (drawn->flow[draw % BENCH_DRAWS_A_LINE] & stream->drawn) |
		     (n & stream->in_turn);
	next->tcp_flags = stream->tcp_flags;
	return true;
}

static __always_inline void write_ethernet(void *data, __u16 ethertype)
{
	*(__u64 *)data = 0x0002010000000002ULL;
	*(__u32 *)(data + 8) = 0x02000000;
	*(__be16 *)(data + 12) = bpf_htons(ethertype);
}

static __always_inline __be32 port_pair(__u32 flow)
{
	__u32 sport = 0x4000 | (flow * 40503 & 0x3fff);

	return bpf_htons(sport) | (__u32)packets.dport << 16;
}

static __always_inline void write_tcp(void *tcp, const struct next *next)
{
	*(__be32 *)tcp = port_pair(next->flow);
	*(__be32 *)(tcp + 12) =
		bpf_htonl(5U << 28 | (__u32)next->tcp_flags << 16 | 0xfaf0);
}

SEC("xdp")
int bench4(struct xdp_md *ctx)
{
	void *data = frame_restore(ctx, BENCH_FRAME4);
	void *ip = data + ETH_HLEN;
	struct next next;

	if (!data || !next_packet(&next))
		return XDP_ABORTED;
	write_ethernet(data, ETH_P_IP);
	*(__be32 *)ip = bpf_htonl(0x45U << 24 | (BENCH_FRAME4 - ETH_HLEN));
	*(__be32 *)(ip + 4) = bpf_htonl(0x4000);
	*(__be32 *)(ip + 8) = bpf_htonl(64U << 24 | IPPROTO_TCP << 16);
	*(__u64 *)(ip + 12) = bpf_htonl(next.flow) | (__u64)packets.dst4 << 32;
	write_tcp(ip + 20, &next);
	bpf_tail_call(ctx, &under_test, 0);
	return XDP_ABORTED;
}

SEC("xdp")
int bench6(struct xdp_md *ctx)
{
	void *data = frame_restore(ctx, BENCH_FRAME6);
	void *ip = data + ETH_HLEN;
	struct next next;

	if (!data || !next_packet(&next))
		return XDP_ABORTED;
	write_ethernet(data, ETH_P_IPV6);
	*(__be32 *)ip = bpf_htonl(6U << 28);
	*(__be32 *)(ip + 4) = bpf_htonl((BENCH_FRAME6 - ETH_HLEN - 40) << 16 |
					IPPROTO_TCP << 8 | 64);
	*(__u64 *)(ip + 8) = bpf_htonl(0x20010db8) |
			     (__u64)bpf_htonl(0x000c0000) << 32;
	*(__u64 *)(ip + 16) = (__u64)bpf_htonl(next.flow) << 32;
	*(__u64 *)(ip + 24) = packets.dst6[0] | (__u64)packets.dst6[1] << 32;
	*(__u64 *)(ip + 32) = packets.dst6[2] | (__u64)packets.dst6[3] << 32;
	write_tcp(ip + 40, &next);
	bpf_tail_call(ctx, &under_test, 0);
	return XDP_ABORTED;
}

/* What others are measured against. */

SEC("xdp")
int bare_pass(struct xdp_md *ctx __attribute__((unused)))
{
	return XDP_PASS;
}

SEC("xdp")
int bare_tx(struct xdp_md *ctx __attribute__((unused)))
{
	return XDP_TX;
}

/* The least that an IPIP balancer can do: no parsing, no lookup. */
SEC("xdp")
int floor_ipip(struct xdp_md *ctx)
{
	void *data, *ip;

	if (bpf_xdp_adjust_head(ctx, -20))
		return XDP_ABORTED;
	data = (void *)(long)ctx->data;
	ip = data + ETH_HLEN;
	if (ip + 20 > (void *)(long)ctx->data_end)
		return XDP_ABORTED;

	write_ethernet(data, ETH_P_IP);
	*(__be32 *)ip = bpf_htonl(0x45U << 24 | (BENCH_FRAME4 - ETH_HLEN + 20));
	*(__be32 *)(ip + 4) = bpf_htonl(0x4000);
	*(__be32 *)(ip + 8) = bpf_htonl(64U << 24 | IPPROTO_IPIP << 16 | 0x3542);
	*(__be32 *)(ip + 12) = bpf_htonl(0xc0000201);
	*(__be32 *)(ip + 16) = bpf_htonl(0xc000020b);
	return XDP_TX;
}

char _license[] SEC("license") = "GPL";
