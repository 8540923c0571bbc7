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
#define FAKE_VIPS 512
#define FAKE_ACLS 256
#define FAKE_SERVERS 128
#define FAKE_VERDICTS 512
#define FAKE_TABLES 256 /* inner maps alive at a time */
#define FAKE_FD 1000

/* Those of VIPs are numbered as enum vip_map. */
enum fake_map { MAP_VIPS4 = 1, MAP_VIPS6, MAP_PREFIXES4, MAP_PREFIXES6, MAP_SERVICES,
		MAP_RECORDS, MAP_TABLES, MAP_BACKENDS, MAP_EGRESS,
		MAP_VIP_COUNTERS, MAP_BACKEND_COUNTERS, MAP_NEW_FLOW_COUNTERS,
		MAP_ACLS4, MAP_ACLS6, MAP_QUIC_SERVERS, MAP_VERDICTS };

struct fake_vip {
	bool used;
	struct vip_key6 key; /* shorter ones fill the first bytes */
	union {
		struct vip value;
		struct vip_record record;
	};
};

struct fake_acl {
	bool used;
	struct acl_key6 key; /* the shorter one fills the first bytes */
	struct acl_entry value;
};

struct fake_server {
	struct quic_server_key key;
	uint16_t backend; /* 0: there is none */
};

struct fake_verdict {
	bool used;
	struct verdict_key key;
	struct verdict value;
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
	struct fake_vip vips[VIP_MAP__MAX][FAKE_VIPS]; /* by map, from MAP_VIPS4 on */
	size_t high[VIP_MAP__MAX]; /* no element of the map is behind it */
	uint32_t prefixes;
	struct fake_acl acls[2][FAKE_ACLS]; /* by map, from MAP_ACLS4 on */
	struct fake_server servers[FAKE_SERVERS];
	struct fake_verdict verdicts[FAKE_VERDICTS];
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
	struct fake_vip *list = fake.vips[fd - MAP_VIPS4], *free_one = NULL;
	size_t *high = &fake.high[fd - MAP_VIPS4], i;

	assert_int_equal(size, vip_map_key_size(fd - MAP_VIPS4));
	for (i = 0; i < *high; i++) {
		if (list[i].used && !memcmp(&list[i].key, key, size))
			return &list[i];
		if (!list[i].used && !free_one)
			free_one = &list[i];
	}
	if (!make)
		return NULL;
	if (!free_one) {
		assert_in_range(*high, 0, FAKE_VIPS - 1);
		free_one = &list[(*high)++];
	}
	*free_one = (struct fake_vip){ .used = true };
	memcpy(&free_one->key, key, size);
	return free_one;
}

static inline struct fake_acl *fake_acl(int fd, const void *key, size_t size, bool make)
{
	struct fake_acl *list = fake.acls[fd - MAP_ACLS4], *free_one = NULL;
	size_t i;

	assert_int_equal(size, fd == MAP_ACLS4 ? sizeof(struct acl_key4) :
						  sizeof(struct acl_key6));
	for (i = 0; i < FAKE_ACLS; i++) {
		if (list[i].used && !memcmp(&list[i].key, key, size))
			return &list[i];
		if (!list[i].used && !free_one)
			free_one = &list[i];
	}
	if (!make)
		return NULL;
	assert_non_null(free_one);
	*free_one = (struct fake_acl){ .used = true };
	memcpy(&free_one->key, key, size);
	return free_one;
}

/* Its entry, or a free one. */
static inline struct fake_server *fake_server(const void *key, size_t size)
{
	struct fake_server *free_one = NULL;
	size_t i;

	assert_int_equal(size, sizeof(struct quic_server_key));
	for (i = 0; i < FAKE_SERVERS; i++) {
		struct fake_server *server = &fake.servers[i];

		if (server->backend && !memcmp(&server->key, key, size))
			return server;
		if (!server->backend && !free_one)
			free_one = server;
	}
	assert_non_null(free_one);
	return free_one;
}

