// SPDX-License-Identifier: GPL-2.0-only
#include "test.h"

#include <errno.h>
#include <string.h>

#include <linux/bpf.h>

#include "core/cleanup.h"
#include "json_text.h"

static bool is_document(const struct test_report *r)
{
	return !r->tap && r->cli->options.form != WRITER_TEXT;
}

int test_report_open(struct test_report *r, struct err *err)
{
	if (is_document(r)) {
		r->results = calloc(r->n_cases + 1, sizeof(*r->results));
		return r->results ? 0 : err_set(err, -ENOMEM, "out of memory");
	}
	r->cli->no_document = true;
	if (r->tap)
		fprintf(r->cli->stdout_file, "1..%zu\n", r->n_cases);
	return 0;
}

static bool leaves(const struct test_result *result)
{
	return result->verdict == XDP_PASS || result->verdict == XDP_TX ||
	       result->verdict == XDP_REDIRECT;
}

/* The packet that left; of one that did not, why. */
static void describe_got(const struct test_result *result, struct packet_lines *out)
{
	char text[TEST_VALUE_MAX];

	if (leaves(result)) {
		packet_describe(&result->got, out);
		return;
	}
	out->n = 1;
	snprintf(out->line[0], PACKET_LINE_MAX, "nothing: %.40s",
		 test_verdict_text(result->verdict, result->reason, text));
}

/* Two packets side by side; a '|' parts lines that are the same, '!' others. */
static void print_packets(FILE *file, const char *indent,
			  const struct test_result *result)
{
	const struct packet *left = result->expected ? result->expected : result->in;
	struct packet_lines a, b;
	size_t width = 0;

	packet_describe(left, &a);
	describe_got(result, &b);
	for (size_t i = 0; i < a.n; i++)
		if (strlen(a.line[i]) > width)
			width = strlen(a.line[i]);
	fprintf(file, "%s%-*s   %s\n", indent, (int)width,
		result->expected ? "EXPECTED" : "IN", "OUT");
	for (size_t i = 0; i < a.n || i < b.n; i++) {
		const char *l = i < a.n ? a.line[i] : "", *r = i < b.n ? b.line[i] : "";

		fprintf(file, "%s%-*s %c%s%s\n", indent, (int)width, l,
			result->expected && strcmp(l, r) ? '!' : '|', *r ? " " : "", r);
	}
}

static void print_failure(FILE *file, const char *indent,
			  const struct test_result *result)
{
	const struct cfg_pos *pos = &result->c->steps[result->step - 1].pos;

	for (size_t i = 0; i < result->n_problems; i++) {
		const struct test_problem *p = &result->problems[i];

		fprintf(file, "%s%s:%u: step %zu: %s: expected %s, got %s\n", indent,
			result->fixture->file, pos->line, result->step, p->what,
			p->expected, p->got);
	}
	print_packets(file, indent, result);
}

static void add_tap(const struct test_report *r, const struct test_result *result)
{
	FILE *file = r->cli->stdout_file;

	fprintf(file, "%sok %zu - %s\n", result->step ? "not " : "",
		r->passed + r->failed, result->c->name);
	if (result->step)
		print_failure(file, "# ", result);
}

static void add_text(const struct test_report *r, const struct test_result *result)
{
	FILE *file = r->cli->stdout_file;

	fprintf(file, "%s  %s\n", result->step ? "FAIL" : "pass", result->c->name);
	if (result->step)
		print_failure(file, "      ", result);
}

void test_report_add(struct test_report *r, struct test_result *result)
{
	r->passed += !result->step;
	r->failed += result->step != 0;
	if (r->results) {
		r->results[r->n_results++] = *result;
		*result = (struct test_result){ 0 };
		return;
	}
	if (r->tap)
		add_tap(r, result);
	else
		add_text(r, result);
	test_result_clear(result);
}

static void put_hex(struct writer *w, const char *key, const struct packet *p)
{
	_cleanup_free_ char *text = p ? malloc(2 * p->size + 1) : NULL;

	for (size_t i = 0; text && i < p->size; i++)
		snprintf(text + 2 * i, 3, "%02x", p->data[i]);
	writer_str(w, key, text);
}

static void put_case(struct writer *w, const struct test_result *result)
{
	bool failed = result->step;
	char verdict[TEST_VALUE_MAX];

	writer_record(w, NULL);
	writer_str(w, "file", result->fixture->file);
	writer_int(w, "line", result->c->pos.line);
	writer_str(w, "name", result->c->name);
	writer_str_tone(w, "result", failed ? "fail" : "pass",
			failed ? TONE_BAD : TONE_GOOD);
	if (failed)
		writer_int(w, "step", (int64_t)result->step);
	else
		writer_null(w, "step");
	writer_str(w, "verdict",
		   failed ? test_verdict_text(result->verdict, result->reason, verdict) :
			    NULL);
	put_hex(w, "in", failed ? result->in : NULL);
	put_hex(w, "expected", failed ? result->expected : NULL);
	put_hex(w, "out", failed && leaves(result) ? &result->got : NULL);
	writer_close(w);
}

static void put_problems(struct writer *w, const struct test_result *result)
{
	for (size_t i = 0; i < result->n_problems; i++) {
		const struct test_problem *p = &result->problems[i];

		writer_record(w, NULL);
		writer_str(w, "file", result->fixture->file);
		writer_int(w, "line", result->c->steps[result->step - 1].pos.line);
		writer_str(w, "name", result->c->name);
		writer_int(w, "step", (int64_t)result->step);
		writer_str(w, "what", p->what);
		writer_str(w, "expected", p->expected);
		writer_str(w, "got", p->got);
		writer_close(w);
	}
}

static int write_document(const struct test_report *r, struct err *err)
{
	struct writer *w = r->cli->out;

	writer_int(w, "passed", (int64_t)r->passed);
	writer_int(w, "failed", (int64_t)r->failed);
	writer_list(w, "cases");
	for (size_t i = 0; i < r->n_results; i++)
		put_case(w, &r->results[i]);
	writer_close(w);
	writer_list(w, "failures");
	for (size_t i = 0; i < r->n_results; i++)
		put_problems(w, &r->results[i]);
	writer_close(w);
	/* When all is well the caller writes it, as for every command. */
	return r->failed ? writer_finish(w, err) : 0;
}

static int write_end(const struct test_report *r, struct err *err)
{
	FILE *file = r->cli->stdout_file;

	if (!r->tap)
		fprintf(file, "%zu passed, %zu failed\n", r->passed, r->failed);
	if (fflush(file) == 0 && !ferror(file))
		return 0;
	return err_set(err, errno == EPIPE ? -EPIPE : -EIO, "cannot write the results: %s",
		       strerror(errno));
}

int test_report_finish(struct test_report *r)
{
	struct err err = {};
	int rc = r->results ? write_document(r, &err) : write_end(r, &err);

	while (r->n_results)
		test_result_clear(&r->results[--r->n_results]);
	cleanup_free(&r->results);
	if (rc && rc != -EPIPE)
		return cli_fail_err(r->cli, &err);
	return r->failed ? EXIT_REFUSED : EXIT_OK;
}
