// SPDX-License-Identifier: GPL-2.0-only
#include "flow_query.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cleanup.h"
#include "core/prefix.h"
#include "core/vip_entries.h"
#include "core/vip_spec.h"
#include "daemon.h"
#include "flows.h"
#include "verbs.h"

#define IDS 65536
#define LIMIT_MAX 10000
/* bpf/flow_set.bpf.h, ticks */
#define OPENING_TICKS 32
#define CLOSED_TICKS 120
#define LINGER_TICKS 3 /* FLOW_LINGER: a closing flow that is silent for longer is over */

/* What the ids of the moment stand for; copies, since the plan may change. */
struct vip_known {
	bool used;
	struct vip_spec spec;
	uint16_t idle, tcp_idle;
};

struct backend_known {
	bool used;
	struct backend_ident ident;
};

/* How long ago the last packet of a flow was, up to so many seconds. */
static const struct {
	const char *name;
	uint32_t below;
} ages[] = {
	{ "under 10 s", 10 },    { "10 s to 1 min", 60 },   { "1 to 10 min", 600 },
	{ "10 min to 1 h", 3600 }, { "over 1 h", UINT32_MAX },
};
#define N_AGES (sizeof(ages) / sizeof(ages[0]))

struct flow_query {
	struct daemon *daemon;
	struct vip_entries entries; /* by which flows of wide VIPs find theirs */
	struct vip_known *vips;         /* by id */
	struct backend_known *backends; /* by id */
	/* What is asked for; 0, and family 0: anything. */
	bool flush, by_backend;
	uint16_t vip;
	struct addr backend;
	struct prefix source;
	size_t limit;
	/* What was found. */
	uint32_t now;
	uint64_t flows, confirmed, ages[N_AGES];
	uint64_t *vip_flows, *vip_closed, *backend_flows; /* by id */
	struct flow_seen *list;
	size_t n_listed;
};

static int no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory");
}

static int copy_plan(struct flow_query *q, const struct plan *plan, struct err *err)
{
	size_t i;

	q->vips = calloc(IDS, sizeof(*q->vips));
	q->backends = calloc(IDS, sizeof(*q->backends));
	q->vip_flows = calloc(IDS, sizeof(*q->vip_flows));
	q->vip_closed = calloc(IDS, sizeof(*q->vip_closed));
	q->backend_flows = calloc(IDS, sizeof(*q->backend_flows));
	q->list = calloc(q->limit + 1, sizeof(*q->list));
	if (!q->vips || !q->backends || !q->vip_flows || !q->vip_closed ||
	    !q->backend_flows || !q->list ||
	    vip_entries_copy(&plan->entries, &q->entries))
		return no_memory(err);
	for (i = 0; i < plan->n_vips; i++)
		q->vips[plan->vips[i].id] = (struct vip_known){
			true, plan->vips[i].spec, plan->vips[i].options.idle,
			plan->vips[i].options.tcp_idle };
	for (i = 0; i < plan->n_backends; i++)
		q->backends[plan->backends[i].id] =
			(struct backend_known){ true, plan->backends[i].ident };
	return 0;
}

static int ask_vip(struct flow_query *q, const struct plan *plan, const char *text,
		   struct err *err)
{
	const struct plan_vip *vip;
	struct vip_spec spec;
	int rc = vip_spec_parse(text, &spec, err);

	if (rc)
		return rc;
	vip = plan_find_vip(plan, &spec);
	if (!vip)
		return err_set(err, -ENOENT, "no VIP '%.64s'", text);
	q->vip = vip->id;
	return 0;
}

static int ask_backend(struct flow_query *q, const struct plan *plan, const char *text,
		       struct err *err)
{
	size_t i;
	int rc = addr_parse(text, "backend", &q->backend, err);

	if (rc < 0)
		return rc;
	q->by_backend = true;
	for (i = 0; i < plan->n_backends; i++)
		if (!addr_compare(&plan->backends[i].ident.addr, &q->backend))
			return 0;
	return err_set(err, -ENOENT, "no backend '%.64s'", text);
}

static int ask_limit(struct flow_query *q, json_t *args, struct err *err)
{
	json_t *limit = json_object_get(args, "limit");

	if (!limit)
		return 0;
	if (!json_is_integer(limit) || json_integer_value(limit) < 0 ||
	    json_integer_value(limit) > LIMIT_MAX)
		return err_set(err, -EINVAL, "limit is not a number from 0 to %d", LIMIT_MAX);
	q->limit = json_integer_value(limit);
	return 0;
}

