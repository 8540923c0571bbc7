// SPDX-License-Identifier: GPL-2.0-only
#include "table_kept.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "cleanup.h"

struct entry {
	TAILQ_ENTRY(entry) link;
	struct table_overlay *overlay;
	size_t bytes;
};

TAILQ_HEAD(entries, entry);

struct table_kept {
	pthread_mutex_t lock;
	struct entries entries; /* what was used last is the first */
	size_t n, bytes, bytes_max;
};

struct table_kept *table_kept_new(size_t bytes_max)
{
	struct table_kept *kept = calloc(1, sizeof(*kept));

	if (!kept)
		return NULL;
	pthread_mutex_init(&kept->lock, NULL);
	TAILQ_INIT(&kept->entries);
	kept->bytes_max = bytes_max;
	return kept;
}

static void entry_unlink(struct table_kept *kept, struct entry *e)
{
	TAILQ_REMOVE(&kept->entries, e, link);
	kept->n--;
	kept->bytes -= e->bytes;
}

static void entry_drop(struct table_kept *kept, struct entry *e)
{
	entry_unlink(kept, e);
	table_overlay_free(&e->overlay);
	free(e);
}

void table_kept_free(struct table_kept **kept)
{
	struct table_kept *k = *kept;

	if (!k)
		return;
	while (!TAILQ_EMPTY(&k->entries))
		entry_drop(k, TAILQ_FIRST(&k->entries));
	pthread_mutex_destroy(&k->lock);
	free(k);
	*kept = NULL;
}

size_t table_kept_bytes(struct table_kept *kept)
{
	size_t bytes;

	pthread_mutex_lock(&kept->lock);
	bytes = kept->bytes;
	pthread_mutex_unlock(&kept->lock);
	return bytes;
}

/* The caller's now; NULL: there is none. */
static struct table_overlay *take(struct table_kept *kept, const struct table_params *params,
				  const struct table_backend *set, size_t n)
{
	struct table_overlay *overlay = NULL;
	struct entry *e;

	pthread_mutex_lock(&kept->lock);
	TAILQ_FOREACH(e, &kept->entries, link)
		if (table_overlay_is_of(e->overlay, params, set, n))
			break;
	if (e) {
		entry_unlink(kept, e);
		overlay = e->overlay;
		free(e);
	}
	pthread_mutex_unlock(&kept->lock);
	return overlay;
}

/* Takes *overlay; without memory for the entry it is freed, that is all. */
static void give(struct table_kept *kept, struct table_overlay **overlay)
{
	struct entry *e = malloc(sizeof(*e));

	if (!e) {
		table_overlay_free(overlay);
		return;
	}
	e->bytes = table_overlay_bytes(*overlay);
	e->overlay = TAKE_PTR(*overlay);
	pthread_mutex_lock(&kept->lock);
	TAILQ_INSERT_HEAD(&kept->entries, e, link);
	kept->n++;
	kept->bytes += e->bytes;
	while (kept->n > TABLE_KEPT_MAX || kept->bytes > kept->bytes_max)
		entry_drop(kept, TAILQ_LAST(&kept->entries, entries));
	pthread_mutex_unlock(&kept->lock);
}

static bool is_worth_it(const struct table_backend *set, size_t n, const uint8_t *shares)
{
	size_t lenders = 0;

	for (size_t i = 0; i < n; i++)
		lenders += set[i].weight && shares[i] < TABLE_SHARE_FULL;
	return lenders >= TABLE_KEPT_BUILDS_MIN;
}

int table_kept_build(struct table_kept *kept, const struct table_params *params,
		     const struct table_backend *set, size_t n, const uint8_t *shares,
		     uint16_t *slots, struct table_overlay_report *report,
		     struct err *err)
{
	_cleanup_table_overlay_ struct table_overlay *o = NULL;
	int result;

	if (!kept || !is_worth_it(set, n, shares))
		return table_build_health(params, set, n, shares, slots, report, err);
	o = take(kept, params, set, n);
	if (!o) {
		result = table_overlay_new(params, set, n, NULL, &o, err);
		if (result)
			return result;
	}
	result = table_overlay_health(o, shares, slots, report, err);
	if (result >= 0)
		give(kept, &o);
	return result;
}
