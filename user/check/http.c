// SPDX-License-Identifier: GPL-2.0-only
/* libcurl's multi interface on the loop. */
#include "http.h"

#include <errno.h>
#include <stdlib.h>

#include <uv.h>

#include "checker.h"
#include "sys/log.h"

#define HANDLES_KEPT 64
#define CA_CACHE_SECONDS 60L /* then files of CAs are read again */

struct http {
	struct checker *checker;
	CURLM *multi;
	uv_timer_t timer;
	CURL *free[HANDLES_KEPT];
	int n_free;
};

struct http_watch {
	struct watch watch;
	struct http *http;
};

/* Runs may end in http_ended(), but no handle is used after that. */
static void end_runs(struct http *http)
{
	struct CURLMsg *message;
	struct http_run *run;
	int left;

	while ((message = curl_multi_info_read(http->multi, &left))) {
		CURLcode code = message->data.result;

		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &run);
		http_ended(run, code);
	}
}

static void act(struct http *http, curl_socket_t fd, int what)
{
	int running;

	curl_multi_socket_action(http->multi, fd, what, &running);
	end_runs(http);
}

static void on_timer(uv_timer_t *timer)
{
	act(timer->data, CURL_SOCKET_TIMEOUT, 0);
}

static int set_timer(CURLM *multi, long ms, void *context)
{
	struct http *http = context;

	(void)multi;
	if (ms < 0)
		uv_timer_stop(&http->timer);
	else
		uv_timer_start(&http->timer, on_timer, ms, 0);
	return 0;
}

static void on_ready(struct watch *watch, uint32_t events)
{
	struct http *http = ((struct http_watch *)watch)->http;
	int what = 0;

	if (events & EPOLLIN)
		what |= CURL_CSELECT_IN;
	if (events & EPOLLOUT)
		what |= CURL_CSELECT_OUT;
	if (events & (EPOLLERR | EPOLLHUP))
		what |= CURL_CSELECT_ERR;
	act(http, watch->fd, what);
}

static int forget_socket(struct http *http, struct http_watch *w)
{
	if (w)
		watch_remove(&http->checker->watches, &w->watch);
	free(w);
	return 0;
}

static int watch_socket(struct http *http, curl_socket_t fd, uint32_t events)
{
	struct http_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return -1;
	*w = (struct http_watch){ { fd, on_ready }, http };
	if (watch_add(&http->checker->watches, &w->watch, events) ||
	    curl_multi_assign(http->multi, fd, w)) {
		forget_socket(http, w);
		return -1;
	}
	return 0;
}

static int set_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *of_fd)
{
	struct http_watch *w = of_fd;
	struct http *http = context;
	uint32_t events = 0;

	(void)easy;
	if (what == CURL_POLL_REMOVE)
		return forget_socket(http, w);
	if (what & CURL_POLL_IN)
		events |= EPOLLIN;
	if (what & CURL_POLL_OUT)
		events |= EPOLLOUT;
	return w ? watch_change(&http->checker->watches, &w->watch, events) :
		   watch_socket(http, fd, events);
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void http_free(struct checker *checker)
{
	struct http *http = checker->http;

	if (!http)
		return;
	for (int i = 0; i < http->n_free; i++)
		curl_easy_cleanup(http->free[i]);
	curl_multi_cleanup(http->multi);
	curl_global_cleanup();
	checker->http = NULL;
	uv_close((uv_handle_t *)&http->timer, on_closed);
}

static void set_up_multi(struct http *http)
{
	curl_multi_setopt(http->multi, CURLMOPT_SOCKETFUNCTION, set_socket);
	curl_multi_setopt(http->multi, CURLMOPT_SOCKETDATA, http);
	curl_multi_setopt(http->multi, CURLMOPT_TIMERFUNCTION, set_timer);
	curl_multi_setopt(http->multi, CURLMOPT_TIMERDATA, http);
}

static struct http *make(struct checker *checker)
{
	struct http *http;

	if (checker->http)
		return checker->http;
	http = calloc(1, sizeof(*http));
	if (!http)
		return NULL;
	http->checker = checker;
	if (curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
		http->multi = curl_multi_init();
	if (!http->multi) {
		free(http);
		return NULL;
	}
	set_up_multi(http);
	uv_timer_init(&checker->loop, &http->timer);
	http->timer.data = http;
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

int http_begin(struct checker *checker, CURL *easy)
{
#if LIBCURL_VERSION_NUM >= 0x075700
	curl_easy_setopt(easy, CURLOPT_CA_CACHE_TIMEOUT, CA_CACHE_SECONDS);
#endif
	return curl_multi_add_handle(checker->http->multi, easy) ? -ENOMEM : 0;
}

void http_cancel(struct checker *checker, CURL *easy)
{
	curl_multi_remove_handle(checker->http->multi, easy);
}
