// SPDX-License-Identifier: GPL-2.0-only
/* Requests that take a while: transactions, and walks over the flows. */
#include <stdlib.h>

#include "ctl_private.h"
#include "sys/log.h"

static void request_free(struct request *request)
{
	json_decref(request->id);
	json_decref(request->args);
	preview_release(&request->preview);
	flow_query_free(&request->query);
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

static void flows_work(uv_work_t *work)
{
	struct request *request = work->data;

	request->rc = flow_query_run(request->query, &request->err);
}

static void flows_done(uv_work_t *work, int status)
{
	struct request *request = work->data;
	struct client *client = request->client;
	int rc = request->rc ? request->rc : status;

	if (request->verb->flows == FLOWS_FLUSH)
		log_write(rc ? LOG_LEVEL_WARN : LOG_LEVEL_NOTICE, "%s by uid %u, pid %d: %s",
			  request->verb->name, request->peer.uid, request->peer.pid,
			  rc ? request->err.text : "done");
	if (client) {
		client->request = NULL;
		client_answer(client, request->id, rc, &request->err,
			      rc ? NULL : flow_query_result(request->query));
		client_pump(client);
	}
	request_free(request);
}

void client_ask_flows(struct client *client, const struct verb *verb, json_t *id,
			     json_t *args)
{
	struct daemon *d = client->ctl->daemon;
	struct request *request = request_new(client, verb, id, args);
	struct err err;
	int rc;

	if (!request)
		return;
	rc = flow_query_new(d, args, verb->flows == FLOWS_FLUSH, &request->query, &err);
	if (rc) {
		client_answer(client, id, rc, &err, NULL);
		request_free(request);
		return;
	}
	client->request = request;
	request->work.data = request;
	uv_queue_work(&d->loop, &request->work, flows_work, flows_done);
}
