// SPDX-License-Identifier: GPL-2.0-only
#include "kmap.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/utsname.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi.h"
#include "core/cleanup.h"

#define WALK_CHUNK 4096

bool kmap_same_shape(const struct bpf_map *map, const struct bpf_map_info *info)
{
	return bpf_map__type(map) == info->type &&
	       bpf_map__key_size(map) == info->key_size &&
	       bpf_map__value_size(map) == info->value_size &&
	       bpf_map__max_entries(map) == info->max_entries;
}

static int kmap_update_each(int fd, const char *keys, size_t key_size,
			    const char *values, size_t value_size, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (bpf_map_update_elem(fd, keys + i * key_size,
					values + i * value_size, BPF_ANY))
			return -errno;
	return 0;
}

int kmap_update(int fd, const void *keys, size_t key_size, const void *values,
		size_t value_size, size_t n)
{
	__u32 count = n;

	if (!n)
		return 0;
	if (n > 1 && bpf_map_update_batch(fd, keys, values, &count, NULL) == 0)
		return 0;
	/* One, or a map type that this kernel has no batch operation for. */
	return kmap_update_each(fd, keys, key_size, values, value_size, n);
}

int kmap_delete(int fd, const void *keys, size_t key_size, size_t n)
{
	const char *key = keys;
	size_t i;

	/* The batch operation stops at the first key that is not there. */
	for (i = 0; i < n; i++, key += key_size)
		if (bpf_map_delete_elem(fd, key) && errno != ENOENT)
			return -errno;
	return 0;
}

/*
 * The kernel implements this membarrier by waiting for an RCU grace period, and a
 * packet is one read section. It refuses where a CPU runs without the tick
 * (nohz_full); then a packet may be dropped that falls between two lookups.
 */
void kmap_wait_for_packets(void)
{
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

static int visit_chunk(const char *keys, size_t key_size, const char *values,
		       size_t value_size, size_t n,
		       int (*visit)(void *, const void *, const void *),
		       void *context)
{
	size_t i;
	int rc;

	for (i = 0; i < n; i++) {
		rc = visit(context, keys + i * key_size, values + i * value_size);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int kmap_walk(int fd, size_t key_size, size_t value_size, size_t max_entries,
	      int (*visit)(void *context, const void *key, const void *value),
	      void *context)
{
	/* A hash map hands out whole buckets: the largest must fit a chunk. */
	size_t chunk = max_entries < WALK_CHUNK ? max_entries : WALK_CHUNK;
	_cleanup_free_ char *keys = malloc(chunk * key_size);
	_cleanup_free_ char *values = malloc(chunk * value_size);
	__u64 cursor[8] = { 0 }; /* a batch position: u32 or a key of up to 64 bytes */
	void *position = NULL;
	int last = 0, rc;
	__u32 count;

	if (!keys || !values)
		return -ENOMEM;

	while (!last) {
		count = chunk;
		rc = bpf_map_lookup_batch(fd, position, cursor, keys, values, &count,
					  NULL);
		last = rc && errno == ENOENT;
		if (rc && !last)
			return -errno;
		rc = visit_chunk(keys, key_size, values, value_size, count, visit,
				 context);
		if (rc < 0)
			return rc;
		position = cursor;
	}
	return 0;
}

bool kmap_outer_lookup_waits(void)
{
	unsigned int major, minor;
	struct utsname name;

	if (uname(&name) || sscanf(name.release, "%u.%u", &major, &minor) != 2)
		return false;
	return major < 6 || (major == 6 && minor < 8);
}

int kmap_table_create(const void *lines, size_t n)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_INNER_MAP);
	_cleanup_close_ int fd = -1;
	int rc;

	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "table", sizeof(__u32),
			    sizeof(struct table_line), n, &opts);
	if (fd < 0)
		return -errno;

	rc = kmap_lines_write(fd, 0, lines, n);
	return rc ? rc : TAKE_FD(fd);
}

int kmap_lines_write(int fd, __u32 first, const void *lines, size_t n)
{
	_cleanup_free_ __u32 *keys = calloc(n, sizeof(*keys));
	size_t i;

	if (!keys)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		keys[i] = first + i;
	return kmap_update(fd, keys, sizeof(*keys), lines, sizeof(struct table_line), n);
}

int kmap_lines_read(int fd, void *lines, size_t n)
{
	LIBBPF_OPTS(bpf_map_batch_opts, opts);
	_cleanup_free_ __u32 *keys = calloc(n, sizeof(*keys));
	__u32 count = n, next;

	if (!keys)
		return -ENOMEM;
	/* ENOENT: these were the last. */
	if (bpf_map_lookup_batch(fd, NULL, &next, keys, lines, &count, &opts) &&
	    errno != ENOENT)
		return -errno;
	return count == n ? 0 : -EPROTO;
}
