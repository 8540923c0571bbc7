// SPDX-License-Identifier: GPL-2.0-only
#include "report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <linux/bpf.h>

/* "ok" goes by what is printed, so that the eye and the mark agree. */
#define RATIO_DIGITS 100.0
#define NS_DIGITS 10.0

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

int report_open(struct report *report, bool quick, bool other, struct err *err)
{
	*report = (struct report){ .list = json_array(), .other = other };
	if (!report->list)
		return err_set(err, -ENOMEM, "no memory for a report");
	printf("ns a packet, min and median of %d runs in turns%s\n\n", SUBJECT_RUNS,
	       quick ? "; so few packets say nothing of the speed" : "");
	printf("%-12s %8s  %-9s %6s | %-13s | %-13s | %-20s | %-17s | %-11s | %-6s%s\n",
	       "case", "flows", "beside", "", "sets", "lru", "sets to beside",
	       "sets to lru", "missed, %", "Katran", other ? " | other" : "");
	printf("%-12s %8s  %-9s %6s | %6s %6s | %6s %6s | %7s %-12s | %5s %-11s | %5s %5s | %6s%s\n",
	       "", "", "", "min", "min", "median", "min", "median", "", "target", "",
	       "target", "sets", "lru", "", other ? " |    min median" : "");
	return 0;
}

void report_close(struct report *report)
{
	json_decref(report->list);
	report->list = NULL;
}

static void keep(struct report *report, const struct report_row *row, const char *program,
		 const struct result *result)
{
	json_t *object;

	if (!result->min_ns)
		return;
	object = json_pack("{s:s, s:i, s:s, s:f, s:f}", "case", row->name, "flows",
			   (int)row->flows, "program", program, "min_ns",
			   result->min_ns, "median_ns", result->median_ns);
	if (result->missed >= 0)
		json_object_set_new(object, "missed", json_real(result->missed));
	json_array_append_new(report->list, object);
}

static void print_times(const struct result *result)
{
	if (result->min_ns)
		printf(" | %6.1f %6.1f", result->min_ns, result->median_ns);
	else
		printf(" | %6s %6s", "-", "-");
}

static const char *mark(bool met)
{
	return met ? "ok" : "short";
}

static double rounded(double value, double digits)
{
	return round(value * digits) / digits;
}

/* How the sets stand to what they are beside; "-" when one is not measured. */
static void print_relation(const struct report_row *row)
{
	double beside = row->result[REPORT_BESIDE].min_ns, value;
	double sets = row->result[REPORT_SETS].min_ns;
	char text[16] = "-", target[24] = "";

	if (beside && sets && row->relation == RELATION_MORE) {
		value = rounded(sets - beside, NS_DIGITS);
		snprintf(text, sizeof(text), "%+.1f", value);
		snprintf(target, sizeof(target), "<= %.0f  %s", row->target,
			 mark(value <= row->target));
	} else if (beside && sets && row->relation == RELATION_SPEEDUP) {
		value = rounded(beside / sets, RATIO_DIGITS);
		snprintf(text, sizeof(text), "1/%.2f", value);
		snprintf(target, sizeof(target), ">= %.1f %s", row->target,
			 mark(value >= row->target));
	} else if (beside && sets) {
		value = rounded(sets / beside, RATIO_DIGITS);
		snprintf(text, sizeof(text), "%.2f", value);
		snprintf(target, sizeof(target), "<= %.1f %s", row->target,
			 mark(value <= row->target));
	}
	printf(" | %7s %-12s", text, row->target ? target : "");
}

static void print_lru_relation(const struct report_row *row)
{
	double sets = row->result[REPORT_SETS].min_ns;
	double lru = row->result[REPORT_LRU].min_ns, value;
	char text[16] = "-", target[24] = "";

	if (sets && lru) {
		value = rounded(sets / lru, RATIO_DIGITS);
		snprintf(text, sizeof(text), "%.2f", value);
		snprintf(target, sizeof(target), "<= %.2f %s", row->lru_target,
			 mark(value <= row->lru_target));
	}
	printf(" | %5s %-11s", text, row->lru_target ? target : "");
}

static void print_missed(const struct result *result)
{
	if (result->min_ns && result->missed >= 0)
		printf(" %5.2f", 100 * result->missed);
	else
		printf(" %5s", "-");
}

static void print_katran(unsigned int ns)
{
	if (ns)
		printf(" | %6u", ns);
	else
		printf(" | %6s", "-");
}

static void print_row(const struct report *report, const struct report_row *row)
{
	const struct result *beside = &row->result[REPORT_BESIDE];
	const struct result *other = &row->result[REPORT_OTHER];

	printf("%-12s %8u  %-9s", row->name, row->flows, row->beside ? row->beside : "-");
	if (beside->min_ns)
		printf(" %6.1f", beside->min_ns);
	else
		printf(" %6s", "-");
	print_times(&row->result[REPORT_SETS]);
	print_times(&row->result[REPORT_LRU]);
	print_relation(row);
	print_lru_relation(row);
	fputs(" |", stdout);
	print_missed(&row->result[REPORT_SETS]);
	print_missed(&row->result[REPORT_LRU]);
	print_katran(row->katran_ns);
	if (report->other) {
		print_times(other);
		printf(" %s", other->min_ns ? verdict_name(other->verdict) : "-");
	}
	putchar('\n');
	fflush(stdout);
}

void report_add(struct report *report, const struct report_row *row)
{
	if (row->beside)
		keep(report, row, row->beside, &row->result[REPORT_BESIDE]);
	keep(report, row, "sets", &row->result[REPORT_SETS]);
	keep(report, row, "lru", &row->result[REPORT_LRU]);
	keep(report, row, "other", &row->result[REPORT_OTHER]);
	print_row(report, row);
}

static void keep_loss(struct report *report, const struct report_loss *loss,
		      const char *program, const struct report_suffered *suffered)
{
	json_array_append_new(report->list,
			      json_pack("{s:s, s:i, s:s, s:i, s:i, s:f}", "case",
					loss->name, "flows", (int)loss->flows, "program",
					program, "packets", (int)loss->packets, "lost",
					(int)suffered->lost, "ns", suffered->ns));
}

static void print_loss(const struct report_loss *loss, const char *program,
		       const struct report_suffered *suffered)
{
	printf("%-12s %8u  %s: %u (%.2f %%) lost to %u packets of it, at %.1f ns\n",
	       loss->name, loss->flows, program, suffered->lost,
	       100.0 * suffered->lost / loss->flows, loss->packets, suffered->ns);
}

void report_add_loss(struct report *report, const struct report_loss *loss)
{
	keep_loss(report, loss, "sets", &loss->sets);
	keep_loss(report, loss, "lru", &loss->lru);
	print_loss(loss, "sets", &loss->sets);
	print_loss(loss, "lru", &loss->lru);
	fflush(stdout);
}

int report_write_json(const struct report *report, const char *path,
		      struct err *err)
{
	int code = json_dump_file(report->list, path, JSON_INDENT(2));

	return code ? err_set(err, -EIO, "cannot write '%s': %s", path,
			      strerror(errno)) :
		      0;
}
