// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whatever bytes arrive on a control socket, in whatever pieces: each line gets
 * one answer that is one line of JSON, or the client is closed; the read-only
 * socket changes nothing; what runs stays a configuration that can be saved.
 *
 * The first byte chooses the socket, the second how the rest is cut into reads.
 * libuv, the kernel and the transaction's thread are replaced below.
 */
#include <stdio.h>
#include <stdlib.h>

#include "daemon/ctl.c"
#include "daemon/checks.h"
#include "daemon/flows.h"
#include "daemon/stats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct daemon daemon_state;
static struct kernel_table no_tables[65536];
static struct reply *written[2]; /* handed to uv_write, not yet done */
static size_t n_written, n_answers;
static uv_idle_cb turn; /* NULL: the loop would sleep */
static struct {
	uv_work_t *work; /* NULL: the other thread has nothing to do */
	uv_after_work_cb after;
} queued;
static bool closed;

static void die(const char *what, const char *text)
{
	fprintf(stderr, "%s: %s\n", what, text);
	abort();
}

int uv_write(uv_write_t *req, uv_stream_t *handle, const uv_buf_t bufs[],
	     unsigned int nbufs, uv_write_cb cb)
{
	struct reply *reply = req->data;
	json_t *message = json_loadb(bufs[0].base, bufs[0].len, 0, NULL);

	if (nbufs != 1 || bufs[0].base[bufs[0].len - 1] != '\n' ||
	    memchr(bufs[0].base, '\n', bufs[0].len) != bufs[0].base + bufs[0].len - 1)
		die("not one line", reply->text);
	if (!json_is_boolean(json_object_get(message, "ok")) ||
	    !json_object_get(message, "id"))
		die("not an answer", "ok or id is missing");
	json_decref(message);
	if (cb != reply_written || n_written == 2)
		die("unexpected", "write");
	req->handle = handle;
	written[n_written++] = reply;
	n_answers++;
	return 0;
}

void uv_close(uv_handle_t *handle, uv_close_cb cb)
{
	(void)handle;
	(void)cb;
	closed = true;
}

uv_buf_t uv_buf_init(char *base, unsigned int len)
{
	return (uv_buf_t){ .base = base, .len = len };
}

int uv_read_start(uv_stream_t *stream, uv_alloc_cb alloc, uv_read_cb read)
{
	(void)stream;
	return alloc == client_alloc && read == client_read ? 0 : UV_EINVAL;
}

int uv_read_stop(uv_stream_t *stream)
{
	(void)stream;
	return 0;
}

int uv_idle_start(uv_idle_t *idle, uv_idle_cb cb)
{
	(void)idle;
	turn = cb;
	return 0;
}

int uv_idle_stop(uv_idle_t *idle)
{
	(void)idle;
	turn = NULL;
	return 0;
}

int uv_queue_work(uv_loop_t *loop, uv_work_t *work, uv_work_cb run, uv_after_work_cb after)
{
	(void)loop;
	if (queued.work)
		die("two requests", "of one client in hand");
	run(work);
	queued.work = work;
	queued.after = after;
	return 0;
}

/* Named by the code that listens, which does not run here. */
int uv_idle_init(uv_loop_t *loop, uv_idle_t *idle)
{
	(void)loop;
	(void)idle;
	return 0;
}

int uv_fileno(const uv_handle_t *handle, uv_os_fd_t *fd)
{
	(void)handle;
	(void)fd;
	return UV_EBADF;
}

int uv_pipe_init(uv_loop_t *loop, uv_pipe_t *handle, int ipc)
{
	(void)loop;
	(void)handle;
	return ipc;
}

int uv_pipe_bind(uv_pipe_t *handle, const char *name)
{
	(void)handle;
	(void)name;
	return UV_EINVAL;
}

int uv_listen(uv_stream_t *stream, int backlog, uv_connection_cb cb)
{
	(void)stream;
	(void)cb;
	return backlog;
}

int uv_accept(uv_stream_t *server, uv_stream_t *client)
{
	(void)server;
	(void)client;
	return UV_EAGAIN;
}

uint64_t uv_now(const uv_loop_t *loop)
{
	(void)loop;
	return 0;
}

void log_write(enum log_level level, const char *format, ...)
{
	(void)level;
	(void)format;
}

void daemon_keep_running_config(struct daemon *d)
{
	_cleanup_free_ char *yaml = NULL;
	struct err err;

	if (cfg_to_yaml(d->plan->cfg, &yaml, &err))
		die("cannot be kept", err.text);
}

