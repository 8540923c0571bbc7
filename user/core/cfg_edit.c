// SPDX-License-Identifier: GPL-2.0-only
/*
 * The edits behind the commands. -EEXIST, -ENOENT and -EINVAL become the error
 * codes of the control protocol, so nothing else is returned but -ENOMEM.
 */
#include "cfg.h"

#include <errno.h>
#include <string.h>

#include "cfg_fields.h"
#include "cleanup.h"
#include "quote.h"

#define MAX_OPTIONS 48

/* The options of one command: those of one or two lists of fields. */
struct option_target {
	const struct cfg_field *fields;
	void *object;
	bool given; /* an option of this list was set */
};

struct option_set {
	struct option_target targets[2];
	size_t n_targets;
	const char *seen[MAX_OPTIONS];
	size_t n_seen;
};

static void list_options(const struct option_set *set, char list[CFG_KEYS_MAX])
{
	list[0] = '\0';
	for (size_t i = 0; i < set->n_targets; i++)
		for (const struct cfg_field *f = set->targets[i].fields; f->key;
		     f++)
			if (!f->identity)
				cfg_keys_add(list, f->key);
}

static const struct cfg_field *find_option(struct option_set *set,
					   const char *key,
					   struct option_target **target)
{
	for (size_t i = 0; i < set->n_targets; i++) {
		*target = &set->targets[i];
		for (const struct cfg_field *f = (*target)->fields; f->key; f++)
			if (!f->identity && !strcmp(f->key, key))
				return f;
	}
	return NULL;
}

static bool seen_before(const struct option_set *set, const char *key)
{
	for (size_t i = 0; i < set->n_seen; i++)
		if (!strcmp(set->seen[i], key))
			return true;
	return false;
}

static int set_option(struct option_set *set, const struct cfg_option *option,
		      struct err *err)
{
	struct option_target *target;
	const struct cfg_field *field = find_option(set, option->key, &target);
	char list[CFG_KEYS_MAX];
	int rc;

	if (!field) {
		list_options(set, list);
		return err_set(err, -EINVAL,
			       "option %s is not known; allowed: %s",
			       QUOTE(option->key), list);
	}
	if (seen_before(set, field->key))
		return err_set(err, -EINVAL,
			       "option '%s' is given twice; allowed: once",
			       field->key);

	rc = field->set(target->object, option->value, err);
	if (rc < 0) {
		if (err)
			err->code = -EINVAL; /* was -ERANGE, perhaps */
		return -EINVAL;
	}
	target->given = true;
	set->seen[set->n_seen++] = field->key;
	return 0;
}

