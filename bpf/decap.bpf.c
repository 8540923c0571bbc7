// SPDX-License-Identifier: GPL-2.0-only
/*
 * The backend side: takes the outer header off packets that a balancer sent
 * here, and lets the kernel have what was inside.
 *
 *   Ethernet | IPv4 or IPv6 |                            inner packet   IPIP
 *   Ethernet | IPv4 or IPv6 | UDP (8) | GUE (4 + hlen) | inner packet   GUE 0
 *   Ethernet | IPv4 or IPv6 | UDP (8) |                  inner packet   GUE 1
 *   Ethernet | IPv4 or IPv6 | GRE (4) |                  inner packet   GRE
 *
 * A packet is ours when its inner destination is one of our VIPs. What is not
 * ours, or is no tunnel packet that we know, passes untouched: the host may run
 * other tunnels.
 *
 * Outer checksums are not verified. The IPv4 one and a GUE packet's UDP one
 * cover what is thrown away, and the inner packet has its own. Nor is the outer
 * source: this runs before the host's firewall, which sees only inner packets,
 * so the network has to keep strangers' tunnel packets from backends.
 */
#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "ecn.bpf.h"
#include "gre.bpf.h"
#include "gue.bpf.h"
#include "packet.bpf.h"

/* GUE's UDP port; user space sets it before loading. */
const volatile __u16 gue_port = GUE_PORT_DEFAULT;

/* User space writes, packets read. No entry: the packet is not for us. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct decap_key);
	__type(value, __u8);
} decap_vips SEC(".maps");

/* Packets write, user space reads; one writer a CPU, so plain increments do. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct decap_counters);
} decap_counters SEC(".maps");

/* What became of a packet. Steps return 0 to go on. */
enum outcome {
	OUTCOME_UNKNOWN = 1, /* no tunnel packet that we know */
	OUTCOME_NOT_VIP,
	OUTCOME_MALFORMED,
	OUTCOME_IPIP,
	OUTCOME_GUE,
	OUTCOME_GUE1,
	OUTCOME_GRE,
};

struct tunnel {
	__u32 outer_len; /* of the outer IP packet, by its own header */
	__u32 offset;    /* of the inner packet in the outer one */
	__u32 left;      /* bytes from there to the end of the outer packet */
	__u8 protocol;   /* of what is at offset */
	__u8 ecn;        /* of the outer header */
	__u8 kind;       /* enum outcome, once it is stripped */

	/* Inner destination; aligned for the compiler to write it in words. */
	struct decap_key dst __attribute__((aligned(8)));
	__u32 inner_len;      /* by the inner header; 0: the header is wrong */
	__u8 inner_ecn;
};

static __always_inline int read_outer4(struct xdp_md *ctx, struct tunnel *t)
{
	const struct iphdr *ip = packet_l3(ctx);

	if ((void *)(ip + 1) > packet_end(ctx))
		return OUTCOME_UNKNOWN;

	t->outer_len = bpf_ntohs(ip->tot_len);
	t->offset = ip->ihl * 4;
	t->protocol = ip->protocol;
	t->ecn = ip->tos & ECN_MASK;
	if (ip->version != 4 || t->offset < sizeof(*ip) || t->outer_len < t->offset)
		return OUTCOME_UNKNOWN;
	/* The kernel puts fragments together, and does not show us the result. */
	if (ip->frag_off & bpf_htons(IP4_MORE_FRAGMENTS | IP4_OFFSET_MASK))
		return OUTCOME_UNKNOWN;

	t->left = t->outer_len - t->offset;
	return 0;
}

static __always_inline int read_outer6(struct xdp_md *ctx, struct tunnel *t)
{
	const struct ipv6hdr *ip = packet_l3(ctx);

	if ((void *)(ip + 1) > packet_end(ctx) || ip->version != 6)
		return OUTCOME_UNKNOWN;

	t->left = bpf_ntohs(ip->payload_len);
	t->offset = sizeof(*ip);
	t->outer_len = t->offset + t->left;
	t->protocol = ip->nexthdr;
	/* The traffic class straddles the first two bytes. */
	t->ecn = bpf_ntohs(*(__be16 *)ip) >> 4 & ECN_MASK;
	return 0;
}

