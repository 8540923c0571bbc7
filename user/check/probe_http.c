// SPDX-License-Identifier: GPL-2.0-only
/*
 * http, https: one request on a connection of its own. Nothing is followed, looked up in
 * DNS, proxied, decoded or kept; what is taken of the answer is bounded.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "checker.h"
#include "core/cleanup.h"
#include "http.h"
#include "sock.h"
#include "task.h"

static size_t on_body(char *data, size_t one, size_t length, void *context)
{
	struct http_run *run = context;
	size_t room = HTTP_BODY_MAX - run->body_bytes;
	size_t n = length < room ? length : room;

	(void)one;
	if (run->body)
		memcpy(run->body + run->body_bytes, data, n);
	run->body_bytes += n;
	run->enough = n < length;
	return n;
}

/* The value of the header that may say a weight; the last one counts. */
static void take_agent(struct http_run *run, const char *line, size_t length)
{
	const char *name = run->task->probe.check.weight_header;
	size_t n = name ? strlen(name) : 0;

	if (!n || length <= n || line[n] != ':' || strncasecmp(line, name, n) != 0)
		return;
	for (n++; n < length && (line[n] == ' ' || line[n] == '\t'); n++)
		;
	while (length > n && isspace((unsigned char)line[length - 1]))
		length--;
	snprintf(run->agent, sizeof(run->agent), "%.*s", (int)(length - n), line + n);
	run->agent_said = true;
}

/* A status line begins each answer, and those of 1xx come before the one that counts. */
static size_t on_header(char *line, size_t one, size_t length, void *context)
{
	struct http_run *run = context;

	(void)one;
	run->header_bytes += length;
	if (run->header_bytes > HTTP_HEADERS_MAX)
		return 0;
	if (length > 5 && !strncmp(line, "HTTP/", 5))
		run->agent_said = false;
	take_agent(run, line, length);
	return length;
}

/* Whatever libcurl makes of names and answers: to the target, or nowhere. */
static bool is_target(const struct probe *probe, const struct curl_sockaddr *address)
{
	struct sockaddr_storage target;
	socklen_t length = sock_address(probe, &target);
	struct sockaddr_in6 a, b;

	if (address->addrlen != length || address->family != target.ss_family)
		return false;
	if (target.ss_family == AF_INET)
		return !memcmp(&address->addr, &target, offsetof(struct sockaddr_in, sin_zero));
	memcpy(&a, &address->addr, sizeof(a));
	memcpy(&b, &target, sizeof(b));
	return a.sin6_port == b.sin6_port && IN6_ARE_ADDR_EQUAL(&a.sin6_addr, &b.sin6_addr);
}

static curl_socket_t on_open(void *context, curlsocktype purpose,
			     struct curl_sockaddr *address)
{
	struct http_run *run = context;
	int fd;

	(void)purpose;
	if (!is_target(&run->task->probe, address)) {
		run->here = -EPERM;
		run->what = "an address other than the target's was refused";
		return CURL_SOCKET_BAD;
	}
	fd = sock_open(&run->task->probe, SOCK_STREAM, 0, &run->what);
	if (fd >= 0) {
		run->fd = fd;
		return fd;
	}
	run->here = fd;
	return CURL_SOCKET_BAD;
}

/* "[2001:db8::1]" in a URL. */
static const char *bracketed(const struct addr *addr, char out[ADDR_TEXT_MAX + 2])
{
	char text[ADDR_TEXT_MAX];

	snprintf(out, ADDR_TEXT_MAX + 2, addr->family == AF_INET6 ? "[%s]" : "%s",
		 addr_format(addr, text));
	return out;
}

/* A host without its port. */
static int name_length(const char *host)
{
	const char *end = host[0] == '[' ? strchr(host, ']') : NULL;

	return end ? end + 1 - host : (int)strcspn(host, ":");
}

