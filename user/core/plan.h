/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_PLAN_H
#define FAIRLEAD_PLAN_H

/*
 * What the maps should hold for a configuration, as a value: which id each
 * VIP, table and backend has. A plan is made from a configuration and the plan
 * before it, so that whatever stays keeps its id; the difference between the
 * two is what a transaction writes.
 *
 * VIPs have the table of their way (way.h). Ways with the same members, shares and
 * parameters share one, whether they are of one pool or of two.
 *
 * A backend that left the configuration stays in the plan as draining, with its
 * id, because flows may name it; plan_release() lets it go. One that left the pool of
 * a VIP, but not the configuration, is a leaver of that VIP, and has a verdict.
 *
 * A table id may keep its number while its slots change only when every VIP
 * that used it before uses it still: then one swap changes them all, and no VIP
 * can look into another's slots at any moment of the commit.
 */

#include <stddef.h>
#include <stdint.h>

#include "abi.h"
#include "cfg.h"
#include "health.h"
#include "outer.h"
#include "services.h"
#include "table.h"
#include "way.h"

/*
 * How a backend may be used, from the kindest way that a VIP goes to it, or went. VIPs
 * that use it otherwise have verdicts.
 */
enum backend_use {
	USE_UP,
	USE_DRAIN, /* known flows only */
	USE_FAILED, /* its checks fail: as USE_DOWN, but for VIPs with on_down: keep */
	USE_DOWN,  /* nothing: known flows are chosen again */
};

/* Whether VIPs use a backend otherwise than its own `use` says. */
enum backend_verdicts {
	VERDICTS_NONE,
	VERDICTS_ALIKE, /* some do, but their known flows fare the same */
	VERDICTS_PART,  /* known flows stay or are chosen again by VIP */
};

struct plan_backend {
	struct backend_ident ident;
	uint16_t id;
	bool draining; /* in no pool any more */
	uint8_t use;   /* enum backend_use; at least USE_DRAIN when draining */
	uint8_t verdicts; /* enum backend_verdicts */
	/* s that it drains for once it is in no pool; 0: until its flows end */
	uint32_t drain_timeout;
};

struct plan_member {
	const char *name; /* in plan->cfg */
	uint32_t weight;
	uint16_t backend; /* id */
	/* Percent of its slots that it serves; the others it lends. 0: it is down. */
	uint8_t share;
	uint8_t use; /* enum backend_use, by the way of the table; of no other's flows */
};

struct plan_table {
	uint16_t id;
	struct table_params params;
	/*
	 * Sorted by name. Of a table that was only found in the maps those who have
	 * slots, by their ids alone, or none.
	 */
	const struct plan_member *members;
	size_t n_members;
	bool known; /* false: found in the maps, content not known */
};

struct plan_vip {
	struct vip_spec spec;
	uint16_t id, table;
	uint32_t drain_timeout; /* s, of what leaves its pool; 0: until the flows end */
	/* What its entry says beside id and table, which are zero here. */
	struct vip options;
};

/* A source that a VIP takes packets from, or does not. */
struct plan_acl {
	uint16_t vip; /* id */
	bool deny;
	struct prefix prefix;
};

/* Which backend has a server id, in the connection ids of a QUIC VIP. */
struct plan_server {
	struct quic_server_key key;
	uint16_t backend; /* id */
};

/* How a VIP uses a backend, where the backend alone does not say it. */
struct plan_verdict {
	uint16_t vip, backend; /* ids */
	uint8_t use; /* enum backend_use */
	/* Its VIP's pool lists it no more, but flows of the VIP may name it ... */
	bool left;
	uint32_t drain_timeout; /* ... and stay for so many s; 0: until they end */
};

struct plan {
	struct cfg *cfg; /* owned; NULL in a plan that was read from the maps */
	struct plan_backend *backends; /* sorted by ident */
	size_t n_backends;
	struct plan_table *tables; /* sorted by id */
	size_t n_tables;
	struct plan_vip *vips; /* sorted by spec */
	size_t n_vips;
	struct vip_entries entries; /* for the VIPs, or as found in the maps */
	struct plan_acl *acls; /* sorted by VIP and prefix */
	size_t n_acls;
	struct plan_server *servers; /* sorted by key */
	size_t n_servers;
	struct plan_verdict *verdicts; /* sorted by VIP and backend */
	size_t n_verdicts;
	size_t verdicts_left_out; /* for want of room: the backend's own use counts */
	struct plan_member *members;
	/* Where the search for a free id goes on: freed ids rest a while. */
	uint16_t last_backend, last_table, last_vip, last_group;
};

