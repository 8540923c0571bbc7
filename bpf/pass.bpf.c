// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passes everything. A veth takes frames that its peer sends with XDP_TX or
 * XDP_REDIRECT only while it runs an XDP program itself, so scripts/topology
 * puts this one on the far end of the front-end host's link.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("xdp")
int pass(struct xdp_md *ctx __attribute__((unused)))
{
	return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
