// SPDX-License-Identifier: GPL-2.0-only
/*
 * libcurl's multi interface on the loop. To read the system's authorities takes as long
 * as a few dozen handshakes, and a multi handle keeps those of one file: so there is one
 * for each file that checks name.
 */
#include "http.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <uv.h>

#include "checker.h"
#include "task.h"

#define HANDLES_KEPT 64
#define CA_CACHE_SECONDS 60L /* then files of CAs are read again */

struct http_multi {
	LIST_ENTRY(http_multi) others;
	struct checker *checker;
	char *ca_file; /* NULL: of those that need none */
	CURLM *multi;
	uv_timer_t timer;
	unsigned int runs;
	uint64_t used; /* when a run last ended; loop's ms */
};

struct http {
	LIST_HEAD(, http_multi) multis;
	CURL *free[HANDLES_KEPT];
	int n_free;
};

struct http_watch {
	struct watch watch;
	struct http_multi *multi;
};

/* Runs may end in http_ended(), but no handle is used after that. */
static void end_runs(struct http_multi *m)
{
	struct CURLMsg *message;
	struct http_run *run;
	int left;

	while ((message = curl_multi_info_read(m->multi, &left))) {
		CURLcode code = message->data.result;

		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &run);
		http_ended(run, code);
	}
}

static void act(struct http_multi *m, curl_socket_t fd, int what)
{
	int running;

	curl_multi_socket_action(m->multi, fd, what, &running);
	end_runs(m);
}

static void on_timer(uv_timer_t *timer)
{
	act(timer->data, CURL_SOCKET_TIMEOUT, 0);
}

static int set_timer(CURLM *multi, long ms, void *context)
{
	struct http_multi *m = context;

	(void)multi;
	if (ms < 0)
		uv_timer_stop(&m->timer);
	else
		uv_timer_start(&m->timer, on_timer, ms, 0);
	return 0;
}

static void on_ready(struct watch *watch, uint32_t events)
{
	struct http_multi *m = ((struct http_watch *)watch)->multi;
	int what = 0;

	if (events & EPOLLIN)
		what |= CURL_CSELECT_IN;
	if (events & EPOLLOUT)
		what |= CURL_CSELECT_OUT;
	if (events & (EPOLLERR | EPOLLHUP))
		what |= CURL_CSELECT_ERR;
	act(m, watch->fd, what);
}

static void forget_socket(struct http_multi *m, struct http_watch *w)
{
	if (w)
		watch_remove(&m->checker->watches, &w->watch);
	free(w);
}

static int watch_socket(struct http_multi *m, curl_socket_t fd, uint32_t events)
{
	struct http_watch *w = calloc(1, sizeof(*w));
	int rc;

	if (!w)
		return -ENOMEM;
	*w = (struct http_watch){ { fd, on_ready }, m };
	rc = watch_add(&m->checker->watches, &w->watch, events);
	if (!rc && curl_multi_assign(m->multi, fd, w))
		rc = -ENOMEM;
	if (rc)
		forget_socket(m, w);
	return rc;
}

