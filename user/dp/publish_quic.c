// SPDX-License-Identifier: GPL-2.0-only
#include "publish_quic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/cleanup.h"
#include "sys/kmap.h"

/*
 * What a has and b has not, or with `changed` has otherwise. The arrays have room
 * for all that a has.
 */
static size_t server_difference(const struct plan *a, const struct plan *b, bool changed,
				struct quic_server_key *keys, uint16_t *backends)
{
	uint16_t same;
	size_t i, n = 0;

	for (i = 0; i < a->n_servers; i++) {
		same = plan_find_server(b, &a->servers[i].key);
		if (same && (!changed || same == a->servers[i].backend))
			continue;
		keys[n] = a->servers[i].key;
		backends[n++] = a->servers[i].backend;
	}
	return n;
}

static int write_servers(struct kernel *k, const struct plan *a, const struct plan *b,
			 bool delete)
{
	_cleanup_free_ struct quic_server_key *keys = calloc(a->n_servers + 1, sizeof(*keys));
	_cleanup_free_ uint16_t *backends = calloc(a->n_servers + 1, sizeof(*backends));
	size_t n;
	int rc;

	if (!keys || !backends)
		return -ENOMEM;
	n = server_difference(a, b, !delete, keys, backends);
	/* A packet that still has the VIP as it was may be about to look. */
	if (delete && n)
		kmap_wait_for_packets();
	rc = delete ? kmap_delete(k->quic_servers, keys, sizeof(*keys), n) :
		      kmap_update(k->quic_servers, keys, sizeof(*keys), backends,
				  sizeof(*backends), n);
	if (!rc)
		k->map_writes += n;
	return rc;
}

int publish_quic_write(struct kernel *k, const struct plan *from,
		       const struct plan *to, struct err *err)
{
	int rc = write_servers(k, to, from, false);

	if (rc)
		return err_set(err, rc, "cannot write QUIC server ids to the map: %s",
			       strerror(-rc));
	return 0;
}

int publish_quic_delete(struct kernel *k, const struct plan *from,
			const struct plan *to, struct err *err)
{
	int rc = write_servers(k, from, to, true);

	if (rc)
		return err_set(err, rc, "cannot delete QUIC server ids from the map: %s",
			       strerror(-rc));
	return 0;
}

static int adopt_server(void *context, const void *key, const void *value)
{
	struct plan *plan = context;
	size_t n = plan->n_servers;
	struct plan_server *grown = plan->servers;

	if (!(n & (n - 1))) {
		grown = reallocarray(grown, n ? 2 * n : 1, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		plan->servers = grown;
	}
	memcpy(&grown[n].key, key, sizeof(grown[n].key));
	memcpy(&grown[n].backend, value, sizeof(grown[n].backend));
	plan->n_servers++;
	return 0;
}

int publish_quic_adopt(const struct kernel *k, struct plan *plan, struct err *err)
{
	int rc = kmap_walk(k->quic_servers, sizeof(struct quic_server_key),
			   sizeof(uint16_t), MAX_QUIC_SERVERS, adopt_server, plan);

	if (rc)
		return err_set(err, rc, "cannot read the adopted QUIC server ids: %s",
			       strerror(-rc));
	return 0;
}
