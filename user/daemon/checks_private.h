/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CHECKS_PRIVATE_H
#define FAIRLEAD_CHECKS_PRIVATE_H

/* What the files of health share. Times are of checks_now(). */

#include <jansson.h>
#include <uv.h>

#include "checker.h"
#include "checks.h"
#include "core/way.h"
#include "daemon.h"
#include "events.h"

struct watched_way;

/* What the configuration says of the path that checks take. */
struct path_wish {
	enum check_kind kind;
	enum check_via via;
	bool through; /* the VIP could take them */
};

/* A backend of a pool, by one way. */
struct subject {
	struct watched_way *way; /* NULL of one that is only thought of */
	char name[CFG_NAME_MAX + 1];
	struct addr addr;
	enum admin_state admin;
	uint32_t weight;
	/* Its pool's, and only when that has a check */
	bool checked;
	uint32_t interval; /* ms, of the check */
	struct health_params params;
	struct health health;
	struct asked *asked; /* NULL: nobody is asked */
	bool unasked; /* so it was before: nothing is known of now */
	bool fresh; /* its first state is nothing to tell */
	uint64_t unclear_told; /* when its agent was last said to make no sense; 0: never */
	/* What was told of it last. */
	enum effective_state told;
	uint8_t told_share;
	enum admin_state told_admin;
};

/* A way to the backends of a pool (core/way.h), and where its subjects are. */
struct watched_way {
	char pool[CFG_NAME_MAX + 1];
	struct addr addr; /* with the port, what tells it from others of the pool */
	uint16_t port;
	size_t n_of_pool; /* ways that there are to the pool; the others are next to it */
	bool has_vip;     /* a VIP uses it */
	struct vip_spec vip; /* the first of these */
	size_t first, n, up;   /* up: of whom that is told */
	struct pool_policy policy;
	struct pool_facts facts;
	bool drops;   /* what is new, when none is up */
	bool changed; /* a subject's state has, since facts were judged */
	bool judged;  /* with known health: from then on a lack is told */
	/* Which path its checks take, and why not through the tunnel. */
	struct path_wish wish;
	enum check_via via;
	unsigned int ifindex;
	char path_problem[512];
	uint64_t path_judged; /* when it was looked at last for a failure's sake */
};

/* Which way a VIP has. */
struct watched_vip {
	struct vip_spec spec;
	uint32_t way; /* place in checks->ways */
};

/* A distinct check of a distinct target, and whom it is about. */
struct asked {
	struct probe probe; /* its check is owned */
	enum check_via via; /* never CHECK_VIA_AUTO */
	uint16_t backend;   /* id, of CHECK_VIA_VIP; else 0 */
	bool muted;         /* it has no mark, and is not asked until it has */
	bool answered;      /* and this is what it said last: */
	struct probe_result last;
	struct subject **subjects; /* into checks->askers */
	size_t n;
};

#define ASKED_BITS 20 /* of an id: the place; above them, how often it was used */
#define ASKED_MAX (1u << ASKED_BITS)
_Static_assert(WAYS_CHECKS_MAX < ASKED_MAX, "all that a configuration may ask has a place");

struct probes;

/*
 * A removed backend, and when the last of its flows are chosen again; or one that left
 * the pool of a VIP and is in another, and when those of that VIP are.
 */
struct drain {
	uint16_t vip, backend; /* ids; vip 0: of all */
	struct addr addr;
	uint32_t timeout; /* s */
	uint64_t until;
};

struct checks {
	struct daemon *daemon;
	struct checker *checker;
	/* Ways by pool, address and port; subjects by way and name; VIPs by spec. */
	struct subject *subjects;
	size_t n_subjects, n_checked; /* n_checked: subjects that have a check */
	struct watched_way *ways;
	size_t n_ways;
	struct watched_vip *vips;
	size_t n_vips;
	size_t checked_backends; /* of pools, by however many ways */
	/* Sorted, compare_asked(); each is at its place, too. */
	struct asked **asked;
	size_t n_asked;
	struct subject **askers;
	struct asked **places; /* by id & (ASKED_MAX - 1); NULL: free */
	uint16_t *uses;
	size_t n_places, last_place;

	/* Through the tunnel; NULL: nobody has wanted to. */
	struct probes *probes;
	bool looked;   /* for what a daemon before this one has attached */
	bool attaches; /* ours is attached somewhere */
	char attach_failed[512]; /* why it cannot be; "": it can */
	uint64_t routes_rest;    /* not before then are routes looked at again */
	uint64_t path_lost;      /* when the program was gone, or the route another */
	char mark_failed[600];   /* why some are muted; "": none is */
	char checker_died[600];  /* and nothing was found since; "": it runs */

	struct drain *drains; /* those that drain for so long only; sorted by ids */
	size_t n_drains, saved_drains; /* saved: that the file has */