static int ask(struct flow_query *q, const struct plan *plan, json_t *args,
	       struct err *err)
{
	const char *vip = NULL, *backend = NULL, *source = NULL;
	int rc = args_string(args, "vip", false, &vip, err);

	if (!rc)
		rc = args_string(args, "backend", false, &backend, err);
	if (!rc)
		rc = args_string(args, "source", false, &source, err);
	if (!rc && q->flush && !vip && !backend)
		rc = err_set(err, -EINVAL,
			     "flow flush needs a VIP or a backend whose flows to forget");
	if (!rc && vip)
		rc = ask_vip(q, plan, vip, err);
	if (!rc && backend)
		rc = ask_backend(q, plan, backend, err);
	if (!rc && source)
		rc = prefix_parse(source, "source", &q->source, err);
	return rc ? rc : ask_limit(q, args, err);
}

int flow_query_new(struct daemon *d, json_t *args, bool flush,
		   struct flow_query **out, struct err *err)
{
	struct flow_query *q = calloc(1, sizeof(*q));
	int rc;

	if (!q)
		return no_memory(err);
	q->daemon = d;
	q->flush = flush;
	rc = ask(q, d->plan, args, err);
	if (!rc)
		rc = copy_plan(q, d->plan, err);
	if (rc)
		flow_query_free(&q);
	else
		*out = q;
	return rc;
}

void flow_query_free(struct flow_query **query)
{
	struct flow_query *q = *query;

	if (!q)
		return;
	vip_entries_clear(&q->entries);
	free(q->vips);
	free(q->backends);
	free(q->vip_flows);
	free(q->vip_closed);
	free(q->backend_flows);
	free(q->list);
	free(q);
	*query = NULL;
}

/* What only the VIP says of the one, and only the tuple of the other. */
static void complete(const struct flow_query *q, struct flow_seen *flow)
{
	const struct vip *vip;

	if (flow->by_tuple) {
		vip = vip_entries_of_flow(&q->entries, &flow->dst, flow->protocol,
					  flow->sport, flow->dport);
		flow->vip = vip ? vip->id : 0;
		return;
	}
	flow->dst = q->vips[flow->vip].spec.addr;
	flow->protocol = q->vips[flow->vip].spec.protocol;
}

/* Seconds since its last packet, by what is left of what it was given then. */
static uint32_t age_of(const struct flow_query *q, const struct flow_seen *flow)
{
	const struct vip_known *vip = &q->vips[flow->vip];
	bool tcp = flow->protocol == IPPROTO_TCP;
	uint32_t life = tcp ? vip->tcp_idle : vip->idle;
	uint32_t left = FLOW_LEFT(flow->flow.stamp, q->now);

	if (tcp && flow->flow.stamp & FLOW_CLOSING && life > CLOSED_TICKS)
		life = CLOSED_TICKS;
	if (tcp && !(flow->flow.stamp & FLOW_CONFIRMED) && life > OPENING_TICKS)
		life = OPENING_TICKS;
	return left < life ? (life - left) * FLOW_TICK_SECONDS : 0;
}

static bool matches(const struct flow_query *q, const struct flow_seen *flow)
{
	const struct backend_known *backend = &q->backends[flow->flow.backend];
	struct vip_spec source = { .addr = q->source.addr, .prefix_len = q->source.length };

	if (q->vip && flow->vip != q->vip)
		return false;
	if (q->by_backend &&
	    (!backend->used || addr_compare(&backend->ident.addr, &q->backend)))
		return false;
	return !q->source.addr.family || vip_spec_covers(&source, &flow->src);
}

/* As flow_is_over in bpf/flow_set.bpf.h: no more packets are to be expected. */
static bool has_closed(const struct flow_query *q, const struct flow_seen *flow)
{
	return flow->flow.stamp & FLOW_CLOSING &&
	       FLOW_LEFT(flow->flow.stamp, q->now) + LINGER_TICKS < CLOSED_TICKS;
}

static int visit(void *context, const struct flow_seen *seen)
{
	struct flow_query *q = context;
	struct flow_seen flow = *seen;
	uint32_t age;
	size_t i;

	if (FLOW_LEFT(flow.flow.stamp, q->now) > FLOW_IDLE_MAX)
		return FLOW_KEEP; /* it has ended, and counts no more */
	complete(q, &flow);
	if (!matches(q, &flow))
		return FLOW_KEEP;

	q->flows++;
	q->confirmed += flow.flow.stamp & FLOW_CONFIRMED;
	age = age_of(q, &flow);
	for (i = 0; age >= ages[i].below; i++)
		;
	q->ages[i]++;
	q->vip_flows[flow.vip]++;
	q->vip_closed[flow.vip] += has_closed(q, &flow);
	q->backend_flows[flow.flow.backend]++;
	if (q->n_listed < q->limit)
		q->list[q->n_listed++] = flow;
	return q->flush ? FLOW_FORGET : FLOW_KEEP;
}