bool daemon_has_unsaved_changes(const struct daemon *d)
{
	(void)d;
	return false;
}

const char *attach_kind_name(enum attach_kind kind)
{
	(void)kind;
	return "native";
}

const struct next_hop *nexthops_get(const struct nexthops *nh, const struct addr *addr)
{
	(void)nh;
	(void)addr;
	return NULL;
}

void nexthops_describe(const struct nexthops *nh, const struct addr *addr, char *text,
		       size_t size, const char **problem)
{
	(void)nh;
	(void)addr;
	(void)size;
	text[0] = '\0';
	*problem = "not tracked";
}

struct vip_counters stats_vip(const struct daemon *d, uint32_t id)
{
	(void)d;
	(void)id;
	return (struct vip_counters){ 0 };
}

struct backend_counters stats_backend(const struct daemon *d, uint32_t id)
{
	(void)d;
	(void)id;
	return (struct backend_counters){ 0 };
}

struct drop_counters stats_drop(const struct daemon *d, uint32_t reason)
{
	(void)d;
	(void)reason;
	return (struct drop_counters){ 0 };
}

size_t checks_ways(const struct checks *checks, const struct cfg_pool *pool)
{
	(void)checks;
	(void)pool;
	return 2;
}

size_t checks_worst(const struct checks *checks, const struct cfg_pool *pool,
		    const struct cfg_backend *backend)
{
	(void)checks;
	(void)pool;
	(void)backend;
	return 1;
}

void checks_view(const struct checks *checks, const struct cfg_pool *pool, size_t way,
		 const struct cfg_backend *backend, struct checks_view *out)
{
	static const struct health health;

	(void)checks;
	(void)pool;
	(void)way;
	(void)backend;
	*out = (struct checks_view){ .why = "check", .checked = true, .health = &health,
				     .via = "vip" };
}

bool checks_vip(const struct checks *checks, const struct vip_spec *vip,
		struct checks_vip_view *out)
{
	(void)checks;
	(void)vip;
	*out = (struct checks_vip_view){ .backends = 1 };
	return true;
}

json_t *checks_probes_json(const struct checks *checks)
{
	(void)checks;
	return json_array();
}

struct checks_status checks_status(const struct checks *checks)
{
	(void)checks;
	return (struct checks_status){ 0 };
}

struct totals stats_totals(const struct daemon *d)
{
	(void)d;
	return (struct totals){ 0 };
}

uint32_t *stats_slots(const struct daemon *d, uint32_t table)
{
	(void)d;
	(void)table;
	return NULL;
}

uint64_t stats_unremembered(const struct daemon *d, uint32_t id)
{
	(void)d;
	(void)id;
	return 0;
}

size_t flow_maps_bytes(const struct config *config)
{
	(void)config;
	return 0;
}

int flows_now(const struct dataplane *dp, uint32_t *tick)
{
	(void)dp;
	*tick = 1000;
	return 0;
}

/* One out of the sets, and one that only its tuple leads to a VIP. */
int flows_walk(const struct dataplane *dp, flows_visit *visit, void *context)
{
	struct flow_seen flow = {
		.src = { AF_INET, { .v4.s_addr = htonl(0xc6336407) } },
		.dst = { AF_INET, { .v4.s_addr = htonl(0xcb007101) } },
		.sport = 1024,
		.dport = 80,
		.protocol = IPPROTO_TCP,
		.vip = daemon_state.plan->n_vips ? daemon_state.plan->vips[0].id : 0,
		.flow = { .backend = 1, .stamp = FLOW_CONFIRMED },
	};
	int rc;

	(void)dp;
	rc = visit(context, &flow);
	flow.by_tuple = true;
	flow.vip = 0;
	return rc < 0 ? rc : visit(context, &flow);
}

void preview_release(struct preview *preview)
{
	(void)preview;
}

static int make_plan(const struct txn_request *request, struct plan **next, struct err *err)
{
	_cleanup_cfg_ struct cfg *cfg = NULL;
	int rc = request->make(request->context, daemon_state.plan->cfg, &cfg, err);

	if (!rc)
		rc = cfg_check(cfg, err);
	return rc ? rc : plan_make(&cfg, daemon_state.plan, NULL, next, err);
}

