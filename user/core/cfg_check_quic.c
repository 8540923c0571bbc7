// SPDX-License-Identifier: GPL-2.0-only
/*
 * QUIC-LB: what crosses VIPs and backends. A packet tells the server by an id of
 * the VIP's own length, so every server id of its pool has that length; and two
 * backends of a pool with one server id could not be told apart.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "cfg_fields.h"
#include "cleanup.h"
#include "quote.h"

/* Backends without one come first, as equals; of equal ones the first in the file. */
static int compare_ids(const struct cfg_backend *a, const struct cfg_backend *b)
{
	int order = (int)a->server_id_length - (int)b->server_id_length;

	return order ? order : memcmp(a->server_id, b->server_id, sizeof(a->server_id));
}

static int compare_servers(const void *a, const void *b)
{
	const struct cfg_backend *x = *(const struct cfg_backend *const *)a;
	const struct cfg_backend *y = *(const struct cfg_backend *const *)b;
	int order = compare_ids(x, y);

	return order ? order : strcmp(x->name, y->name);
}

static int pool_fail(const struct cfg *cfg, const struct cfg_pool *pool,
		     struct cfg_pos pos, struct err *err)
{
	err_prefix(err, "%s %s", pool->private ? "vip" : "pool", QUOTE(pool->name));
	cfg_err_place(cfg, pos, err);
	return -EINVAL;
}

static int check_pool(const struct cfg *cfg, const struct cfg_pool *pool, struct err *err)
{
	_cleanup_free_ const struct cfg_backend **sorted =
		calloc(pool->n_backends + 1, sizeof(*sorted));
	size_t i, n = 0;

	if (!sorted)
		return err_set(err, -ENOMEM, "out of memory");
	for (i = 0; i < pool->n_backends; i++)
		if (pool->backends[i].server_id_length)
			sorted[n++] = &pool->backends[i];
	if (n)
		qsort(sorted, n, sizeof(*sorted), compare_servers);
	for (i = 1; i < n; i++) {
		if (compare_ids(sorted[i - 1], sorted[i]))
			continue;
		err_set(err, -EINVAL,
			"backend %s has the server_id of backend %s; allowed: each "
			"server_id once in a pool",
			QUOTE(sorted[i]->name), QUOTE(sorted[i - 1]->name));
		return pool_fail(cfg, pool, sorted[i]->pos, err);
	}
	return 0;
}

static int vip_fail(const struct cfg *cfg, const struct cfg_vip *vip, struct err *err)
{
	char text[VIP_SPEC_TEXT_MAX];

	err_prefix(err, "vip '%s'", vip_spec_format(&vip->spec, text));
	cfg_err_place(cfg, vip->pos, err);
	return -EINVAL;
}

static int check_vip(const struct cfg *cfg, const struct cfg_vip *vip, size_t *n_servers,
		     struct err *err)
{
	const struct cfg_pool *pool = cfg_find_pool(cfg, vip->pool);

	if (vip->spec.protocol != IPPROTO_UDP) {
		err_set(err, -EINVAL, "quic is for packets of UDP; allowed: quic in VIPs "
				      "of the protocol udp");
		return vip_fail(cfg, vip, err);
	}
	for (size_t i = 0; i < pool->n_backends; i++) {
		const struct cfg_backend *backend = &pool->backends[i];

		*n_servers += !!backend->server_id_length;
		if (!backend->server_id_length ||
		    backend->server_id_length == vip->quic_server_id_length)
			continue;
		err_set(err, -EINVAL,
			"server_id of backend %s has %u bytes and server_id_length is "
			"%u; allowed: as many bytes as that, or no server_id",
			QUOTE(backend->name), backend->server_id_length,
			vip->quic_server_id_length);
		return vip_fail(cfg, vip, err);
	}
	if (*n_servers <= MAX_QUIC_SERVERS)
		return 0;
	err_set(err, -EINVAL,
		"with this one the VIPs with quic have more than %u backends with a "
		"server_id; allowed: at most that many, over all VIPs",
		MAX_QUIC_SERVERS);
	return vip_fail(cfg, vip, err);
}

int cfg_check_quic(const struct cfg *cfg, struct err *err)
{
	size_t i, n_servers = 0;
	int rc = 0;

	for (i = 0; i < cfg->n_pools && !rc; i++)
		rc = check_pool(cfg, &cfg->pools[i], err);
	for (i = 0; i < cfg->n_vips && !rc; i++)
		if (cfg->vips[i].quic_server_id_length)
			rc = check_vip(cfg, &cfg->vips[i], &n_servers, err);
	return rc;
}
