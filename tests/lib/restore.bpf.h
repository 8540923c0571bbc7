/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TESTS_RESTORE_BPF_H
#define FAIRLEAD_TESTS_RESTORE_BPF_H

/*
 * For programs that drive another with BPF_PROG_RUN, which hands the frame of one run
 * to the next as it was left.
 */

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

/* The head of the frame of `size` bytes as it came, or NULL. */
static __always_inline void *frame_restore(struct xdp_md *ctx, __u32 size)
{
	int grown = (int)(ctx->data_end - ctx->data) - (int)size;
	void *data;

	if (grown && bpf_xdp_adjust_head(ctx, grown))
		return NULL;
	data = (void *)(long)ctx->data;
	return data + size <= (void *)(long)ctx->data_end ? data : NULL;
}


#endif
