// SPDX-License-Identifier: GPL-2.0-only
/* What stands where in the configuration file; cfg_fields.c has the values. */
#include "cfg.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cfg_fields.h"
#include "cfg_reader.h"
#include "cleanup.h"
#include "quote.h"

/* The backend by what is known of it so far. */
static void label_backend(struct reader *r, const struct cfg_backend *backend)
{
	char addr[ADDR_TEXT_MAX];

	if (backend->name[0])
		err_prefix(r->err, "backend %s", QUOTE(backend->name));
	else if (backend->addr.family)
		err_prefix(r->err, "backend '%s'",
			   addr_format(&backend->addr, addr));
}

static int read_backend(struct reader *r, void *pool)
{
	struct cfg_backend backend = cfg_backend_default();
	struct reader_mapping m = {
		.what = "a backend",
		.parts = { { cfg_backend_fields, &backend } },
	};
	int rc;

	backend.pos = reader_pos(r);
	rc = reader_mapping(r, &m);
	if (!rc && !backend.addr.family)
		rc = reader_fail(r, backend.pos,
				 "address is missing; each backend has one");
	if (rc < 0) {
		label_backend(r, &backend);
		return rc;
	}

	if (!backend.name[0])
		cfg_backend_default_name(&backend);
	return reader_failed(r, backend.pos,
			     cfg_add_backend(pool, &backend, r->err));
}

static int read_backends(struct reader *r, void *pool)
{
	return reader_list(r, "backends", read_backend, pool);
}

static const struct reader_key pool_nested[] = {
	{ "backends", read_backends },
	{ 0 },
};

/* On success the configuration has the pool and what it owns. */
static int add_pool(struct reader *r, struct cfg *cfg, struct cfg_pool *pool)
{
	return reader_failed(r, pool->pos, cfg_add_pool(cfg, pool, r->err));
}

/* pool has its name and place; the current event is the first of its value. */
static int read_pool(struct reader *r, struct cfg *cfg, struct cfg_pool *pool)
{
	struct reader_mapping m = {
		.what = "a pool",
		.parts = { { cfg_pool_fields, pool } },
		.nested = pool_nested,
		.nested_object = pool,
	};
	int rc = reader_mapping(r, &m);

	if (!rc)
		rc = add_pool(r, cfg, pool);
	if (rc < 0)
		err_prefix(r->err, "pool %s", QUOTE(pool->name));
	return rc;
}

static int read_named_pool(struct reader *r, void *cfg)
{
	_cleanup_cfg_pool_ struct cfg_pool pool = cfg_pool_default();
	const char *name;
	int rc = reader_value(r, "the name of a pool", &name);

	if (rc < 0)
		return rc;
	pool.pos = reader_pos(r);
	rc = cfg_pool_name_check(name, r->err);
	if (rc < 0)
		return reader_failed(r, pool.pos, rc);

	memcpy(pool.name, name, strlen(name) + 1);
	rc = reader_next(r);
	if (rc < 0)
		return rc;
	return read_pool(r, cfg, &pool);
}

static int read_pools(struct reader *r, void *cfg)
{
	return reader_pairs(r, "pools", "a mapping of names to pools, {} for none",
			    read_named_pool, cfg);
}

/* A VIP that names a pool must not say what only the pool can say. */
static int refuse_pool_keys(struct reader *r, const struct reader_mapping *m,
			    const char *pool)
{
	const char *keys[READER_KEYS_MAX] = { "backends" };
	size_t n = 1;

	for (const struct cfg_field *f = cfg_pool_fields; f->key; f++)
		keys[n++] = f->key;
	for (size_t i = 0; i < n; i++) {
		struct cfg_pos pos = reader_seen(m, keys[i]);

		if (pos.line)
			return reader_fail(r, pos,
					   "it names pool %s, so key '%s' is "
					   "not its own; allowed: 'pool', or "
					   "the keys of a pool",
					   QUOTE(pool), keys[i]);
	}
	return 0;
}

static int add_vip(struct reader *r, struct cfg *cfg, struct cfg_vip *vip)
{
	return reader_failed(r, vip->pos, cfg_add_vip(cfg, vip, r->err));
}

static int finish_vip(struct reader *r, struct cfg *cfg,
		      const struct reader_mapping *m, struct cfg_vip *vip,
		      struct cfg_pool *pool)
{
	int rc;

	if (!vip->spec.addr.family)
		return reader_fail(r, vip->pos,
				   "a vip has no address; allowed: 'address: "
				   "ADDRESS:PORT/PROTOCOL'");
	if (vip->pool[0]) {
		rc = refuse_pool_keys(r, m, vip->pool);
		return rc < 0 ? rc : add_vip(r, cfg, vip);
	}

	vip_spec_format(&vip->spec, pool->name);
	memcpy(vip->pool, pool->name, sizeof(vip->pool));
	rc = add_vip(r, cfg, vip);
	return rc < 0 ? rc : add_pool(r, cfg, pool);
}