/* An empty plan: nothing is in the maps. */
int plan_new(struct plan **out, struct err *err);
/* Frees *plan with its configuration and sets it to NULL. */
void plan_free(struct plan **plan);
#define _cleanup_plan_ __attribute__((cleanup(plan_free)))

/*
 * A backend of one pool by one way, all told: also what the operator says of it. What
 * is not EFFECTIVE_UP takes no new flows of the VIPs of that way, and known flows of
 * these to one that is EFFECTIVE_DOWN are chosen again, unless it is said that they stay
 * (health_keeps_flows).
 */
struct plan_backend_health {
	enum effective_state state;
	uint8_t share;    /* percent of its slots, while it is up; 0: no new flows */
	bool keeps_flows; /* while it is down */
	bool presumed;    /* health_is_presumed() */
};

/* Whom a plan asks for that; NULL for a whole: nothing but the operator's word. */
struct plan_health {
	void (*ask)(void *context, const struct cfg_pool *pool, const struct way *way,
		    const struct cfg_backend *backend, struct plan_backend_health *out);
	void *context;
	/*
	 * Has the backend drained for as long as it may, of the VIP whose pool it left, or
	 * (vip 0) of all since it is in no pool? Ids. NULL: none has.
	 */
	bool (*has_drained)(void *context, uint16_t vip, uint16_t backend);
};

/*
 * The plan for cfg (checked by cfg_check) after `old`. On success the new plan
 * owns *cfg, which becomes NULL; old stays the caller's. -ENOSPC when ids of
 * one kind run out, -ENOMEM.
 */
int plan_make(struct cfg **cfg, const struct plan *old,
	      const struct plan_health *health, struct plan **out, struct err *err);

/*
 * Has nobody a flow of the VIP to the backend any more, or (vip 0) of any VIP? Ids. Asked
 * of leavers, and of backends that are in no pool.
 */
typedef bool plan_drop(void *context, uint16_t vip, uint16_t backend);

/* A copy of `old` without the draining backends and leavers that `drop` says yes to. */
int plan_release(const struct plan *old, const struct plan_health *health,
		 plan_drop *drop, void *context, struct plan **out, struct err *err);

/* For plans read from the maps: sort what was put into the arrays. */
void plan_sort(struct plan *plan);

/* NULL: no such thing. */
const struct plan_backend *plan_find_backend(const struct plan *plan,
					     const struct backend_ident *ident);
const struct plan_table *plan_find_table(const struct plan *plan, uint16_t id);
const struct plan_vip *plan_find_vip(const struct plan *plan,
				     const struct vip_spec *spec);

/* The same VIP and prefix, whatever the verdict: a total order. */
int plan_acl_compare(const struct plan_acl *a, const struct plan_acl *b);
const struct plan_acl *plan_find_acl(const struct plan *plan, const struct plan_acl *acl);

/* The options of VIPs that have their ids already, and their ACLs; plan_make. */
int plan_fill_options(struct plan *plan, const struct cfg *cfg, struct err *err);

/*
 * The server ids of QUIC VIPs, which have their ids, options and verdicts; plan_make. A
 * backend that left the configuration keeps its server ids as long as its id, and a
 * leaver as long as it is one, where nobody else has them now: connections that live
 * name it.
 */
int plan_fill_servers(struct plan *plan, const struct cfg *cfg, const struct plan *old,
		      struct err *err);
/* The id of the backend; 0: the VIP has no such server. */
uint16_t plan_find_server(const struct plan *plan, const struct quic_server_key *key);
void plan_sort_servers(struct plan *plan);
/* A copy of the servers of `old`, for a plan that has none. -ENOMEM or 0. */
int plan_copy_servers(struct plan *plan, const struct plan *old);

/* Ids; NULL: the VIP uses the backend as that says itself, if it does. */
const struct plan_verdict *plan_find_verdict(const struct plan *plan, uint16_t vip,
					     uint16_t backend);
void plan_sort_verdicts(struct plan *plan);

void backend_ident_of(const struct cfg_pool *pool, const struct cfg_backend *backend,
		      struct backend_ident *ident);

/* Members and parameters, whatever the ids: a total order. */
int plan_table_compare(const struct plan_table *a, const struct plan_table *b);
/* True when both are known to have the same members and parameters. */
bool plan_table_same(const struct plan_table *a, const struct plan_table *b);

struct table_kept;

/*
 * The content of a table's map: a struct table_header, then the lines. The
 * caller frees *lines. kept (NULL: nothing is) makes it quick when only shares
 * have changed. Errors of table_build().
 */
int plan_table_lines(const struct plan_table *table, struct table_kept *kept,
		     struct table_line **lines, size_t *n_lines, struct err *err);

#endif