	uv_timer_t tick, settle, save, routes, drained;
	unsigned int closed; /* of these */
	uint64_t results, state_changes;
	uint64_t saved; /* when the file was written */
	uint64_t save_took; /* ms */
	bool save_failed; /* and that is told */
	bool stale;   /* the tables have yet to follow */
	bool unsaved; /* the file has */
};

/* NULL: the way leads to none of that name. */
struct subject *subject_find(const struct checks *checks, const struct watched_way *way,
			     const char *name);

/* A subject as the configuration has it, of which nothing is known. */
void subject_init(struct subject *s, const struct cfg_pool *pool,
		  const struct cfg_backend *backend);
struct health_facts subject_facts(const struct checks *checks, const struct subject *s);
/* Its effective state, and in a word or two why. */
enum effective_state subject_judge(const struct checks *checks, const struct subject *s,
				   const char **why);
/* Percent of its slots, while it is up. */
uint8_t subject_share(const struct subject *s);

/* Its share is another: it is told, and tables follow. */
void subject_reconsider(struct checks *checks, struct subject *s);

/* What was known of it goes on, also under another check: nothing fell meanwhile. */
void subject_inherit(struct subject *s, const struct subject *old);

/*
 * checks_collect.c: the ways, subjects and VIPs of a configuration take the place of
 * those that there are, and what is known of them goes on. -ENOMEM: all is as it was.
 * Who has asked about the old ones has to be forgotten.
 */
int subjects_collect(struct checks *checks, const struct cfg *cfg, struct err *err);

/* checks_way.c. Those of a pool, next to each other; *n 0: no such pool is followed. */
struct watched_way *ways_of_pool(const struct checks *checks, const char *pool, size_t *n);
/* NULL: not a VIP of the configuration that is followed. */
struct watched_way *way_of_vip(const struct checks *checks, const struct vip_spec *vip);
/*
 * Whose health a way of a configuration to come goes on with: that of the same key;
 * else that of its VIP; else, when its checks go to no VIP, the first of the pool.
 * NULL: nothing is known of it.
 */
const struct watched_way *way_before(const struct checks *checks, const char *pool,
				     const struct way *way);
/* Its VIP, for people; NULL where the pool has no other way and all is said. */
const char *way_name(const struct watched_way *way, char text[VIP_SPEC_TEXT_MAX]);
/* Where nobody is known all may serve, and do so each until its own first result. */
void ways_presume(struct checks *checks);
/* Judge it anew, and tell what has changed. */
void way_settle(struct checks *checks, struct watched_way *way);

/* checks_path.c: the path that checks by a way take. */
struct path {
	enum check_via via;   /* never CHECK_VIA_AUTO; the rest is of CHECK_VIA_VIP */
	struct addr vip;
	uint8_t protocol;
	unsigned int ifindex; /* by which they leave */
};

/* Also keeps, and logs once, why it is not the tunnel. */
void path_choose(struct checks *checks, struct watched_way *way, struct path *out);
/* The probes' program is there, and nowhere else; false: from now on none goes through. */
bool path_attach(struct checks *checks, const unsigned int *ifindexes, size_t n);
/* Its program is there: what was said to be in the way is no longer. */
void path_is_open(struct watched_way *way);
/*
 * A check through the tunnel has failed. True: its path is not what it was when it
 * began, so the failure says nothing of the backend. When *again, choose anew.
 */
bool path_is_to_blame(struct checks *checks, const struct asked *asked,
		      const struct probe_result *result, bool *again);

/* Paths have changed: who is asked now, and by which. */
void path_follow(struct checks *checks);
/* From now on a change is followed: the timer is initialised. */
void path_watch(struct checks *checks);

/* checks_probe.c: who is asked what. -ENOMEM leaves everything as it was. */
int asked_follow(struct checks *checks, const struct cfg *cfg, struct err *err);
void asked_clear(struct checks *checks);
/* To a checker that knows nothing. */
void asked_tell(const struct checks *checks);
/* Those that are muted may be asked by now. */
void asked_retry(struct checks *checks);
/* NULL: nobody has the id (any more). */
struct asked *asked_find(const struct checks *checks, uint32_t id);

/* checks_drain.c: of the file; borrowed. `believed`: its times are of this boot. */
json_t *drains_json(const struct checks *checks);
void drains_load(struct checks *checks, json_t *list, bool believed);

/* What has changed is acted on, once for all that changes in one turn of the loop. */
void settle_soon(struct checks *checks);
/* What there is to save has changed. */
void checks_save_soon(struct checks *checks);
/* checks_file.c: /run/fairlead/INSTANCE/health.json. */
void checks_save(struct checks *checks);
/*
 * What the file says of the subjects, which are all known; those of whom it says
 * nothing, or nothing that is still to be believed, stay as they are.
 */
void checks_load(struct checks *checks);

#endif
