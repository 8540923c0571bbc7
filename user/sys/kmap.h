/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_KMAP_H
#define FAIRLEAD_KMAP_H

/*
 * Operations on BPF maps that take many elements at once, in one system call
 * where the kernel can. Keys and values are packed arrays of n elements. All
 * return 0 or a negative errno; some elements may have been written when it
 * fails, the caller knows which state it wants.
 */

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

struct bpf_map;
struct bpf_map_info;

/*
 * Is a map that exists what the program would make? Flags that the kernel sets by
 * itself (BPF_F_RDONLY_PROG on a devmap, 6.18) are not ours to compare, which
 * is why libbpf 1.1's own check of a pin path does not do.
 */
bool kmap_same_shape(const struct bpf_map *map, const struct bpf_map_info *info);

/* Insert or replace n elements. */
int kmap_update(int fd, const void *keys, size_t key_size, const void *values,
		size_t value_size, size_t n);

/* Delete n elements; ones that are not there count as deleted. */
int kmap_delete(int fd, const void *keys, size_t key_size, size_t n);

/* Returns when every packet that could see what was deleted or replaced is done. */
void kmap_wait_for_packets(void);

/*
 * Call visit for each element, in chunks. A map that changes meanwhile may show
 * an element twice or not at all. A negative return of visit ends it.
 */
int kmap_walk(int fd, size_t key_size, size_t value_size, size_t max_entries,
	      int (*visit)(void *context, const void *key, const void *value),
	      void *context);

/*
 * Whether each element of a map of maps that is looked up costs an RCU grace
 * period: Linux before 6.8. A walk over 65,536 of them then takes minutes.
 */
bool kmap_outer_lookup_waits(void);

/* A new inner table of n lines of 64 bytes with its content. Returns an fd. */
int kmap_table_create(const void *lines, size_t n);
/* All n lines of a table's map, and n lines of it from `first` on. */
int kmap_lines_read(int fd, void *lines, size_t n);
int kmap_lines_write(int fd, __u32 first, const void *lines, size_t n);

#endif
