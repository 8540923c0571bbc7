// SPDX-License-Identifier: GPL-2.0-only
/* From a planned table to the lines that its map holds. */
#include <errno.h>
#include <string.h>

#include "cleanup.h"
#include "plan.h"
#include "table_kept.h"

static int build_slots(const struct plan_table *table, struct table_kept *kept,
		       uint16_t *slots, struct err *err)
{
	size_t n = table->n_members, i;
	_cleanup_free_ struct table_backend *set = calloc(n + 1, sizeof(*set));
	_cleanup_free_ uint8_t *shares = calloc(n + 1, sizeof(*shares));
	int rc;

	if (!set || !shares)
		return err_set(err, -ENOMEM, "out of memory");
	for (i = 0; i < n; i++) {
		set[i] = (struct table_backend){ .name = table->members[i].name,
						 .weight = table->members[i].weight };
		shares[i] = table->members[i].share;
	}

	rc = n ? table_kept_build(kept, &table->params, set, n, shares, slots, NULL, err) :
		 TABLE_ALL_DOWN;
	if (rc == TABLE_ALL_DOWN)
		for (i = 0; i < table->params.size; i++)
			slots[i] = TABLE_NONE;
	return rc < 0 ? rc : 0;
}

/* From indices into the members to backend ids. Returns how many have slots. */
static uint32_t fill_lines(const struct plan_table *table, const uint16_t *slots,
			   struct table_line *lines, uint8_t *live)
{
	uint32_t i, n_live = 0;

	for (i = 0; i < table->params.size; i++) {
		if (slots[i] == TABLE_NONE)
			continue;
		lines[i / TABLE_LINE_SLOTS].ids[i % TABLE_LINE_SLOTS] =
			table->members[slots[i]].backend;
		n_live += !live[slots[i]];
		live[slots[i]] = 1;
	}
	return n_live;
}

int plan_table_lines(const struct plan_table *table, struct table_kept *kept,
		     struct table_line **lines, size_t *n_lines, struct err *err)
{
	size_t n = 1 + (table->params.size + TABLE_LINE_SLOTS - 1) / TABLE_LINE_SLOTS;
	_cleanup_free_ uint16_t *slots = calloc(table->params.size, sizeof(*slots));
	_cleanup_free_ uint8_t *live = calloc(table->n_members + 1, sizeof(*live));
	_cleanup_free_ struct table_line *out = calloc(n, sizeof(*out));
	struct table_header header = { .size = table->params.size };
	int rc;

	if (!slots || !live || !out)
		return err_set(err, -ENOMEM, "out of memory");

	rc = build_slots(table, kept, slots, err);
	if (rc)
		return rc;

	header.n_live = fill_lines(table, slots, out + 1, live);
	header.digest = table_digest(slots, table->params.size);
	header.ids_digest = table_digest(out[1].ids, table->params.size);
	memcpy(out, &header, sizeof(header));
	*lines = TAKE_PTR(out);
	*n_lines = n;
	return 0;
}
