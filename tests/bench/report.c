// SPDX-License-Identifier: GPL-2.0-only
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <linux/bpf.h>

static const char *verdict_name(int verdict)
{
	static const char *const names[] = {
		[XDP_ABORTED] = "aborted", [XDP_DROP] = "drop",
		[XDP_PASS] = "pass",	   [XDP_TX] = "tx",
		[XDP_REDIRECT] = "redirect",
	};

	if (verdict < 0 || verdict > XDP_REDIRECT)
		return "unknown";
	return names[verdict];
}

void report_header(void)
{
	printf("%-16s %9s %-8s %8s %10s %9s\n", "case", "flows", "verdict",
	       "min ns", "median ns", "x floor");
}

void report_add(struct report *report, const struct report_row *row)
{
	if (report->n == REPORT_ROWS_MAX)
		abort();
	report->rows[report->n++] = *row;
	if (strcmp(row->name, "floor") == 0)
		report->floor_ns = row->min_ns;

	printf("%-16s %9u %-8s %8u %10u ", row->name, row->flows,
	       verdict_name(row->verdict), row->min_ns, row->median_ns);
	if (report->floor_ns)
		printf("%9.1f\n", (double)row->min_ns / report->floor_ns);
	else
		printf("%9s\n", "-");
	fflush(stdout);
}

int report_write_json(const struct report *report, const char *path,
		      struct err *err)
{
	json_t *list = json_array();
	int code;

	for (unsigned int i = 0; i < report->n; i++) {
		const struct report_row *row = &report->rows[i];

		json_array_append_new(
			list, json_pack("{s:s, s:i, s:i, s:i}", "case", row->name,
					"flows", (int)row->flows, "min_ns",
					(int)row->min_ns, "median_ns",
					(int)row->median_ns));
	}
	code = json_array_size(list) == report->n ?
		       json_dump_file(list, path, JSON_INDENT(2)) :
		       -1;
	json_decref(list);
	return code ? err_set(err, -EIO, "cannot write '%s': %s", path,
			      strerror(errno)) :
		      0;
}
