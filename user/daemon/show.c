// SPDX-License-Identifier: GPL-2.0-only
/* What the daemon tells: docs/architecture.md has the shape of each answer. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checks.h"
#include "core/cleanup.h"
#include "dp/flow_maps.h"
#include "daemon.h"
#include "drop_reasons.h"
#include "preview.h"
#include "show_private.h"
#include "stats.h"
#include "verbs.h"

json_t *integer(uint64_t value)
{
	return json_integer((json_int_t)value);
}

json_t *text_json(const char *text)
{
	json_t *string = json_string(text);
	_cleanup_free_ char *plain = NULL;
	char *c;

	if (string)
		return string;
	plain = strdup(text);
	for (c = plain; c && *c; c++)
		if (*c & 0x80)
			*c = '?';
	return plain ? json_string(plain) : NULL;
}

json_t *string_or_null(const char *text)
{
	return text && *text ? text_json(text) : json_null();
}

/* Whether the answer wants this VIP; `only` NULL: all. */
static int wanted_vip(json_t *args, const struct plan *plan, struct vip_spec *spec,
		      bool *only, struct err *err)
{
	const char *text;
	int rc = args_string(args, "vip", false, &text, err);

	*only = !rc && text;
	if (rc || !text)
		return rc;
	rc = vip_spec_parse(text, spec, err);
	if (!rc && !plan_find_vip(plan, spec))
		rc = err_set(err, -ENOENT, "vip '%s' does not exist", text);
	return rc;
}

static json_t *vip_object(struct daemon *d, const struct cfg_vip *vip)
{
	const struct cfg_pool *pool = cfg_find_pool(d->plan->cfg, vip->pool);
	const struct plan_vip *planned = plan_find_vip(d->plan, &vip->spec);
	const struct kernel_table *table = &d->kernel.table[planned->table];
	struct vip_counters c = stats_vip(d, planned->id);
	char address[VIP_SPEC_TEXT_MAX], digest[17];
	struct checks_vip_view health;
	json_t *options = cfg_vip_options_json(vip), *object;

	snprintf(digest, sizeof(digest), "%016" PRIx64, table->digest);
	object = json_pack("{s:s, s:s, s:s, s:s, s:i, s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "address",
			 vip_spec_format(&vip->spec, address), "pool", pool->name,
			 "encap", encap_name(pool->encap), "algorithm",
			 table_algorithm_name(pool->algorithm), "table_size",
			 (int)pool->table_size, "digest", digest, "backends",
			 (int)pool->n_backends, "packets", integer(c.packets), "bytes",
			 integer(c.bytes), "new_flows", integer(c.new_flows), "drops",
			 integer(c.drops), "unremembered",
			 integer(stats_unremembered(d, planned->id)), "quic_unknown",
			 integer(c.quic_unknown));
	json_object_update(object, options);
	json_decref(options);
	if (checks_vip(d->checks, &vip->spec, &health)) {
		json_object_set_new(object, "backends_up", integer(health.up));
		json_object_set_new(object, "panic", json_boolean(health.facts.panic));
		json_object_set_new(object, "quorum_lost",
				    json_boolean(!health.facts.quorum));
	}
	return object;
}

int show_vips(struct daemon *d, json_t *args, json_t **result, struct err *err)
{
	const struct cfg *cfg = d->plan->cfg;
	json_t *list = json_array();
	struct vip_spec spec;
	bool only;
	size_t i;
	int rc = wanted_vip(args, d->plan, &spec, &only, err);

	if (rc) {
		json_decref(list);
		return rc;
	}
	for (i = 0; i < cfg->n_vips; i++)
		if (!only || !vip_spec_compare(&spec, &cfg->vips[i].spec))
			json_array_append_new(list, vip_object(d, &cfg->vips[i]));
	*result = json_pack("{s:o}", "vips", list);
	return 0;
}

struct backend_sums {
	int active, draining, unresolved;
};