/* The name in the URL is what TLS asks for; CONNECT_TO says where packets go. */
static int set_target(struct http_run *run, const char *addr)
{
	const struct check *check = &run->task->probe.check;
	const char *scheme = check->kind == CHECK_HTTPS ? "https" : "http";
	const char *name = check->sni ? check->sni : check->host ? check->host : addr;
	_cleanup_free_ char *url = NULL;
	char where[ADDR_TEXT_MAX + 16];

	if (asprintf(&url, "%s://%.*s:%u%s", scheme, name_length(name), name,
		     run->task->probe.port, check->path ? check->path : "/") < 0) {
		url = NULL;
		return -ENOMEM;
	}
	snprintf(where, sizeof(where), "::%s:%u", addr, run->task->probe.port);
	run->connect_to = curl_slist_append(NULL, where);
	curl_easy_setopt(run->easy, CURLOPT_CONNECT_TO, run->connect_to);
	if (!run->connect_to || curl_easy_setopt(run->easy, CURLOPT_URL, url))
		return -ENOMEM;
	return 0;
}

static int add_header(struct http_run *run, const char *line)
{
	struct curl_slist *more = curl_slist_append(run->headers, line);

	if (!more)
		return -ENOMEM;
	run->headers = more;
	return 0;
}

static int set_headers(struct http_run *run, const char *addr)
{
	const struct probe *probe = &run->task->probe;
	uint16_t usual = probe->check.kind == CHECK_HTTPS ? 443 : 80;
	_cleanup_free_ char *host = NULL;
	char port[8] = "";
	int rc;

	if (!probe->check.host && probe->port != usual)
		snprintf(port, sizeof(port), ":%u", probe->port);
	if (asprintf(&host, "Host: %s%s", probe->check.host ? probe->check.host : addr,
		     port) < 0) {
		host = NULL;
		return -ENOMEM;
	}
	rc = add_header(run, host);
	if (!rc)
		rc = add_header(run, "Connection: close");
	curl_easy_setopt(run->easy, CURLOPT_HTTPHEADER, run->headers);
	return rc;
}

static void set_bounds(CURL *easy)
{
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(easy, CURLOPT_PROXY, "");
	curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
	curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	/* Of addresses only, and each would stay in a list that is gone through. */
	curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, 0L);
	/* A resumed session proves no certificate. */
	curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
	curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 4096L);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "fairlead-check/" FAIRLEAD_VERSION);
}

static void set_callbacks(struct http_run *run)
{
	CURL *easy = run->easy;

	curl_easy_setopt(easy, CURLOPT_PRIVATE, run);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, run->error);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, run);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, run);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, run);
}

/*
 * NULL: none, or no file: those of the system may be a directory only, of which libcurl
 * reads what it needs.
 */
static const char *ca_file_of(const struct check *check)
{
	if (check->kind != CHECK_HTTPS || !check->tls_verify)
		return NULL;
	return check->ca_file ? check->ca_file : curl_version_info(CURLVERSION_NOW)->cainfo;
}

static void set_tls(CURL *easy, const struct check *check)
{
	const char *ca_file = ca_file_of(check);

	curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, check->tls_verify ? 1L : 0L);
	curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, check->tls_verify ? 2L : 0L);
	/*
	 * Only that one, and no directory besides: with one, libcurl would read the file
	 * for each connection, also when nothing is verified, and that takes 20 ms and
	 * more.
	 */
	if (ca_file || !check->tls_verify) {
		curl_easy_setopt(easy, CURLOPT_CAINFO, ca_file);
		curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
	}
	if (check->cert_file)
		curl_easy_setopt(easy, CURLOPT_SSLCERT, check->cert_file);
	/* A certificate's file may have its key, too. */
	if (check->key_file || check->cert_file)
		curl_easy_setopt(easy, CURLOPT_SSLKEY,
				 check->key_file ? check->key_file : check->cert_file);
}

