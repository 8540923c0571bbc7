// SPDX-License-Identifier: GPL-2.0-only
/*
 * Somebody else's programs on the same interface: `count` counts the packets that
 * come to it and passes them; `grow` may change packets, as the balancer does, so
 * that a dispatcher which takes it takes the balancer.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

/* Written here, read by the test; pinned where xdp-loader is told to. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} packets SEC(".maps");

SEC("xdp")
int count(struct xdp_md *ctx __attribute__((unused)))
{
	__u32 zero = 0;
	__u64 *n = bpf_map_lookup_elem(&packets, &zero);

	if (n)
		__sync_fetch_and_add(n, 1);
	return XDP_PASS;
}

SEC("xdp")
int grow(struct xdp_md *ctx)
{
	return bpf_xdp_adjust_head(ctx, 0) ? XDP_DROP : XDP_PASS;
}

char _license[] SEC("license") = "GPL";
