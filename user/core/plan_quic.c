// SPDX-License-Identifier: GPL-2.0-only
/* Server ids of QUIC VIPs, from the configuration to what packets look up. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "plan.h"

#define IDS 65536

static int compare_keys(const struct quic_server_key *a, const struct quic_server_key *b)
{
	if (a->vip != b->vip)
		return a->vip < b->vip ? -1 : 1;
	if (a->length != b->length)
		return a->length < b->length ? -1 : 1;
	return memcmp(a->id, b->id, sizeof(a->id));
}

static int compare_servers(const void *a, const void *b)
{
	const struct plan_server *x = a, *y = b;

	return compare_keys(&x->key, &y->key);
}

void plan_sort_servers(struct plan *plan)
{
	if (plan->n_servers)
		qsort(plan->servers, plan->n_servers, sizeof(*plan->servers),
		      compare_servers);
}

static const struct plan_server *find(const struct plan_server *servers, size_t n,
				      const struct quic_server_key *key)
{
	struct plan_server wanted = { .key = *key };

	return n ? bsearch(&wanted, servers, n, sizeof(wanted), compare_servers) : NULL;
}

uint16_t plan_find_server(const struct plan *plan, const struct quic_server_key *key)
{
	const struct plan_server *server = find(plan->servers, plan->n_servers, key);

	return server ? server->backend : 0;
}

int plan_copy_servers(struct plan *plan, const struct plan *old)
{
	plan->servers = calloc(old->n_servers + 1, sizeof(*plan->servers));
	if (!plan->servers)
		return -ENOMEM;
	if (old->n_servers)
		memcpy(plan->servers, old->servers,
		       old->n_servers * sizeof(*plan->servers));
	plan->n_servers = old->n_servers;
	return 0;
}

static size_t count_servers(const struct cfg *cfg)
{
	size_t i, n = 0;

	for (i = 0; i < cfg->n_vips; i++)
		if (cfg->vips[i].quic_server_id_length)
			n += cfg_find_pool(cfg, cfg->vips[i].pool)->n_backends;
	return n;
}

static void append_vip(struct plan *plan, const struct cfg *cfg, size_t number)
{
	const struct cfg_pool *pool = cfg_find_pool(cfg, cfg->vips[number].pool);
	struct backend_ident ident;
	size_t i;

	for (i = 0; i < pool->n_backends; i++) {
		const struct cfg_backend *backend = &pool->backends[i];
		struct plan_server *server = &plan->servers[plan->n_servers];

		if (!backend->server_id_length)
			continue;
		backend_ident_of(pool, backend, &ident);
		*server = (struct plan_server){
			.key = { .vip = plan->vips[number].id,
				 .length = backend->server_id_length },
			.backend = plan_find_backend(plan, &ident)->id,
		};
		memcpy(server->key.id, backend->server_id, sizeof(server->key.id));
		plan->n_servers++;
	}
}

/* What is worth keeping for, by id. */
struct keepers {
	uint8_t length[IDS];  /* of server ids, by VIP; 0: it is not for QUIC */
	uint8_t draining[IDS]; /* backends that left the configuration */
};

static void find_keepers(const struct plan *plan, struct keepers *keepers)
{
	size_t i;

	for (i = 0; i < plan->n_vips; i++)
		if (plan->vips[i].options.flags & VIP_QUIC)
			keepers->length[plan->vips[i].id] =
				QUIC_SERVER_ID_LENGTH(plan->vips[i].options.quic);
	for (i = 0; i < plan->n_backends; i++)
		keepers->draining[plan->backends[i].id] = plan->backends[i].draining;
}

/* The pool of its VIP, while others list it. */
static bool has_left(const struct plan *plan, const struct plan_server *server)
{
	const struct plan_verdict *verdict = plan_find_verdict(plan, server->key.vip,
							       server->backend);

	return verdict && verdict->left;
}

static int keep_old(struct plan *plan, const struct plan *old)
{
	_cleanup_free_ struct keepers *keepers = NULL;
	size_t i, n = plan->n_servers; /* new ones */

	if (!old->n_servers)
		return 0;
	keepers = calloc(1, sizeof(*keepers));
	if (!keepers)
		return -ENOMEM;
	find_keepers(plan, keepers);
	for (i = 0; i < old->n_servers && plan->n_servers < MAX_QUIC_SERVERS; i++) {
		const struct plan_server *server = &old->servers[i];

		if ((keepers->draining[server->backend] || has_left(plan, server)) &&
		    keepers->length[server->key.vip] == server->key.length &&
		    !find(plan->servers, n, &server->key))
			plan->servers[plan->n_servers++] = *server;
	}
	return 0;
}

int plan_fill_servers(struct plan *plan, const struct cfg *cfg, const struct plan *old,
		      struct err *err)
{
	size_t i;

	plan->servers = calloc(count_servers(cfg) + old->n_servers + 1,
			       sizeof(*plan->servers));
	if (!plan->servers)
		return err_set(err, -ENOMEM, "out of memory");
	for (i = 0; i < cfg->n_vips; i++)
		if (cfg->vips[i].quic_server_id_length)
			append_vip(plan, cfg, i);
	plan_sort_servers(plan);
	if (keep_old(plan, old))
		return err_set(err, -ENOMEM, "out of memory");
	plan_sort_servers(plan);
	return 0;
}
