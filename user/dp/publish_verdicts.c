// SPDX-License-Identifier: GPL-2.0-only
#include "publish_verdicts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/cleanup.h"
#include "sys/kmap.h"

uint8_t publish_use_flags(uint8_t use)
{
	switch (use) {
	case USE_DRAIN:
		return BACKEND_DRAINING;
	case USE_FAILED:
		return BACKEND_DOWN | BACKEND_FAILED;
	case USE_DOWN:
		return BACKEND_DOWN;
	default:
		return 0;
	}
}

uint8_t publish_use_by(uint8_t flags)
{
	if (flags & BACKEND_DOWN)
		return flags & BACKEND_FAILED ? USE_FAILED : USE_DOWN;
	return flags & BACKEND_DRAINING ? USE_DRAIN : USE_UP;
}

/*
 * What a has and b has not, or with `changed` has otherwise. The arrays have room
 * for all that a has.
 */
static size_t verdict_difference(const struct plan *a, const struct plan *b, bool changed,
				 struct verdict_key *keys, struct verdict *values)
{
	const struct plan_verdict *now, *same;
	size_t i, n = 0;

	for (i = 0; i < a->n_verdicts; i++) {
		now = &a->verdicts[i];
		same = plan_find_verdict(b, now->vip, now->backend);
		if (same && (!changed || same->use == now->use))
			continue;
		keys[n] = (struct verdict_key){ now->vip, now->backend };
		values[n++] = (struct verdict){ .flags = publish_use_flags(now->use) };
	}
	return n;
}

static int write_verdicts(struct kernel *k, const struct plan *a, const struct plan *b,
			  bool delete)
{
	_cleanup_free_ struct verdict_key *keys = calloc(a->n_verdicts + 1, sizeof(*keys));
	_cleanup_free_ struct verdict *values = calloc(a->n_verdicts + 1, sizeof(*values));
	size_t n;
	int rc;

	if (!keys || !values)
		return -ENOMEM;
	n = verdict_difference(a, b, !delete, keys, values);
	/* A packet that still has the backend as it was may be about to look. */
	if (delete && n)
		kmap_wait_for_packets();
	rc = delete ? kmap_delete(k->verdicts, keys, sizeof(*keys), n) :
		      kmap_update(k->verdicts, keys, sizeof(*keys), values,
				  sizeof(*values), n);
	if (!rc)
		k->map_writes += n;
	return rc;
}

int publish_verdicts_write(struct kernel *k, const struct plan *from,
			   const struct plan *to, struct err *err)
{
	int rc = write_verdicts(k, to, from, false);

	if (rc)
		return err_set(err, rc,
			       "cannot write how VIPs use backends to the map: %s",
			       strerror(-rc));
	return 0;
}

int publish_verdicts_delete(struct kernel *k, const struct plan *from,
			    const struct plan *to, struct err *err)
{
	int rc = write_verdicts(k, from, to, true);

	if (rc)
		return err_set(err, rc,
			       "cannot delete how VIPs use backends from the map: %s",
			       strerror(-rc));
	return 0;
}

struct adoption {
	const struct kernel *kernel;
	struct plan *plan;
	struct verdict_key *orphans; /* room for all that the map can hold */
	size_t n_orphans;
};

static int adopt_verdict(void *context, const void *key, const void *value)
{
	struct adoption *a = context;
	const struct verdict *verdict = value;
	struct plan *plan = a->plan;
	size_t n = plan->n_verdicts;
	struct plan_verdict *grown = plan->verdicts;
	struct verdict_key k;

	memcpy(&k, key, sizeof(k));
	if (!(a->kernel->backend[k.backend].flags & BACKEND_VERDICTS)) {
		if (a->n_orphans < VERDICTS_ROOM)
			a->orphans[a->n_orphans++] = k;
		return 0;
	}
	if (!(n & (n - 1))) {
		grown = reallocarray(grown, n ? 2 * n : 1, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		plan->verdicts = grown;
	}
	grown[plan->n_verdicts++] = (struct plan_verdict){
		.vip = k.vip,
		.backend = k.backend,
		.use = publish_use_by(verdict->flags),
	};
	return 0;
}

/*
 * A daemon that was killed in a commit may have left entries of a backend that does not
 * say that it has any. No packet asks for them yet; it would once another VIP of the
 * backend gets one.
 */
int publish_verdicts_adopt(const struct kernel *k, struct plan *plan, struct err *err)
{
	_cleanup_free_ struct verdict_key *orphans =
		calloc(VERDICTS_ROOM, sizeof(*orphans));
	struct adoption a = { k, plan, orphans, 0 };
	int rc = orphans ? kmap_walk(k->verdicts, sizeof(struct verdict_key),
				     sizeof(struct verdict), VERDICTS_ROOM, adopt_verdict,
				     &a) : -ENOMEM;

	if (!rc && a.n_orphans)
		rc = kmap_delete(k->verdicts, orphans, sizeof(*orphans), a.n_orphans);
	if (rc)
		return err_set(err, rc, "cannot read how VIPs use backends from the map: %s",
			       strerror(-rc));
	return 0;
}