static struct backend_sums count_backends(const struct daemon *d)
{
	const struct next_hop *hop;
	struct backend_sums sums = { 0 };
	size_t i;

	for (i = 0; i < d->plan->n_backends; i++) {
		hop = nexthops_get(d->nexthops, &d->plan->backends[i].ident.addr);
		sums.active += !d->plan->backends[i].draining;
		sums.draining += d->plan->backends[i].draining;
		sums.unresolved += !d->plan->backends[i].draining &&
				   (!hop || !hop->resolved);
	}
	return sums;
}

static json_t *checks_json(const struct daemon *d)
{
	struct checks_status s = checks_status(d->checks);

	return json_pack("{s:o, s:o, s:i, s:o, s:o, s:o}", "checked_backends",
			 integer(s.backends), "checks", integer(s.probes), "checker_pid",
			 s.checker_pid, "checker_restarts", integer(s.checker_restarts),
			 "check_results", integer(s.results), "state_changes",
			 integer(s.state_changes));
}

int show_status(struct daemon *d, json_t *args, json_t **result, struct err *err)
{
	json_t *checks = checks_json(d);
	struct backend_sums sums = count_backends(d);
	json_t *status = json_pack(
		"{s:s, s:s, s:i, s:o, s:o, s:b, s:s, s:s, s:s, s:i, s:i, s:f}", "version",
		FAIRLEAD_VERSION, "instance", d->options.instance, "pid", (int)getpid(),
		"uptime_s", integer((uv_now(&d->loop) - d->started_ms) / 1000), "config_file",
		text_json(d->options.config), "unsaved_changes", daemon_has_unsaved_changes(d),
		"interface", d->at.interface, "attach", attach_kind_name(d->at.kind),
		"conntrack", flow_form_name(d->dp.config.flow_form), "flows_per_cpu",
		(int)d->dp.config.flows_per_cpu, "cpus", (int)d->dp.cpus,
		"flow_memory_mib",
		flow_maps_bytes(&d->dp.config) * d->dp.cpus / 0x1p20);
	json_t *sizes = json_pack(
		"{s:i, s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:o, s:f, s:f, s:f, s:o}", "vips",
		(int)d->plan->n_vips, "pools", (int)d->plan->cfg->n_pools, "tables",
		(int)d->plan->n_tables, "backends", sums.active, "backends_draining",
		sums.draining, "backends_unresolved", sums.unresolved, "changes_applied",
		integer(d->txns.applied), "changes_failed", integer(d->txns.failed),
		"map_writes", integer(d->kernel.map_writes), "last_plan_ms",
		d->txns.times.plan_ms, "last_build_ms", d->txns.times.build_ms,
		"last_commit_ms", d->txns.times.commit_ms, "last_error",
		string_or_null(d->last_error));

	(void)args;
	if (!status || json_object_update(status, sizes) ||
	    json_object_update(status, checks)) {
		json_decref(status);
		json_decref(sizes);
		json_decref(checks);
		return err_set(err, -ENOMEM, "out of memory");
	}
	json_decref(sizes);
	json_decref(checks);
	*result = status;
	return 0;
}

static json_t *drops_array(struct daemon *d)
{
	static const struct {
		uint32_t id;
		const char *label;
	} reasons[] = {
#define X(id, name, label, help) { id, label },
		DROP_REASONS(X)
#undef X
	};
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		struct drop_counters c = stats_drop(d, reasons[i].id);

		json_array_append_new(list, json_pack("{s:s, s:o, s:o}", "reason",
						      reasons[i].label, "packets",
						      integer(c.packets), "bytes",
						      integer(c.bytes)));
	}
	return list;
}

static json_t *events_array(const struct daemon *d)
{
	json_t *list = json_array();
	int kind;

	for (kind = 0; kind < EVENT__MAX; kind++)
		json_array_append_new(list, json_pack("{s:s, s:o}", "event", event_name(kind),
						      "count",
						      integer(d->events.counts[kind])));
	return list;
}

