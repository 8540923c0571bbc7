/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CLI_TEST_H
#define FAIRLEAD_CLI_TEST_H

/*
 * `fairlead test`, in parts:
 *
 *   test.c        the command line, files, and the order of things
 *   test_case.c   runs a case: what was expected and what came
 *   test_report.c says so, as text, TAP or a document
 *   test_record.c writes the cases that would pass now
 */

#include "cli.h"
#include "core/fixture.h"
#include "dp/trial.h"

#define TEST_PROBLEMS_MAX 24
#define TEST_VALUE_MAX 160

/* Something that was expected otherwise. */
struct test_problem {
	char what[2 * FIXTURE_NAME_MAX];
	char expected[TEST_VALUE_MAX], got[TEST_VALUE_MAX];
};

struct test_result {
	const struct fixture *fixture;
	const struct fixture_case *c;
	size_t step; /* from 1: the one that failed; 0: all is well */
	struct test_problem problems[TEST_PROBLEMS_MAX];
	size_t n_problems;
	const struct packet *in;       /* of the failed step, in the fixture */
	const struct packet *expected; /* what should have left; NULL: not said */
	int verdict;                   /* XDP action */
	uint32_t reason;
	struct packet got; /* what left; its bytes mean nothing after a drop */
};

void test_result_clear(struct test_result *result);
#define _cleanup_test_result_ __attribute__((cleanup(test_result_clear)))

/*
 * Run a case on fresh flow state. The rest of a case whose step fails is not
 * run. Not 0: it could not be run, and the sentence has its place.
 */
int test_case_run(struct trial *t, const struct fixture *fixture,
		  const struct fixture_case *c, struct test_result *out,
		  struct err *err);

/* "drop (tcp_flags)" */
const char *test_verdict_text(int verdict, uint32_t reason, char text[TEST_VALUE_MAX]);
/* The configured name of the backend that the frame goes to; NULL: none. */
const char *test_backend_name(const struct trial *t, const struct packet *out);

/* Where results go while the cases run. */
struct test_report {
	struct cli *cli;
	bool tap;
	size_t n_cases; /* that are coming */
	size_t passed, failed;
	struct test_result *results; /* kept for documents; else NULL */
	size_t n_results;
};

int test_report_open(struct test_report *r, struct err *err);
/* Takes the result over. */
void test_report_add(struct test_report *r, struct test_result *result);
/* The exit status. */
int test_report_finish(struct test_report *r);

/* The cases for a capture, to cli->stdout_file. The exit status. */
int test_record(struct cli *cli, struct trial *t, const char *pcap);

#endif
