// SPDX-License-Identifier: GPL-2.0-only
#include "table_previous.h"

#include <string.h>

size_t table_slot_lines(uint32_t size)
{
	return (size + TABLE_LINE_SLOTS - 1) / TABLE_LINE_SLOTS;
}

static uint16_t *slot_of(struct table_line *lines, uint32_t first, uint32_t slot)
{
	return &lines[first + slot / TABLE_LINE_SLOTS].ids[slot % TABLE_LINE_SLOTS];
}

static uint16_t id_of(const struct table_line *lines, uint32_t first, uint32_t slot)
{
	return lines[first + slot / TABLE_LINE_SLOTS].ids[slot % TABLE_LINE_SLOTS];
}

static struct table_header header_of(const struct table_line *lines)
{
	struct table_header header;

	memcpy(&header, lines, sizeof(header));
	return header;
}

void table_previous_fill(struct table_line *lines, const struct table_line *old,
			 const bool *gone)
{
	struct table_header header = header_of(lines), before = header_of(old);
	uint32_t slot;
	uint16_t id;

	header.previous = 1 + table_slot_lines(header.size);
	memcpy(lines, &header, sizeof(header));
	for (slot = 0; slot < header.size; slot++) {
		id = id_of(old, 1, slot);
		if (id == id_of(lines, 1, slot))
			id = before.previous ? id_of(old, before.previous, slot) : 0;
		*slot_of(lines, header.previous, slot) = gone && gone[id] ? 0 : id;
	}
}

bool table_previous_forget(struct table_line *lines, const bool *gone)
{
	struct table_header header = header_of(lines);
	bool found = false;
	uint32_t slot;

	for (slot = 0; header.previous && slot < header.size; slot++) {
		uint16_t *id = slot_of(lines, header.previous, slot);

		if (!gone[*id])
			continue;
		*id = 0;
		found = true;
	}
	return found;
}