/* `size` bytes of the outer packet are read: what is behind them is `protocol`. */
static __always_inline int read_past(struct tunnel *t, __u32 size, __u8 protocol,
				     enum outcome kind)
{
	if (t->left < size)
		return OUTCOME_UNKNOWN;
	t->left -= size;
	t->offset += size;
	t->protocol = protocol;
	t->kind = kind;
	return 0;
}

/*
 * Any length of extension data is skipped, so that private data is none of our
 * business; a flag announces an extension that could change what the inner
 * packet means, and we know none.
 */
static __always_inline int read_gue0(struct tunnel *t, const struct guehdr *gue)
{
	__u32 size = sizeof(struct udphdr) + sizeof(*gue) + gue->variant_c_hlen * 4;

	if (gue->variant_c_hlen & ~GUE_HLEN_MASK || gue->flags)
		return OUTCOME_UNKNOWN;
	return read_past(t, size, gue->protocol, OUTCOME_GUE);
}

/*
 * Where variant 0 has its first byte, variant 1 has that of the inner packet,
 * whose version makes the variant's two bits 01.
 */
static __always_inline int read_gue(struct xdp_md *ctx, struct tunnel *t)
{
	const struct udphdr *udp = packet_l3(ctx) + t->offset;
	const struct guehdr *gue = (void *)(udp + 1);
	__u32 udp_len;

	/* Every inner packet is longer than a GUE header. */
	if ((void *)(gue + 1) > packet_end(ctx) || udp->dest != bpf_htons(gue_port))
		return OUTCOME_UNKNOWN;
	udp_len = bpf_ntohs(udp->len);
	if (udp_len < t->left)
		t->left = udp_len;

	switch (gue->variant_c_hlen >> 4) {
	case 4:
		return read_past(t, sizeof(*udp), IPPROTO_IPIP, OUTCOME_GUE1);
	case 6:
		return read_past(t, sizeof(*udp), IPPROTO_IPV6, OUTCOME_GUE1);
	default:
		return read_gue0(t, gue);
	}
}

/* With a checksum, a key or a sequence number it is a tunnel of someone else. */
static __always_inline int read_gre(struct xdp_md *ctx, struct tunnel *t)
{
	const struct grehdr *gre = packet_l3(ctx) + t->offset;

	if ((void *)(gre + 1) > packet_end(ctx) || gre->flags_version)
		return OUTCOME_UNKNOWN;
	if (gre->ethertype == bpf_htons(ETH_P_IP))
		return read_past(t, sizeof(*gre), IPPROTO_IPIP, OUTCOME_GRE);
	if (gre->ethertype == bpf_htons(ETH_P_IPV6))
		return read_past(t, sizeof(*gre), IPPROTO_IPV6, OUTCOME_GRE);
	return OUTCOME_UNKNOWN;
}

static __always_inline int read_inner4(struct xdp_md *ctx, struct tunnel *t)
{
	const struct iphdr *ip = packet_l3(ctx) + t->offset;

	if ((void *)(ip + 1) > packet_end(ctx) || t->left < sizeof(*ip) ||
	    ip->version != 4)
		return OUTCOME_UNKNOWN;

	t->dst = (struct decap_key){ .addr[10] = 0xff, .addr[11] = 0xff };
	__builtin_memcpy(&t->dst.addr[12], &ip->daddr, sizeof(ip->daddr));
	t->inner_ecn = ip->tos & ECN_MASK;
	t->inner_len = bpf_ntohs(ip->tot_len);
	if (ip->ihl * 4 < sizeof(*ip) || t->inner_len < ip->ihl * 4)
		t->inner_len = 0;
	return 0;
}

static __always_inline int read_inner6(struct xdp_md *ctx, struct tunnel *t)
{
	const struct ipv6hdr *ip = packet_l3(ctx) + t->offset;

	if ((void *)(ip + 1) > packet_end(ctx) || t->left < sizeof(*ip) ||
	    ip->version != 6)
		return OUTCOME_UNKNOWN;

	__builtin_memcpy(t->dst.addr, &ip->daddr, sizeof(t->dst.addr));
	t->inner_ecn = bpf_ntohs(*(__be16 *)ip) >> 4 & ECN_MASK;
	t->inner_len = sizeof(*ip) + bpf_ntohs(ip->payload_len);
	return 0;
}