static int set_options(struct option_set *set, const struct cfg_option *options,
		       size_t n, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		int rc = set_option(set, &options[i], err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* A set command without options is a mistake, not a no-op. */
static int require_options(const struct option_set *set, size_t n, struct err *err)
{
	char list[CFG_KEYS_MAX];

	if (n)
		return 0;
	list_options(set, list);
	return err_set(err, -EINVAL, "nothing to set; allowed: %s", list);
}

static int parse_vip(const char *text, struct vip_spec *spec,
		     char canonical[VIP_SPEC_TEXT_MAX], struct err *err)
{
	int rc = vip_spec_parse(text, spec, err);

	if (!rc)
		vip_spec_format(spec, canonical);
	return rc;
}

static int find_vip(const struct cfg *cfg, const char *text,
		    struct cfg_vip **out, struct err *err)
{
	char canonical[VIP_SPEC_TEXT_MAX];
	struct vip_spec spec;
	int rc = parse_vip(text, &spec, canonical, err);

	if (rc < 0)
		return rc;
	*out = cfg_find_vip(cfg, &spec);
	if (!*out)
		return err_set(err, -ENOENT, "vip '%s' does not exist",
			       canonical);
	return 0;
}

/* The first option that is not the VIP's own. */
static int refuse_pool_options(const struct option_set *set, const char *pool,
			       struct err *err)
{
	const char *key = "";

	for (size_t i = set->n_seen; i > 0; i--)
		for (const struct cfg_field *f = cfg_pool_fields; f->key; f++)
			if (!strcmp(f->key, set->seen[i - 1]))
				key = f->key;
	return err_set(
		err, -EINVAL,
		"option '%s' belongs to pool %s, which vips "
		"share; change it under 'pools' in the "
		"configuration file and reload it",
		key, QUOTE(pool));
}

/* vip and pool are the command's drafts: both are set from the options. */
static int add_vip(struct cfg *cfg, struct cfg_vip *vip, struct cfg_pool *pool,
		   const struct cfg_option *options, size_t n, struct err *err)
{
	struct option_set set = {
		.targets = { { cfg_vip_fields, vip, false },
			     { cfg_pool_fields, pool, false } },
		.n_targets = 2,
	};
	int rc = set_options(&set, options, n, err);

	if (rc < 0)
		return rc;

	if (vip->pool[0]) {
		rc = cfg_require_pool(cfg, vip->pool, err);
		if (!rc && set.targets[1].given)
			rc = refuse_pool_options(&set, vip->pool, err);
		return rc < 0 ? rc : cfg_add_vip(cfg, vip, err);
	}

	memcpy(vip->pool, pool->name, sizeof(vip->pool));
	rc = cfg_add_vip(cfg, vip, err);
	return rc < 0 ? rc : cfg_add_pool(cfg, pool, err);
}

int cfg_vip_add(struct cfg *cfg, const char *vip,
		const struct cfg_option *options, size_t n_options,
		struct err *err)
{
	_cleanup_cfg_pool_ struct cfg_pool pool = cfg_pool_default();
	_cleanup_cfg_vip_ struct cfg_vip draft = cfg_vip_default();
	int rc = parse_vip(vip, &draft.spec, pool.name, err);

	if (rc < 0)
		return rc;
	pool.private = true;
	if (cfg_find_vip(cfg, &draft.spec))
		return err_set(err, -EEXIST, "vip '%s' exists already",
			       pool.name);

	rc = add_vip(cfg, &draft, &pool, options, n_options, err);
	if (rc < 0)
		err_prefix(err, "vip '%s'", pool.name);
	return rc;
}

/* An empty private pool goes when its VIP takes another. */
static int change_pool(struct cfg *cfg, struct cfg_pool *old, const char *name,
		       struct err *err)
{
	int rc = cfg_require_pool(cfg, name, err);

	if (rc < 0)
		return rc;
	if (old->private && old->n_backends)
		return err_set(err, -EINVAL,
			       "it has backends of its own (%zu); delete them "
			       "before it can use pool %s",
			       old->n_backends, QUOTE(name));

	if (old->private)
		cfg_remove_pool(cfg, old);
	return 0;
}

/* The keys of a pool, to be changed; not its backends. */
static int draft_pool(const struct cfg_pool *pool, struct cfg_pool *draft)
{
	*draft = *pool;
	draft->backends = NULL;
	draft->n_backends = 0;
	return check_copy(&pool->check, &draft->check);
}

/* What the draft owns changes hands. */
static void take_draft(struct cfg_pool *pool, struct cfg_pool *draft)
{
	check_clear(&pool->check);
	draft->backends = pool->backends;
	draft->n_backends = pool->n_backends;
	*pool = *draft;
	*draft = (struct cfg_pool){ 0 };
}

static int set_vip(struct cfg *cfg, struct cfg_vip *vip, struct cfg_pool *pool,
		   const struct cfg_option *options, size_t n, struct err *err)
{
	_cleanup_cfg_vip_ struct cfg_vip new_vip = { 0 };
	_cleanup_cfg_pool_ struct cfg_pool new_pool = { 0 };
	struct option_set set = {
		.targets = { { cfg_vip_fields, &new_vip, false },
			     { cfg_pool_fields, &new_pool, false } },
		.n_targets = 2,
	};
	int rc = require_options(&set, n, err);

	if (!rc && (cfg_vip_copy(vip, &new_vip) || draft_pool(pool, &new_pool)))
		rc = err_set(err, -ENOMEM, "out of memory");
	if (!rc)
		rc = set_options(&set, options, n, err);
	if (rc < 0)
		return rc;

	if (set.targets[1].given && (seen_before(&set, "pool") || !pool->private))
		return refuse_pool_options(&set, new_vip.pool, err);
	if (set.targets[1].given)
		take_draft(pool, &new_pool);
	else if (seen_before(&set, "pool"))
		rc = change_pool(cfg, pool, new_vip.pool, err);
	if (rc < 0)
		return rc;

	cfg_vip_clear(vip);
	*vip = new_vip;
	new_vip = (struct cfg_vip){ 0 };
	return 0;
}

int cfg_vip_set(struct cfg *cfg, const char *vip,
		const struct cfg_option *options, size_t n_options,
		struct err *err)
{
	char text[VIP_SPEC_TEXT_MAX];
	struct cfg_vip *found;
	int rc = find_vip(cfg, vip, &found, err);

	if (rc < 0)
		return rc;

	rc = cfg_require_pool(cfg, found->pool, err);
	if (!rc)
		rc = set_vip(cfg, found, cfg_find_pool(cfg, found->pool),
			     options, n_options, err);
	if (rc < 0)
		err_prefix(err, "vip '%s'", vip_spec_format(&found->spec, text));
	return rc;
}

int cfg_vip_del(struct cfg *cfg, const char *vip, struct err *err)
{
	struct cfg_pool *pool;
	struct cfg_vip *found;
	int rc = find_vip(cfg, vip, &found, err);

	if (rc < 0)
		return rc;

	pool = cfg_find_pool(cfg, found->pool);
	if (pool && pool->private)
		cfg_remove_pool(cfg, pool);
	cfg_remove_vip(cfg, found);
	return 0;
}

static int find_private_pool(const struct cfg *cfg, const char *target,
			     struct cfg_pool **out, struct err *err)
{
	struct cfg_vip *vip;
	char text[VIP_SPEC_TEXT_MAX];
	int rc = find_vip(cfg, target, &vip, err);

	if (rc < 0)
		return rc;
	*out = cfg_find_pool(cfg, vip->pool);
	if (*out && (*out)->private)
		return 0;
	return err_set(err, -EINVAL,
		       "vip '%s' uses pool %s; edit the backends of the pool: "
		       "fairlead backend add|set|del %s ...",
		       vip_spec_format(&vip->spec, text), QUOTE(vip->pool),
		       vip->pool);
}

/* The name of a pool can have neither ':' nor '/', the text of a VIP has both. */
static int find_target(const struct cfg *cfg, const char *target,
		       struct cfg_pool **out, struct err *err)
{
	int rc;

	if (strpbrk(target, ":/"))
		return find_private_pool(cfg, target, out, err);
	rc = cfg_require_pool(cfg, target, err);
	if (rc < 0)
		return rc;
	*out = cfg_find_pool(cfg, target);
	return 0;
}

static int label_target(const struct cfg_pool *pool, int rc, struct err *err)
{
	if (rc < 0)
		err_prefix(err, "%s %s", pool->private ? "vip" : "pool",
			   QUOTE(pool->name));
	return rc;
}

static struct cfg_backend *find_name(const struct cfg_pool *pool, const char *name)
{
	for (size_t i = 0; i < pool->n_backends; i++)
		if (!strcmp(pool->backends[i].name, name))
			return &pool->backends[i];
	return NULL;
}

static struct cfg_backend *find_address(const struct cfg_pool *pool,
					const struct addr *addr)
{
	for (size_t i = 0; i < pool->n_backends; i++)
		if (!addr_compare(&pool->backends[i].addr, addr))
			return &pool->backends[i];
	return NULL;
}

/* An address may be the name of another backend: then nobody can tell. */
static int find_backend(const struct cfg_pool *pool, const char *which,
			struct cfg_backend **out, struct err *err)
{
	struct cfg_backend *named = find_name(pool, which), *addressed = NULL;
	struct addr addr;

	if (!addr_parse(which, "backend", &addr, NULL))
		addressed = find_address(pool, &addr);
	if (named && addressed && named != addressed)
		return err_set(err, -EINVAL,
			       "%s is the name of one backend and the address "
			       "of another; use the name or address that only "
			       "one of them has",
			       QUOTE(which));

	*out = named ? named : addressed;
	if (!*out)
		return err_set(err, -ENOENT, "backend %s does not exist",
			       QUOTE(which));
	return 0;
}

static int set_backend_options(struct cfg_backend *backend,
			       const struct cfg_option *options, size_t n,
			       struct err *err)
{
	struct option_set set = {
		.targets = { { cfg_backend_fields, backend, false } },
		.n_targets = 1,
	};

	return set_options(&set, options, n, err);
}

/* `backend` is not in the pool yet, or is `self` with another name. */
static int require_new_name(const struct cfg_pool *pool, const char *name,
			    const struct cfg_backend *self, struct err *err)
{
	struct cfg_backend *other = find_name(pool, name);

	if (!other || other == self)
		return 0;
	return err_set(err, -EEXIST, "backend %s exists already", QUOTE(name));
}

static int add_backend(struct cfg_pool *pool, const char *address,
		       const struct cfg_option *options, size_t n,
		       struct err *err)
{
	struct cfg_backend backend = cfg_backend_default(), *other;
	char text[ADDR_TEXT_MAX];
	int rc = cfg_backend_set_address(&backend, address, err);

	if (!rc)
		rc = set_backend_options(&backend, options, n, err);
	if (rc < 0)
		return rc;

	other = find_address(pool, &backend.addr);
	if (other)
		return err_set(err, -EEXIST,
			       "backend address '%s' exists already, as %s",
			       addr_format(&backend.addr, text),
			       QUOTE(other->name));
	if (!backend.name[0])
		cfg_backend_default_name(&backend);
	rc = require_new_name(pool, backend.name, NULL, err);
	if (rc < 0)
		return rc;
	return cfg_add_backend(pool, &backend, err);
}

int cfg_backend_add(struct cfg *cfg, const char *target, const char *address,
		    const struct cfg_option *options, size_t n_options,
		    struct err *err)
{
	struct cfg_pool *pool;
	int rc = find_target(cfg, target, &pool, err);

	if (rc < 0)
		return rc;
	return label_target(
		pool, add_backend(pool, address, options, n_options, err), err);
}

static int set_backend(struct cfg_pool *pool, const char *which,
		       const struct cfg_option *options, size_t n,
		       struct err *err)
{
	struct option_set set = {
		.targets = { { cfg_backend_fields, NULL, false } },
		.n_targets = 1,
	};
	struct cfg_backend *backend, draft;
	int rc = find_backend(pool, which, &backend, err);

	if (!rc)
		rc = require_options(&set, n, err);
	if (rc < 0)
		return rc;

	draft = *backend;
	rc = set_backend_options(&draft, options, n, err);
	if (!rc)
		rc = require_new_name(pool, draft.name, backend, err);
	if (rc < 0)
		return rc;

	*backend = draft;
	return 0;
}

int cfg_backend_set(struct cfg *cfg, const char *target, const char *which,
		    const struct cfg_option *options, size_t n_options,
		    struct err *err)
{
	struct cfg_pool *pool;
	int rc = find_target(cfg, target, &pool, err);

	if (rc < 0)
		return rc;
	return label_target(
		pool, set_backend(pool, which, options, n_options, err), err);
}

int cfg_backend_del(struct cfg *cfg, const char *target, const char *which,
		    struct err *err)
{
	struct cfg_backend *backend;
	struct cfg_pool *pool;
	int rc = find_target(cfg, target, &pool, err);

	if (rc < 0)
		return rc;
	rc = find_backend(pool, which, &backend, err);
	if (rc < 0)
		return label_target(pool, rc, err);

	cfg_remove_backend(pool, backend);
	return 0;
}