static inline void fake_put_server(const void *key, size_t size, const void *value)
{
	struct fake_server *server = fake_server(key, size);

	memcpy(&server->key, key, size);
	memcpy(&server->backend, value, sizeof(server->backend));
}

/* Its entry, or a free one. */
static inline struct fake_verdict *fake_verdict(const void *key, size_t size)
{
	struct fake_verdict *free_one = NULL;
	size_t i;

	assert_int_equal(size, sizeof(struct verdict_key));
	for (i = 0; i < FAKE_VERDICTS; i++) {
		struct fake_verdict *verdict = &fake.verdicts[i];

		if (verdict->used && !memcmp(&verdict->key, key, size))
			return verdict;
		if (!verdict->used && !free_one)
			free_one = verdict;
	}
	assert_non_null(free_one);
	return free_one;
}

static inline void fake_put_verdict(const void *key, size_t size, const void *value)
{
	struct fake_verdict *verdict = fake_verdict(key, size);

	verdict->used = true;
	memcpy(&verdict->key, key, size);
	memcpy(&verdict->value, value, sizeof(verdict->value));
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
	case MAP_PREFIXES4:
	case MAP_PREFIXES6:
	case MAP_SERVICES:
	case MAP_RECORDS:
		assert_int_equal(value_size, vip_map_value_size(fd - MAP_VIPS4));
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
	case MAP_ACLS4:
	case MAP_ACLS6:
		assert_int_equal(value_size, sizeof(struct acl_entry));
		memcpy(&fake_acl(fd, key, key_size, true)->value, value, value_size);
		break;
	case MAP_QUIC_SERVERS:
		assert_int_equal(value_size, sizeof(uint16_t));
		fake_put_server(key, key_size, value);
		break;
	case MAP_VERDICTS:
		assert_int_equal(value_size, sizeof(struct verdict));
		fake_put_verdict(key, key_size, value);
		break;
	case MAP_NEW_FLOW_COUNTERS:
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
		struct fake_acl *acl;

		if (fd == MAP_TABLES) {
			fake.table[fake_id(key, key_size)] = -1;
		} else if (fd == MAP_QUIC_SERVERS) {
			fake_server(key, key_size)->backend = 0;
		} else if (fd == MAP_VERDICTS) {
			fake_verdict(key, key_size)->used = false;
		} else if (fd == MAP_ACLS4 || fd == MAP_ACLS6) {
			acl = fake_acl(fd, key, key_size, false);
			if (acl)
				acl->used = false;
		} else {
			vip = fake_vip(fd, key, key_size, false);
			if (vip)
				vip->used = false;
		}
		fake_wrote();
	}
	return fails ? -ENOMEM : 0;
}

/* Of the owners: the lines of previous owners say how it came to them. */
static inline uint64_t fake_digest(const struct table_line *lines, size_t n)
{
	uint64_t digest = FNV64_OFFSET;
	struct table_header header;
	const uint8_t *bytes;
	size_t i, slots;

	memcpy(&header, lines, sizeof(header));
	slots = (header.size + TABLE_LINE_SLOTS - 1) / TABLE_LINE_SLOTS;
	assert_true(n == 1 + slots || (header.previous && n == 1 + 2 * slots));
	header.previous = 0;
	bytes = (const uint8_t *)&header;
	for (i = 0; i < sizeof(header); i++)
		digest = fnv64_byte(digest, bytes[i]);
	bytes = (const uint8_t *)&lines[1];
	for (i = 0; i < slots * sizeof(*lines); i++)
		digest = fnv64_byte(digest, bytes[i]);
	return digest;
}

void kmap_wait_for_packets(void)
{
}

/* Tables are known here by their digests, so none has owners to hand on. */
int kmap_lines_read(int fd, void *lines, size_t n)
{
	fake_of_fd(fd);
	memset(lines, 0, n * sizeof(struct table_line));
	return 0;
}

int kmap_lines_write(int fd, __u32 first, const void *lines, size_t n)
{
	(void)first;
	(void)lines;
	(void)n;
	fake_of_fd(fd);
	return 0;
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