static int read_vip(struct reader *r, void *cfg)
{
	_cleanup_cfg_pool_ struct cfg_pool pool = cfg_pool_default();
	_cleanup_cfg_vip_ struct cfg_vip vip = cfg_vip_default();
	struct reader_mapping m = {
		.what = "a vip",
		.parts = { { cfg_vip_fields, &vip }, { cfg_pool_fields, &pool } },
		.nested = pool_nested,
		.nested_object = &pool,
	};
	char text[VIP_SPEC_TEXT_MAX];
	int rc;

	vip.pos = reader_pos(r);
	pool.private = true;
	pool.pos = vip.pos;
	rc = reader_mapping(r, &m);
	if (!rc)
		rc = finish_vip(r, cfg, &m, &vip, &pool);
	if (rc < 0 && vip.spec.addr.family)
		err_prefix(r->err, "vip '%s'", vip_spec_format(&vip.spec, text));
	return rc;
}

static int read_vips(struct reader *r, void *cfg)
{
	return reader_list(r, "vips", read_vip, cfg);
}

static int read_tunnel_source(struct reader *r, void *cfg)
{
	struct reader_mapping m = {
		.what = "tunnel_source",
		.parts = { { cfg_tunnel_fields, cfg } },
	};

	return reader_mapping(r, &m);
}

static int read_root(struct reader *r, void *object)
{
	struct cfg *cfg = object;
	static const struct reader_key nested[] = {
		{ "tunnel_source", read_tunnel_source },
		{ "pools", read_pools },
		{ "vips", read_vips },
		{ 0 },
	};
	struct reader_mapping m = {
		.what = "the configuration",
		.parts = { { cfg_file_fields, cfg } },
		.nested = nested,
		.nested_object = cfg,
	};
	int rc = reader_mapping(r, &m);

	if (rc < 0)
		return rc;
	cfg->interface_pos = reader_seen(&m, "interface");
	cfg->check_user_pos = reader_seen(&m, "check_user");
	return 0;
}

static int parse_text(const char *text, size_t length, struct cfg *cfg,
		      struct err *err)
{
	_cleanup_reader_ struct reader r;
	int rc = reader_open(&r, text, length, err);

	if (rc < 0)
		return rc;
	rc = reader_document(&r,
			     "the configuration is empty; required: "
			     "'interface: NAME'",
			     read_root, cfg);
	if (rc < 0)
		cfg_err_place(cfg, r.failed, err);
	return rc;
}

/* Callers tell apart that it is wrong, and that there was no memory. */
static int simple_code(int rc, struct err *err)
{
	if (rc == -ENOMEM)
		return rc;
	if (err)
		err->code = -EINVAL;
	return -EINVAL;
}

/* Names of files are shown as they are, but for what moves a terminal. */
static void copy_file_name(const char *file, char *to, size_t size)
{
	snprintf(to, size, "%s", file && *file ? file : "configuration");
	for (; *to; to++)
		if (iscntrl((unsigned char)*to))
			*to = '?';
}

int cfg_parse_yaml(const char *text, size_t length, const char *file,
		   struct cfg **out, struct err *err)
{
	_cleanup_cfg_ struct cfg *cfg = NULL;
	int rc = cfg_new(&cfg, err);

	if (rc < 0)
		return rc;
	copy_file_name(file, cfg->file, sizeof(cfg->file));
	if (length > CFG_FILE_SIZE_MAX)
		return err_set(err, -EINVAL,
			       "%s: the file is too large; allowed: %u bytes",
			       cfg->file, CFG_FILE_SIZE_MAX);

	rc = parse_text(text, length, cfg, err);
	if (!rc)
		rc = cfg_check(cfg, err);
	if (rc < 0)
		return simple_code(rc, err);

	*out = TAKE_PTR(cfg);
	return 0;
}

static int fail_file(const char *path, const char *verb, struct err *err)
{
	int code = -errno;
	char name[sizeof(((struct cfg *)NULL)->file)];

	copy_file_name(path, name, sizeof(name));
	return err_set(err, code, "%s: cannot %s the file: %s", name, verb,
		       strerror(-code));
}

/* A pipe has no size to ask for, so it reads until the end or too much. */
static int read_all(int fd, FILE *to, const char *path, struct err *err)
{
	char block[65536];
	size_t total = 0;

	while (total <= CFG_FILE_SIZE_MAX) {
		ssize_t n = read(fd, block, sizeof(block));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail_file(path, "read", err);
		if (!n)
			break;
		total += n;
		if (fwrite(block, 1, n, to) != (size_t)n)
			return err_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

int cfg_load_file(const char *path, struct cfg **out, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_fclose_ FILE *stream = NULL;
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	int rc;

	if (fd < 0)
		return fail_file(path, "open", err);
	stream = open_memstream(&text, &length);
	if (!stream)
		return err_set(err, -ENOMEM, "out of memory");

	rc = read_all(fd, stream, path, err);
	if (rc < 0)
		return rc;
	if (fclose(TAKE_PTR(stream)) || !text)
		return err_set(err, -ENOMEM, "out of memory");
	return cfg_parse_yaml(text, length, path, out, err);
}