/* The members of each object of a list that are worth a line among counters. */
static void keep_members(json_t *list, const char *const *keep)
{
	json_t *object, *trimmed;
	size_t i, k;

	json_array_foreach(list, i, object) {
		trimmed = json_object();
		for (k = 0; keep[k]; k++)
			json_object_set(trimmed, keep[k], json_object_get(object, keep[k]));
		json_array_set_new(list, i, trimmed);
	}
}

int show_counters(struct daemon *d, json_t *args, json_t **result, struct err *err)
{
	static const char *const of_vip[] = { "address", "packets", "bytes", "new_flows",
					      "drops", "unremembered", "quic_unknown", NULL };
	static const char *const of_backend[] = { "pool", "name", "address", "packets",
						  "bytes", "new_flows", NULL };
	json_t *none = json_object(), *vips = NULL, *backends = NULL;
	struct totals totals = stats_totals(d);
	int rc = show_vips(d, none, &vips, err);

	(void)args;
	json_decref(none);
	if (!rc)
		rc = show_backend_list(d, NULL, false, &backends, err);
	if (rc) {
		json_decref(vips);
		return rc;
	}
	keep_members(json_object_get(vips, "vips"), of_vip);
	keep_members(backends, of_backend);
	*result = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:O, s:o}", "passed",
			    integer(totals.passed), "sent_tx", integer(totals.sent_tx),
			    "sent_redirect", integer(totals.sent_redirect), "drops",
			    drops_array(d), "events", events_array(d), "probes",
			    checks_probes_json(d->checks), "vips", json_object_get(vips, "vips"),
			    "backends", backends);
	json_decref(vips);
	return 0;
}

int show_running(struct daemon *d, json_t *args, json_t **result, struct err *err)
{
	_cleanup_free_ char *yaml = NULL;
	int rc = cfg_to_yaml(d->plan->cfg, &yaml, err);

	(void)args;
	if (rc)
		return rc;
	*result = json_pack("{s:s, s:o}", "yaml", yaml, "file",
			    text_json(d->options.config));
	return 0;
}

json_t *show_changes(const struct txn_changes *c)
{
	return json_pack("{s:{s:I, s:I, s:I, s:I, s:I, s:I}}", "changes", "vips_added",
			 (json_int_t)c->vips_added, "vips_removed",
			 (json_int_t)c->vips_removed, "backends_added",
			 (json_int_t)c->backends_added, "backends_removed",
			 (json_int_t)c->backends_removed, "tables_changed",
			 (json_int_t)c->tables_changed, "map_writes",
			 (json_int_t)c->map_writes);
}

static const char *const preview_words[] = {
	[PREVIEW_SAME] = "unchanged",
	[PREVIEW_CHANGED] = "changed",
	[PREVIEW_ADDED] = "added",
	[PREVIEW_REMOVED] = "removed",
};

json_t *show_preview(const struct preview *preview,
		     const struct txn_changes *changes)
{
	json_t *result = show_changes(changes), *list = json_array();
	char address[VIP_SPEC_TEXT_MAX];
	size_t i;

	for (i = 0; i < preview->n_vips; i++) {
		const struct preview_vip *v = &preview->vips[i];

		json_array_append_new(list, json_pack(
			"{s:s, s:s, s:I, s:I, s:f, s:I, s:I}", "address",
			vip_spec_format(&v->spec, address), "change",
			preview_words[v->change], "slots", (json_int_t)v->slots, "moved",
			(json_int_t)v->moved, "moved_percent",
			v->slots ? 100.0 * v->moved / v->slots : 0.0, "flows",
			(json_int_t)v->flows, "flows_on_moved",
			(json_int_t)v->flows_on_moved));
	}
	json_object_set_new(result, "vips", list);
	return result;
}