static int set_up(struct http_run *run)
{
	const struct check *check = &run->task->probe.check;
	char addr[ADDR_TEXT_MAX + 2];
	int rc;

	set_bounds(run->easy);
	set_callbacks(run);
	if (check->method && !strcmp(check->method, "HEAD"))
		curl_easy_setopt(run->easy, CURLOPT_NOBODY, 1L);
	if (check->kind == CHECK_HTTPS)
		set_tls(run->easy, check);
	bracketed(&run->task->probe.addr, addr);
	rc = set_target(run, addr);
	return rc ? rc : set_headers(run, addr);
}

static int begin(struct task *task)
{
	struct http_run *run = task->run = calloc(1, sizeof(*run));
	int rc;

	if (!run)
		return -ENOMEM;
	run->task = task;
	run->fd = -1;
	if (task->probe.check.body || task->probe.check.weight_json) {
		run->body = malloc(HTTP_BODY_MAX);
		if (!run->body)
			return -ENOMEM;
	}
	run->easy = http_handle(task->checker);
	if (!run->easy)
		return -ENOMEM;
	rc = set_up(run);
	return rc ? rc : http_begin(run, ca_file_of(&task->probe.check));
}

static void http_start(struct task *task)
{
	int rc = begin(task);

	if (rc)
		task_fail_here(task, "cannot begin", rc);
}

static void http_stop(struct task *task)
{
	struct http_run *run = task->run;

	task->run = NULL;
	if (!run)
		return;
	if (run->easy) {
		http_cancel(run);
		http_handle_done(task->checker, run->easy);
	}
	curl_slist_free_all(run->headers);
	curl_slist_free_all(run->connect_to);
	free(run->body);
	free(run);
}

static bool is_connected(const struct http_run *run)
{
	curl_off_t connected = 0;

	curl_easy_getinfo(run->easy, CURLINFO_CONNECT_TIME_T, &connected);
	return connected > 0;
}

/* What connect(), send() or recv() of libcurl has said; 0: nothing. */
static int os_errno(const struct http_run *run)
{
	long code = 0;

	curl_easy_getinfo(run->easy, CURLINFO_OS_ERRNO, &code);
	return code;
}

static bool is_of_socket(CURLcode code)
{
	return code == CURLE_COULDNT_CONNECT || code == CURLE_SEND_ERROR ||
	       code == CURLE_RECV_ERROR;
}

void http_ended(struct http_run *run, CURLcode code)
{
	struct probe_result result = { .weight = -1 };

	if (code == CURLE_OUT_OF_MEMORY && !is_connected(run) && !run->here) {
		run->here = -ENOMEM;
		run->what = "cannot begin";
	}
	if (run->here) {
		task_fail_here(run->task, run->what, run->here);
		return;
	}
	if (is_of_socket(code) && task_is_shortage(os_errno(run))) {
		task_fail_here(run->task, "cannot connect", -os_errno(run));
		return;
	}
	if (code == CURLE_OK || (code == CURLE_WRITE_ERROR && run->enough))
		http_judge(run, &result);
	else
		http_reason(run, code, result.reason, sizeof(result.reason));
	task_finish(run->task, &result);
}

static const char *http_missing(const struct task *task)
{
	const struct http_run *run = task->run;
	struct sockaddr_storage peer;
	socklen_t length = sizeof(peer);
	curl_off_t secured = 0;

	/* libcurl counts TLS as a part of connecting. */
	if (!run || run->fd < 0 || getpeername(run->fd, (struct sockaddr *)&peer, &length))
		return "no answer";
	curl_easy_getinfo(run->easy, CURLINFO_APPCONNECT_TIME_T, &secured);
	if (run->header_bytes)
		return "no end of the answer";
	if (!secured && task->probe.check.kind == CHECK_HTTPS)
		return "TLS: no end of the handshake";
	return "connected, but no answer";
}

const struct prober http_prober = { http_start, http_stop, http_missing };
