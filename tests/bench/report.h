/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_BENCH_REPORT_H
#define FAIRLEAD_BENCH_REPORT_H

/*
 * What was measured: a table as it comes in, and a JSON file at the end. Figures
 * have targets beside them, and whether they are met; nothing is asserted.
 */

#include <stdbool.h>
#include <stdint.h>

#include "tests/bench/subject.h"
#include "user/core/err.h"

/* Programs that a row has figures of. */
enum report_column {
	REPORT_BESIDE, /* what the sets are measured beside; the row names it */
	REPORT_SETS,
	REPORT_LRU,
	REPORT_OTHER,
	REPORT_COLUMN__MAX,
};

/* How the sets' figure is compared to the one that it is beside. */
enum report_relation {
	RELATION_TIMES,	  /* at most so many times as much */
	RELATION_MORE,	  /* at most so many ns more */
	RELATION_SPEEDUP, /* at least so many times as fast */
};

struct report_row {
	const char *name; /* static text */
	uint32_t flows;
	const char *beside; /* static text; NULL: nothing */
	struct result result[REPORT_COLUMN__MAX];
	enum report_relation relation;
	double target;	   /* of the relation; 0: none */
	double lru_target; /* at most so many times the LRU form; 0: none */
	unsigned int katran_ns; /* 0: not known */
};

struct report {
	struct json_t *list;
	bool other; /* has that column */
};

/* Prints the head of the table. */
int report_open(struct report *report, bool quick, bool other, struct err *err);
void report_close(struct report *report);

/* Keeps the row and prints it. */
void report_add(struct report *report, const struct report_row *row);

/* What a flood did to one form. */
struct report_suffered {
	uint32_t lost; /* known flows */
	double ns;     /* a packet of the flood */
};

struct report_loss {
	const char *name; /* of the flood, static text */
	uint32_t flows;	  /* known before it */
	uint32_t packets; /* of the flood */
	struct report_suffered sets, lru;
};
void report_add_loss(struct report *report, const struct report_loss *loss);

/*
 * [{"case", "flows", "program", "min_ns", "median_ns", "missed"}, ...], where
 * missed is a share of the packets of known flows; and of losses
 * {"case", "flows", "program", "packets", "lost", "ns"}.
 */
int report_write_json(const struct report *report, const char *path,
		      struct err *err);

#endif
