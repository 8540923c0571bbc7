// SPDX-License-Identifier: GPL-2.0-only
#include "verbs.h"

#include <errno.h>
#include <string.h>

#include "core/cleanup.h"
#include "txn.h"

#define OPTIONS_MAX 32

int args_string(json_t *args, const char *key, bool required, const char **out,
		struct err *err)
{
	json_t *value = json_object_get(args, key);

	if (!value && !required) {
		*out = NULL;
		return 0;
	}
	if (!json_is_string(value))
		return err_set(err, -EINVAL, "'args' needs the string '%s'", key);
	*out = json_string_value(value);
	return 0;
}

struct options {
	struct cfg_option list[OPTIONS_MAX];
	size_t n;
};

static int args_options(json_t *args, struct options *out, struct err *err)
{
	json_t *options = json_object_get(args, "options"), *value;
	const char *key;

	out->n = 0;
	if (!options)
		return 0;
	if (!json_is_object(options))
		return err_set(err, -EINVAL, "'options' is not an object of strings");
	json_object_foreach(options, key, value) {
		if (!json_is_string(value))
			return err_set(err, -EINVAL, "option '%.64s' is not a string", key);
		if (out->n == OPTIONS_MAX)
			return err_set(err, -EINVAL, "more than %d options", OPTIONS_MAX);
		out->list[out->n++] = (struct cfg_option){ key, json_string_value(value) };
	}
	return 0;
}

/* The arguments of an edit, and the copy that it changes. */
struct edit {
	struct cfg *cfg;
	const char *target, *address;
	struct options options;
};

static void edit_free(struct edit *edit)
{
	cfg_free(&edit->cfg);
}

static int edit_begin(json_t *args, const char *target_key, bool address,
		      const struct cfg *running, struct edit *edit, struct err *err)
{
	int rc = args_string(args, target_key, true, &edit->target, err);

	if (!rc)
		rc = args_string(args, "address", address, &edit->address, err);
	if (!rc)
		rc = args_options(args, &edit->options, err);
	return rc ? rc : cfg_clone(running, &edit->cfg, err);
}

static int edit_end(struct edit *edit, struct cfg **next)
{
	*next = TAKE_PTR(edit->cfg);
	return 0;
}

static int make_vip_add(json_t *args, const struct cfg *running, struct cfg **next,
			struct err *err)
{
	_cleanup_(edit_free) struct edit edit = { 0 };
	int rc = edit_begin(args, "vip", false, running, &edit, err);

	if (!rc)
		rc = cfg_vip_add(edit.cfg, edit.target, edit.options.list, edit.options.n, err);
	return rc ? rc : edit_end(&edit, next);
}

static int make_vip_set(json_t *args, const struct cfg *running, struct cfg **next,
			struct err *err)
{
	_cleanup_(edit_free) struct edit edit = { 0 };
	int rc = edit_begin(args, "vip", false, running, &edit, err);

	if (!rc)
		rc = cfg_vip_set(edit.cfg, edit.target, edit.options.list, edit.options.n, err);
	return rc ? rc : edit_end(&edit, next);
}

static int make_vip_del(json_t *args, const struct cfg *running, struct cfg **next,
			struct err *err)
{
	_cleanup_(edit_free) struct edit edit = { 0 };
	int rc = edit_begin(args, "vip", false, running, &edit, err);

	if (!rc)
		rc = cfg_vip_del(edit.cfg, edit.target, err);
	return rc ? rc : edit_end(&edit, next);
}

static int make_backend_add(json_t *args, const struct cfg *running, struct cfg **next,
			    struct err *err)
{
	_cleanup_(edit_free) struct edit edit = { 0 };
	int rc = edit_begin(args, "target", true, running, &edit, err);

	if (!rc)
		rc = cfg_backend_add(edit.cfg, edit.target, edit.address,
				     edit.options.list, edit.options.n, err);
	return rc ? rc : edit_end(&edit, next);
}

static int make_backend_set(json_t *args, const struct cfg *running, struct cfg **next,
			    struct err *err)
{
	_cleanup_(edit_free) struct edit edit = { 0 };
	int rc = edit_begin(args, "target", true, running, &edit, err);

	if (!rc)
		rc = cfg_backend_set(edit.cfg, edit.target, edit.address,
				     edit.options.list, edit.options.n, err);
	return rc ? rc : edit_end(&edit, next);
}

static int make_backend_del(json_t *args, const struct cfg *running, struct cfg **next,
			    struct err *err)
{
	_cleanup_(edit_free) struct edit edit = { 0 };
	int rc = edit_begin(args, "target", true, running, &edit, err);

	if (!rc)
		rc = cfg_backend_del(edit.cfg, edit.target, edit.address, err);
	return rc ? rc : edit_end(&edit, next);
}

static int make_apply(json_t *args, const struct cfg *running, struct cfg **next,
		      struct err *err)
{
	const char *file = NULL, *yaml = NULL;
	int rc = args_string(args, "file", true, &file, err);

	(void)running;
	if (!rc)
		rc = args_string(args, "yaml", true, &yaml, err);
	if (rc)
		return rc;
	return cfg_parse_yaml(yaml, json_string_length(json_object_get(args, "yaml")),
			      file, next, err);
}

static const struct verb verbs[] = {
	{ .name = "vip.add", .make = make_vip_add },
	{ .name = "vip.set", .make = make_vip_set },
	{ .name = "vip.del", .make = make_vip_del },
	{ .name = "vip.show", .show = show_vips },
	{ .name = "backend.add", .make = make_backend_add },
	{ .name = "backend.set", .make = make_backend_set },
	{ .name = "backend.del", .make = make_backend_del },
	{ .name = "backend.show", .show = show_backends },
	{ .name = "apply", .make = make_apply, .tells_changes = true },
	{ .name = "save", .show = show_running, .secret = true },
	{ .name = "show.status", .show = show_status },
	{ .name = "show.counters", .show = show_counters },
	{ .name = "show.flows", .flows = FLOWS_SHOW },
	{ .name = "flow.flush", .flows = FLOWS_FLUSH },
	{ .name = "watch", .watch = true },
};

#define N_VERBS (sizeof(verbs) / sizeof(verbs[0]))

const struct verb *verb_find(const char *name)
{
	size_t i;

	for (i = 0; name && i < N_VERBS; i++)
		if (!strcmp(name, verbs[i].name))
			return &verbs[i];
	return NULL;
}

const char *verb_list(void)
{
	return "unknown verb; there are: vip.add, vip.set, vip.del, vip.show, backend.add, backend.set, backend.del, backend.show, apply, save, show.status, show.counters, show.flows, flow.flush, watch";
}