static int set_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *of_fd)
{
	struct http_watch *w = of_fd;
	struct http_multi *m = context;
	struct http_run *run = NULL;
	uint32_t events = 0;
	int rc;

	if (what == CURL_POLL_REMOVE) {
		forget_socket(m, w);
		return 0;
	}
	if (what & CURL_POLL_IN)
		events |= EPOLLIN;
	if (what & CURL_POLL_OUT)
		events |= EPOLLOUT;
	rc = w ? watch_change(&m->checker->watches, &w->watch, events) :
		 watch_socket(m, fd, events);
	/* Never an error for libcurl, which would fail all that this handle ever runs. */
	curl_easy_getinfo(easy, CURLINFO_PRIVATE, &run);
	if (rc && run)
		task_fail_here_soon(run->task, "cannot watch a socket", rc);
	return 0;
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static void free_multi(struct http_multi *m)
{
	LIST_REMOVE(m, others);
	curl_multi_cleanup(m->multi);
	free(m->ca_file);
	uv_close((uv_handle_t *)&m->timer, on_closed);
}

void http_free(struct checker *checker)
{
	struct http *http = checker->http;

	if (!http)
		return;
	for (int i = 0; i < http->n_free; i++)
		curl_easy_cleanup(http->free[i]);
	while (!LIST_EMPTY(&http->multis))
		free_multi(LIST_FIRST(&http->multis));
	curl_global_cleanup();
	free(http);
	checker->http = NULL;
}

static struct http_multi *new_multi(struct checker *checker, const char *ca_file)
{
	struct http_multi *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->ca_file = ca_file ? strdup(ca_file) : NULL;
	if (m->ca_file || !ca_file)
		m->multi = curl_multi_init();
	if (!m->multi) {
		free(m->ca_file);
		free(m);
		return NULL;
	}
	curl_multi_setopt(m->multi, CURLMOPT_SOCKETFUNCTION, set_socket);
	curl_multi_setopt(m->multi, CURLMOPT_SOCKETDATA, m);
	curl_multi_setopt(m->multi, CURLMOPT_TIMERFUNCTION, set_timer);
	curl_multi_setopt(m->multi, CURLMOPT_TIMERDATA, m);
	m->checker = checker;
	uv_timer_init(&checker->loop, &m->timer);
	m->timer.data = m;
	LIST_INSERT_HEAD(&checker->http->multis, m, others);
	return m;
}

static bool is_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Of a file that nobody names any more nothing is worth keeping. */
static void free_unused(struct checker *checker)
{
	struct http_multi *m = LIST_FIRST(&checker->http->multis), *next;
	uint64_t now = uv_now(&checker->loop);

	for (; m; m = next) {
		next = LIST_NEXT(m, others);
		if (!m->runs && now - m->used > CA_CACHE_SECONDS * 1000)
			free_multi(m);
	}
}

static struct http_multi *multi_of(struct checker *checker, const char *ca_file)
{
	struct http_multi *m;

	LIST_FOREACH(m, &checker->http->multis, others)
		if (is_same(m->ca_file, ca_file))
			return m;
	free_unused(checker);
	return new_multi(checker, ca_file);
}

static struct http *make(struct checker *checker)
{
	struct http *http;

	if (checker->http)
		return checker->http;
	http = calloc(1, sizeof(*http));
	if (!http)
		return NULL;
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		free(http);
		return NULL;
	}
	LIST_INIT(&http->multis);
	checker->http = http;
	return http;
}

CURL *http_handle(struct checker *checker)
{
	struct http *http = make(checker);

	if (!http)
		return NULL;
	if (http->n_free)
		return http->free[--http->n_free];
	return curl_easy_init();
}

void http_handle_done(struct checker *checker, CURL *easy)
{
	struct http *http = checker->http;

	if (http->n_free == HANDLES_KEPT) {
		curl_easy_cleanup(easy);
		return;
	}
	curl_easy_reset(easy);
	http->free[http->n_free++] = easy;
}

int http_begin(struct http_run *run, const char *ca_file)
{
	struct http_multi *m = multi_of(run->task->checker, ca_file);

	if (!m)
		return -ENOMEM;
#if LIBCURL_VERSION_NUM >= 0x075700
	curl_easy_setopt(run->easy, CURLOPT_CA_CACHE_TIMEOUT, CA_CACHE_SECONDS);
#endif
	if (curl_multi_add_handle(m->multi, run->easy))
		return -ENOMEM;
	run->multi = m;
	m->runs++;
	return 0;
}

void http_cancel(struct http_run *run)
{
	struct http_multi *m = run->multi;

	if (!m)
		return;
	curl_multi_remove_handle(m->multi, run->easy);
	run->multi = NULL;
	m->runs--;
	m->used = uv_now(&m->checker->loop);
}