int flow_query_run(struct flow_query *q, struct err *err)
{
	int rc = flows_now(&q->daemon->dp, &q->now);

	if (!rc)
		rc = flows_walk(&q->daemon->dp, visit, q);
	return rc ? err_set(err, rc, "cannot read the flow maps: %s", strerror(-rc)) : 0;
}

static json_t *ages_json(const struct flow_query *q)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < N_AGES; i++)
		json_array_append_new(list, json_pack("{s:s, s:I}", "age", ages[i].name,
						      "flows", (json_int_t)q->ages[i]));
	return list;
}

static json_t *vips_json(const struct flow_query *q)
{
	char text[VIP_SPEC_TEXT_MAX];
	json_t *list = json_array();
	size_t id;

	for (id = 0; id < IDS; id++)
		if (q->vips[id].used && (q->vip_flows[id] || id == q->vip))
			json_array_append_new(
				list, json_pack("{s:s, s:I, s:I}", "address",
						vip_spec_format(&q->vips[id].spec, text),
						"flows", (json_int_t)q->vip_flows[id],
						"closed", (json_int_t)q->vip_closed[id]));
	return list;
}

static const char *backend_text(const struct flow_query *q, uint16_t id,
				char text[ADDR_TEXT_MAX])
{
	return q->backends[id].used ? addr_format(&q->backends[id].ident.addr, text) :
				      "none";
}

static json_t *backends_json(const struct flow_query *q)
{
	char text[ADDR_TEXT_MAX];
	json_t *list = json_array();
	size_t id;

	for (id = 0; id < IDS; id++)
		if (q->backend_flows[id])
			json_array_append_new(
				list, json_pack("{s:s, s:s, s:I}", "address",
						backend_text(q, id, text), "encap",
						encap_name(q->backends[id].ident.encap),
						"flows", (json_int_t)q->backend_flows[id]));
	return list;
}

static const char *state_name(const struct flow *flow)
{
	if (flow->stamp & FLOW_CLOSING)
		return "closing";
	if (flow->stamp & FLOW_GUESS)
		return "guess";
	return flow->stamp & FLOW_CONFIRMED ? "confirmed" : "unconfirmed";
}

static const char *protocol_name(uint8_t protocol, char text[8])
{
	if (protocol == IPPROTO_TCP)
		return "tcp";
	if (protocol == IPPROTO_UDP)
		return "udp";
	snprintf(text, 8, "%u", protocol);
	return text;
}

static const char *end_text(const struct addr *addr, uint16_t port, char *text,
			    size_t size)
{
	char address[ADDR_TEXT_MAX];

	snprintf(text, size, addr->family == AF_INET6 ? "[%s]:%u" : "%s:%u",
		 addr_format(addr, address), port);
	return text;
}

static json_t *flow_json(const struct flow_query *q, const struct flow_seen *flow)
{
	char src[ADDR_TEXT_MAX + 16], dst[ADDR_TEXT_MAX + 16], backend[ADDR_TEXT_MAX];
	char protocol[8];

	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:i}", "protocol",
			 protocol_name(flow->protocol, protocol), "source",
			 end_text(&flow->src, flow->sport, src, sizeof(src)),
			 "destination",
			 end_text(&flow->dst, flow->dport, dst, sizeof(dst)), "backend",
			 backend_text(q, flow->flow.backend, backend), "state",
			 state_name(&flow->flow), "age_s", (json_int_t)age_of(q, flow),
			 "cpu", (int)flow->cpu);
}

static json_t *list_json(const struct flow_query *q)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < q->n_listed; i++)
		json_array_append_new(list, flow_json(q, &q->list[i]));
	return list;
}

json_t *flow_query_result(const struct flow_query *q)
{
	if (q->flush)
		return json_pack("{s:I}", "forgotten", (json_int_t)q->flows);
	return json_pack("{s:I, s:I, s:o, s:o, s:o, s:o, s:b}", "flows",
			 (json_int_t)q->flows, "confirmed", (json_int_t)q->confirmed,
			 "ages", ages_json(q), "vips", vips_json(q), "backends",
			 backends_json(q), "list", list_json(q), "list_is_cut",
			 q->limit && q->flows > q->n_listed);
}
