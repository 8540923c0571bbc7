// SPDX-License-Identifier: GPL-2.0-only
/* Requests that take a while: transactions, and walks over the flows. */
#include <stdlib.h>

#include "core/cleanup.h"
#include "ctl_private.h"
#include "sys/log.h"

static void request_free(struct request *request)
{
	json_decref(request->id);
	json_decref(request->args);
	preview_release(&request->preview);
	flow_query_free(&request->query);
	json_decref(request->result);
	free(request);
}

static int request_make(void *context, const struct cfg *running, struct cfg **next,
			struct err *err)
{
	struct request *request = context;

	return request->verb->make(request->args, running, next, err);
}

static json_t *request_result(struct request *request, const struct txn_changes *changes)
{
	if (request->dry_run)
		return show_preview(&request->preview, changes);
	return request->verb->tells_changes ? show_changes(changes) : NULL;
}

static void request_done(void *context, int rc, const struct err *err,
			 const struct txn_changes *changes)
{
	struct request *request = context;
	struct client *client = request->client;
	const char *outcome = rc ? err->text : request->dry_run ? "dry run" : "done";

	log_write(rc ? LOG_LEVEL_WARN : LOG_LEVEL_NOTICE, "%s by uid %u, pid %d: %s",
		  request->verb->name, request->peer.uid, request->peer.pid, outcome);
	/* Kept before it is acknowledged: what was told must outlive a crash. */
	if (!rc && !request->dry_run)
		daemon_keep_running_config(request->daemon);
	if (client) {
		client->request = NULL;
		client_answer(client, request->id, rc, err,
			      rc ? NULL : request_result(request, changes));
		client_pump(client);
	}
	request_free(request);
}

/* NULL: no memory, and the client is gone. */
static struct request *request_new(struct client *client, const struct verb *verb,
				   json_t *id, json_t *args)
{
	struct request *request = calloc(1, sizeof(*request));

	if (!request) {
		client_close(client);
		return NULL;
	}
	*request = (struct request){
		.daemon = client->ctl->daemon,
		.client = client,
		.verb = verb,
		.id = json_incref(id),
		.args = json_incref(args),
		.peer = client->peer,
		.dry_run = verb->tells_changes &&
			   json_is_true(json_object_get(args, "dry_run")),
	};
	return request;
}

void client_start(struct client *client, const struct verb *verb, json_t *id,
			 json_t *args)
{
	struct request *request = request_new(client, verb, id, args);

	if (!request)
		return;
	client->request = request;
	txn_submit(client->ctl->daemon,
		   &(struct txn_request){
			   .make = request_make,
			   .preview = request->dry_run ? &request->preview : NULL,
			   .attended = true,
			   .done = request_done,
			   .context = request,
		   });
}

/* The answer, too: a long one would keep the loop from the network's events. */
static void flows_work(uv_work_t *work)
{
	struct request *request = work->data;

	request->rc = flow_query_run(request->query, &request->err);
	if (!request->rc)
		request->result = flow_query_result(request->query);
}

/* Takes the request. */
static void flows_answer(struct request *request)
{
	struct client *client = request->client;

	if (request->verb->flows == FLOWS_FLUSH)
		log_write(request->rc ? LOG_LEVEL_WARN : LOG_LEVEL_NOTICE,
			  "%s by uid %u, pid %d: %s", request->verb->name,
			  request->peer.uid, request->peer.pid,
			  request->rc ? request->err.text : "done");
	if (client) {
		client->request = NULL;
		client_answer(client, request->id, request->rc, &request->err,
			      TAKE_PTR(request->result));
		client_pump(client);
	}
	request_free(request);
}

static struct request *flows_take(struct flow_walks *walks)
{
	struct request *request = TAILQ_FIRST(&walks->waiting);

	if (request) {
		TAILQ_REMOVE(&walks->waiting, request, walk_entry);
		return request;
	}
	request = TAILQ_FIRST(&walks->read_only);
	if (request)
		TAILQ_REMOVE(&walks->read_only, request, walk_entry);
	return request;
}

static void flows_done(uv_work_t *work, int status);

/*
 * One walk at a time, and those of the read-only socket last: anybody may ask, and
 * the threads and the processor are for building tables as well.
 */
static void flows_next(struct daemon *d)
{
	struct request *request;

	while (!d->walks.busy && (request = flows_take(&d->walks))) {
		bool flush = request->verb->flows == FLOWS_FLUSH;

		if (request->client)
			client_close_if_gone(request->client);
		if (!request->client && !flush) {
			request_free(request);
			continue;
		}
		request->rc = flow_query_new(d, request->args, flush, &request->query,
					     &request->err);
		if (request->rc) {
			flows_answer(request);
			continue;
		}
		d->walks.busy = true;
		request->work.data = request;
		uv_queue_work(&d->loop, &request->work, flows_work, flows_done);
	}
}

static void flows_done(uv_work_t *work, int status)
{
	struct request *request = work->data;
	struct daemon *d = request->daemon;

	if (status && !request->rc)
		request->rc = err_set(&request->err, status, "fairleadd is stopping");
	d->walks.busy = false;
	flows_answer(request);
	flows_next(d);
}

void flow_walks_clear(struct daemon *d)
{
	struct request *request;

	while ((request = flows_take(&d->walks)))
		request_free(request);
}

void client_ask_flows(struct client *client, const struct verb *verb, json_t *id,
			     json_t *args)
{
	struct daemon *d = client->ctl->daemon;
	struct request *request = request_new(client, verb, id, args);

	if (!request)
		return;
	client->request = request;
	if (client->read_only)
		TAILQ_INSERT_TAIL(&d->walks.read_only, request, walk_entry);
	else
		TAILQ_INSERT_TAIL(&d->walks.waiting, request, walk_entry);
	flows_next(d);
}
