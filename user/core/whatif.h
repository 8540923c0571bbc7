/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_WHATIF_H
#define FAIRLEAD_WHATIF_H

/*
 * Look before you leap: the table that a pool has, the one that it would have
 * with other backends or another algorithm, and what lies between the two.
 * Pure: no fd, no clock, no global.
 *
 *   pool --> set --edits--> another set
 *             | build        | build         by any algorithm
 *           table --compare-- table
 *
 * Sets borrow the names of the backends from the pool and from the edits, and
 * tables and comparisons borrow from sets: free them first.
 */

#include "cfg.h"
#include "table.h"
#include "table_compare.h"

struct whatif_set {
	const struct cfg_pool *pool;
	struct table_backend *backends;
	bool *wanted; /* by its operator: neither drained nor down */
	bool *up;     /* wanted and healthy: serves; others lend their slots */
	size_t n;
};

/* All that are wanted are up, as no health is known. -ENOMEM or 0. */
int whatif_set_of(const struct cfg_pool *pool, struct whatif_set *out,
		  struct err *err);
void whatif_set_clear(struct whatif_set *set);
#define _cleanup_whatif_set_ __attribute__((cleanup(whatif_set_clear)))

enum whatif_op {
	WHATIF_REMOVE, /* out of the set */
	WHATIF_ADD,    /* into it, with a weight */
	WHATIF_SET,    /* another weight */
	WHATIF_DOWN,   /* stays in the set and lends its slots */
	WHATIF__MAX,
};

struct whatif_edit {
	enum whatif_op op;
	char backend[CFG_NAME_MAX + 1];
	uint32_t weight; /* of WHATIF_ADD and WHATIF_SET */
};

const char *whatif_op_name(enum whatif_op op);

/*
 * "BACKEND", or for ADD and SET "BACKEND:WEIGHT", which the last colon parts
 * since names may hold colons. An address becomes its canonical text, as in a
 * configuration. -EINVAL.
 */
int whatif_edit_parse(enum whatif_op op, const char *text,
		      struct whatif_edit *out, struct err *err);

/*
 * BACKEND is a name or, when none is called so, an address. The edit is
 * borrowed. -ENOENT (the sentence lists who is there), -EEXIST, -ENOMEM.
 */
int whatif_set_edit(struct whatif_set *set, const struct whatif_edit *edit,
		    struct err *err);

/* By name, or when none is called so by address; NULL: nobody. */
const struct table_backend *whatif_set_find(const struct whatif_set *set,
					    const char *which);

/* "web-1, web-2 and 98 more", as many as fit. Returns text. */
const char *whatif_set_names(const struct whatif_set *set, char *text,
			     size_t size);

/* How a table came about. */
enum whatif_method {
	WHATIF_BUILD,   /* all of the set is up */
	WHATIF_OVERLAY, /* slots of who is down lent to others */
	WHATIF_REBUILD, /* built of those that are up */
	WHATIF_OPEN,    /* all are down: of those that are wanted, by policy */
	WHATIF_NONE,    /* nobody serves */
	WHATIF_METHOD__MAX,
};

const char *whatif_method_name(enum whatif_method method);

struct whatif_table {
	struct table_params params;
	size_t n;               /* of the set */
	enum whatif_method method;
	uint16_t *slots;        /* NULL once dropped */
	uint32_t *counts;       /* slots of each backend */
	/* slots by weight; 0 for who has no weight or is down */
	double *ideal;
	size_t n_serving;       /* can own slots */
	/*
	 * The highest load of a backend over what its weight says; with equal
	 * weights the fullest backend over the mean. 0 when nobody serves.
	 */
	double max_mean;
	uint64_t digest;        /* table_digest_sorted() */
};

/*
 * `rebuild`: no overlay, whatever is down. The caller frees *out with
 * whatif_table_free(). Errors of table_build().
 */
int whatif_table_build(const struct table_params *params,
		       const struct whatif_set *set, bool rebuild,
		       struct whatif_table **out, struct err *err);
/* Frees *table and sets it to NULL. */
void whatif_table_free(struct whatif_table **table);
#define _cleanup_whatif_table_ __attribute__((cleanup(whatif_table_free)))

/* Keeps the figures and lets go of the slots, which need the room. */
void whatif_table_drop_slots(struct whatif_table *table);

/* The two figures of a table for counts that somebody else has made. */
void whatif_ideal(const struct table_backend *backends, const bool *up, size_t n,
		  uint32_t size, double *ideal);
double whatif_max_mean(const uint32_t *counts, const double *ideal, size_t n);

/*
 * As table_compare(). Tables of different sizes are compared at the slots of
 * the new one: whose is the middle of a slot's share of the hashes? The caller
 * frees *out.
 */
int whatif_compare(const struct whatif_set *old_set,
		   const struct whatif_table *old,
		   const struct whatif_set *new_set,
		   const struct whatif_table *new,
		   struct table_comparison **out, struct err *err);

/*
 * The algorithms to choose from, for a pool that has `own` now: maglev, capped,
 * capped with 1 % slack, ring, rendezvous, and `own` when it is none of them.
 * Returns how many.
 */
#define WHATIF_CHOICES_MAX 6
size_t whatif_choices(const struct table_params *own,
		      struct table_params out[WHATIF_CHOICES_MAX]);
bool whatif_params_same(const struct table_params *a,
			const struct table_params *b);

#endif
