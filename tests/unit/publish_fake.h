/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TESTS_PUBLISH_FAKE_H
#define FAIRLEAD_TESTS_PUBLISH_FAKE_H

/*
 * Maps in memory in place of the kernel's, for tests of publish.c. Any write can
 * be told to fail half-way, and the test may look at the maps after each single
 * element, as a packet could. Include it before anything that closes an fd: the
 * fds are made up, and closing one that is not open fails the test.
 */

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

static int fake_close(int fd);
#define close fake_close

/*
 * One builder, so that the n-th operation is the same one each time: threads
 * that cannot be had are only not there.
 */
#define pthread_create(thread, attributes, run, context) \
	((void)(thread), (void)(run), EAGAIN)

#include "plan_testing.h"

#include "core/fnv.h"
#include "sys/kmap.h"

#define FAKE_IDS 1024 /* ids that the tests come to */
#define FAKE_VIPS 64
#define FAKE_TABLES 256 /* inner maps alive at a time */
#define FAKE_FD 1000

enum fake_map { MAP_VIPS4 = 1, MAP_VIPS6, MAP_TABLES, MAP_BACKENDS, MAP_EGRESS,
		MAP_VIP_COUNTERS, MAP_BACKEND_COUNTERS };

struct fake_vip {
	bool used;
	struct vip_key6 key; /* an IPv4 key fills the first bytes */
	struct vip value;
};

/* An inner map; it lives while an fd or an outer entry holds it. */
struct fake_table {
	bool fd_open;
	uint64_t digest; /* of all lines */
	struct table_header header;
	uint8_t names[FAKE_IDS]; /* backend ids in its slots */
	bool has_empty_slot;
};

struct fake_maps {
	struct fake_vip vips[2][FAKE_VIPS];
	int table[FAKE_IDS]; /* index into the inner maps; -1: none */
	struct backend backends[FAKE_IDS];
	uint8_t vip_counted[FAKE_IDS], backend_counted[FAKE_IDS];
};

static struct fake_maps fake;
static struct fake_table fake_tables[FAKE_TABLES];
static unsigned int fake_ops, fake_fail_at; /* 0: none fails */
static unsigned int fake_writes;            /* elements, over all maps */
static void (*fake_after_write)(void);

static inline void fake_reset(void)
{
	size_t i;

	memset(&fake, 0, sizeof(fake));
	memset(fake_tables, 0, sizeof(fake_tables));
	for (i = 0; i < FAKE_IDS; i++) {
		fake.table[i] = -1;
		/* What earlier owners of the ids have counted. */
		fake.vip_counted[i] = fake.backend_counted[i] = 1;
	}
	fake_ops = fake_fail_at = fake_writes = 0;
	fake_after_write = NULL;
}

static inline struct fake_table *fake_of_fd(int fd)
{
	struct fake_table *table = &fake_tables[fd - FAKE_FD];

	assert_in_range(fd, FAKE_FD, FAKE_FD + FAKE_TABLES - 1);
	assert_true(table->fd_open);
	return table;
}

static int fake_close(int fd)
{
	fake_of_fd(fd)->fd_open = false;
	return 0;
}

static inline size_t fake_open_fds(void)
{
	size_t i, n = 0;

	for (i = 0; i < FAKE_TABLES; i++)
		n += fake_tables[i].fd_open;
	return n;
}

static inline bool fake_in_use(int index)
{
	size_t i;

	for (i = 0; i < FAKE_IDS; i++)
		if (fake.table[i] == index)
			return true;
	return fake_tables[index].fd_open;
}

/* How many elements of an operation are done, and whether it then fails. */
static inline size_t fake_begin(size_t n, bool *fails)
{
	fake_ops++;
	*fails = fake_ops == fake_fail_at;
	return *fails ? n / 2 : n;
}

static inline void fake_wrote(void)
{
	fake_writes++;
	if (fake_after_write)
		fake_after_write();
}

static inline struct fake_vip *fake_vip(int fd, const void *key, size_t size, bool make)
{
	struct fake_vip *list = fake.vips[fd == MAP_VIPS6], *free_one = NULL;
	size_t i;

	assert_int_equal(size, fd == MAP_VIPS6 ? sizeof(struct vip_key6) :
						 sizeof(struct vip_key4));
	for (i = 0; i < FAKE_VIPS; i++) {
		if (list[i].used && !memcmp(&list[i].key, key, size))
			return &list[i];
		if (!list[i].used && !free_one)
			free_one = &list[i];
	}
	if (!make)
		return NULL;
	assert_non_null(free_one);
	*free_one = (struct fake_vip){ .used = true };
	memcpy(&free_one->key, key, size);
	return free_one;
}

