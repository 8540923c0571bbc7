/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CHECK_HTTP_H
#define FAIRLEAD_CHECK_HTTP_H

/*
 * HTTP and HTTPS checks. libcurl does the protocol, on our loop (http.c); probe_http.c
 * says what is asked and takes what comes, within bounds; http_judge.c says what it is
 * worth, and http_reason.c why nothing came. Private to these.
 */

#include <stdbool.h>
#include <stddef.h>

#include <curl/curl.h>

#include "core/check.h"

#define HTTP_BODY_MAX (64 * 1024)
#define HTTP_HEADERS_MAX (64 * 1024)
#define HTTP_AGENT_MAX 64 /* of a weight or state, as it was said */

struct checker;
struct task;
struct http_multi;

struct http_run {
	struct task *task;
	CURL *easy;
	struct http_multi *multi; /* that runs it; NULL: not begun */
	int fd; /* of libcurl's connection, once it has one; -1 */
	struct curl_slist *headers, *connect_to;
	char error[CURL_ERROR_SIZE];
	size_t header_bytes, body_bytes;
	char *body; /* the first of it, when it matters; body_bytes of HTTP_BODY_MAX */
	bool enough; /* more came than is looked at, and the transfer was ended */
	char agent[HTTP_AGENT_MAX]; /* from the header */
	bool agent_said;
	int here;         /* -errno of what failed on this host, and what did */
	const char *what;
};

/* NULL: no memory. Handles are used again, and have no option set. */
CURL *http_handle(struct checker *checker);
void http_handle_done(struct checker *checker, CURL *easy);
/*
 * The run is its CURLOPT_PRIVATE. http_ended() is called when it is over. ca_file: where
 * its authorities are, or NULL; runs that have the same read it once a minute.
 */
int http_begin(struct http_run *run, const char *ca_file);
/* Also of one that did not begin. */
void http_cancel(struct http_run *run);

/* In probe_http.c. */
void http_ended(struct http_run *run, CURLcode code);

/* Of an answer that is whole, or as whole as is looked at. */
void http_judge(const struct http_run *run, struct probe_result *result);
/* A weight (0 to 100) or a state, as an agent says it; -EINVAL. */
int http_agent_parse(const char *text, struct probe_result *result);

/* Why there is no answer. */
void http_reason(const struct http_run *run, CURLcode code, char *out, size_t size);

#endif