/* At once: the client's request is in hand and done before it returns. */
void txn_submit(struct daemon *d, const struct txn_request *txn)
{
	const struct request *request = txn->context;
	struct txn_changes changes = { 0 };
	_cleanup_plan_ struct plan *next = NULL;
	struct err err = { 0 };
	int rc = make_plan(txn, &next, &err);

	if (request->client->read_only)
		die("a change", "over the read-only socket");
	if (rc && (!err.text[0] || rc != err.code))
		die("refused without a sentence", err.text);
	if (!rc && !txn->preview) {
		plan_free(&d->plan);
		d->plan = TAKE_PTR(next);
	}
	txn->done(txn->context, rc, &err, &changes);
}

static void start_daemon(void)
{
	static const char yaml[] =
		"interface: eth0\nhash_key: 000102030405060708090a0b0c0d0e0f\n"
		"pools: {web: {table_size: 251, backends: [{address: 10.1.0.11, name: b1}]}}\n"
		"vips:\n  - {address: \"203.0.113.1:80/tcp\", pool: web}\n"
		"  - {address: \"203.0.113.2:80/tcp\", table_size: 251}\n";
	struct plan *none = NULL;
	struct cfg *cfg = NULL;

	memset(&daemon_state, 0, sizeof(daemon_state));
	daemon_state.options.instance = "fuzz";
	daemon_state.options.config = "/fuzz.yaml";
	daemon_state.kernel.table = no_tables;
	if (plan_new(&none, NULL) ||
	    cfg_parse_yaml(yaml, strlen(yaml), "fuzz.yaml", &cfg, NULL) ||
	    plan_make(&cfg, none, NULL, &daemon_state.plan, NULL))
		die("cannot start", "");
	plan_free(&none);
}

static void finish_writes(void)
{
	struct reply *now[2];
	size_t i, n = n_written;

	memcpy(now, written, sizeof(now));
	n_written = 0;
	for (i = 0; i < n; i++)
		reply_written(&now[i]->write, closed ? UV_ECANCELED : 0);
}

/* Round after round of the loop, until only the client could go on. */
static void run_loop(struct ctl *ctl)
{
	uv_work_t *work;

	while (turn || n_written || queued.work) {
		if (turn)
			turn(&ctl->turn);
		finish_writes();
		work = queued.work;
		queued.work = NULL;
		if (work)
			queued.after(work, 0);
	}
}

static size_t feed(struct client *client, const uint8_t *data, size_t size, size_t piece)
{
	uv_buf_t buf;

	if (!client->reading)
		die("stuck", "nothing is under way, and nothing is read");
	client_alloc((uv_handle_t *)&client->pipe, 65536, &buf);
	if (size > piece)
		size = piece;
	if (size > buf.len)
		size = buf.len;
	memcpy(buf.base, data, size);
	client_read((uv_stream_t *)&client->pipe, size, &buf);
	run_loop(client->ctl);
	return size;
}

static void hang_up(struct client *client)
{
	if (!closed)
		client_read((uv_stream_t *)&client->pipe, UV_EOF, NULL);
	run_loop(client->ctl);
	if (!closed)
		die("left open", "by a client that hung up");
}

static struct client *connect_client(struct ctl *ctl, bool read_only)
{
	struct client *client = calloc(1, sizeof(*client));

	ctl->daemon = &daemon_state;
	ctl->turn.data = ctl;
	LIST_INIT(&ctl->clients);
	TAILQ_INIT(&ctl->turns);
	TAILQ_INIT(&ctl->read_only_turns);
	events_init(&daemon_state.events);
	TAILQ_INIT(&daemon_state.walks.waiting);
	TAILQ_INIT(&daemon_state.walks.read_only);
	client->ctl = ctl;
	client->read_only = read_only;
	client->pipe.data = client;
	LIST_INSERT_HEAD(&ctl->clients, client, entry);
	closed = false;
	n_answers = 0;
	client_pump(client);
	return client;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t at = 2, i, lines = 0;
	struct client *client;
	struct ctl ctl = { 0 };

	if (size < 2)
		return 0;
	start_daemon();
	client = connect_client(&ctl, data[0] & 1);
	while (at < size && !closed)
		at += feed(client, data + at, size - at, 1 + data[1] * 8);
	for (i = 2; i < at; i++)
		lines += data[i] == '\n';
	if (closed)
		die("closed", "before it hung up");
	/* Who watches is told events, and asks no more. */
	if (!client->refused && !client->watching && n_answers != lines)
		die("lines without answer", "");

	hang_up(client);
	client_freed((uv_handle_t *)&client->pipe);
	plan_free(&daemon_state.plan);
	return 0;
}
