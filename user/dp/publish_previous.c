// SPDX-License-Identifier: GPL-2.0-only
#include "publish_previous.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/cleanup.h"
#include "sys/kmap.h"

#define IDS 65536

bool *publish_gone_ids(const struct plan *from, const struct plan *to)
{
	bool *gone = calloc(IDS, sizeof(*gone));
	size_t i;

	if (!gone)
		return NULL;
	for (i = 0; i < from->n_backends; i++)
		gone[from->backends[i].id] = !from->backends[i].draining;
	for (i = 0; i < to->n_backends; i++)
		gone[to->backends[i].id] &= to->backends[i].draining;
	return gone;
}

static size_t lines_of(const struct kernel_table *table)
{
	size_t slots = table_slot_lines(table->size);

	return 1 + slots + (table->has_previous ? slots : 0);
}

/* All lines of the map; NULL with errno set. The caller frees them. */
static struct table_line *read_lines(const struct kernel_table *table)
{
	size_t n = lines_of(table);
	_cleanup_free_ struct table_line *lines = calloc(n, sizeof(*lines));
	int rc;

	if (!lines)
		return NULL;
	rc = kmap_lines_read(table->fd, lines, n);
	if (!rc)
		return TAKE_PTR(lines);
	errno = -rc;
	return NULL;
}

int publish_previous_add(const struct kernel_table *old, const bool *gone,
			 struct table_line **lines, size_t *n)
{
	_cleanup_free_ struct table_line *before = NULL, *all = NULL;
	struct table_header header;

	memcpy(&header, *lines, sizeof(header));
	if (old->fd < 0 || old->size != header.size)
		return 0;
	before = read_lines(old);
	all = calloc(2 * *n - 1, sizeof(*all));
	if (!before || !all)
		return -errno;
	memcpy(all, *lines, *n * sizeof(*all));
	table_previous_fill(all, before, gone);
	free(*lines);
	*lines = TAKE_PTR(all);
	*n = 2 * *n - 1;
	return 0;
}

static int forget_in(const struct kernel_table *table, const bool *gone)
{
	size_t slots = table_slot_lines(table->size);
	_cleanup_free_ struct table_line *lines = read_lines(table);

	if (!lines)
		return -errno;
	if (!table_previous_forget(lines, gone))
		return 0;
	/* Only the lines of previous owners: the others are as they were. */
	return kmap_lines_write(table->fd, 1 + slots, lines + 1 + slots, slots);
}

static bool any(const bool *gone)
{
	return memchr(gone, 1, IDS);
}

int publish_previous_forget(const struct kernel *k, const struct plan *plan,
			    const bool *gone)
{
	size_t i;
	int rc = 0;

	if (!any(gone))
		return 0;
	for (i = 0; i < plan->n_tables && !rc; i++) {
		const struct kernel_table *table = &k->table[plan->tables[i].id];

		if (table->fd >= 0 && table->has_previous)
			rc = forget_in(table, gone);
	}
	return rc;
}
