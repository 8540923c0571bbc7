/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_BENCH_REPORT_H
#define FAIRLEAD_BENCH_REPORT_H

/* What was measured: a table as it comes in, and a JSON file at the end. */

#include <stdint.h>

#include "user/core/err.h"

#define REPORT_ROWS_MAX 64

struct report_row {
	const char *name; /* static text */
	uint32_t flows;
	uint32_t min_ns, median_ns;
	int verdict; /* XDP action */
};

struct report {
	struct report_row rows[REPORT_ROWS_MAX];
	unsigned int n;
	uint32_t floor_ns; /* the least of the row named "floor"; 0: not yet */
};

void report_header(void);
/* Keeps the row and prints it. */
void report_add(struct report *report, const struct report_row *row);
/* [{"case", "flows", "min_ns", "median_ns"}, ...] */
int report_write_json(const struct report *report, const char *path,
		      struct err *err);

#endif
