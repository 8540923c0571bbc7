// SPDX-License-Identifier: GPL-2.0-only
/* Why there is no answer: of what libcurl says, in the words of other checks. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "checker.h"
#include "core/quote.h"
#include "http.h"
#include "reason.h"
#include "task.h"

/* "error:0A00010B:SSL routines::wrong version number", "SSL certificate problem: ..." */
static void tls_reason(const struct http_run *run, CURLcode code, char *out, size_t size)
{
	const struct check *check = &run->task->probe.check;
	const char *text = run->error, *openssl = strstr(text, "error:");
	const char *part = openssl ? strrchr(openssl, ':') : strchr(text, ':');

	if (code == CURLE_SSL_CACERT_BADFILE)
		snprintf(out, size, "TLS: cannot read certificates from %s",
			 check->ca_file ? QUOTE(check->ca_file) : "the system's file");
	else if (code == CURLE_SSL_CERTPROBLEM)
		snprintf(out, size, "TLS: cannot use the client certificate %s",
			 check->cert_file ? QUOTE(check->cert_file) : "that is configured");
	else if (strstr(text, "SSL_ERROR_SYSCALL") || strstr(text, "unexpected eof"))
		snprintf(out, size, "TLS: the connection was closed during the handshake");
	else if (part && part[1])
		snprintf(out, size, "TLS: %s", part + (part[1] == ' ' ? 2 : 1));
	else
		snprintf(out, size, "TLS: %s", *text ? text : curl_easy_strerror(code));
}

static void connect_reason(const struct http_run *run, CURLcode code, char *out,
			   size_t size)
{
	long os_errno = 0;

	curl_easy_getinfo(run->easy, CURLINFO_OS_ERRNO, &os_errno);
	snprintf(out, size, "%s",
		 os_errno ? reason_of_errno(os_errno) : curl_easy_strerror(code));
}

/* NULL: libcurl says it itself. */
static const char *fixed_reason(const struct http_run *run, CURLcode code)
{
	switch (code) {
	case CURLE_GOT_NOTHING:
		return "closed the connection without an answer";
	case CURLE_PARTIAL_FILE:
		return "closed the connection in the middle of the answer";
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_UNSUPPORTED_PROTOCOL: /* HTTP/0.9, which would be anything */
		return "the answer is not HTTP";
	case CURLE_OUT_OF_MEMORY: /* what it says of a line of 100 KiB */
		return "more than 64 KiB of headers";
	case CURLE_WRITE_ERROR:
		return run->header_bytes > HTTP_HEADERS_MAX ? "more than 64 KiB of headers" :
							       NULL;
	default:
		return NULL;
	}
}

void http_reason(const struct http_run *run, CURLcode code, char *out, size_t size)
{
	const char *fixed = fixed_reason(run, code);

	switch (code) {
	case CURLE_COULDNT_CONNECT:
	case CURLE_RECV_ERROR:
	case CURLE_SEND_ERROR:
		connect_reason(run, code, out, size);
		return;
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CACERT_BADFILE:
		tls_reason(run, code, out, size);
		return;
	default:
		break;
	}
	if (fixed)
		snprintf(out, size, "%s", fixed);
	else
		snprintf(out, size, "%s", run->error[0] ? run->error : curl_easy_strerror(code));
}