static inline uint32_t fake_id(const void *key, size_t size)
{
	uint32_t id;

	assert_int_equal(size, sizeof(id));
	memcpy(&id, key, sizeof(id));
	assert_in_range(id, 1, FAKE_IDS - 1);
	return id;
}

static inline void fake_put(int fd, const char *key, size_t key_size, const char *value,
			    size_t value_size)
{
	int table_fd;

	switch (fd) {
	case MAP_VIPS4:
	case MAP_VIPS6:
		assert_int_equal(value_size, sizeof(struct vip));
		memcpy(&fake_vip(fd, key, key_size, true)->value, value, value_size);
		break;
	case MAP_TABLES:
		assert_int_equal(value_size, sizeof(table_fd));
		memcpy(&table_fd, value, sizeof(table_fd));
		fake.table[fake_id(key, key_size)] = fake_of_fd(table_fd) - fake_tables;
		break;
	case MAP_BACKENDS:
		assert_int_equal(value_size, sizeof(struct backend));
		memcpy(&fake.backends[fake_id(key, key_size)], value, value_size);
		break;
	case MAP_EGRESS:
		break;
	case MAP_VIP_COUNTERS:
		fake.vip_counted[fake_id(key, key_size)] = 0;
		break;
	case MAP_BACKEND_COUNTERS:
		fake.backend_counted[fake_id(key, key_size)] = 0;
		break;
	default:
		fail_msg("no map %d", fd);
	}
}

int kmap_update(int fd, const void *keys, size_t key_size, const void *values,
		size_t value_size, size_t n)
{
	size_t i, done;
	bool fails;

	if (!n)
		return 0;
	done = fake_begin(n, &fails);
	for (i = 0; i < done; i++) {
		fake_put(fd, (const char *)keys + i * key_size, key_size,
			 (const char *)values + i * value_size, value_size);
		fake_wrote();
	}
	return fails ? -ENOMEM : 0;
}

int kmap_delete(int fd, const void *keys, size_t key_size, size_t n)
{
	size_t i, done;
	bool fails;

	if (!n)
		return 0;
	done = fake_begin(n, &fails);
	for (i = 0; i < done; i++) {
		const char *key = (const char *)keys + i * key_size;
		struct fake_vip *vip;

		if (fd == MAP_TABLES) {
			fake.table[fake_id(key, key_size)] = -1;
		} else {
			vip = fake_vip(fd, key, key_size, false);
			if (vip)
				vip->used = false;
		}
		fake_wrote();
	}
	return fails ? -ENOMEM : 0;
}

static inline uint64_t fake_digest(const struct table_line *lines, size_t n)
{
	const uint8_t *bytes = (const uint8_t *)lines;
	uint64_t digest = FNV64_OFFSET;
	size_t i;

	for (i = 0; i < n * sizeof(*lines); i++)
		digest = fnv64_byte(digest, bytes[i]);
	return digest;
}

int kmap_table_create(const void *lines, size_t n)
{
	const struct table_line *line = lines;
	struct fake_table *table;
	uint32_t i, id;
	bool fails;
	int index = 0;

	fake_begin(1, &fails);
	if (fails)
		return -ENOMEM;
	while (fake_in_use(index))
		assert_in_range(++index, 1, FAKE_TABLES - 1);
	table = &fake_tables[index];
	*table = (struct fake_table){ .fd_open = true, .digest = fake_digest(lines, n) };
	memcpy(&table->header, lines, sizeof(table->header));
	for (i = 0; i < table->header.size; i++) {
		id = line[1 + i / TABLE_LINE_SLOTS].ids[i % TABLE_LINE_SLOTS];
		assert_in_range(id, 0, FAKE_IDS - 1);
		table->names[id] = 1;
	}
	table->has_empty_slot = table->names[0];
	table->names[0] = 0;
	return FAKE_FD + index;
}

int kmap_walk(int fd, size_t key_size, size_t value_size, size_t max_entries,
	      int (*visit)(void *context, const void *key, const void *value),
	      void *context)
{
	(void)fd;
	(void)key_size;
	(void)value_size;
	(void)max_entries;
	(void)visit;
	(void)context;
	return -ENOSYS;
}

#endif