static __always_inline int read_tunnel(struct xdp_md *ctx, struct tunnel *t,
				       bool outer6)
{
	int done = outer6 ? read_outer6(ctx, t) : read_outer4(ctx, t);

	t->kind = OUTCOME_IPIP;
	if (!done && t->protocol == IPPROTO_UDP)
		done = read_gue(ctx, t);
	else if (!done && t->protocol == IPPROTO_GRE)
		done = read_gre(ctx, t);
	if (done)
		return done;

	if (t->protocol == IPPROTO_IPIP)
		return read_inner4(ctx, t);
	if (t->protocol == IPPROTO_IPV6)
		return read_inner6(ctx, t);
	return OUTCOME_UNKNOWN;
}

/* Inner within outer within frame, and the congestion marks make sense. */
static __always_inline bool tunnel_sound(struct xdp_md *ctx,
					 const struct tunnel *t)
{
	return t->inner_len && t->inner_len <= t->left &&
	       packet_holds(ctx, packet_l3(ctx), sizeof(struct ethhdr), t->outer_len) &&
	       ecn_decap(t->ecn, t->inner_ecn) >= 0;
}

/* Drop the outer headers and move the Ethernet header up to the inner one. */
static __always_inline int strip(struct xdp_md *ctx, const struct tunnel *t)
{
	bool inner6 = t->protocol == IPPROTO_IPV6;
	struct ethhdr *eth = (void *)(long)ctx->data;
	struct ethhdr header;

	if ((void *)(eth + 1) > packet_end(ctx))
		return OUTCOME_MALFORMED;
	header = *eth;
	header.h_proto = bpf_htons(inner6 ? ETH_P_IPV6 : ETH_P_IP);
	if (bpf_xdp_adjust_head(ctx, t->offset))
		return OUTCOME_MALFORMED;

	eth = (void *)(long)ctx->data;
	if ((void *)(eth + 1) > packet_end(ctx))
		return OUTCOME_MALFORMED;
	*eth = header;
	return t->kind;
}

static __always_inline int decap_packet(struct xdp_md *ctx, bool outer6)
{
	struct tunnel t = {};
	int done = read_tunnel(ctx, &t, outer6);

	if (done)
		return done;
	if (!bpf_map_lookup_elem(&decap_vips, &t.dst))
		return OUTCOME_NOT_VIP;
	if (!tunnel_sound(ctx, &t))
		return OUTCOME_MALFORMED;

	done = strip(ctx, &t);
	if (done != OUTCOME_MALFORMED)
		ecn_set(packet_l3(ctx), packet_end(ctx),
			ecn_decap(t.ecn, t.inner_ecn));
	return done;
}

static __always_inline void count(int outcome)
{
	__u32 zero = 0;
	struct decap_counters *c = bpf_map_lookup_elem(&decap_counters, &zero);

	if (!c)
		return;
	if (outcome == OUTCOME_IPIP)
		c->ipip++;
	else if (outcome == OUTCOME_GUE)
		c->gue++;
	else if (outcome == OUTCOME_GUE1)
		c->gue1++;
	else if (outcome == OUTCOME_GRE)
		c->gre++;
	else if (outcome == OUTCOME_NOT_VIP)
		c->not_vip++;
	else if (outcome == OUTCOME_MALFORMED)
		c->malformed++;
}

SEC("xdp.frags")
int decap(struct xdp_md *ctx)
{
	const struct ethhdr *eth = (void *)(long)ctx->data;
	int outcome = OUTCOME_UNKNOWN;

	if ((void *)(eth + 1) > packet_end(ctx))
		return XDP_PASS;
	if (eth->h_proto == bpf_htons(ETH_P_IP))
		outcome = decap_packet(ctx, false);
	else if (eth->h_proto == bpf_htons(ETH_P_IPV6))
		outcome = decap_packet(ctx, true);

	count(outcome);
	return outcome == OUTCOME_MALFORMED ? XDP_DROP : XDP_PASS;
}

char _license[] SEC("license") = "GPL";
